/** Lists: their columns, and one page, some or all of them. */
import type { AnyField, FieldKind, Shape } from '../contract/field.ts';
import { LIMITS } from '../contract/limits.ts';
import type { ListPage, PageFacts } from '../contract/operation.ts';
import { CliError } from '../core/errors.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Column, Listing, Row } from '../terminal/view.ts';
import type { Context } from './context.ts';
import { option, takes } from './parsing/flag.ts';

/** What of a column does not follow from its field; a text is its heading. */
type ColumnWishes = Readonly<Record<string, string | Partial<Omit<Column, 'field'>>>>;
/** Columns, or words for them with what does not follow from the words; see `columnsOf`. */
export type ColumnWords = string | readonly [words: string, wishes: ColumnWishes] | readonly Column[];

/** Characters of a random id that are shown at least: so few tell a million apart only here and there. */
export const SHORT_ID = 6;

const KINDS: Readonly<Record<FieldKind, Column['kind']>> = {
  text: 'text',
  sealed: 'text',
  money: 'money',
  integer: 'integer',
  number: 'number',
  flag: 'boolean',
  choice: 'word',
  time: 'time',
  list: 'list',
  map: 'map',
  object: 'map',
};

/**
 * Columns in words, `id status label:3 network:6+`: fields of `shape` in their order, each with its rank, 1 where none stands
 * behind it, and `+` where `-o wide` alone shows it. Heading and kind follow from the field where `wishes` does not say otherwise.
 */
export function columnsOf(shape: Shape, words: string, wishes: ColumnWishes = {}): readonly Column[] {
  return words.split(' ').map(word => {
    const [, field = '', priority = '1', wide] = /^([\w.]+)(?::(\d))?(\+)?$/.exec(word) ?? [];
    const found = fieldIn(shape, field.split('.'));
    if (found === undefined) throw new CliError('internal', { message: `there is no field for the column ${word}` });
    const wish = wishes[field] ?? {};
    return {
      field,
      title: (field.split('.').at(-1) ?? field)
        .replace(/_(?:id|at)$/, '')
        .replaceAll('_', ' ')
        .toUpperCase(),
      kind: KINDS[found.kind],
      priority: Number(priority),
      ...(wide !== undefined && { wideOnly: true }),
      ...(found.names === 'card' && { shortTo: SHORT_ID }),
      ...(typeof wish === 'string' ? { title: wish } : wish),
    };
  });
}

/** The columns of a declaration; words are about the fields of `shape`. */
export function columnsIn(shape: Shape, given: ColumnWords = []): readonly Column[] {
  if (typeof given === 'string') return columnsOf(shape, given);
  const [words] = given;
  return typeof words === 'string' ? columnsOf(shape, words, given[1] as ColumnWishes) : (given as readonly Column[]);
}

function fieldIn(shape: Shape, [name = '', ...rest]: readonly string[]): AnyField | undefined {
  const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (rest.length === 0 || field === undefined) return field;
  // The members of some objects are the service's own.
  return field.shape === undefined ? { ...field, kind: 'text' } : fieldIn(field.shape, rest);
}

/** Rows of a page where nothing else was asked for. */
const PAGE_SIZE = LIMITS.pageSize.defaults;

/** `--all` and `--limit`, the same for every paged list. */
export const PAGING_FLAGS = {
  all: option(takes.flag('All pages.')),
  limit: option(takes.integer('At most this many rows, over as many pages as it takes.', { min: 1 })),
} as const;

export interface ListOptions {
  readonly noun: string;
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
  /** Filters of ours, run over all pages, never over one. */
  readonly keep?: readonly ((row: Row) => boolean)[];
  /** One page was asked for by its number: that there are others is known. */
  readonly numbered?: boolean;
  /** Most rows of a page; the contract's default when left out. */
  readonly perPage?: number | undefined;
  /** The rows will be put in an order, so all of them are read, and the limit counts in that order. */
  readonly sorted?: boolean;
  /** Told of each page where there is more than one to read. */
  readonly progress?: Progress;
}

/** The pages as they come, with a word on standard error where they take long. */
export async function* pagesWithProgress<Page extends ListPage<object>>(
  pages: AsyncIterable<Page>,
  { noun, progress, limit = Number.POSITIVE_INFINITY }: Pick<ListOptions, 'noun' | 'progress' | 'limit'>,
): AsyncGenerator<Page> {
  let rows = 0;
  try {
    for await (const page of pages) {
      rows += page.data.length;
      const { total } = page.page;
      progress?.reading({ noun, rows, total: total === undefined ? undefined : Math.min(total, limit) });
      yield page;
    }
  } finally {
    progress?.clear();
  }
}

/** Flags of a list whose row is paged. */
export const PAGED_FLAGS = { page: 'query.page', perPage: 'query.per_page', ...PAGING_FLAGS } as const;

export type Paging = Pick<ListOptions, 'all' | 'limit' | 'perPage'> & { readonly page?: number | undefined };

/** Which pages those flags ask for. An order needs every page, unless one was asked for by its number. */
export function pagesAsked(ctx: Pick<Context, 'sorted'>, { page, perPage, all, limit }: Paging) {
  return { all, limit, perPage, sorted: ctx.sorted && page === undefined, numbered: page !== undefined };
}

/** A paged list. Without `--all`, `--limit`, a filter or an order it is one page. */
export function pagedListing(pages: AsyncIterable<ListPage<object>>, options: ListOptions): Listing {
  const keep = options.keep ?? [];
  const sorted = options.sorted === true;
  const everything = options.all === true || options.limit !== undefined || keep.length > 0 || sorted;
  const limit = sorted ? Number.POSITIVE_INFINITY : (options.limit ?? Number.POSITIVE_INFINITY);
  let last: PageFacts = {};
  let read = 0;
  let kept = 0;
  let ended = false;

  async function* batches(): AsyncGenerator<readonly Row[]> {
    for await (const { data, page } of everything ? pagesWithProgress(pages, options) : pages) {
      last = page;
      read++;
      const all = data as readonly Row[];
      const fitting = keep.length === 0 ? all : all.filter(row => keep.every(test => test(row)));
      const rows = fitting.length > limit - kept ? fitting.slice(0, limit - kept) : fitting;
      kept += rows.length;
      yield rows;
      if (!everything || kept >= limit) return;
    }
    ended = true;
  }

  return {
    batches: batches(),
    ...(sorted && options.limit !== undefined && { most: options.limit }),
    page: () =>
      everything
        ? {
            pages: read,
            // The service counts what it holds; how many of those our filters keep is known to nobody but the reader.
            ...(last.total === undefined || keep.length > 0 ? {} : { total: last.total }),
            ...(kept >= limit ? { limit } : {}),
          }
        : { ...last },
    footer(rows) {
      const { noun } = options;
      const total = ended ? kept : keep.length > 0 ? undefined : last.total;
      if (everything) return `${total === undefined ? perhapsMore(rows, noun) : ofAll(rows, noun, total)}.`;
      const told = pageTold(rows, last, options);
      return `${told.says.replace(/^there/, 'There')}${told.isCut ? MORE : ''}.`;
    },
    cutShort() {
      const { says, isCut } = pageTold(kept, last, options);
      // That a page of its number is one of several is known.
      const isAsked = everything || (options.numbered === true && kept > 0);
      return isCut && !isAsked ? `${says}${MORE}` : undefined;
    },
  };
}

const MORE = '; --all gives all of them';

/** What a page is of all, `25 of 288 cards, page 1 of 12`, and whether there may be other rows. */
function pageTold(rows: number, last: PageFacts, { noun, perPage = PAGE_SIZE }: ListOptions) {
  const { has_more, page, total, total_pages } = last;
  if (rows === 0 && total && page !== undefined && page > 1) {
    const pages = total_pages === undefined ? '' : ` on ${countOf(total_pages, 'page')}`;
    return { says: `there is no page ${page}: ${countOf(total, noun)}${pages}`, isCut: true };
  }
  // A service that says nothing about further pages may have some.
  if ([has_more, total_pages, total].every(fact => fact === undefined)) {
    const isCut = rows >= perPage;
    return { says: isCut ? perhapsMore(rows, noun) : ofAll(rows, noun, undefined), isCut };
  }
  const where = page === undefined || rows === 0 ? '' : `, page ${page}${total_pages ? ` of ${total_pages}` : ''}`;
  const isLast = !(has_more ?? (page ?? 1) < (total_pages ?? 1));
  return { says: `${ofAll(rows, noun, total)}${where}`, isCut: !isLast || rows < (total ?? 0) };
}

/** Whether there are others has not been looked for. */
function perhapsMore(rows: number, noun: string): string {
  return `${countOf(rows, noun)}, and perhaps more`;
}

/** `4 of 288 cards`, or `4 cards` where that is all there is. */
function ofAll(rows: number, noun: string, total: number | undefined): string {
  if (total !== undefined && total > rows) return `${rows} of ${countOf(total, noun)}`;
  return rows === 0 ? `No ${plural(noun, 0)}` : countOf(rows, noun);
}

interface WholeList {
  /** Counts the rows where nothing else is said of them. */
  readonly page?: Row | PageFacts;
  /** What one row is, for the line that counts them for people. */
  readonly noun?: string;
  /** Another line. */
  readonly footer?: Listing['footer'];
}

/** Rows that are all there. */
export function rowsListing(rows: readonly object[], { page, noun, footer }: WholeList = {}): Listing {
  async function* batches(): AsyncGenerator<readonly Row[]> {
    yield rows as readonly Row[];
  }
  return {
    batches: batches(),
    page: () => ({ ...(page ?? { total: rows.length }) }),
    footer: footer ?? (count => (noun === undefined ? undefined : cutTo(count, noun, undefined))),
  };
}

/** `4 of 288 cards.` Who said `--limit` knows how to get the others. */
export function cutTo(count: number, noun: string, total: number | undefined): string {
  return `${ofAll(count, noun, total)}.`;
}

/** `1 card`, `2 cards`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${plural(noun, count)}`;
}

function plural(noun: string, count: number): string {
  if (count === 1) return noun;
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return noun.endsWith('s') ? `${noun}es` : `${noun}s`;
}

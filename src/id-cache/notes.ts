/** What the answers of one run tell about ids, kept until the run ends and then laid over what was known. */

import type { AnyField, Shape } from '../contract/field.ts';
import type { ListPage, Operation } from '../contract/operation.ts';
import { CALLS } from '../contract/raw.ts';
import type { Service } from '../contract/service.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { withoutPatterns } from '../core/redaction.ts';
import {
  type CachedId,
  type IdCache,
  keptRow,
  MOST_ROWS,
  SECTIONS,
  type Section,
  type SectionName,
} from './contents.ts';

type Values = Readonly<Record<string, unknown>>;

/** Made when they are kept: most runs keep nothing, and cleaning what is told of a page takes as long as reading it. */
type Rows = () => readonly CachedId[];

/** One thing that was seen. A later one wins. */
type Note =
  /** The first page of everything; `whole` when there is no other. */
  | { readonly kind: 'listed'; readonly section: SectionName; readonly rows: Rows; readonly whole: boolean }
  | { readonly kind: 'seen'; readonly section: SectionName; readonly rows: Rows; readonly isNew?: boolean }
  | { readonly kind: 'became'; readonly section: SectionName; readonly id: string; readonly status: string }
  | { readonly kind: 'gone'; readonly section: SectionName; readonly ids: readonly string[] };

export interface Notes {
  /** The service, every answer of it looked at on its way. */
  listen(service: Service): Service;
  readonly isEmpty: boolean;
  over(known: IdCache): IdCache;
}

/** A run of thousands of rows is not remembered row by row: then whoever completes next looks again. */
const MOST_NOTES = 1_000;
const ENDED = 'terminated';

export function takeNotes(now: () => number): Notes {
  const notes: Note[] = [];
  let lost = false;

  function note(operation: string, input: Values, result: unknown): void {
    const made = notesOf(operation, input, result, now());
    if (notes.length + made.length <= MOST_NOTES) notes.push(...made);
    else lost = true;
  }

  return {
    get isEmpty() {
      return notes.length === 0;
    },
    listen: service => ({
      ...service,
      async send(operation, input, options) {
        const answered = await service.send(operation, input, options);
        note(operation, input as Values, answered.result);
        return answered;
      },
      async deliver(planned, input, policy) {
        const delivery = await service.deliver(planned, input, policy);
        if (delivery.class === 'done') note(planned.operation, input, delivery.result);
        return delivery;
      },
      pages(operation, input, options) {
        const pages = service.pages(operation, input, options);
        if (shelfOf(CALLS[operation]) === undefined) return pages;
        return watched(pages as AsyncIterable<ListPage<object>>, operation, input as Values) as typeof pages;
      },
    }),
    over({ place, sections }) {
      const laid = { ...sections };
      for (const each of notes) laid[each.section] = laidOver(laid[each.section], each, now());
      if (lost) for (const name of SECTIONS) laid[name] = { ...laid[name], listed: 0 };
      return { place, sections: laid };
    },
  };

  async function* watched(pages: AsyncIterable<ListPage<object>>, operation: string, input: Values) {
    let left = MOST_ROWS;
    let number = typeof input['page'] === 'number' ? input['page'] : 1;
    for await (const page of pages) {
      // Of a long list the beginning is enough.
      if (left > 0) note(operation, { ...input, page: number }, page);
      left -= page.data.length;
      number += 1;
      yield page;
    }
  }
}

/** What the row of the operation says about whose ids its answer, or its path, holds. */
function shelfOf({ params = {}, returns }: Operation): SectionName | undefined {
  const naming = [(returns.shape as Shape)['id'], ...Object.values(params)];
  return naming.map(field => shelfNamed(field)).find(name => name !== undefined);
}

function shelfNamed(field: AnyField | undefined): SectionName | undefined {
  return SECTIONS.find(name => name === field?.names);
}

function notesOf(operation: string, input: Values, result: unknown, now: number): readonly Note[] {
  const row: Operation | undefined = CALLS[operation as keyof typeof CALLS];
  const section = row && shelfOf(row);
  if (section === undefined || row.effect === 'reveals-secret') return [];
  const { kind, shape } = row.returns;
  if (kind === 'list' || kind === 'page') {
    const list = result as ListPage<Values>;
    return ofList(section, { data: list.data, page: list.page, isPaged: kind === 'page', input, now });
  }
  const target = Object.keys(row.params ?? {}).find(name => shelfNamed(row.params?.[name]) === section);
  const id = target === undefined ? undefined : String(input[target]);
  if (row.leadsTo !== undefined && id !== undefined) {
    const { value: status } = row.leadsTo;
    return [status === ENDED ? { kind: 'gone', section, ids: [id] } : { kind: 'became', section, id, status }];
  }
  if (kind === 'none') return id === undefined ? [] : [{ kind: 'gone', section, ids: [id] }];
  if (shelfNamed((shape as Shape)['id']) !== section) return [];
  return ofRows(section, [result as Values], now, row.params === undefined);
}

interface Listed extends Pick<ListPage<Values>, 'data' | 'page'> {
  readonly isPaged: boolean;
  readonly input: Values;
  readonly now: number;
}

function ofList(section: SectionName, { data, page, isPaged, input, now }: Listed): readonly Note[] {
  const some = data.slice(0, MOST_ROWS);
  if (!asksForAll(input)) return ofRows(section, some, now);
  const { has_more, total, total_pages } = page;
  const more = has_more ?? total ?? total_pages;
  const goesOn = has_more ?? ((total ?? 0) > data.length || (total_pages ?? 1) > 1);
  const whole = !isPaged || (more !== undefined && !goesOn);
  return [{ kind: 'listed', section, rows: () => rowsOf(section, some, now), whole }];
}

function ofRows(section: SectionName, values: readonly Values[], now: number, isNew = false): readonly Note[] {
  const ended = values.filter(({ status }) => status === ENDED).map(({ id }) => String(id));
  const seen: Note = { kind: 'seen', section, rows: () => rowsOf(section, values, now), isNew };
  return ended.length === 0 ? [seen] : [seen, { kind: 'gone', section, ids: ended }];
}

/** Nothing narrows the list, and it begins at the beginning. */
function asksForAll(input: Values): boolean {
  const { page = 1, per_page: _size, ...filters } = input;
  return page === 1 && Object.values(filters).every(value => value === undefined);
}

const clean = (text: string) => withoutCardNumbers(withoutPatterns(text));

function rowsOf(section: SectionName, values: readonly Values[], now: number): CachedId[] {
  const rows = values
    .filter(({ id, status }) => typeof id === 'string' && status !== ENDED)
    .map(value => keptRow({ id: String(value['id']), ...FACTS[section](value), seen: now }, clean));
  return rows.filter(row => row !== undefined);
}

type Facts = Pick<CachedId, 'about' | 'status' | 'label'>;

const FACTS: Readonly<Record<SectionName, (value: Values) => Facts>> = {
  card: ({ network, last4, status, label }) => ({
    about: words([network, last4]),
    status: asText(status),
    label: asText(label),
  }),
  bin: ({ network, type, acceptance_rate: rate, best_for: tags }) => ({
    about: [words([network, type]), typeof rate === 'number' && `${rate}% accepted`, asList(tags)]
      .filter(Boolean)
      .join(', '),
  }),
  // The path and query of an address may be all that keeps others from posting there.
  webhook: ({ url, status }) => ({
    about: URL.canParse(String(url)) ? new URL(String(url)).host : '',
    status: asText(status),
  }),
};

function words(parts: readonly unknown[]): string {
  return parts.filter(part => typeof part === 'string' && part !== '').join(' ');
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function asList(value: unknown): string {
  return Array.isArray(value) ? value.filter(each => typeof each === 'string').join(' ') : '';
}

function laidOver(section: Section, note: Note, now: number): Section {
  const { rows } = section;
  switch (note.kind) {
    case 'listed': {
      const listed = note.rows();
      const others = note.whole ? [] : without(rows, listed);
      return { ...section, listed: now, rows: [...listed, ...others].slice(0, MOST_ROWS) };
    }
    case 'seen': {
      const seen = note.rows();
      const fresh = new Map(seen.map(row => [row.id, row]));
      const kept = rows.map(row => fresh.get(row.id) ?? row);
      const added = without(seen, rows);
      const all = note.isNew ? [...added, ...kept] : [...kept, ...added];
      return { ...section, rows: all.slice(0, MOST_ROWS) };
    }
    case 'became':
      return { ...section, rows: rows.map(row => (row.id === note.id ? { ...row, status: note.status } : row)) };
    case 'gone':
      return { ...section, rows: rows.filter(({ id }) => !note.ids.includes(id)) };
  }
}

function without(rows: readonly CachedId[], others: readonly CachedId[]): readonly CachedId[] {
  const ids = new Set(others.map(({ id }) => id));
  return rows.filter(({ id }) => !ids.has(id));
}

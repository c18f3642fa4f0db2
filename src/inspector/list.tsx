/**
 * What views are described with. A field is something that is shown of an item: a column of a list, a fact of a detail.
 * A list has fields, filters, and what stands there when it is empty; a detail has a title, facts, and what may be done.
 */
import type { AdminName } from '../contract/sandbox/admin.ts';
import type { PageView } from '../contract/sandbox/page-views.ts';
import { addressOf, refine, useAddress } from './address.ts';
import { type ComponentChildren, useEffect, useLayoutEffect, useMemo, useRef, useState } from './elements.ts';
import { Copy, count, Facts, type Field, Head, Press, Said, SameCommand, Waiting, wordsOf } from './parts.tsx';
import { type Reply, useRow } from './session.ts';
import { type Input, rowOf } from './tables.ts';

export interface TableOf<Item> {
  readonly caption: string;
  readonly fields: readonly Field<Item>[];
  /** Where a row leads: its first field is the link. */
  readonly opens?: (item: Item) => string;
  /** What to say where there is no row, with what to do then: a link, or a command. */
  readonly empty: string;
  readonly next?: readonly [label: string, address: string];
  readonly command?: string;
  /** Rows behind one another for which it says the same stand as one. */
  readonly foldedBy?: (item: Item) => string;
}

export interface ListOf<Item> extends TableOf<Item> {
  /** Of the contract; where it has pages, so has the list. */
  readonly row: AdminName;
  readonly filters?: readonly Filter[];
}

interface Filter {
  /** A field of the row. */
  readonly name: string;
  readonly label: string;
  /** `search` looks while it is typed, and `/` leads there; `link` is set by a link and has a way out. */
  readonly kind: 'search' | 'text' | 'choice' | 'link' | 'day';
  readonly hint?: string;
  readonly choices?: readonly string[] | undefined;
  /** Of choices that a list shows by other words than those of their names. */
  readonly words?: Readonly<Record<string, string>>;
}

const filterOf =
  (kind: Filter['kind']) =>
  (name: string, label: string, choices?: readonly string[]): Filter => ({ kind, name, label, choices });

/** Filters, by how they are set. */
export const filter = {
  search: (hint: string): Filter => ({ kind: 'search', name: 'q', label: 'Search', hint }),
  typed: (name: string, label: string, hint: string): Filter => ({ kind: 'text', name, label, hint }),
  /** Without choices it has those of the row. */
  choice: filterOf('choice'),
  byLink: filterOf('link'),
  /** Of a row that has `since` and `until`. */
  day: filterOf('day')('day', 'Day (UTC)'),
};

/** The values of filters as the row takes them: a day is a span. */
const asked = ({ day, ...others }: Readonly<Record<string, string>>) =>
  day === undefined ? others : { ...others, since: `${day}T00:00:00Z`, until: `${day}T23:59:59.999Z` };

const classOf = ({ isNumber, place }: Omit<Field<never>, 'shows'>, nth: number) =>
  [isNumber && nth > 0 && 'number', place && `from-${place === 'under' ? 'm' : place}`].filter(Boolean).join(' ');

/** A real table; rows that lead somewhere are gone through with `j`, `k` and Enter. */
export function Rows<Item>({ list, items }: { readonly list: TableOf<Item>; readonly items: readonly Item[] }) {
  const { caption, fields, opens, empty, next, command, foldedBy } = list;
  const rows = foldedBy === undefined ? items.map(item => ({ item, times: 1 })) : folded(items, foldedBy);
  const isNarrow = useIsNarrow();
  const places = usePlaces(rows.map(({ item }, nth) => opens?.(item) ?? idOf(item) ?? String(nth)));
  if (items.length === 0)
    return (
      <p class="empty">
        {empty} {next && <a href={next[1]}>{next[0]}</a>} {command && <code>{command}</code>}{' '}
        {command && <Copy text={command} />}
      </p>
    );
  return (
    <section class="scroll" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {fields.map((each, nth) => (
              <th scope="col" class={classOf(each, nth)}>
                {each.title}
                {nth === 0 && isNarrow && <span class="under">{titlesUnder(fields)}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ item, times }, nth) => (
            <tr key={places[nth]} data-row={opens && ''}>
              {fields.map((each, nth) => (
                <td class={classOf(each, nth)}>
                  {nth > 0 ? each.shows(item, times) : <FirstCell {...{ list, item, times, isNarrow }} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const idOf = (item: unknown) => (item as { readonly id?: string }).id;

/**
 * Where each row is in the document. A row that stays keeps its elements, and the focus; one that comes takes those of
 * one that went, so that another page of a list makes none.
 */
function usePlaces(ids: readonly string[]): readonly number[] {
  const before = useRef<ReadonlyMap<string, number>>(new Map());
  const taken = new Set(ids.map(id => before.current.get(id)));
  let free = 0;
  const placeOf = (id: string) => {
    const own = before.current.get(id);
    if (own !== undefined) return own;
    while (taken.has(free)) free += 1;
    return free++;
  };
  before.current = new Map(ids.map(id => [id, placeOf(id)]));
  return ids.map(id => before.current.get(id) ?? 0);
}

/** Where columns have no room; the same border as in app.css. */
const narrow = window.matchMedia('(max-width: 699px)');

function useIsNarrow(): boolean {
  const [isNarrow, tell] = useState(narrow.matches);
  useLayoutEffect(() => {
    const listener = () => tell(narrow.matches);
    narrow.addEventListener('change', listener);
    return () => narrow.removeEventListener('change', listener);
  }, []);
  return isNarrow;
}

const titlesUnder = (fields: readonly Field<never>[]) =>
  fields.flatMap(({ title, place }) => (place === 'under' ? [title] : [])).join(', ');

interface CellProps<Item> {
  readonly list: TableOf<Item>;
  readonly item: Item;
  readonly times: number;
  readonly isNarrow: boolean;
}

/** The link of its row, and below it what has no column of its own on a narrow screen. */
function FirstCell<Item>({ list: { fields, opens }, item, times, isNarrow }: CellProps<Item>) {
  const shown = fields[0]?.shows(item, times);
  return (
    <>
      {opens === undefined ? (
        shown
      ) : (
        <a href={opens(item)} title={idOf(item)}>
          {shown}
        </a>
      )}
      {isNarrow && (
        <span class="under">
          {fields.map(({ title, place, shows }) => place === 'under' && <span key={title}>{shows(item, times)} </span>)}
        </span>
      )}
    </>
  );
}

/** Rows that repeat as one: the newest of each, and how many there are. */
const SHORTEST = 3;
/** Rows of which the longest repeated block is made: a purchase is a record, an entry, an event and its deliveries. */
const LONGEST_BLOCK = 8;

/** Blocks of rows of which `text` says the same, one behind the other; what repeats less often stays as it is. */
function folded<Item>(items: readonly Item[], text: (item: Item) => string) {
  const texts = items.map(text);
  const folds: { item: Item; times: number }[] = [];
  for (let from = 0; from < items.length; ) {
    const { length, times } = repeatedAt(texts, from);
    folds.push(...items.slice(from, from + length).map(item => ({ item, times })));
    from += length * times;
  }
  return folds;
}

/** The shortest block that repeats from here on; one row, once, where none does. */
function repeatedAt(texts: readonly string[], from: number): { readonly length: number; readonly times: number } {
  for (let length = 1; length <= LONGEST_BLOCK; length += 1) {
    let to = from + length;
    while (to < texts.length && texts[to] === texts[to - length]) to += 1;
    const times = Math.floor((to - from) / length);
    if (times >= SHORTEST) return { length, times };
  }
  return { length: 1, times: 1 };
}

interface Answer<Item> {
  readonly data: readonly Item[];
  readonly meta?: { readonly page?: number; readonly total?: number; readonly total_pages?: number };
}

interface ListProps<Item> {
  readonly list: ListOf<Item>;
  /** Where it stands: its filters and its page are in this address. */
  readonly view: PageView | '';
  readonly id?: string;
  /** What is asked beside the filters. */
  readonly fixed?: Input;
  /** Nothing is asked anew. */
  readonly paused?: boolean;
}

/** A list with its filters and pages, and the command that gives the same. */
export function List<Item>({ list, view, id, fixed = {}, paused = false }: ListProps<Item>) {
  const { filters: given } = useAddress();
  const { row, filters = [] } = list;
  const hasPages = rowOf(row).fields.some(({ name }) => name === 'page');
  const values = Object.fromEntries(filters.flatMap(({ name }) => (given[name] ? [[name, given[name]]] : [])));
  const page = hasPages && { per_page: 50, page: given['page'] ?? '' };
  const here = (filters = {}) => (id === undefined ? addressOf(view, filters) : addressOf(view, id, filters));
  const change = (next: Readonly<Record<string, string>>) => refine(here({ ...values, ...next }));
  const input = asked(values);
  const { data: found, error } = useRow<Answer<Item>>(row, { ...fixed, ...input, ...page }, paused);
  // Rows of another page or filter stay until the new ones are there, and with them the focus.
  const last = useRef(found);
  if (found !== undefined || error !== undefined) last.current = found;
  const data = last.current;
  const isFiltered = Object.keys(values).length > 0;
  const canTell = Object.keys(input).every(name => rowOf(row).command.flags[name] !== undefined);
  // What is there already is not made again at every poll.
  const rows = useMemo(() => {
    const next = ['Clear the filters', here()] as const;
    const shown = isFiltered ? { ...list, command: '', empty: 'Nothing fits.', next } : list;
    return data && <Rows list={shown} items={data.data} />;
  }, [data, isFiltered, list]);
  return (
    <div aria-busy={found === undefined && data !== undefined}>
      {filters.length > 0 && (
        <form class="filters" onSubmit={event => event.preventDefault()}>
          {filters.map(each => (
            <FilterField key={each.name} of={each} row={row} value={values[each.name] ?? ''} change={change} />
          ))}
        </form>
      )}
      {(error !== undefined || data === undefined) && <Waiting error={error} />}
      {rows}
      {hasPages && data?.meta !== undefined && <Pages facts={data.meta} goTo={to => change({ page: to })} />}
      {canTell && <SameCommand row={row} input={{ ...fixed, ...input }} />}
    </div>
  );
}

/** How many there are, and steps through the pages of a list. */
function Pages({ facts, goTo }: { facts: NonNullable<Answer<never>['meta']>; goTo: (page: string) => void }) {
  const { page = 1, total = 0, total_pages: pages = 1 } = facts;
  if (pages <= 1) return <p class="quiet">{`${count(total)} in all`}</p>;
  const step = (label: string, to: number) => {
    const isThere = to >= 1 && to <= pages && to !== page;
    return <Press label={label} disabled={!isThere} onClick={() => goTo(to === 1 ? '' : String(to))} />;
  };
  return (
    <nav class="pages" aria-label="Pages">
      {step('First', 1)}
      {step('Newer', page - 1)}
      <span>{`Page ${count(page)} of ${count(pages)}, ${count(total)} in all`}</span>
      {step('Older', page + 1)}
      {step('Last', pages)}
    </nav>
  );
}

interface FilterProps {
  readonly of: Filter;
  readonly row: string;
  readonly value: string;
  readonly change: (next: Readonly<Record<string, string>>) => void;
}

function FilterField({ of, row, value, change }: FilterProps) {
  const { name, label, kind, hint } = of;
  const choices = of.choices ?? rowOf(row).fields.find(field => field.name === name)?.choices ?? [];
  const set = (event: Event) => change({ [name]: (event.currentTarget as HTMLInputElement).value });
  // A text counts when it is whole; until then it is kept here, or the next render would take it away.
  const [typed, type] = useState(value);
  useEffect(() => type(value), [value]);
  if (kind === 'link')
    return value === '' ? null : (
      <Press label={`${label} ${value} ✕`} title="Show all" onClick={() => change({ [name]: '' })} />
    );
  const id = kind === 'search' ? 'search' : `filter-${name}`;
  const about = { id, placeholder: hint };
  return (
    <label for={id}>
      {label} {kind === 'search' && <input type="search" {...about} value={value} onInput={set} />}
      {kind === 'day' && <input type="date" {...about} value={value} onChange={set} />}
      {kind === 'text' && (
        <input
          type="text"
          {...about}
          value={typed}
          onInput={({ currentTarget: at }) => type(at.value)}
          onChange={set}
        />
      )}
      {kind === 'choice' && (
        <select id={id} value={value} onChange={set}>
          <option value="">all</option>
          {choices.map(each => (
            <option value={each}>{of.words?.[each] ?? wordsOf(each)}</option>
          ))}
        </select>
      )}
    </label>
  );
}

interface AskProps<Name extends AdminName> {
  readonly row: Name;
  readonly input?: Input;
  readonly children: (answer: Reply<Name>) => ComponentChildren;
}

/** What a row answers, as soon as it does, and the command that gives the same. */
export function Ask<Name extends AdminName>({ row, input = {}, children }: AskProps<Name>) {
  const { data, error } = useRow<Reply<Name>>(row, input);
  return (
    <>
      {data === undefined ? <Waiting error={error} /> : children(data)}
      <SameCommand row={row} input={input} />
    </>
  );
}

/** A view: a list, and one thing of it where the address has an id. */
export interface ViewOf<Item, Whole extends Item = Item> {
  readonly view: PageView;
  readonly title: string;
  readonly list: ListOf<Item>;
  readonly one: DetailOf<Whole>;
  /** In place of the list alone. */
  readonly all?: () => ComponentChildren;
}

/** One thing: its title and its state, then what the list says of it and more, then what may be done. */
interface DetailOf<Whole> {
  readonly row: AdminName;
  /** Field of the row that takes its id. */
  readonly by: string;
  /** What to call it until it is there. */
  readonly name: string;
  readonly title: (item: Whole) => string;
  readonly lead?: (item: Whole) => ComponentChildren;
  /** Beside the fields of the list. */
  readonly facts: readonly Field<Whole>[];
  readonly rest?: (item: Whole) => ComponentChildren;
}

interface ViewProps<Item, Whole extends Item> {
  readonly of: ViewOf<Item, Whole>;
  readonly id: string | undefined;
}

export function View<Item, Whole extends Item>({ of, id }: ViewProps<Item, Whole>) {
  if (id !== undefined) return <Detail key={id} of={of} id={id} />;
  return (
    <section>
      <Head title={of.title} />
      {of.all?.() ?? <List list={of.list} view={of.view} />}
    </section>
  );
}

/** A row of a list that is asked for one id answers with a list. */
function Detail<Item, Whole extends Item>({
  of: { view, list, one },
  id,
}: ViewProps<Item, Whole> & { readonly id: string }) {
  const { row, by, name, title, lead, facts, rest } = one;
  const input = { [by]: id };
  const { data, error } = useRow<Whole & Partial<Answer<Whole>>>(row, input);
  const item: Whole | undefined = data?.data === undefined || !('meta' in data) ? data : data.data[0];
  const [, ...fields] = list.fields;
  const state = fields.find(({ isState }) => isState);
  const shown = [...fields.filter(each => each !== state), ...facts];
  return (
    <section>
      <Head title={item === undefined ? name : <Said text={title(item)} />} state={item && state?.shows(item, 1)} />
      {(data === undefined || error !== undefined) && <Waiting error={error} />}
      {item === undefined ? (
        data !== undefined && <p>{`There is no such ${name.toLowerCase()} here.`}</p>
      ) : (
        <>
          {lead?.(item)}
          <Facts facts={shown.map(({ title, shows }) => [title, shows(item, 1)])} />
          {rest?.(item)}
        </>
      )}
      <SameCommand row={row} input={input} />
      <p>
        <a href={addressOf(view)}>{`All ${view}`}</a>
      </p>
    </section>
  );
}

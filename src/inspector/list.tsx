/**
 * Lists made from one description: columns, filters, where a row leads and what stands there when there is none. The same
 * description makes a plain table, a list that is asked page by page, and one of any length of which only rows that are
 * seen stand in the document.
 */
import { addressOf, refine, useAddress } from './address.ts';
import { type ComponentChildren, useEffect, useRef, useState } from './elements.ts';
import { type Fact, Facts, folded, Head, Said, SameCommand, Waiting, wordsOf } from './parts.tsx';
import { callRow, lastActAt, useLive, useRow } from './session.ts';
import { type Input, rowOf } from './tables.ts';

export interface Column<Row> {
  readonly title: string;
  /** `times` counts rows that repeat, in a list that folds them. */
  readonly shows: (row: Row, times: number) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly number?: true;
  /** Left out below 700 px (`m`) or 1,100 px (`l`). */
  readonly from?: 'm' | 'l';
  /** Below 700 px it stands in a second line of the first column instead. */
  readonly under?: true;
  /** Share of the width in a list of any length, where columns do not follow their content. */
  readonly width?: 'wide' | 'time';
}

interface Filter {
  /** A field of the row. */
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  /** The one to which `/` leads. */
  readonly search?: true;
  /** In place of those of the row. */
  readonly choices?: readonly string[];
}

export interface ListOf<Row> {
  /** Of the contract. */
  readonly row: string;
  readonly caption: string;
  readonly keyOf: (row: Row) => string;
  readonly href?: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly empty: ComponentChildren;
  readonly filters?: readonly Filter[];
  /** Rows behind one another for which it says the same stand as one. */
  readonly foldedBy?: (row: Row) => string;
}

const classOf = ({ number, from, under, width }: Column<never>) =>
  [number && 'number', under ? 'from-m' : from && `from-${from}`, width].filter(Boolean).join(' ');

interface CellProps<Row> {
  readonly list: TableOf<Row>;
  readonly nth: number;
  readonly row: Row;
  readonly times?: number;
}

/** What stands in a cell; of the first one also what has no column of its own on a narrow screen. */
function Cell<Row>({ list: { columns }, nth, row, times = 1 }: CellProps<Row>) {
  const shown = columns[nth]?.shows(row, times);
  const unders = nth === 0 ? columns.filter(({ under }) => under) : [];
  if (unders.length === 0) return <>{shown}</>;
  return (
    <>
      {shown}
      <span class="under">
        {unders.map(({ title, shows }) => (
          <span key={title}>{shows(row, times)} </span>
        ))}
      </span>
    </>
  );
}

export type TableOf<Row> = Omit<ListOf<Row>, 'row' | 'filters'>;

const Heads = <Row,>({ columns }: { readonly columns: readonly Column<Row>[] }) => (
  <>
    {columns.map(column => (
      <th scope="col" class={classOf(column as Column<never>)}>
        {column.title}
      </th>
    ))}
  </>
);

/** A real table; rows with an address are gone through with `j`, `k` and Enter. */
export function Rows<Row>({ list, items }: { readonly list: TableOf<Row>; readonly items: readonly Row[] }) {
  const { caption, columns, keyOf, href, empty, foldedBy } = list;
  if (items.length === 0) return <div class="empty">{empty}</div>;
  return (
    <section class="scroll" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            <Heads columns={columns} />
          </tr>
        </thead>
        <tbody>
          {(foldedBy === undefined ? items.map(item => ({ item, times: 1 })) : folded(items, foldedBy)).map(
            ({ item: row, times }) => (
              <tr key={keyOf(row)} data-row={href?.(row)}>
                {columns.map((column, nth) => (
                  <td class={classOf(column as Column<never>)}>
                    <Cell list={list} nth={nth} row={row} times={times} />
                  </td>
                ))}
              </tr>
            ),
          )}
        </tbody>
      </table>
    </section>
  );
}

interface PageFacts {
  readonly page?: number;
  readonly total?: number;
  readonly total_pages?: number;
}

export interface Answer<Row> {
  readonly data: readonly Row[];
  readonly meta: PageFacts;
}

/** Rows that are asked for; nothing is asked anew while it is paused. */
export function Asked<Row>({
  list,
  input = {},
  paused,
  goTo,
}: {
  readonly list: ListOf<Row>;
  readonly input?: Input;
  readonly paused?: boolean;
  readonly goTo?: (page: number) => void;
}) {
  const { data, error } = useRow<Answer<Row>>(list.row, input, paused);
  if (data === undefined) return <Waiting error={error} />;
  return (
    <div>
      {error !== undefined && <Waiting error={error} />}
      <Rows list={list} items={data.data} />
      {goTo !== undefined && <Pages facts={data.meta} goTo={goTo} />}
    </div>
  );
}

/** Steps through the pages of a list. */
function Pages({ facts, goTo }: { readonly facts: PageFacts; readonly goTo: (page: number) => void }) {
  const { page = 1, total = 0, total_pages: pages = 1 } = facts;
  if (pages <= 1) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" class="small" disabled={page <= 1} onClick={() => goTo(page - 1)}>
        Newer
      </button>
      <span>{`Page ${page} of ${pages}, ${total.toLocaleString('en-US')} in all`}</span>
      <button type="button" class="small" disabled={page >= pages} onClick={() => goTo(page + 1)}>
        Older
      </button>
    </nav>
  );
}

interface ListViewProps<Row> {
  readonly view: string;
  readonly id?: string;
  readonly list: ListOf<Row>;
  /** Every row in one list, however many there are. */
  readonly isLong?: true;
  /** What is asked beside the filters. */
  readonly fixed?: Input;
}

/** A list with its filters, which stand in the address, and the command that gives the same. */
export function FilteredList<Row>({ view, id, list, isLong, fixed = {} }: ListViewProps<Row>) {
  const { filters: given } = useAddress();
  const { filters = [], row } = list;
  const values = Object.fromEntries(filters.flatMap(({ name }) => (given[name] ? [[name, given[name]]] : [])));
  const page = given['page'] ?? '';
  const change = (next: Readonly<Record<string, string>>) => refine(addressOf(view, id, { ...values, ...next }));
  const paged = { ...fixed, ...values, ...(page !== '' && { page }) };
  const isFiltered = Object.keys(values).length > 0;
  const fitting = isFiltered
    ? {
        ...list,
        empty: (
          <p>
            Nothing fits. <a href={addressOf(view, id)}>Clear the filters</a>
          </p>
        ),
      }
    : list;
  return (
    <div>
      <form class="filters" onSubmit={event => event.preventDefault()}>
        {filters.map(filter => (
          <FilterField filter={filter} row={row} value={values[filter.name] ?? ''} change={change} />
        ))}
      </form>
      {isLong ? (
        <LongList list={fitting} input={{ ...fixed, ...values }} />
      ) : (
        <Asked
          list={fitting}
          input={{ per_page: 50, ...paged }}
          goTo={to => change({ page: to === 1 ? '' : String(to) })}
        />
      )}
      <SameCommand row={row} input={paged} />
    </div>
  );
}

export function ListView<Row>({
  title,
  actions,
  children,
  ...props
}: ListViewProps<Row> & {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <section>
      <Head title={title}>{actions}</Head>
      <FilteredList {...props} />
      {children}
    </section>
  );
}

interface FilterFieldProps {
  readonly filter: Filter;
  readonly row: string;
  readonly value: string;
  readonly change: (next: Readonly<Record<string, string>>) => void;
}

function FilterField({ filter: { name, label, placeholder, search, choices }, row, value, change }: FilterFieldProps) {
  const words = choices ?? rowOf(row).fields.find(field => field.name === name)?.choices;
  const onInput = (event: Event) => change({ [name]: (event.currentTarget as HTMLInputElement).value });
  // A text counts when it is whole; until then it is kept here, or the next render would take it away.
  const [typed, type] = useState(value);
  useEffect(() => type(value), [value]);
  const id = search ? 'search' : `filter-${name}`;
  const about = { id, value, placeholder };
  return (
    <label for={id}>
      {label}{' '}
      {words === undefined ? (
        search ? (
          <input type="search" {...about} onInput={onInput} />
        ) : (
          <input
            type="text"
            {...about}
            value={typed}
            onInput={event => type(event.currentTarget.value)}
            onChange={onInput}
          />
        )
      ) : (
        <select id={id} value={value} onChange={onInput}>
          <option value="">all</option>
          {words.map(each => (
            <option value={each}>{wordsOf(each)}</option>
          ))}
        </select>
      )}
    </label>
  );
}

// A list of any length. Rows are asked for in windows, of which the newest are kept; a list longer than the scroll area may be high is moved through in larger steps.

/** Rows that are asked for at once, and how many windows are kept. */
const WINDOW = 200;
const MOST_WINDOWS = 12;
/** ms of rest before a window is asked for: whoever drags the scroll bar passes many. */
const REST_BEFORE = 40;
/** px; browsers draw nothing reliably beyond more than that. */
const HIGHEST = 8_000_000;
const ROW = 36;
const NARROW_ROW = 52;
const NARROW_BELOW = 700;
/** Rows above and below those that are seen. */
const MORE = 8;
/** So many times as long as an answer took nothing is asked anew, but for what was done in this page. */
const REST = 20;

interface Windows<Row> {
  readonly total: number | undefined;
  readonly error: Error | undefined;
  readonly rows: ReadonlyMap<number, readonly Row[]>;
}

const NONE = { total: undefined, error: undefined, rows: new Map() };

/** Asks for the windows from the first to the last row, and for those that are seen anew after each change. */
function useWindows<Row>(row: string, input: Input, first: number, last: number): Windows<Row> {
  const changes = useLive().marks?.changes;
  const [known, tell] = useState<Windows<Row>>(NONE);
  const asked = useRef({ question: '', changes, restsUntil: 0, at: 0 });
  const question = JSON.stringify(input);
  const windows = `${Math.floor(first / WINDOW)}-${Math.floor(last / WINDOW)}`;
  if (asked.current.question !== question) {
    asked.current = { question, changes, restsUntil: 0, at: 0 };
    if (known !== NONE) tell(NONE);
  }
  const rests = performance.now() < asked.current.restsUntil && lastActAt() < asked.current.at;
  const isDue = changes !== asked.current.changes && !rests;
  if (isDue) asked.current.changes = changes;
  const stamp = asked.current.changes;
  const fresh = useRef(new Map<number, string | undefined>());
  useEffect(() => {
    const given = new AbortController();
    const timer = setTimeout(
      async () => {
        for (let nth = Math.floor(first / WINDOW); nth <= Math.floor(last / WINDOW); nth += 1) {
          const mark = `${question} ${stamp}`;
          if (fresh.current.get(nth) === mark) continue;
          const began = performance.now();
          asked.current.at = began;
          // A change meanwhile lets it go on: under steady writes nothing would come to its end otherwise.
          asked.current.restsUntil = Number.POSITIVE_INFINITY;
          try {
            const asking = { ...input, page: nth + 1, per_page: WINDOW };
            const { data, meta } = await callRow<Answer<Row>>(row, asking, given.signal);
            fresh.current.set(nth, mark);
            tell(before => withWindow(before, nth, data, meta.total ?? data.length));
          } catch (error) {
            if (given.signal.aborted) return;
            tell(before => ({ ...before, error: error as Error }));
          }
          asked.current.restsUntil = performance.now() + (performance.now() - began) * REST;
        }
      },
      fresh.current.size === 0 ? 0 : REST_BEFORE,
    );
    return () => {
      clearTimeout(timer);
      given.abort();
      asked.current.restsUntil = 0;
    };
  }, [question, windows, stamp]);
  return known;
}

/** The newest windows are kept. */
function withWindow<Row>({ rows }: Windows<Row>, nth: number, data: readonly Row[], total: number): Windows<Row> {
  const others = [...rows].filter(([place]) => place !== nth).slice(1 - MOST_WINDOWS);
  return { total, error: undefined, rows: new Map([...others, [nth, data]]) };
}

function LongList<Row>({ list, input }: { readonly list: ListOf<Row>; readonly input: Input }) {
  const { row, caption, columns, href } = list;
  const box = useRef<HTMLElement>(null);
  const [place, move] = useState({ top: 0, height: 600, narrow: innerWidth < NARROW_BELOW });
  const size = place.narrow ? NARROW_ROW : ROW;
  const [total, setTotal] = useState(0);
  const inSight = Math.ceil(place.height / size);
  const high = Math.min(total * size, HIGHEST);
  const first = Math.max(0, Math.round((place.top / Math.max(1, high - place.height)) * Math.max(0, total - inSight)));
  const from = Math.max(0, first - MORE);
  const to = Math.min(Math.max(total, 1), first + inSight + MORE);
  const { rows, error, total: counted } = useWindows<Row>(row, input, from, to - 1);
  useEffect(() => setTotal(counted ?? 0), [counted]);
  const question = JSON.stringify(input);
  useEffect(() => box.current?.scrollTo(0, 0), [question]);
  const look = () => {
    const { scrollTop = 0, clientHeight = 600 } = box.current ?? {};
    move({ top: scrollTop, height: clientHeight, narrow: innerWidth < NARROW_BELOW });
  };
  useEffect(() => {
    if (box.current === null) return undefined;
    const watched = new ResizeObserver(look);
    watched.observe(box.current);
    return () => watched.disconnect();
  }, [counted === 0, error === undefined]);
  if (error !== undefined) return <Waiting error={error} />;
  if (counted === 0) return <div class="empty">{list.empty}</div>;
  const isScaled = total * size > HIGHEST;
  const above = isScaled ? Math.max(0, Math.min(place.top - (first - from) * size, high)) : from * size;
  const seen = Array.from({ length: counted === undefined ? 0 : to - from }, (_, nth) => from + nth);
  const itemAt = (nth: number) => rows.get(Math.floor(nth / WINDOW))?.[nth % WINDOW];
  return (
    <div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is reached by the keyboard */}
      <section class="long" aria-label={caption} tabIndex={0} ref={box} onScroll={look}>
        <table aria-rowcount={total + 1}>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr aria-rowindex={1}>
              <Heads columns={columns} />
            </tr>
          </thead>
          <tbody>
            <Space height={above} />
            {seen.map(nth => {
              const item = itemAt(nth);
              return (
                <tr
                  key={nth}
                  aria-rowindex={nth + 2}
                  data-row={nth}
                  title={item === undefined ? undefined : href?.(item)}
                  style={{ height: `${size}px` }}
                >
                  {columns.map((column, at) => (
                    <td class={classOf(column as Column<never>)}>
                      {item === undefined ? at === 0 ? '…' : '' : <Cell list={list} nth={at} row={item} />}
                    </td>
                  ))}
                </tr>
              );
            })}
            <Space height={Math.max(0, high - above - seen.length * size)} />
          </tbody>
        </table>
      </section>
      <p class="quiet">{counted === undefined ? 'Loading …' : `${total.toLocaleString('en-US')} in all`}</p>
    </div>
  );
}

/** Stands for the rows that nobody sees. */
const Space = ({ height }: { readonly height: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without cells takes no focus
  <tr aria-hidden="true" class="space" style={{ height: `${height}px` }} />
);

// One thing by its id: it begins with what it is, of which state and on what, then come its facts and what may be done.

export interface DetailOf<Row> {
  readonly row: string;
  /** What to call it until it is there. */
  readonly name: string;
  /** The list that it stands in. */
  readonly view: string;
  readonly title: (item: Row) => string;
  readonly state: (item: Row) => ComponentChildren;
  readonly lead: (item: Row) => ComponentChildren;
  readonly facts: (item: Row) => readonly Fact[];
  readonly actions?: (item: Row) => ComponentChildren;
  readonly rest: (item: Row) => ComponentChildren;
}

/** A row of a list that is asked for one id answers with a list. */
export function Detail<Row>({ of, input }: { readonly of: DetailOf<Row>; readonly input: Input }) {
  const { row, name, view, title, state, lead, facts, actions, rest } = of;
  const { data, error } = useRow<Row & Partial<Answer<Row>>>(row, input);
  const item: Row | undefined = data?.data === undefined || !('meta' in data) ? data : data.data[0];
  return (
    <section>
      {item === undefined ? (
        <>
          <Head title={name} />
          {data === undefined ? <Waiting error={error} /> : <p>{`There is no such ${name.toLowerCase()} here.`}</p>}
        </>
      ) : (
        <>
          <Head
            title={
              <>
                <Said text={title(item)} /> {state(item)}
              </>
            }
          >
            {actions?.(item)}
          </Head>
          {error !== undefined && <Waiting error={error} />}
          <div class="lead">{lead(item)}</div>
          <Facts facts={facts(item)} />
          {rest(item)}
        </>
      )}
      <SameCommand row={row} input={input} />
      <p>
        <a href={addressOf(view)}>{`All ${view}`}</a>
      </p>
    </section>
  );
}

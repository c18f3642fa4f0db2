/**
 * Lists made from one description: columns, filters, where a row leads and what stands there when there is none. It makes
 * a plain table, and a list that is asked page by page.
 */
import { addressOf, refine, useAddress } from './address.ts';
import { type ComponentChildren, useEffect, useRef, useState } from './elements.ts';
import { count, type Fact, Facts, folded, Head, Said, SameCommand, Waiting, wordsOf } from './parts.tsx';
import { useRow } from './session.ts';
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
  /** At least as wide as a name of ours, where there is room. */
  readonly isWide?: true;
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
  /** A link sets it, and nobody types it: it is shown where it is set, with a way out. */
  readonly isSetByLink?: true;
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

const classOf = ({ number, from, under, isWide }: Column<never>) =>
  [number && 'number', under ? 'from-m' : from && `from-${from}`, isWide && 'wide'].filter(Boolean).join(' ');

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
  const { data: found, error } = useRow<Answer<Row>>(list.row, input, paused);
  // Rows of another page or filter stay until the new ones are there, and with them the focus.
  const last = useRef(found);
  if (found !== undefined || error !== undefined) last.current = found;
  const data = last.current;
  if (data === undefined) return <Waiting error={error} />;
  return (
    <div aria-busy={found === undefined}>
      {error !== undefined && <Waiting error={error} />}
      <Rows list={list} items={data.data} />
      {goTo !== undefined && <Pages facts={data.meta} goTo={goTo} />}
    </div>
  );
}

/** How many there are, and steps through the pages of a list. */
function Pages({ facts, goTo }: { readonly facts: PageFacts; readonly goTo: (page: number) => void }) {
  const { page = 1, total = 0, total_pages: pages = 1 } = facts;
  const step = (label: string, to: number) => (
    <button type="button" class="small" disabled={to < 1 || to > pages || to === page} onClick={() => goTo(to)}>
      {label}
    </button>
  );
  if (pages <= 1) return <p class="quiet">{`${count(total)} in all`}</p>;
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

interface ListViewProps<Row> {
  readonly view: string;
  readonly id?: string;
  readonly list: ListOf<Row>;
  /** What is asked beside the filters. */
  readonly fixed?: Input;
  /** Nothing is asked anew. */
  readonly paused?: boolean;
}

/** A list with its filters, which stand in the address, and the command that gives the same. */
export function FilteredList<Row>({ view, id, list, fixed = {}, paused = false }: ListViewProps<Row>) {
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
      <Asked
        list={fitting}
        input={{ per_page: 50, ...paged }}
        paused={paused}
        goTo={to => change({ page: to === 1 ? '' : String(to) })}
      />
      <SameCommand row={row} input={{ ...fixed, ...values }} />
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

function FilterField({ filter, row, value, change }: FilterFieldProps) {
  const { name, label, placeholder, search, choices, isSetByLink } = filter;
  const words = choices ?? rowOf(row).fields.find(field => field.name === name)?.choices;
  const onInput = (event: Event) => change({ [name]: (event.currentTarget as HTMLInputElement).value });
  // A text counts when it is whole; until then it is kept here, or the next render would take it away.
  const [typed, type] = useState(value);
  useEffect(() => type(value), [value]);
  const id = search ? 'search' : `filter-${name}`;
  const about = { id, value, placeholder };
  if (isSetByLink)
    return value === '' ? null : (
      <button type="button" class="small" title="Show all" onClick={() => change({ [name]: '' })}>
        {`${label} `}
        <Said text={value} /> ✕
      </button>
    );
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

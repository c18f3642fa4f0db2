/**
 * A list of any length: only rows that are seen stand in the document. They are asked for in windows, of which the newest
 * are kept; a list longer than the scroll area may be high is moved through in larger steps.
 */

import { type ComponentChildren, useEffect, useRef, useState } from './elements.ts';
import { type Cell, classOf, type PageFacts } from './parts.tsx';
import { callRow, lastActAt, useLive } from './session.ts';
import type { Input } from './tables.ts';

/** Rows that are asked for at once, and how many windows are kept. */
const WINDOW = 200;
const MOST_WINDOWS = 12;
/** ms of rest before a window is asked for: whoever drags the scroll bar passes many. */
const REST_BEFORE = 40;
/** px; browsers draw nothing reliably beyond more than that. */
const HIGHEST = 8_000_000;
const ROW = 36;
const NARROW_ROW = 52;
/** Rows above and below those that are seen. */
const MORE = 8;
/** So many times as long as an answer took nothing is asked anew, but for what was done in this page. */
const REST = 20;

interface Answer<Item> {
  readonly data: readonly Item[];
  readonly meta: PageFacts;
}

interface Windows<Item> {
  readonly total: number | undefined;
  readonly error: Error | undefined;
  readonly rows: ReadonlyMap<number, readonly Item[]>;
}

const NONE = { total: undefined, error: undefined, rows: new Map() };

/** Asks for the windows from the first to the last row, and for those that are seen anew after each change. */
function useWindows<Item>(row: string, input: Input, first: number, last: number): Windows<Item> {
  const changes = useLive().marks?.changes;
  const [known, tell] = useState<Windows<Item>>(NONE);
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
            const { data, meta } = await callRow<Answer<Item>>(row, asking, given.signal);
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
function withWindow<Item>({ rows }: Windows<Item>, nth: number, data: readonly Item[], total: number): Windows<Item> {
  const others = [...rows].filter(([place]) => place !== nth).slice(1 - MOST_WINDOWS);
  return { total, error: undefined, rows: new Map([...others, [nth, data]]) };
}

export interface LongListProps<Item> {
  readonly caption: string;
  readonly row: string;
  readonly input: Input;
  readonly cells: readonly Cell[];
  readonly shown: (item: Item) => readonly ComponentChildren[];
  readonly empty: ComponentChildren;
}

export function LongList<Item>({ caption, row, input, cells, shown, empty }: LongListProps<Item>) {
  const box = useRef<HTMLElement>(null);
  const [place, move] = useState({ top: 0, height: 600, narrow: false });
  const size = place.narrow ? NARROW_ROW : ROW;
  const [total, setTotal] = useState(0);
  const inSight = Math.ceil(place.height / size);
  const high = Math.min(total * size, HIGHEST);
  const first = Math.max(0, Math.round((place.top / Math.max(1, high - place.height)) * Math.max(0, total - inSight)));
  const from = Math.max(0, first - MORE);
  const to = Math.min(Math.max(total, 1), first + inSight + MORE);
  const { rows, error, total: counted } = useWindows<Item>(row, input, from, to - 1);
  useEffect(() => setTotal(counted ?? 0), [counted]);
  const question = JSON.stringify(input);
  useEffect(() => box.current?.scrollTo(0, 0), [question]);
  const look = () => {
    const { scrollTop = 0, clientHeight = 600 } = box.current ?? {};
    move({ top: scrollTop, height: clientHeight, narrow: innerWidth < 600 });
  };
  useEffect(() => {
    if (box.current === null) return undefined;
    const watched = new ResizeObserver(look);
    watched.observe(box.current);
    return () => watched.disconnect();
  }, [counted === 0, error === undefined]);
  if (error !== undefined) return <p class="problem">{error.message}</p>;
  if (counted === 0) return <div class="empty">{empty}</div>;
  const isScaled = total * size > HIGHEST;
  const above = isScaled ? Math.max(0, Math.min(place.top - (first - from) * size, high)) : from * size;
  const seen = Array.from({ length: counted === undefined ? 0 : to - from }, (_, nth) => from + nth);
  return (
    <div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is reached by the keyboard */}
      <section class="long" aria-label={caption} tabIndex={0} ref={box} onScroll={look}>
        <table aria-rowcount={total + 1}>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr aria-rowindex={1}>
              {cells.map(cell => (
                <th scope="col" class={classOf(cell)}>
                  {cell.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Space height={above} />
            {seen.map(nth => (
              <Row
                key={nth}
                nth={nth}
                size={size}
                cells={cells}
                content={contentOf(rows.get(Math.floor(nth / WINDOW))?.[nth % WINDOW], shown)}
              />
            ))}
            <Space height={Math.max(0, high - above - seen.length * size)} />
          </tbody>
        </table>
      </section>
      <p class="quiet">{counted === undefined ? 'Loading …' : `${total.toLocaleString('en-US')} in all`}</p>
    </div>
  );
}

/** Undefined for a row that has not come yet. */
function contentOf<Item>(item: Item | undefined, shown: LongListProps<Item>['shown']) {
  return item === undefined ? undefined : shown(item);
}

/** Stands for the rows that nobody sees. */
const Space = ({ height }: { readonly height: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without cells takes no focus
  <tr aria-hidden="true" class="space" style={{ height: `${height}px` }} />
);

interface RowProps {
  readonly nth: number;
  readonly size: number;
  readonly cells: readonly Cell[];
  readonly content: readonly ComponentChildren[] | undefined;
}

function Row({ nth, size, cells, content }: RowProps) {
  return (
    <tr aria-rowindex={nth + 2} data-row={nth} style={{ height: `${size}px` }}>
      {cells.map((cell, at) => (
        <td class={classOf(cell)}>{content === undefined ? (at === 0 ? '…' : '') : content[at]}</td>
      ))}
    </tr>
  );
}

/** What all views are made of: texts, tables, what is copied, forms. */

import { EMOJI } from '../core/text.ts';
import { addressOfId } from './address.ts';
import { type ComponentChildren, useState } from './elements.ts';
import { useLive } from './session.ts';
import { commandLine, type Input } from './tables.ts';

/** Text from outside: visible, and apart from the direction of the text around it. */
export const Said = ({ text }: { readonly text: string }) => <bdi>{printable(text)}</bdi>;

/** A name of ours, such as `transaction.declined`: a narrow column breaks it at its dots and lines alone. */
export function Name({ name }: { readonly name: string }) {
  const parts = name.split(/(?<=[._])/);
  return (
    <span>
      {parts.map((part, nth) => (
        <>
          {nth > 0 && <wbr />}
          {part}
        </>
      ))}
    </span>
  );
}

/** A time of the sandbox's clock, UTC; on a narrow screen in two lines. */
export function Time({ iso }: { readonly iso: string }) {
  const [date, time] = shortTime(iso).split(' ');
  return (
    <time dateTime={iso}>
      <span>{date}</span> <span>{time}</span>
    </time>
  );
}

/** An id, as a link where a view shows it. */
export function Id({ id }: { readonly id: string }) {
  const address = addressOfId(id);
  const shown = <code class="id">{printable(id)}</code>;
  return address === undefined ? shown : <a href={address}>{shown}</a>;
}

export function Badge({ word, kind }: { readonly word: string; readonly kind?: string | undefined }) {
  return <span class={`badge ${kind ?? toneOf(word)}`}>{printable(word)}</span>;
}

const GOOD = /^(?:active|delivered|approved|holds|settled|completed|confirmed|right|live|2\d\d)$/;
const BAD = /^(?:failed|declined|fails|broken|terminated|cancelled|disabled|parked|5\d\d|4\d\d)$/;

function toneOf(word: string): string {
  return GOOD.test(word) ? 'good' : BAD.test(word) ? 'bad' : '';
}

interface CopyProps {
  /** A function makes the text at the moment of the click. */
  readonly text: string | (() => string);
  readonly label?: string;
}

/** Its width never changes: a button that moves away under the pointer loses the click. */
export function Copy({ text, label = 'Copy' }: CopyProps) {
  const [said, say] = useState<'' | 'copied' | 'refused'>('');
  const copy = () =>
    navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => say('copied'),
      () => say('refused'),
    );
  return (
    <button
      type="button"
      class="small copies"
      data-copies={typeof text === 'string' ? text : undefined}
      title={said === 'refused' ? 'Select it and copy it by hand' : undefined}
      onClick={() => void copy()}
      onBlur={() => say('')}
    >
      <span class={said === '' ? '' : 'kept'}>{label}</span>
      <span class={said === 'copied' ? '' : 'kept'}>Copied</span>
      <span class={said === 'refused' ? '' : 'kept'}>By hand</span>
    </button>
  );
}

/** The command that gives the same; the newest one of the view answers the key `y`. */
export function SameCommand({ row, input = {} }: { readonly row: string; readonly input?: Input }) {
  const line = commandLine(row, input);
  return (
    <p class="command" data-command={line}>
      <span aria-hidden="true">$ </span>
      <code>{printable(line)}</code> <Copy text={line} />
    </p>
  );
}

export interface Cell {
  readonly title: string;
  /** Numbers stand at the right. */
  readonly number?: boolean;
  /** Left out below 600 px. */
  readonly wide?: boolean;
  /** Of a list whose columns are equal otherwise. */
  readonly width?: 'first' | 'label' | 'time';
}

/** Classes of a column. */
export const classOf = ({ number, wide, width }: Cell) =>
  [number && 'number', wide && 'wide', width].filter(Boolean).join(' ');

interface TableProps {
  readonly caption: string;
  readonly cells: readonly Cell[];
  readonly rows: readonly {
    readonly key: string;
    readonly cells: readonly ComponentChildren[];
    readonly href?: string;
  }[];
  readonly empty?: ComponentChildren;
}

/** A real table; rows with an address are gone through with `j`, `k` and Enter. */
export function Table({ caption, cells, rows, empty }: TableProps) {
  if (rows.length === 0) return <div class="empty">{empty ?? 'Nothing here.'}</div>;
  return (
    <section class="scroll" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {cells.map(cell => (
              <th scope="col" class={classOf(cell)}>
                {cell.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.key} data-row={row.href}>
              {row.cells.map((content, nth) => (
                <td class={classOf(cells[nth] ?? { title: '' })}>{content}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Terms with their values. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export const Text = ({ text, label }: { readonly text: string; readonly label: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls is reached by the keyboard
  <section class="text" aria-label={label} tabIndex={0}>
    <pre>{printableLines(text)}</pre>
  </section>
);

/** What a view shows before and instead of an answer. */
export function Waiting({ error }: { readonly error: Error | undefined }) {
  if (error === undefined) return <p class="quiet">Loading …</p>;
  return (
    <p class="problem" role="alert">
      <Said text={error.message} />
    </p>
  );
}

export interface PageFacts {
  readonly page?: number;
  readonly total?: number;
  readonly total_pages?: number;
}

/** Steps through the pages of a list. */
export function Pages({ facts, goTo }: { readonly facts: PageFacts; readonly goTo: (page: number) => void }) {
  const { page = 1, total = 0, total_pages: pages = 1 } = facts;
  if (pages <= 1) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" class="small" disabled={page <= 1} onClick={() => goTo(page - 1)}>
        Newer
      </button>
      <span>
        {page} of {pages}, {total.toLocaleString('en-US')} in all
      </span>
      <button type="button" class="small" disabled={page >= pages} onClick={() => goTo(page + 1)}>
        Older
      </button>
    </nav>
  );
}

/** The head of a view: its one heading, to which the focus goes. */
export function Head({
  title,
  children,
}: {
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="head">
      <h1 tabIndex={-1}>{title}</h1>
      <div class="actions">{children}</div>
    </div>
  );
}

/** Off while the server is gone, and where the session may only look. */
export function useCanChange(): boolean {
  const { link } = useLive();
  return link === 'live';
}

/** Rows that repeat as one: the newest of each, and how many there are. */
const SHORTEST = 3;
/** Rows of which the longest repeated block is made: a purchase is a record, an entry, an event and its deliveries. */
const LONGEST_BLOCK = 8;

interface Fold<Item> {
  readonly item: Item;
  readonly times: number;
}

/** Blocks of rows of which `text` says the same, one behind the other; what repeats less often stays as it is. */
export function folded<Item>(items: readonly Item[], text: (item: Item) => string): readonly Fold<Item>[] {
  const texts = items.map(text);
  const folds: Fold<Item>[] = [];
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

// Text from outside as it may be shown: what has no shape or turns the line around is made visible.

/** Controls, bidirectional and zero-width characters, lone surrogates. */
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb]|[\ufe00-\ufe0f]/u;
/** The emoji come first: what joins the parts of one is passed over. */
const EMOJI_OR_UNSEEN = new RegExp(`${EMOJI}|${UNSEEN.source}`, 'gu');

export function printable(text: string): string {
  if (!UNSEEN.test(text)) return text;
  return text.replace(EMOJI_OR_UNSEEN, found =>
    UNSEEN.test(found.charAt(0)) && found.length === 1
      ? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
      : found,
  );
}

/** The same for text of several lines. */
function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** `10,034.00`; the numbers of a row are USD. */
export function money(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return '–';
  return amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 }).replace('-', '−');
}

export const count = (number: number) => number.toLocaleString('en-US');

/** `2026-11-29 15:54:38` of an ISO time, which is UTC. */
export function shortTime(iso: string | null | undefined): string {
  return iso === null || iso === undefined ? '–' : iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/, '');
}

/** How long until or since, in the largest unit that fits: `in 6 d`, `3 min ago`. */
export function fromNow(iso: string, nowIso: string): string {
  const ms = Date.parse(iso) - Date.parse(nowIso);
  const units: readonly (readonly [number, string])[] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ];
  const [size, unit] = units.find(([each]) => Math.abs(ms) >= each) ?? [1_000, 's'];
  const text = `${Math.floor(Math.abs(ms) / size)} ${unit}`;
  return ms >= 0 ? `in ${text}` : `${text} ago`;
}

/** JSON on several lines; other text as it is. */
export function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

const ABBREVIATIONS: Readonly<Record<string, string>> = { mcc: 'MCC', three_ds: '3DS', bin: 'BIN' };

/** The name of a field as words. */
export const wordsOf = (name: string) => ABBREVIATIONS[name] ?? name.replaceAll('_', ' ');

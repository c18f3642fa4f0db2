/** What all views are made of: texts and values as they are shown, badges, facts, what is copied. */

import { EMOJI } from '../core/text.ts';
import { addressOf, addressOfId } from './address.ts';
import { type ComponentChildren, useState } from './elements.ts';
import { commandLine, type Input, rowOf } from './tables.ts';

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

/** A time of the sandbox's clock, with its zone; in a table the head of the column names the zone. */
export function Time({ iso, isInTable = false }: { readonly iso: string | null; readonly isInTable?: boolean }) {
  if (iso === null) return <span>–</span>;
  const [date, time] = shortTime(iso).split(' ');
  return (
    <time dateTime={iso} title={iso}>
      <span>{date}</span> <span>{isInTable ? time : `${time} UTC`}</span>
    </time>
  );
}

/** An id, as a link where a view shows it. */
export function Id({ id }: { readonly id: string }) {
  const address = addressOfId(id);
  const shown = <code class="id">{printable(id)}</code>;
  return address === undefined ? shown : <a href={address}>{shown}</a>;
}

/** A state, by its word and by its colour. */
export function Badge({ word, kind }: { readonly word: string; readonly kind?: string | undefined }) {
  return <span class={`badge ${kind ?? toneOf(word)}`}>{printable(word).replaceAll('_', ' ')}</span>;
}

const TONES: readonly (readonly [string, RegExp])[] = [
  ['good', /^(?:active|delivered|approved|holds|settled|completed|confirmed|right|live|2\d\d)$/],
  ['bad', /^(?:failed|failing|declined|fails|broken|terminated|disabled|parked|5\d\d|4\d\d)$/],
  ['waits', /^(?:pending|queued|sending|waiting|due|frozen|under way)$/],
];

const toneOf = (word: string): string => TONES.find(([, words]) => words.test(word))?.[0] ?? '';

const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  415: 'Unsupported Media Type',
  422: 'Unprocessable',
  429: 'Too Many Requests',
  500: 'Server Error',
  503: 'Unavailable',
};

export const HttpStatus = ({ status }: { readonly status: number }) => (
  <span class={`badge ${toneOf(String(status))}`}>
    <span>{status}</span>
    {STATUS_WORDS[status] !== undefined && <span class="words"> {STATUS_WORDS[status]}</span>}
  </span>
);

/** A card by its last four digits. */
export const CardLink = ({ id, last4 }: { readonly id: string; readonly last4: string }) => (
  <a class="card" href={addressOf('cards', id)} title={id}>{`•••• ${last4}`}</a>
);

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
  if (rowOf(row).command.words === '') return null;
  return (
    <p class="command" data-command={line}>
      <span aria-hidden="true">$ </span>
      <code>{printable(line)}</code> <Copy text={line} />
    </p>
  );
}

export type Fact = readonly [term: string, value: ComponentChildren];

/** Terms with their values; those without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([term, value]) => (
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

/** A field for text of several lines. */
function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** `$10,034.00`; the numbers of a row are USD. */
export function money(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return '–';
  const digits = Math.abs(amount).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return `${amount < 0 ? '−' : ''}$${digits}`;
}

/** What came, with its sign; nothing for 0. */
export const moved = (amount: number): string => (amount === 0 ? '' : `${amount > 0 ? '+' : ''}${money(amount)}`);

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

const ABBREVIATIONS: Readonly<Record<string, string>> = {
  mcc: 'MCC',
  three_ds: '3DS',
  bin: 'BIN',
  last4: 'last four digits',
  by: 'how far',
  card_id: 'card',
  authorization_id: 'purchase',
  challenge_id: 'challenge',
  deposit_id: 'deposit',
  webhook_id: 'subscription',
  transaction_id: 'transaction',
};

/** The name of a field as words. */
export const wordsOf = (name: string) => ABBREVIATIONS[name] ?? name.replaceAll('_', ' ');

/** The text of one value, for three readers: a person's table, a machine's cell, a screen reader. */
import { isoTime } from '../core/durations.ts';
import { type Cents, centsOf, dollars, plainAmount } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { printable } from './printable.ts';
import { monthText, parseTimestamp, relativeTime, relativeWords } from './times.ts';
import type { Column, ColumnKind } from './view.ts';

export interface HumanCells {
  readonly now: number;
  /** ISO times in place of relative ones (`-o wide`). */
  readonly absoluteTimes: boolean;
}

/** How values of a kind are written; what a function answers nothing for is shown as it came. */
interface KindText {
  /** Numbers and ages end at the same column, words begin at one. */
  readonly isRight?: true;
  readonly human?: (value: unknown, options: HumanCells) => string | undefined;
  readonly machine?: (value: unknown) => string | undefined;
  /** For a screen reader, where it differs. */
  readonly spoken?: (value: unknown, options: HumanCells) => string | undefined;
}

/** The amount, when the value is a clean JSON number of dollars. */
const money = (write: (amount: Cents) => string) => (value: unknown) => {
  const amount = typeof value === 'number' ? centsOf(value) : undefined;
  return amount === undefined ? undefined : write(amount);
};

function time<Rest extends readonly unknown[]>(write: (ms: number, ...rest: Rest) => string) {
  return (value: unknown, ...rest: Rest) => {
    const ms = parseTimestamp(value);
    return ms === undefined ? undefined : write(ms, ...rest);
  };
}

const KINDS: Readonly<Record<ColumnKind, KindText>> = {
  text: {},
  id: {},
  word: {},
  integer: { isRight: true },
  number: { isRight: true },
  money: {
    isRight: true,
    human: money(dollars),
    machine: money(plainAmount),
    spoken: money(amount => `${plainAmount(amount)} US dollars`),
  },
  percent: {
    isRight: true,
    human: value => (typeof value === 'number' && Number.isFinite(value) ? `${value}%` : undefined),
  },
  time: {
    isRight: true,
    human: time((ms, { now, absoluteTimes }: HumanCells) => (absoluteTimes ? isoTime(ms) : relativeTime(ms, now))),
    machine: time(isoTime),
    spoken: time((ms, { now, absoluteTimes }: HumanCells) => (absoluteTimes ? isoTime(ms) : relativeWords(ms, now))),
  },
  boolean: { human: value => (typeof value === 'boolean' ? (value ? 'yes' : 'no') : undefined) },
  month: { human: monthText },
  list: { human: value => listText(value, ', '), machine: value => listText(value, ';') },
  map: {
    human: value => {
      if (!isObject(value)) return undefined;
      return Object.entries(value)
        .map(([key, item]) => `${key}=${plainText(item)}`)
        .join(' ');
    },
  },
};

export const alignment = ({ kind }: Column) => (KINDS[kind].isRight ? 'right' : 'left');

/** Any JSON value as text: strings as they are, the rest as JSON. Absent is empty. */
export function plainText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function listText(value: unknown, separator: string): string {
  const joinable =
    Array.isArray(value) && value.every(item => typeof item !== 'object' && !`${item}`.includes(separator));
  return joinable ? value.join(separator) : plainText(value);
}

/** What a person reads in a table; `-` where there is no value. Safe to print. */
export function humanCell({ kind }: Column, value: unknown, options: HumanCells): string {
  if (value === undefined || value === null) return '-';
  return printable(KINDS[kind].human?.(value, options) ?? plainText(value));
}

/** The value a program reads: `120.00`, ISO times in UTC, lists with `;`, objects as JSON. Not escaped yet. */
export function machineCell({ kind }: Column, value: unknown): string {
  return KINDS[kind].machine?.(value) ?? plainText(value);
}

/** What a screen reader says: `120.00 US dollars`, `2 hours ago`, `none`. Safe to print. */
export function spokenCell(column: Column, value: unknown, options: HumanCells): string {
  if (value === undefined || value === null) return 'none';
  const spoken = KINDS[column.kind].spoken?.(value, options);
  return spoken ?? humanCell(column, value, options);
}

/** The name a field has in `field: value` lines: `created` for `created_at`, `spending limit`. */
export function spokenName(field: string): string {
  return printable(field.replace(/_at$/, '').replaceAll('_', ' '));
}

/** What a short id must save, in cells, to be worth it. */
const LEAST_SAVED = 4;

/** An id that can be cut: a plain word. Anything else is shown as it came. */
const PLAIN = /^[\x21-\x7e]+$/;

/**
 * The short form of each id that is to be shown shorter: at least `least` characters behind its prefix (`card_`), and
 * as many more as tell all of them apart.
 */
export function shortIds(ids: readonly string[], least: number, ellipsis: string): ReadonlyMap<string, string> {
  const all = [...new Set(ids)];
  let kept = least;
  while (new Set(all.map(id => beginning(id, kept))).size < all.length) kept += 1;
  const short = new Map<string, string>();
  for (const id of all) {
    const begin = beginning(id, kept);
    if (PLAIN.test(id) && id.length - begin.length - ellipsis.length >= LEAST_SAVED) short.set(id, begin + ellipsis);
  }
  return short;
}

/** The prefix up to the last `_` and so many characters behind it. */
function beginning(id: string, kept: number): string {
  return id.slice(0, id.lastIndexOf('_') + 1 + kept);
}

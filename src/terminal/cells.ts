/** The text of one value, for three readers: a person's table, a machine's cell, a screen reader. */
import { isoTime } from '../core/durations.ts';
import { centsOf, dollars, plainAmount } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { printable } from './printable.ts';
import { monthText, parseTimestamp, relativeTime, relativeWords } from './times.ts';
import type { Column, ColumnKind } from './view.ts';

export interface HumanCells {
  readonly now: number;
  /** ISO times in place of relative ones (`-o wide`). */
  readonly absoluteTimes: boolean;
}

const RIGHT_ALIGNED: ReadonlySet<ColumnKind> = new Set(['money', 'integer', 'number', 'percent', 'time']);

/** Numbers and ages end at the same column, words begin at one. */
export function alignment(column: Column): 'left' | 'right' {
  return RIGHT_ALIGNED.has(column.kind) ? 'right' : 'left';
}

/** Any JSON value as text: strings as they are, the rest as JSON. Absent is empty. */
export function plainText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** The amount, when the value is a clean JSON number of dollars. Anything else is shown as it came. */
function amountOf(value: unknown) {
  return typeof value === 'number' ? centsOf(value) : undefined;
}

function listText(value: unknown, separator: string): string {
  const joinable = Array.isArray(value) && value.every(item => isScalar(item) && !`${item}`.includes(separator));
  return joinable ? value.join(separator) : plainText(value);
}

function mapText(value: unknown): string {
  if (!isObject(value)) return plainText(value);
  return Object.entries(value)
    .map(([key, item]) => `${key}=${plainText(item)}`)
    .join(' ');
}

function timeText(value: unknown, { now, absoluteTimes }: HumanCells): string | undefined {
  const ms = parseTimestamp(value);
  if (ms === undefined) return undefined;
  return absoluteTimes ? isoTime(ms) : relativeTime(ms, now);
}

/** What a person reads in a table; `-` where there is no value. Safe to print. */
export function humanCell(column: Column, value: unknown, options: HumanCells): string {
  if (value === undefined || value === null) return '-';
  return printable(humanText(column, value, options) ?? plainText(value));
}

function humanText(column: Column, value: unknown, options: HumanCells): string | undefined {
  switch (column.kind) {
    case 'money': {
      const amount = amountOf(value);
      return amount === undefined ? undefined : dollars(amount);
    }
    case 'percent':
      return typeof value === 'number' && Number.isFinite(value) ? `${value}%` : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? (value ? 'yes' : 'no') : undefined;
    case 'time':
      return timeText(value, options);
    case 'month':
      return monthText(value);
    case 'list':
      return listText(value, ', ');
    case 'map':
      return mapText(value);
    default:
      return undefined;
  }
}

/** The value a program reads: `120.00`, ISO times in UTC, lists with `;`, objects as JSON. Not escaped yet. */
export function machineCell(column: Column, value: unknown): string {
  if (column.kind === 'money') {
    const amount = amountOf(value);
    if (amount !== undefined) return plainAmount(amount);
  }
  if (column.kind === 'time') {
    const ms = parseTimestamp(value);
    if (ms !== undefined) return isoTime(ms);
  }
  if (column.kind === 'list') return listText(value, ';');
  return plainText(value);
}

/** What a screen reader says: `120.00 US dollars`, `2 hours ago`, `none`. Safe to print. */
export function spokenCell(column: Column, value: unknown, options: HumanCells): string {
  if (value === undefined || value === null) return 'none';
  if (column.kind === 'money') {
    const amount = amountOf(value);
    if (amount !== undefined) return `${plainAmount(amount)} US dollars`;
  }
  if (column.kind === 'time' && !options.absoluteTimes) {
    const ms = parseTimestamp(value);
    if (ms !== undefined) return relativeWords(ms, options.now);
  }
  return humanCell(column, value, options);
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

/** Rows as lines: `field: value` for screen readers and narrow screens, aligned pairs for one result. */
import { isoTime } from '../core/iso-time.ts';
import { type HumanCells, humanCell, plainText, spokenCell, spokenName } from './cells.ts';
import { printable } from './printable.ts';
import { valueAt } from './rows.ts';
import { parseTimestamp, relativeTime } from './times.ts';
import type { Column, Row } from './view.ts';
import type { Measure } from './width.ts';

export interface RecordStyle extends HumanCells {
  readonly noun: string;
  /** Values in words (`120.00 US dollars`) in place of the table's short forms. */
  readonly spoken: boolean;
}

/** One `field: value` a line. */
export function recordLines(row: Row, columns: readonly Column[], style: Omit<RecordStyle, 'noun'>): string[] {
  const cell = style.spoken ? spokenCell : humanCell;
  const shown = columns.filter(({ field, unlessEmpty }) => !unlessEmpty || plainText(valueAt(row, field)) !== '');
  return shown.map(column => `${spokenName(column.field)}: ${cell(column, valueAt(row, column.field), style)}`);
}

/** `card 1 of 4` and one `field: value` a line, with a blank line between rows. */
export function recordsLines(rows: readonly Row[], columns: readonly Column[], style: RecordStyle): string[] {
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [''] : []),
    `${style.noun} ${index + 1} of ${rows.length}`,
    ...recordLines(row, columns, style),
  ]);
}

export type Pair = readonly [label: string, value: string];

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** One result as pairs made from its columns; times stand in both forms. */
export function pairsOf(row: Row, columns: readonly Column[], options: HumanCells): Pair[] {
  return columns.map(column => {
    const value = valueAt(row, column.field);
    const label = capitalised(spokenName(column.field));
    const ms = column.kind === 'time' ? parseTimestamp(value) : undefined;
    if (ms !== undefined) return [label, `${isoTime(ms)} (${ageText(ms, options.now)})`];
    return [label, humanCell(column, value, options)];
  });
}

function ageText(ms: number, now: number): string {
  const text = relativeTime(ms, now);
  return text === 'now' || ms > now ? text : `${text} ago`;
}

/** An amount at the start of a value, and what is said about it after it. */
const AMOUNT = /^(-?\$[\d,]+\.\d{2})(?: {2,}(.*))?$/;

/** Label and value in two columns. Where every value is an amount the amounts end at the same place. */
export function pairLines(pairs: readonly Pair[], measure: Measure): string[] {
  const texts = pairs.map(([label, value]) => [printable(label), printable(value)] as const);
  const labelWidth = Math.max(0, ...texts.map(([label]) => measure.width(label)));
  const pad = (label: string) => label + ' '.repeat(labelWidth - measure.width(label));
  const amounts = texts.map(([, value]) => AMOUNT.exec(value));
  if (amounts.some(match => match === null)) return texts.map(([label, value]) => `${pad(label)}  ${value}`.trimEnd());
  const amountWidth = Math.max(0, ...amounts.map(match => match?.[1]?.length ?? 0));
  return texts.map(([label], index) => {
    const [, amount = '', remark = ''] = amounts[index] ?? [];
    return `${pad(label)}   ${amount.padStart(amountWidth)}   ${remark}`.trimEnd();
  });
}

/** The same pairs for a screen reader, which passes over a dash. */
export function spokenPairLines(pairs: readonly Pair[]): string[] {
  return pairs.map(([label, value]) => {
    const said = value === '-' ? 'none' : printable(value).replace(/ {2,}/g, ', ');
    return `${printable(label).toLowerCase()}: ${said}`;
  });
}

/** Rows of an input whose intents were carried out before: they are shown as done, and the others are the run. */
import { type Cents, cents } from '../../core/money.ts';
import { inputDigest } from '../../journal/digest.ts';
import type { EarlierUse, PlannedRow, RowOutcome, Rows } from '../../journal/types.ts';
import type { ReadRows } from './read-rows.ts';

/** What is left to do of an input. `uses` is `Journal.earlierUses` of it. */
export function withoutDone(read: ReadRows, uses: ReadonlyMap<number, EarlierUse>): ReadRows {
  if (uses.size === 0) return read;
  const rows = rowsWithout(read.rows, uses);
  const done = [...read.rows].flatMap(row => outcomeBefore(row, uses.get(row.row)));
  const total = totalOf(rows);
  const many = done.length === 1 ? '1 row was' : `${done.length} rows were`;
  return {
    ...read,
    rows,
    total,
    skipped: [...read.skipped, ...done],
    found: [...read.found, `${many} carried out before under the same intent: nothing is sent for them.`],
    digest: inputDigest(rows),
  };
}

function rowsWithout(all: Rows<PlannedRow>, uses: ReadonlyMap<number, EarlierUse>): Rows<PlannedRow> {
  return {
    length: all.length - uses.size,
    *[Symbol.iterator]() {
      for (const row of all) if (!uses.has(row.row)) yield row;
    },
  };
}

function outcomeBefore({ row, amount }: PlannedRow, use: EarlierUse | undefined): readonly RowOutcome[] {
  return use?.settled === undefined ? [] : [{ ...use.settled, row, amount: use.settled.amount ?? amount }];
}

function totalOf(rows: Iterable<PlannedRow>): Cents {
  let total = cents(0);
  for (const { amount = 0 } of rows) total = cents(total + amount);
  return total;
}

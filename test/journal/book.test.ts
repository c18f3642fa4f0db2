/** Rows as places in the journal are the same rows as those that are held whole, whatever happens to them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placedRows, type RowIndex, rowsInMemory } from '../../src/journal/execution/row-index.ts';
import { encodeLines, type LineOffset } from '../../src/journal/wal/codec.ts';
import type { ItemRecord, JournalRecord, RowRecord } from '../../src/journal/wal/records.ts';
import { afterRecord, openRow, type RowHistory } from '../../src/journal/wal/replay.ts';

const item = (row: number): ItemRecord => ({
  t: 'ITEM',
  row,
  attempt: 1,
  operation: 'cards.create',
  key: `op.${row}.1`,
  method: 'POST',
  path: '/v1/cards',
  body: `{"amount":${row}}`,
  input: { bin_id: row % 2 === 0 ? 'bin_1' : 'bin_2', label: `広告 ${row}` },
  amount: row * 100,
});

/** A file that only grows, and the two books of one plan. */
function books(numbers: readonly number[]) {
  let bytes = Buffer.alloc(0);
  let seq = 0;
  const append = (record: JournalRecord): LineOffset => {
    const line = encodeLines('0123abcd', seq, [record]);
    seq += 1;
    bytes = Buffer.concat([bytes, line]);
    return { at: bytes.length - line.length, length: line.length };
  };
  append({ t: 'PLANNED' });
  const begin = bytes.length;
  const places = numbers.map(row => append(item(row)));
  const placed = placedRows(
    { op: 'op', readAt: (at, length) => bytes.subarray(at, at + length) },
    {
      size: numbers.length,
      numbers: Uint32Array.from(numbers),
      ends: Float64Array.from(places, ({ at, length }) => at + length),
      begin,
      bins: new Set(numbers.map(row => String(item(row).input['bin_id']))),
    },
  );
  const held = rowsInMemory(new Map(numbers.map(row => [row, openRow(item(row))])));
  return {
    placed,
    held,
    write(record: RowRecord) {
      const place = append(record);
      for (const book of [placed, held]) {
        const before = book.row(record.row);
        if (before === undefined) throw new RangeError(`no row ${record.row}`);
        book.set(afterRecord(before, record), record.t === 'DONE' ? place : undefined);
      }
    },
    spoil(at: number) {
      bytes[at] = (bytes[at] ?? 0) ^ 1;
    },
  };
}

const EVENTS = ['sent', 'done', 'done otherwise', 'failed', 'ambiguous', 'looked', 'several', 'rest', 'read'] as const;

const recordFor = (event: (typeof EVENTS)[number], row: number): RowRecord | undefined => {
  switch (event) {
    case 'sent':
      return { t: 'SENT', row, attempt: 1, at: 1 };
    case 'done':
      return {
        t: 'DONE',
        row,
        id: `card_${row}`,
        last4: '4242',
        via: 'answer',
        changed: true,
        balance: row * 100,
        at: 2,
      };
    case 'done otherwise':
      return { t: 'DONE', row, id: `card_${row}`, via: 'marker', changed: true, balance: 1, at: 2 };
    case 'failed':
      return { t: 'FAILED', row, kind: 'refused', message: 'no', at: 2 };
    case 'ambiguous':
      return { t: 'AMBIG', row, reason: 'cut', at: 2 };
    case 'looked':
      return { t: 'LOOKED', row, found: 'nothing', at: 3 };
    case 'several':
      return { t: 'DUPLICATE', row, ids: ['card_1', 'card_2'], at: 4 };
    default:
      return undefined;
  }
};

/** When a row that rests was sent is in the journal and of no use any more. */
const told = ({ firstSent: _first, lastSent: _last, ...row }: RowHistory) => row;
const seen = (book: RowIndex) => ({
  all: [...book.all()].map(({ row, state, history }) => [row, state, told(history())]),
  states: [...book.all()].map(({ state }) => state).sort(),
  cents:
    [...book.held()]
      .filter(({ state }) => state === 'done')
      .reduce((sum, { item: { amount = 0 } }) => sum + amount, 0) + book.resting().cents,
  count: [...book.held()].length + book.resting().open + book.resting().done,
  cards: [
    ...[...book.held()].flatMap(({ state, item: { row }, done }) =>
      state === 'done' && done ? [`${row} ${done.id}`] : [],
    ),
    ...[...book.restingCards()].map(({ row, id }) => `${row} ${id}`),
  ].sort(),
});

test('whatever is written, held or read back', () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  const steps = fc.array(fc.tuple(fc.constantFrom(...EVENTS), fc.nat()), { maxLength: 40, size: 'max' });
  fc.assert(
    fc.property(numbers, steps, (rows, events) => {
      const { placed, held, write } = books(rows.toSorted((one, other) => one - other));
      for (const [event, pick] of events) {
        const row = rows[pick % rows.length] ?? 0;
        const record = recordFor(event, row);
        if (record !== undefined) write(record);
        else if (event === 'rest') placed.rest(row);
        else expect(told(placed.row(row) as RowHistory)).toEqual(told(held.row(row) as RowHistory));
      }
      for (const row of rows) placed.rest(row);
      expect(seen(placed)).toEqual(seen(held));
      expect(placed.row(41)).toBeUndefined();
      expect(placed.row(0)).toBeUndefined();
    }),
    { numRuns: 50 },
  );
});

test('rows that are done and said nothing odd are not held, and a line that changed meanwhile is not believed', () => {
  const rows = Array.from({ length: 500 }, (_, index) => index + 1);
  const { placed, write, spoil } = books(rows);
  for (const row of rows) {
    write(recordFor('sent', row) as RowRecord);
    write(recordFor('done', row) as RowRecord);
    placed.rest(row);
  }
  expect([[...placed.held()].length, placed.resting().done]).toEqual([0, 500]);
  const { placed: other, spoil: change } = books([1, 2]);
  change(120);
  expect(() => other.row(1)).toThrow(/damaged in a record that was whole before/);
  spoil(0);
});

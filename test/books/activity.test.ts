import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Activities, monthStart } from '../../src/books/activity.ts';
import type { TxRow } from '../../src/books/rows.ts';
import { DAY, NOW, record } from './rows.ts';

function activitiesOf(records: readonly TxRow[], now = NOW): Activities {
  const activities = new Activities(now);
  for (const each of records) activities.add(each);
  return activities;
}

const aRecord = fc.record({
  purchase: fc.integer({ min: 0, max: 5 }),
  type: fc.constantFrom('authorization', 'settlement', 'refund', 'decline', 'fee'),
  status: fc.constantFrom('pending', 'settled', 'reversed'),
  cents: fc.integer({ min: 1, max: 900_00 }),
  daysAgo: fc.integer({ min: 0, max: 70 }),
  card_id: fc.constantFrom('card_1', 'card_2', null),
});

const histories = fc.array(aRecord, { maxLength: 30, size: 'max' }).map(drawn =>
  drawn.map(({ purchase, daysAgo, type, ...others }, nth) =>
    record({
      ...others,
      type,
      tx_id: type === 'authorization' ? `txn_a${purchase}_${nth}` : `txn_${nth}`,
      authorization_id: type === 'authorization' ? null : `txn_a${purchase}_${purchase}`,
      at_ms: NOW - daysAgo * DAY + 1,
    }),
  ),
);

describe('activity of a card', () => {
  it('adds up what a sum over the same days says', () => {
    fc.assert(
      fc.property(histories, records => {
        const activities = activitiesOf(records);
        for (const days of [1, 7, 30] as const) {
          const sums = records
            .filter(({ card_id, at_ms }) => card_id === 'card_1' && at_ms <= NOW && at_ms > NOW - days * DAY)
            .map(({ type, cents }) => (type === 'settlement' ? cents : type === 'refund' ? -cents : 0));
          expect(activities.of('card_1').spent[days]).toBe(sums.reduce((sum, each) => sum + each, 0));
        }
      }),
    );
  });

  it('counts of the limit what authorizations of this month hold or settled for', () => {
    const first = monthStart(NOW);
    const hold = (id: string, cents: number, more: Partial<TxRow> = {}) =>
      record({ tx_id: id, type: 'authorization', status: 'pending', at_ms: first, ...more, cents });
    const settles = (id: string, authorization_id: string | null, cents: number) =>
      record({ tx_id: id, authorization_id, at_ms: NOW - DAY, cents });
    const used = (...records: readonly TxRow[]) => activitiesOf(records).limitUsed('card_1');
    expect(used(hold('a', 35_00))).toBe(35_00);
    expect(used(hold('a', 35_00), settles('s', 'a', 10_00))).toBe(35_00);
    expect(used(hold('a', 35_00, { status: 'settled' }), settles('s', 'a', 28_00))).toBe(28_00);
    expect(used(hold('a', 35_00, { status: 'reversed' }))).toBe(0);
    // Of the month before, of a force post, and a refund: nothing.
    expect(used(hold('a', 35_00, { at_ms: first - 1, status: 'settled' }), settles('s', 'a', 35_00))).toBe(0);
    expect(used(settles('s', null, 35_00))).toBe(0);
    const given = record({ tx_id: 'r', type: 'refund', authorization_id: 'a', cents: 28_00 });
    expect(used(hold('a', 28_00, { status: 'settled' }), settles('s', 'a', 28_00), given)).toBe(28_00);
    // A purchase in one record that changes.
    expect(used(record({ tx_id: 'p', authorization_id: 'p', cents: 12_00 }))).toBe(12_00);
  });
});

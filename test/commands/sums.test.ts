import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GROUPINGS, Summary } from '../../src/commands/tx/summary.ts';

type Transaction = Parameters<Summary['add']>[0];

const KINDS = [
  ['settlement', 'completed'],
  ['refund', 'completed'],
  ['decline', 'declined'],
  ['authorization', 'pending'],
  ['authorization', 'settled'],
  ['authorization', 'reversed'],
] as const;

const record = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    // Up to a million dollars, where sums of doubles go wrong in the last cent.
    cents: fc.integer({ min: 1, max: 100_000_000 }),
    merchant: fc.option(fc.constantFrom('A', 'B', 'ö'), { nil: undefined }),
    card: fc.constantFrom('card_1', 'card_2'),
    day: fc.integer({ min: 1, max: 28 }),
  })
  .map(({ kind: [type, status], cents, merchant, card, day }) => ({
    cents,
    made: {
      id: 'txn_1',
      card_id: card,
      type,
      status,
      amount: cents / 100,
      merchant,
      created_at: `2026-11-${String(day).padStart(2, '0')}T12:00:00Z`,
    } as unknown as Transaction,
  }));

const inCents = (usd: number) => BigInt(Math.round(usd * 100));

describe('transactions added up', () => {
  it('count a purchase in one changing record that was given back as settled and refunded (A-40)', () => {
    const summary = new Summary('card');
    const refund = { type: 'refund', status: 'completed', amount: 28, card_id: 'card_1' };
    summary.add({ ...refund, id: 'txn_1', authorization_id: 'txn_1' } as Transaction);
    expect(summary.total()).toMatchObject({ spent: 0, settled: 28, refunded: 28 });
    summary.add({ ...refund, id: 'txn_2', authorization_id: null, amount: 5 } as Transaction);
    summary.add({ ...refund, id: 'txn_4', authorization_id: 'txn_3', amount: 1 } as Transaction);
    expect(summary.total()).toMatchObject({ spent: -6, settled: 28, refunded: 34 });
  });

  it('are exact to the cent, whatever they are grouped by', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 200, size: 'max' }), fc.constantFrom(...GROUPINGS), (records, by) => {
        const summary = new Summary(by);
        for (const { made } of records) summary.add(made);
        const sum = (type: string, status?: string) =>
          records
            .filter(({ made }) => made.type === type && (status === undefined || made.status === status))
            .reduce((all, { cents }) => all + BigInt(cents), 0n);
        const total = summary.total();
        expect(inCents(total.settled)).toBe(sum('settlement'));
        expect(inCents(total.refunded)).toBe(sum('refund'));
        expect(inCents(total.declined)).toBe(sum('decline'));
        expect(inCents(total.pending)).toBe(sum('authorization', 'pending'));
        expect(inCents(total.spent)).toBe(sum('settlement') - sum('refund'));
        const groups = summary.groups();
        for (const key of ['spent', 'settled', 'refunded', 'pending', 'declined'] as const) {
          expect(groups.reduce((all, group) => all + inCents(group[key]), 0n)).toBe(inCents(total[key]));
        }
        expect(groups.reduce((all, { transactions }) => all + transactions, 0)).toBe(records.length);
        expect(new Set(groups.map(({ group }) => group)).size).toBe(groups.length);
      }),
    );
  });
});

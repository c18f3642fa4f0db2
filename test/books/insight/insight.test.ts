import { describe, expect, it } from 'vitest';
import { Activities } from '../../../src/books/activity.ts';
import { type AttentionRows, attentionOf } from '../../../src/books/insight.ts';
import type { CardRow, MoveRow, TxRow } from '../../../src/books/rows.ts';
import { cents } from '../../../src/core/money.ts';
import { card, DAY, NOW, record } from '../rows.ts';

describe('attention', () => {
  function told(options: Partial<AttentionRows> & { records?: readonly TxRow[] } = {}) {
    const known = new Activities(NOW, 0);
    for (const each of options.records ?? []) known.add(each);
    const rows = {
      unknown: [],
      open: [],
      held: [],
      report: undefined,
      wallet: cents(0),
      moves: [],
      cards: [],
      known,
      ...options,
    };
    return attentionOf(rows).map(({ kind, severity, subject, text }) => `${kind} ${severity} ${subject}: ${text}`);
  }
  const inUse = record({ tx_id: 'use', at_ms: NOW - DAY, cents: 1_00 });
  const ofCard = (options: Partial<CardRow>, records: readonly TxRow[] = [inUse]) =>
    told({ cards: [card({ card_id: 'card_1', label: 'ads', ...options })], records });

  it('tells what is pressing first', () => {
    const report = { verdict: 'unexplained', residual_cents: cents(28_00), at_ms: NOW - DAY };
    const cards = [card({ card_id: 'card_1', created_ms: NOW - 44 * DAY, balance_cents: cents(80_00) })];
    expect(told({ unknown: [{ op: 'op_1', rows: 1, since: NOW }], report, cards })).toEqual([
      'unknown_rows error op_1: 1 row unknown since 2026-11-22',
      'books_unexplained error books: $28.00 unexplained since 2026-11-21',
      'idle warning 4242: idle 44 days with $80.00',
    ]);
    expect(told({ report: { ...report, verdict: 'explained' } })).toEqual([]);
    expect(told({ held: [{ op: 'op_2', rows: 1, since: NOW, cents: cents(25_00) }] })).toEqual([
      'held_op warning op_2: waits for approval since 2026-11-22; $25.00 in all',
    ]);
    expect(told({ report: { ...report, verdict: 'explained', at_ms: NOW - 7 * DAY } })).toEqual([
      'books_old warning books: not reconciled since 2026-11-15',
    ]);
  });

  it('tells a wallet below seven days of average funding', () => {
    const move = (amount: number, more: Partial<MoveRow> = {}): MoveRow => ({
      op: 'op_1',
      row: 1,
      operation: 'cards.fund',
      card_id: 'card_1',
      cents: cents(amount),
      outcome: 'done',
      at_ms: NOW - DAY,
      ...more,
    });
    const moves = [move(300_00), move(900_00, { outcome: 'refused' }), move(900_00, { operation: 'cards.withdraw' })];
    expect(told({ wallet: cents(69_99), moves })).toEqual([
      'wallet_low warning wallet: $69.99 left; cards take about $70.00 a week',
    ]);
    expect(told({ wallet: cents(70_00), moves })).toEqual([]);
    // Creates are funding as well; what is 30 days old is not of the last 30.
    const month = NOW - 30 * DAY;
    const others = [move(300_00, { operation: 'cards.create', at_ms: month + 1 }), move(900_00, { at_ms: month })];
    expect(told({ wallet: cents(70_00), moves: others })).toEqual([]);
    expect(told({ wallet: cents(69_99), moves: others })).toHaveLength(1);
  });

  it('tells of a card that holds less than nothing', () => {
    expect(ofCard({ balance_cents: cents(-35_00) })).toEqual([
      'overdrawn warning 4242 ads: -$35.00: more was taken than it held',
    ]);
  });

  it('tells of a card its declines, limit, line of freezing and end, each at its bound', () => {
    const declined = Array.from({ length: 5 }, (_, nth) => record({ tx_id: `d${nth}`, type: 'decline', cents: 1 }));
    expect(ofCard({}, [inUse, ...declined])).toEqual(['declines warning 4242 ads: 5 declines in 24 hours']);
    expect(ofCard({}, [inUse, ...declined.slice(1)])).toEqual([]);
    const held = (amount: number) => [record({ tx_id: 'a', type: 'authorization', status: 'pending', cents: amount })];
    expect(ofCard({}, held(4_750_00))).toEqual([
      'near_limit warning 4242 ads: about 95 % of its monthly limit of $5,000.00',
    ]);
    expect(ofCard({}, held(3_999_99))).toEqual([]);
    expect(ofCard({}, held(4_000_00))).toHaveLength(1);
    for (const over of [{ status: 'terminated' }, { gone_at: NOW }])
      expect(ofCard(over, [...declined, ...held(4_750_00)])).toEqual([]);
    const low = { balance_cents: cents(21_00), auto_freeze_cents: cents(20_00) };
    expect(ofCard(low)).toEqual(['near_auto_freeze warning 4242 ads: $21.00 left, freezes below $20.00']);
    for (const other of [{ status: 'frozen' }, { gone_at: NOW }, { balance_cents: null }])
      expect(ofCard({ ...low, ...other })).toEqual([]);
    // No line is no line of zero, and a line of zero freezes nothing.
    for (const line of [null, cents(0)])
      for (const balance_cents of [null, cents(0)])
        expect(ofCard({ balance_cents, auto_freeze_cents: line })).toEqual([]);
    expect(ofCard({ expires_ms: NOW + DAY })).toEqual(['expires warning 4242 ads: expires in 1 day with $100.00']);
    expect(ofCard({ expires_ms: NOW })).toEqual(['expires warning 4242 ads: expires in 0 days with $100.00']);
    const frozenAt = (balance: number) => ofCard({ balance_cents: cents(balance), auto_freeze_cents: cents(20_00) });
    expect([frozenAt(19_99), frozenAt(20_00), frozenAt(22_00), frozenAt(22_01)].map(({ length }) => length)).toEqual([
      0, 1, 1, 0,
    ]);
    expect(ofCard({ expires_ms: NOW + 30 * DAY })).toEqual([
      'expires warning 4242 ads: expires in 30 days with $100.00',
    ]);
    expect(ofCard({ expires_ms: NOW - DAY })).toEqual(['expires warning 4242 ads: expired, with $100.00']);
    expect(ofCard({ expires_ms: NOW + 31 * DAY })).toEqual([]);
    expect(ofCard({ status: 'terminated', expires_ms: NOW }, [])).toEqual([]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Activities } from '../../../src/books/activity.ts';
import {
  type AttentionRows,
  attentionOf,
  countCards,
  isAlarming,
  oldestMove,
  openHolds,
} from '../../../src/books/insight.ts';
import type { CardRow, MoveRow, TxRow } from '../../../src/books/rows.ts';
import { CHARTED_BY, Chart, dayOf, dayText, firstDay, Spending, startOfDay } from '../../../src/books/spending.ts';
import { cents } from '../../../src/core/money.ts';
import { card, DAY, NOW, record } from '../rows.ts';

const daysAgo = (days: number, more: Partial<Omit<TxRow, 'cents'>> & { cents: number }) =>
  record({ tx_id: `t${days}-${more.cents}`, at_ms: NOW - days * DAY, ...more });

describe('the calendar', () => {
  it('gives days, Mondays and months, and back', () => {
    expect(dayText(dayOf(startOfDay(20_000)))).toBe(dayText(20_000));
    const day = Date.parse('2026-11-22T00:00:00Z') / DAY;
    expect(dayText(firstDay(day, 'week'))).toBe('2026-11-16');
    expect(dayText(firstDay(day + 1, 'week'))).toBe('2026-11-23');
    expect(dayText(firstDay(day, 'month'))).toBe('2026-11-01');
  });
});

describe('spending', () => {
  it('is counted by days, against as many days before', () => {
    const spending = new Spending(NOW, 30);
    const all = [
      daysAgo(0, { cents: 10_00 }),
      daysAgo(29, { cents: 90_00, type: 'refund' }),
      daysAgo(29, { cents: 200_00 }),
      daysAgo(30, { cents: 99_00 }),
      daysAgo(59, { cents: 1_00 }),
      daysAgo(60, { cents: 7_00 }),
      daysAgo(-1, { cents: 7_00 }),
      daysAgo(3, { cents: 50_00, type: 'authorization', status: 'pending' }),
    ];
    for (const each of all) spending.add(each);
    expect([spending.total, spending.before, spending.change]).toEqual([120_00, 100_00, 0.2]);
    expect(spending.buckets.map(({ spent, moved }) => (moved ? spent : undefined))).toEqual([
      110_00,
      ...Array(28).fill(undefined),
      10_00,
    ]);
  });

  it('grows at a merchant with fifty dollars and twice the span before, or new', () => {
    const spending = new Spending(NOW, 30);
    const at = (merchant: string, before: number, spent: number) => {
      spending.add(daysAgo(40, { merchant, cents: before }));
      spending.add(daysAgo(4, { merchant, cents: spent }));
    };
    at('TWICE', 25_00, 50_00);
    at('LESS', 25_01, 50_01);
    at('SMALL', 1_00, 49_99);
    at('NEW', 0, 50_01);
    at('MORE', 220_10, 683_35);
    at('EVEN', 0, 50_00);
    expect(spending.growing).toEqual([
      { merchant: 'MORE', spent: 683_35, before: 220_10, factor: 3.1 },
      { merchant: 'NEW', spent: 50_01, before: 0, factor: null },
      // Of equals by name.
      { merchant: 'EVEN', spent: 50_00, before: 0, factor: null },
      { merchant: 'TWICE', spent: 50_00, before: 25_00, factor: 2 },
    ]);
  });
});

describe('a chart', () => {
  const histories = fc.array(
    fc.record({
      daysAgo: fc.integer({ min: 0, max: 400 }),
      cents: fc.integer({ min: 0, max: 1e7 }),
      type: fc.constantFrom('settlement', 'refund', 'decline', 'authorization'),
      group: fc.constantFrom('a', 'b', null),
    }),
    { maxLength: 20 },
  );

  it('adds up to the same total whatever it is by, in groups and in buckets', () => {
    fc.assert(
      fc.property(histories, drawn => {
        const records = drawn.map(({ group, daysAgo: days, ...more }, nth) => ({
          ...record({ tx_id: `t${nth}`, at_ms: NOW - days * DAY, ...more }),
          group,
        }));
        const sign = { settlement: 1, refund: -1, decline: 0, authorization: 0 };
        const total = drawn.reduce((sum, { type, cents: amount }) => sum + sign[type] * amount, 0);
        for (const by of CHARTED_BY) {
          const chart = new Chart(by);
          for (const each of records) chart.add(each);
          const groups = chart.groups(dayOf(NOW));
          expect(chart.total()).toBe(total + 0);
          expect(groups.reduce((sum, { spent }) => sum + spent, 0)).toBe(total + 0);
          expect(groups.reduce((sum, { transactions }) => sum + transactions, 0)).toBe(records.length);
          for (const { buckets, spent } of groups)
            if (buckets) expect(buckets.reduce((sum, each) => sum + each.spent, 0)).toBe(spent);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('has every week from the first record to the last, and the days of the one under way', () => {
    const chart = new Chart('week');
    for (const days of [0, 20]) chart.add({ ...daysAgo(days, { cents: 5_00 }), group: null });
    // 2026-11-22 is a Sunday.
    expect(chart.groups(dayOf(NOW) - 1).map(({ group, spent, days }) => [group, spent, days])).toEqual([
      ['2026-11-02', 5_00, 7],
      ['2026-11-09', 0, 7],
      ['2026-11-16', 5_00, 6],
    ]);
  });
});

describe('attention', () => {
  function told(options: Partial<AttentionRows> & { records?: readonly TxRow[] } = {}) {
    const activities = new Activities(NOW);
    for (const each of options.records ?? []) activities.add(each);
    const known = { activities, wholeSince: 0 };
    const rows = {
      unknown: [],
      open: [],
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

  it('puts many idle cards on one line, and those without money on the last', () => {
    const idleCard = (nth: number, balance: number) =>
      card({ card_id: `card_${nth}`, created_ms: NOW - 44 * DAY, balance_cents: cents(balance) });
    const rich = [1, 2, 3, 4].map(nth => idleCard(nth, 10_00));
    const empty = [5, 6, 7, 8, 9].map(nth => idleCard(nth, 0));
    expect(told({ cards: [...empty, ...rich] })).toEqual([
      'idle warning 4 cards: idle 30 days or more with $40.00 in all',
      'idle warning 5 cards: idle 30 days or more without money',
    ]);
    expect(told({ cards: [...empty, ...rich.slice(0, 1)] })).toEqual([
      'idle warning 4242: idle 44 days with $10.00',
      'idle warning 5 cards: idle 30 days or more without money',
    ]);
  });

  it('tells what is pressing first', () => {
    const report = { verdict: 'unexplained', residual_cents: cents(28_00), at_ms: NOW - DAY };
    const cards = [card({ card_id: 'card_1', created_ms: NOW - 44 * DAY, balance_cents: cents(80_00) })];
    expect(told({ unknown: [{ op: 'op_1', rows: 1, since: NOW }], report, cards })).toEqual([
      'unknown_rows error op_1: 1 row unknown since 2026-11-22',
      'books_unexplained error books: $28.00 unexplained since 2026-11-21',
      'idle warning 4242: idle 44 days with $80.00',
    ]);
    expect(told({ report: { ...report, verdict: 'explained' } })).toEqual([]);
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

describe('an overview', () => {
  const known = { activities: new Activities(NOW), wholeSince: 0 };
  const used = (id: string, options: Partial<CardRow> = {}) =>
    card({ card_id: id, created_ms: NOW - DAY, spending_limit_cents: null, ...options });

  it('counts each card by its state, and what is gone nowhere', () => {
    const cards = [
      used('card_1'),
      used('card_2', { status: 'frozen' }),
      used('card_3', { status: 'frozen' }),
      ...['card_4', 'card_5', 'card_6', 'card_7'].map(id => used(id, { status: 'terminated' })),
      used('card_8', { status: 'suspended' }),
      ...['active', 'frozen', 'terminated', 'suspended'].map(status =>
        used(`gone_${status}`, { status, gone_at: NOW }),
      ),
    ];
    const none = { idle: 0, near_limit: 0, expiring: 0 };
    expect(countCards(cards, known)).toEqual({ active: 1, frozen: 2, terminated: 4, other: 1, ...none });
  });

  it('counts idle cards, cards near their limit and cards that expire, each at its bound', () => {
    const activities = new Activities(NOW);
    const held = record({ tx_id: 'a', card_id: 'card_1', type: 'authorization', status: 'pending', cents: 80_00 });
    activities.add(held);
    activities.add({ ...held, tx_id: 'b', card_id: 'card_2', cents: cents(79_99) });
    const limit = { spending_limit_cents: cents(100_00) };
    const cards = [
      ...['card_1', 'card_2'].map(id => used(id, limit)),
      ...[29, 30, 31].map(days => used(`age_${days}`, { created_ms: NOW - days * DAY })),
      ...[30, 31].map(days => used(`end_${days}`, { expires_ms: NOW + days * DAY })),
    ];
    expect(countCards(cards, { activities, wholeSince: 0 })).toMatchObject({ idle: 2, near_limit: 1, expiring: 1 });
    const over = cards.map(each => ({ ...each, status: 'terminated' }));
    expect(countCards(over, { activities, wholeSince: 0 })).toMatchObject({ idle: 0, near_limit: 0, expiring: 0 });
    const gone = cards.map(each => ({ ...each, gone_at: NOW }));
    expect(countCards(gone, { activities, wholeSince: 0 })).toMatchObject({ idle: 0, near_limit: 0, expiring: 0 });
  });

  it('holds what was deposited and is neither spent nor in the wallet nor on cards', () => {
    const wallet = {
      at_ms: NOW,
      balance_cents: cents(200_00),
      pending_deposits_cents: cents(0),
      total_deposited_cents: cents(1_000_00),
      total_spent_cents: cents(30_00),
      cards_active: 1,
      cards_total_balance_cents: cents(4_00),
    };
    expect(openHolds(wallet)).toBe(766_00);
    for (const unknown of ['total_deposited_cents', 'total_spent_cents', 'cards_total_balance_cents'])
      expect(openHolds({ ...wallet, [unknown]: null })).toBeNull();
    expect(oldestMove(NOW)).toBe(NOW - 30 * DAY);
  });

  it('alarms when one of its lines is an error', () => {
    const line = { kind: 'idle', subject: '', card_id: null, op: null, text: '', next: '' } as const;
    const [warning, error] = [{ ...line, severity: 'warning' } as const, { ...line, severity: 'error' } as const];
    expect([[], [warning], [warning, error], [error]].map(isAlarming)).toEqual([false, false, true, true]);
  });
});

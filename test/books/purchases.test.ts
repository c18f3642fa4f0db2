import { describe, expect, it } from 'vitest';
import { addUp, before, type ReadingOptions } from '../../src/books/records.ts';
import type { TxChangeRow, TxRow } from '../../src/books/rows.ts';
import { DAY, NOW, record } from './rows.ts';

type Fields = Partial<Omit<TxRow, 'cents'>>;

/** The base of the comparison: records are first seen at their own time, so those after it are new. */
const BASE = NOW - DAY;
const SECOND = 1000;

const authorization = (cents: number, more: Fields = {}) =>
  record({ tx_id: 'a', type: 'authorization', at_ms: NOW - 5 * SECOND, ...more, cents });
const settlement = (cents: number, more: Fields = {}) =>
  record({ tx_id: 's', authorization_id: 'a', at_ms: NOW - 4 * SECOND, ...more, cents });
const refund = (cents: number, more: Fields = {}) =>
  record({ tx_id: 'r', type: 'refund', authorization_id: 'a', at_ms: NOW - 3 * SECOND, ...more, cents });
const change = (tx_id: string, field: string, old: string | null, seen = NOW): TxChangeRow => ({
  tx_id,
  field,
  old,
  new: null,
  seen,
});

/** What records of one purchase show, in the order of the findings: kind, cents, records. */
function shown(rows: readonly TxRow[], options: Partial<ReadingOptions> = {}): readonly string[] {
  const { remarks, unlisted } = addUp(rows, { since: BASE, ...options });
  const told = remarks.map(({ class: name, cents, records }) => `${name} ${cents} ${records.join(' ')}`);
  return [...told, ...unlisted.map(({ tx_id }) => `unlisted ${tx_id}`)];
}

describe('what a settlement shows that differs from its authorization', () => {
  const settled = (amount: number, by: number, more: Fields = {}) =>
    shown([authorization(amount, more), settlement(by, more)]);
  const abroad = { merchant_country: 'DE' };
  const meal = { mcc: '5812' };

  it('is a tip up to 30 % where tips are given, and over beyond it or elsewhere', () => {
    expect(settled(100_00, 130_00, meal)).toEqual(['tip -3000 a s']);
    expect(settled(100_00, 130_01, meal)).toEqual(['over_settled -3001 a s']);
    expect(settled(100_00, 100_01)).toEqual(['over_settled -1 a s']);
    expect(settled(100_00, 110_00, { mcc: null })).toEqual(['over_settled -1000 a s']);
    const tipped = Array.from({ length: 10_000 }, (_, code) => String(code).padStart(4, '0')).filter(
      mcc => settled(100_00, 110_00, { mcc })[0] === 'tip -1000 a s',
    );
    expect(tipped).toEqual(['4121', '5811', '5812', '5813', '5814', '7230', '7297']);
  });

  it('is an exchange rate up to 6 % either way, in another country, before anything else', () => {
    expect(settled(100_00, 106_00, { ...abroad, ...meal })).toEqual(['fx -600 a s']);
    expect(settled(100_00, 94_00, abroad)).toEqual(['fx 600 a s']);
    expect(settled(100_00, 106_01, { ...abroad, ...meal })).toEqual(['tip -601 a s']);
    expect(settled(100_00, 93_99, abroad)).toEqual(['partial 601 a s']);
    for (const home of [
      { merchant_country: 'us', currency: 'usd' },
      { merchant_country: null, currency: null },
    ])
      expect(settled(100_00, 101_00, home)).toEqual(['over_settled -100 a s']);
  });

  it('is partial once the authorization has closed, and nothing while it is pending or to the cent', () => {
    const pending = { status: 'pending' };
    expect(settled(100_00, 99_99)).toEqual(['partial 1 a s']);
    expect(shown([authorization(100_00, pending), settlement(99_99)])).toEqual([]);
    expect(shown([authorization(100_00, pending), settlement(100_01)])).toEqual(['over_settled -1 a s']);
    expect(settled(100_00, 100_00)).toEqual([]);
  });

  it('is a force post without an authorization, or below one that expired or was reversed', () => {
    expect(shown([settlement(7_00), settlement(5_00, { tx_id: 't' })])).toEqual(['force_post -1200 s t']);
    for (const status of ['expired', 'reversed']) {
      expect(shown([authorization(100_00, { status }), settlement(7_00)])).toEqual(['force_post -700 a s']);
      expect(shown([authorization(100_00, { status }), settlement(100_01)])).toEqual(['over_settled -1 a s']);
    }
    // A purchase in one changing record is its own authorization.
    expect(shown([settlement(7_00, { tx_id: 'a' })])).toEqual([]);
  });
});

describe('what a purchase shows besides', () => {
  it('is a late refund over 30 days after the last settlement, or on a card that had ended before', () => {
    const at = (ms: number) => shown([settlement(9_00, { at_ms: BASE, first_seen: 0 }), refund(9_00, { at_ms: ms })]);
    expect(at(BASE + 30 * DAY)).toEqual([]);
    expect(at(BASE + 30 * DAY + 1)).toEqual(['late_refund 900 r']);
    const rows = [settlement(9_00), refund(9_00)];
    const ended = (ms: number, card = 'card_1') => ({ ended: new Map([[card, ms]]) });
    expect(shown([authorization(9_00), ...rows], ended(BASE))).toEqual(['late_refund 900 r']);
    expect(shown([authorization(9_00), ...rows], ended(BASE, 'card_2'))).toEqual([]);
    // A card that ended after its refund had a plain one.
    expect(shown([authorization(9_00), ...rows], ended(NOW))).toEqual([]);
    expect(shown([refund(9_00)])).toEqual([]);
    // An old refund is not told again because something else of its purchase is new.
    const old = refund(4_00, { at_ms: NOW, first_seen: BASE });
    expect(shown([authorization(9_00), settlement(9_00), old], ended(BASE))).toEqual([]);
  });

  it('says which of the two a late refund is', () => {
    const said = (rows: readonly TxRow[], ended: ReadonlyMap<string, number>) =>
      addUp(rows, { since: BASE, ended }).remarks.map(({ class: name, note }) => `${name}: ${note}`);
    const settled = settlement(9_00, { at_ms: NOW - 41 * DAY, first_seen: 0 });
    expect(said([settled, refund(9_00, { at_ms: NOW })], new Map())).toEqual([
      'late_refund: 41 days after the settlement',
    ]);
    expect(said([authorization(9_00), settlement(9_00), refund(9_00)], new Map([['card_1', BASE]]))).toEqual([
      'late_refund: its card had ended before',
    ]);
  });

  it('is the same record twice: card, authorization, amount and second, one of them new', () => {
    const of = (first: Fields, second: Fields, cents = 9_00) =>
      shown([authorization(18_00), settlement(9_00, first), settlement(cents, { tx_id: 't', ...second })]);
    const [at, old] = [NOW - 4 * SECOND, { first_seen: BASE }];
    expect(of({ at_ms: at }, { at_ms: at + SECOND - 1 })).toEqual(['duplicate -900 s t']);
    expect(of({ at_ms: at }, { at_ms: at + SECOND })).toEqual([]);
    expect(of({}, {}, 9_01)[0]).not.toMatch('duplicate');
    expect(of(old, {})).toEqual(['duplicate -900 s t']);
    expect(of({}, old)).toEqual(['duplicate -900 s t']);
    expect(of(old, old)).toEqual([]);
    expect(shown([authorization(9_00), settlement(9_00), refund(2_00), refund(2_00, { tx_id: 'q' })])).toEqual([
      'duplicate 200 r q',
    ]);
  });
});

describe('what is otherwise than at the base', () => {
  const old = { first_seen: BASE };

  it('is a record that is gone since, and was there before', () => {
    const gone = (gone_at: number, more: Fields = {}) => shown([settlement(9_00, { ...old, gone_at, ...more })]);
    expect(gone(BASE + 1)).toEqual(['record_gone -900 s']);
    expect(gone(BASE)).toEqual([]);
    expect(gone(BASE + 1, { card_id: null })).toEqual([]);
    expect(gone(BASE + 1, { type: 'decline' })).toEqual([]);
    expect(shown([refund(9_00, { ...old, gone_at: NOW })])).toEqual(['record_gone 900 r']);
    // Gone before, beside something new.
    expect(shown([authorization(0), settlement(9_00, { ...old, gone_at: BASE })])).toEqual(['unlisted a']);
    // Nor is what an old purchase says by itself told again.
    const over = [settlement(1_00, old), refund(2_00, old)];
    expect(shown([...over, settlement(9_00, { ...old, tx_id: 't', gone_at: BASE })])).toEqual([]);
    // Another one of the same purchase that stays is no news.
    expect(shown([authorization(9_00, old), settlement(9_00, old), refund(1_00, { ...old, gone_at: NOW })])).toEqual([
      'record_gone 100 r',
    ]);
  });

  it('is an amount, a type or a card that changed, by its first value after the base', () => {
    const changes = [change('s', 'cents', '800', NOW), change('s', 'cents', '500', NOW - 1)];
    expect(shown([settlement(9_00, old)], { changes }).slice(0, 1)).toEqual(['record_changed -400 s']);
    const moved = [change('s', 'card_id', 'card_2')];
    const { remarks } = addUp([authorization(9_00, old), settlement(9_00, old)], { since: BASE, changes: moved });
    expect(remarks).toMatchObject([
      { class: 'record_moved', candidates: ['card_1', 'card_2'], cents: -9_00, records: ['s'] },
    ]);
    const rows = [authorization(9_00, old), settlement(9_00, old)];
    expect(shown(rows, { changes: [change('s', 'card_id', null)] })).toEqual([]);
    expect(shown(rows, { changes: [change('s', 'merchant', 'X')] })).toEqual([]);
    expect(shown([settlement(9_00, { ...old, tx_id: 'a' })], { changes: [change('a', 'cents', '100')] })).toEqual([]);
    expect(before(settlement(9_00), [change('s', 'cents', null)]).cents).toBeNull();
  });
});

describe('sums of a card', () => {
  const pending = { status: 'pending' };
  const sums = (...rows: readonly TxRow[]) => addUp(rows, { since: undefined }).cards.get('card_1');

  it('hold what is left of pending authorizations, and count nothing that is gone', () => {
    const none = { settled: 0, refunded: 0, holds: 0, unbounded: false };
    expect(sums(authorization(9_00, pending), settlement(4_00), refund(1_00))).toEqual({
      ...none,
      settled: 4_00,
      refunded: 1_00,
      holds: 5_00,
    });
    expect(sums(authorization(9_00, pending), settlement(9_01))).toEqual({ ...none, settled: 9_01 });
    expect(sums(authorization(9_00, pending), settlement(4_00, { gone_at: NOW }))).toEqual({ ...none, holds: 9_00 });
    expect(sums(authorization(9_00), record({ tx_id: 'f', type: 'fee', cents: 5 }))).toEqual(none);
    const other = authorization(3_00, { ...pending, tx_id: 'b' });
    expect(sums(authorization(9_00, pending), settlement(4_00), other)).toEqual({
      ...none,
      settled: 4_00,
      holds: 8_00,
    });
    expect(sums(authorization(9_00, { ...pending, card_id: null }))).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import { CREATE_WEBHOOK } from '../../src/contract/resources.ts';
import { violation } from '../../src/contract/violation.ts';
import { cents } from '../../src/core/money.ts';
import { cardExpiry, isExpired, isoTime } from '../../src/sandbox/rules/dates.ts';
import {
  type AuthorizationRequest,
  allowsMcc,
  authorizationDue,
  type CardState,
  declineReason,
} from '../../src/sandbox/rules/declines.ts';

const NOW = Date.parse('2026-11-20T14:00:00Z');
const at = (text: string) => Date.parse(text);

describe('declines (A-48)', () => {
  const fine: CardState = {
    now: NOW,
    card: { status: 'active', balance: cents(1_000), spending_limit: cents(2_000), expires_at: NOW },
    categories: [],
    maxTransaction: cents(1_000),
    usedThisMonth: cents(1_000),
  };
  const small: AuthorizationRequest = { amount: cents(1_000), mcc: '5814' };
  test('with everything wrong the reasons come in the order of A-48', () => {
    const layers: [string, (request: AuthorizationRequest, state: CardState) => [AuthorizationRequest, CardState]][] = [
      ['do_not_honor', (a, s) => [{ ...a, forced: undefined }, s]],
      ['card_terminated', (a, s) => [a, { ...s, card: { ...s.card, status: 'frozen' } }]],
      ['card_expired', (a, s) => [a, { ...s, card: { ...s.card, expires_at: NOW } }]],
      ['card_frozen', (a, s) => [a, { ...s, card: { ...s.card, status: 'active' } }]],
      ['invalid_cvv', (a, s) => [{ ...a, mismatch: undefined }, s]],
      ['category_not_allowed', (a, s) => [a, { ...s, categories: [] }]],
      ['transaction_limit_exceeded', (a, s) => [a, { ...s, maxTransaction: cents(9_000) }]],
      ['spending_limit_exceeded', (a, s) => [a, { ...s, card: { ...s.card, spending_limit: cents(9_000) } }]],
      ['insufficient_funds', (a, s) => [a, { ...s, card: { ...s.card, balance: cents(9_000) } }]],
      ['three_ds_failed', (a, s) => [{ ...a, challengeFailed: false }, s]],
    ];
    let request: AuthorizationRequest = { ...small, forced: 'do_not_honor', mismatch: 'cvv', challengeFailed: true };
    let state: CardState = {
      ...fine,
      card: { status: 'terminated', balance: cents(0), spending_limit: cents(1), expires_at: NOW - 1 },
      categories: ['software'],
      maxTransaction: cents(1),
    };
    for (const [reason, mend] of layers) {
      expect(declineReason(request, state)).toBe(reason);
      [request, state] = mend(request, state);
    }
    expect(declineReason(request, state)).toBeUndefined();
  });
});

describe('dates', () => {
  test.each([
    ['2026-11-20T14:03:11Z', '2029-11-30T23:59:59Z'],
    ['2026-01-31T00:00:00Z', '2029-01-31T23:59:59Z'],
    ['2025-02-01T00:00:00Z', '2028-02-29T23:59:59Z'],
    ['2026-12-31T23:59:59Z', '2029-12-31T23:59:59Z'],
  ])('a card of %s ends at %s, and that second still counts', (created, expires) => {
    const expires_at = cardExpiry(at(created));
    expect(isoTime(expires_at)).toBe(expires);
    expect([isExpired({ expires_at }, expires_at), isExpired({ expires_at }, expires_at + 1)]).toEqual([false, true]);
  });
});
describe('categories (A-134)', () => {
  test('the codes of software are the documented ones', () => {
    const codes = Array.from({ length: 10_000 }, (_, code) => String(code).padStart(4, '0'));
    expect(codes.filter(code => allowsMcc(['software'], code))).toEqual(['5734', '5817', '7372']);
  });

  test.each([
    ['5814', 7],
    ['3000', 31],
    ['3351', 31],
    ['3999', 31],
    ['4411', 31],
    ['4511', 31],
    ['7011', 31],
    ['7512', 31],
    ['4722', 7],
    ['2999', 7],
    ['4000', 7],
  ])('an authorization at %s expires after %i days (A-159)', (mcc, days) => {
    expect((authorizationDue(NOW, mcc) - NOW) / 86_400_000).toBe(days);
  });
});

describe('endpoints (A-71)', () => {
  test.each([
    'https://example.com/h',
    'http://localhost:4000/',
    'http://127.0.0.1:4000/h',
    'http://127.9.9.9/',
    'http://[::1]:80/',
  ])('%s is taken', url => {
    expect(violation(CREATE_WEBHOOK.url, url)).toBeUndefined();
  });

  test.each([
    'http://example.com',
    'http://localhost.example.com:4000/',
    'http://127.0.0.1.example.com/',
    'http://[::2]/',
    'ftp://127.0.0.1/',
    'example.com',
    '',
  ])('%s is refused', url => {
    expect(violation(CREATE_WEBHOOK.url, url)).toBe('must be an https address');
  });
});

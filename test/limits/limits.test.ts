import { expect, test } from 'vitest';
import { cents, spendingOf } from '../../src/core/money.ts';
import {
  heldPlan,
  isLooser,
  overDay,
  overLimit,
  readLimits,
  type SourcedLimits,
  strictest,
} from '../../src/limits/limits.ts';

const profile = (values: Record<string, unknown>): SourcedLimits => sourced('profile', 'team', values);
const journal = (values: Record<string, unknown>): SourcedLimits => sourced('journal', 'jrn_1', values);
const managed = (values: Record<string, unknown>): SourcedLimits =>
  sourced('managed', '/etc/cardwright/limits.json', values);

function sourced(
  kind: 'managed' | 'journal' | 'profile',
  name: string,
  values: Record<string, unknown>,
): SourcedLimits {
  const read = readLimits(values);
  if ('wrong' in read) throw new Error(`${read.wrong} cannot be read`);
  return { source: { kind, name }, limits: read.limits };
}

const create = (amount: number, bin = 'bin_1') => ({
  operation: 'cards.create' as const,
  amount: cents(amount),
  input: { bin_id: bin },
});

test('the strictest of three sources counts, and the refusal names it and who can change it', () => {
  const limits = strictest([
    managed({ max_per_call: '80.00' }),
    journal({ max_per_call: '50.00', max_per_day: 100 }),
    profile({ max_per_call: '60.00', max_per_day: '500.00' }),
  ]);
  expect(limits.max_per_call).toEqual({ value: 5_000, source: { kind: 'journal', name: 'jrn_1' } });
  expect(limits.max_per_day?.value).toBe(10_000);
  const refusal = overLimit(limits, spendingOf([create(5_001)]));
  expect(refusal?.kind).toBe('guarded');
  expect(refusal?.facts).toMatchObject({ reason: 'max_per_call', outcome: 'not_sent' });
  expect(refusal?.message).toContain('journal jrn_1');
  expect(refusal?.facts.notes?.join()).toContain('admin of the journal');
  expect(overLimit(limits, spendingOf([create(5_000)]))).toBeUndefined();
});

test('BINs are those that every source allows', () => {
  const limits = strictest([managed({ bins: ['bin_1', 'bin_2'] }), profile({ bins: 'bin_2,bin_3' })]);
  expect(limits.bins?.value).toEqual(['bin_2']);
  expect(overLimit(limits, spendingOf([create(100, 'bin_2')]))).toBeUndefined();
  expect(overLimit(limits, spendingOf([create(100, 'bin_1')]))?.facts.reason).toBe('bins');
  const none = strictest([managed({ bins: ['bin_1'] }), profile({ bins: ['bin_2'] })]);
  expect(overLimit(none, spendingOf([create(100, 'bin_1')]))?.facts.reason).toBe('bins');
});

test('what a raw request moves cannot be counted, so every limit of money refuses it', () => {
  const raw = spendingOf([{ operation: 'api.write', input: {} }]);
  expect(overLimit(strictest([profile({ max_per_day: '1000.00' })]), raw)?.facts.reason).toBe('max_per_day');
  expect(overLimit(strictest([profile({ read_only: false })]), raw)).toBeUndefined();
});

test('the limit of the day counts what is used and what is asked', () => {
  const limits = strictest([profile({ max_per_day: '10.00' })]);
  expect(overDay(limits, cents(400), cents(600))).toBeUndefined();
  expect(overDay(limits, cents(401), cents(600))?.facts.reason).toBe('max_per_day');
  expect(overDay(limits, cents(99_900), cents(0))).toBeUndefined();
});

test('a plan is held by what any source holds, for as many persons as the strictest asks', () => {
  const limits = strictest([
    managed({ approvals_needed: 2 }),
    profile({ approve_above: '100.00', approve_within_hours: 48 }),
    journal({ approve_within_hours: 12, approve_irreversible: true, approve_rows: 3, approve_day: '150.00' }),
  ]);
  expect(heldPlan(limits, [create(10_000)], cents(0))).toBeUndefined();
  expect(heldPlan(limits, [create(10_001)], cents(0))).toMatchObject({ needed: 2, standsMs: 12 * 3_600_000 });
  expect(heldPlan(limits, [create(9_000)], cents(6_001))?.why).toContain('approve_day');
  expect(heldPlan(limits, [{ operation: 'cards.terminate', input: {} }], cents(0))?.why).toContain(
    'approve_irreversible',
  );
  const freeze = { operation: 'cards.freeze' as const, input: {} };
  expect(heldPlan(limits, [freeze, freeze, freeze, freeze], cents(0))).toBeUndefined();
  const unfreeze = { operation: 'cards.unfreeze' as const, input: {} };
  expect(heldPlan(limits, [unfreeze, unfreeze, unfreeze, unfreeze], cents(0))?.why).toContain('approve_rows');
  expect(heldPlan(limits, [{ operation: 'api.write', input: {} }], cents(0))?.why).toContain('cannot be counted');
});

test.each([
  ['max_per_call', 200, 100, true],
  ['max_per_call', 100, 200, false],
  ['max_per_call', undefined, 100, true],
  ['max_per_call', 100, undefined, false],
  ['read_only', undefined, true, true],
  ['read_only', true, undefined, false],
  ['approvals_needed', 1, 2, true],
  ['approve_within_hours', 48, 24, true],
  // Where nobody sets it, it is a day.
  ['approve_within_hours', 48, undefined, true],
  ['approve_within_hours', undefined, 48, false],
  ['bins', ['bin_1', 'bin_2'], ['bin_1'], true],
  ['bins', ['bin_1'], ['bin_1', 'bin_2'], false],
  ['bins', undefined, ['bin_1'], true],
] as const)('%s: %s in place of %s is looser: %s', (name, next, before, looser) => {
  expect(isLooser(name, next as never, before as never)).toBe(looser);
});

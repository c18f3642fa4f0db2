import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CREATE_CARD, FUND_CARD } from '../../src/contract/card.ts';
import { must, nullable } from '../../src/contract/field.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { flag, integer, list, number, text } from '../../src/contract/own-field.ts';
import { shapeProblem, violation } from '../../src/contract/violation.ts';
import { cents, toUsd } from '../../src/core/money.ts';

const { amount, label, metadata } = CREATE_CARD;
const said = 'A value.';

describe('amounts', () => {
  it.each([
    [0.99, '$0.99 is outside the limit: from 1.00 to 5000.00 USD'],
    [5000.01, '$5,000.01 is outside the limit: from 1.00 to 5000.00 USD'],
    [0, '$0.00 is outside the limit: from 1.00 to 5000.00 USD'],
    [-5, '-$5.00 is outside the limit: from 1.00 to 5000.00 USD'],
    [16.999, 'must be an amount with at most two decimals'],
    [1.001, 'must be an amount with at most two decimals'],
    [1e15, 'is larger than an amount whose cents are exact'],
    [Number.NaN, 'must be an amount with at most two decimals'],
    [Number.POSITIVE_INFINITY, 'is larger than an amount whose cents are exact'],
    [-0, 'must be an amount with at most two decimals'],
    ['25', 'must be a number of USD'],
    [[25], 'must be a number of USD'],
    [null, 'must not be null'],
  ])('refuses %s', (value, expected) => {
    expect(violation(amount, value)).toBe(expected);
  });

  it('takes exactly the whole cents within the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), value => {
        const isLegal = value >= 100 && value <= 500_000;
        expect(violation(amount, toUsd(cents(value))) === undefined).toBe(isLegal);
      }),
    );
  });
});

describe('text', () => {
  it('counts characters as code points', () => {
    expect(violation(label, 'x'.repeat(64))).toBeUndefined();
    expect(violation(label, '🚀'.repeat(64))).toBeUndefined();
    expect(violation(label, '🚀'.repeat(65))).toBe('65 characters are over the limit: at most 64 characters');
    expect(violation(label, 'x'.repeat(65))).toContain('65 characters');
    expect(violation(label, '')).toBeUndefined();
  });

  it.each([
    ['\ud83d', 'must be well-formed Unicode text'],
    ['ads \udc00', 'must be well-formed Unicode text'],
    ['a\0b', 'must not contain a NUL character'],
    [7, 'must be text'],
  ])('refuses %j', (value, expected) => {
    expect(violation(label, value)).toBe(expected);
  });

  it('names the words of a choice', () => {
    expect(violation(OPERATIONS['cards.list'].query.status, 'Active')).toBe('must be active, frozen or terminated');
  });
});

describe('maps', () => {
  it.each([
    [{ team: 1 }, 'the value of "team" must be text'],
    [{ team: null }, 'the value of "team" must be text'],
    [{ team: '\ud800' }, 'the value of "team" must be well-formed Unicode text'],
    [{ team: 'a\0' }, 'the value of "team" must not contain a NUL character'],
    [[], 'must be an object of keys and values'],
    ['a=b', 'must be an object of keys and values'],
  ])('refuses %j', (value, expected) => {
    expect(violation(metadata, value)).toBe(expected);
  });
});

describe('other kinds', () => {
  it.each([
    [integer(said), 1.5, 'must be a whole number'],
    [integer(said), '1', 'must be a whole number'],
    [integer(said, { min: 1 }), 0, '0 is outside the limit: at least 1'],
    [number(said), Number.NaN, 'must be a number'],
    [flag(said), 'true', 'must be true or false'],
    [list(text(said), said), 'a', 'must be a list'],
    [list(text(said), said), ['a', 1], 'entry 2 must be text'],
    [must(list(text(said), said)), [], 'must not be empty'],
    [nullable(integer(said)), null, undefined],
    [list(text(said), said), [], undefined],
    [flag(said), false, undefined],
  ])('%#: %j', (field, value, expected) => {
    expect(violation(field, value)).toBe(expected);
  });

  it('takes any value without throwing, for every field of a card', () => {
    fc.assert(
      fc.property(fc.anything(), value => {
        for (const field of Object.values(CREATE_CARD)) {
          const found = violation(field, value);
          expect(found === undefined || found.length > 0).toBe(true);
        }
      }),
    );
  });
});

describe('shapeProblem', () => {
  it('names the first field that is missing, wrong or unknown', () => {
    expect(shapeProblem(CREATE_CARD, {})).toEqual({ field: 'bin_id', text: 'is missing' });
    expect(shapeProblem(CREATE_CARD, { bin_id: 'bin_1' })).toEqual({ field: 'amount', text: 'is missing' });
    expect(shapeProblem(FUND_CARD, { amount: 0.5 })).toMatchObject({ field: 'amount' });
    expect(shapeProblem(FUND_CARD, { amount: 5, note: 'x' })).toEqual({
      field: 'note',
      text: 'is not known here; known: amount',
      word: { given: 'note', known: ['amount'] },
    });
    expect(shapeProblem({}, { a: 1 })).toMatchObject({ field: 'a', text: 'is not known here; known: nothing' });
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import {
  amountBehindNoise,
  cents,
  centsOf,
  dollars,
  parseAmount,
  plainAmount,
  sumCents,
  toCents,
  toUsd,
} from '../../src/core/money.ts';
import { codePoint } from '../support/code-point.ts';

const anyCents = fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 }).map(cents);

describe('cents and JSON numbers', () => {
  it('round trip for every legal amount, through JSON and through text', () => {
    const wrong: number[] = [];
    for (let value = 0; value <= 500_001; value += 1) {
      const amount = cents(value);
      const overTheWire = JSON.parse(JSON.stringify(toUsd(amount))) as number;
      const typed = parseAmount(plainAmount(amount));
      if (centsOf(overTheWire) !== value || typed !== value) wrong.push(value);
    }
    expect(wrong).toEqual([]);
  });

  it('are rounded, for cutting off loses a cent of 32,808 legal amounts', () => {
    let [wrong, lost] = [0, 0];
    for (let value = 0; value <= 5_000_000; value += 1) {
      if (centsOf(value / 100) !== value) wrong += 1;
      if (value >= 100 && value <= 500_000 && Math.trunc((value / 100) * 100) !== value) lost += 1;
    }
    expect([wrong, lost]).toEqual([0, 32_808]);
  });

  it.each([
    16.999,
    0.001,
    1.005,
    1e-7,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -0,
    1e15,
    1e300,
  ])('%d is no money', value => {
    expect(centsOf(value)).toBeUndefined();
    expect(() => toCents(value)).toThrow(CliError);
  });

  it('refuses cents that are not whole or not safe, and knows one zero', () => {
    for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      expect(() => cents(value)).toThrow(CliError);
    expect(Object.is(cents(-0), 0)).toBe(true);
  });
});

describe('sums', () => {
  it('of 100,000 rows are what big integers make of them', () => {
    const [rows = []] = fc.sample(fc.array(anyCents, { minLength: 100_000, maxLength: 100_000, size: 'max' }), 1);
    expect(rows).toHaveLength(100_000);
    expect(BigInt(sumCents(rows))).toBe(rows.reduce((sum, each) => sum + BigInt(each), 0n));
  });

  it('throw rather than lose a cent', () => {
    expect(() => sumCents([cents(Number.MAX_SAFE_INTEGER), cents(1)])).toThrow(CliError);
  });
});

describe('parseAmount', () => {
  it('takes dollar signs and groups on a terminal only', () => {
    expect(parseAmount('$1,250.00', { grouped: true })).toBe(125_000);
    expect(parseAmount('1,250', { grouped: true })).toBe(125_000);
    expect(parseAmount('$5', { grouped: true })).toBe(500);
    for (const text of ['$1,250.00', '1,250', '$5']) expect(parseAmount(text)).toBeUndefined();
    for (const text of ['1,25', '12,5000', ',250', '1,,250', '$$5', '1,250,00']) {
      expect(parseAmount(text, { grouped: true })).toBeUndefined();
    }
  });

  it('reads exactly the decimal text of at most two places, for any text', () => {
    const digits = fc.stringMatching(/^[0-9.,$+\-eE ]{0,12}$/);
    fc.assert(
      fc.property(fc.oneof(digits, fc.string({ unit: codePoint, maxLength: 10 })), text => {
        const parts = /^([0-9]{1,13})(\.[0-9]{1,2})?$/.exec(text);
        const expected = parts
          ? BigInt(parts[1] ?? '') * 100n + BigInt((parts[2] ?? '.').slice(1).padEnd(2, '0'))
          : undefined;
        expect(parseAmount(text)).toBe(expected === undefined ? undefined : Number(expected));
      }),
    );
  });
});

describe('shown to people', () => {
  it.each([
    [0, '$0.00', '0.00'],
    [1, '$0.01', '0.01'],
    [-1, '-$0.01', '-0.01'],
    [99_999, '$999.99', '999.99'],
    [100_000, '$1,000.00', '1000.00'],
    [123_456_789, '$1,234,567.89', '1234567.89'],
    [-100_000, '-$1,000.00', '-1000.00'],
  ])('%d cents are %s and %s', (value, forPeople, forMachines) => {
    expect(dollars(cents(value))).toBe(forPeople);
    expect(plainAmount(cents(value))).toBe(forMachines);
  });

  it('can be typed again as it is shown', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999 }), value => {
        expect(parseAmount(dollars(cents(value)), { grouped: true })).toBe(value);
        expect(parseAmount(plainAmount(cents(value)))).toBe(value);
      }),
    );
  });
});

describe('binary noise', () => {
  it('is told from an amount, which is what the sum of its parts should have been', () => {
    const noisy = fc.tuple(fc.integer({ min: 1, max: 500_000 }), fc.integer({ min: 1, max: 500_000 }));
    let seen = 0;
    fc.assert(
      fc.property(noisy, ([one, other]) => {
        const text = String(one / 100 + other / 100);
        if (parseAmount(text) !== undefined) return;
        seen += 1;
        expect(amountBehindNoise(text), text).toBe(one + other);
      }),
      { numRuns: 5_000 },
    );
    expect(seen).toBeGreaterThan(100);
  });

  it.each([
    ['69.77000000000001', 6977],
    ['0.30000000000000004', 30],
    ['4.999999999999999', 500],
    ['16.999', undefined],
    ['5.001', undefined],
    ['1.234567890123', undefined],
    ['1e3', undefined],
    ['69.77', undefined],
  ])('of %s', (text, amount) => {
    expect(amountBehindNoise(text)).toBe(amount);
    if (amount !== undefined) expect(parseAmount(text)).toBeUndefined();
  });
});

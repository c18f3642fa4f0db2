import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMap, parseValue } from '../../src/cli/parsing/values.ts';
import { must } from '../../src/contract/field.ts';
import { choice, flag, integer, map, money, number, text, time } from '../../src/contract/own-field.ts';
import { CliError } from '../../src/core/errors.ts';
import { cents, plainAmount } from '../../src/core/money.ts';
import { NOW } from './line.ts';

const settings = { now: NOW };
const amount = must(money('Amount.', { min: 100, max: 500_000 }));
const doc = 'A value.';

function refusal(read: () => unknown): CliError {
  try {
    const value = read();
    throw new Error(`was taken as ${JSON.stringify(value)}`);
  } catch (thrown) {
    if (thrown instanceof CliError) return thrown;
    throw thrown;
  }
}

describe('amounts', () => {
  it.each(['0', '0.99', '5000.01', '1000000'])('%s is outside the limit, which is named', typed => {
    const { kind, facts } = refusal(() => parseValue('--amount', amount, typed, settings));
    expect(kind).toBe('usage');
    expect(facts.message).toMatch(/^--amount \$[\d,.]+ is outside the limit: from 1\.00 to 5000\.00 USD/);
  });

  it('every legal amount becomes its cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 500_000 }), value => {
        const plain = plainAmount(cents(value));
        expect(parseValue('--amount', amount, plain, settings)).toBe(value);
        if (plain.endsWith('0')) expect(parseValue('--amount', amount, plain.slice(0, -1), settings)).toBe(value);
      }),
    );
  });

  it('whatever is typed is cents within the limits or a usage error', () => {
    const typed = fc.oneof(fc.string(), fc.double().map(String), fc.stringMatching(/^[-+$]?[\d,.]{1,12}$/));
    fc.assert(
      fc.property(typed, text => {
        try {
          const value = parseValue('--amount', amount, text, settings) as number;
          expect(Number.isSafeInteger(value) && value >= 100 && value <= 500_000, text).toBe(true);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(CliError);
          expect((thrown as CliError).kind).toBe('usage');
        }
      }),
    );
  });
});

describe('other kinds', () => {
  it.each([
    [integer(doc, { min: 1, max: 100 }), '100', 100],
    [number(doc), '-1.5', -1.5],
    [flag(doc), 'false', false],
    [choice(['a', 'b'], doc), 'b', 'b'],
    [text(doc), 'ads: search', 'ads: search'],
    [time(doc), '7d', '2026-11-13T14:03:11Z'],
  ])('%#: %s', (field, typed, expected) => {
    expect(parseValue('--it', field, typed, settings)).toBe(expected);
  });

  it.each([
    [integer(doc, { min: 1, max: 100 }), '101', 'from 1 to 100'],
    [integer(doc), '1.5', 'not a whole number'],
    [integer(doc), '1e3', 'not a whole number'],
    [number(doc), '0x10', 'not a number'],
    [flag(doc), 'yes', 'true or false'],
    [choice(['a', 'b'], doc), 'c', 'a or b'],
    [text(doc), '', 'must not be empty'],
    [text(doc, { maxLength: 3 }), '😀😀😀😀', 'at most 3 characters'],
    [text(doc), 'a\0b', 'NUL'],
    [time(doc), 'soon', 'a time such as'],
  ])('%#: %j is refused', (field, typed, part) => {
    const { kind, facts } = refusal(() => parseValue('--it', field, typed, settings));
    expect(kind).toBe('usage');
    expect(facts.message).toContain('--it');
    expect(facts.message).toContain(part);
  });
});

describe('lists and maps', () => {
  it('maps take any key once, also names objects are born with', () => {
    const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString'), fc.stringMatching(/^[a-z_]{1,12}$/));
    fc.assert(
      fc.property(fc.uniqueArray(key, { minLength: 1, maxLength: 8 }), keys => {
        const read = parseMap(
          '--metadata',
          map(doc, { maxKeys: 20 }),
          keys.map(each => `${each}=v=${each}`),
        );
        expect(Object.entries(read)).toEqual(keys.map(each => [each, `v=${each}`]));
      }),
    );
    for (const texts of [['a'], ['=a'], ['']]) {
      expect(refusal(() => parseMap('--metadata', map(doc), texts)).message).toContain('not key=value');
    }
    expect(refusal(() => parseMap('--metadata', map(doc), ['a=1', 'a=2'])).message).toContain('"a" twice');
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { checkNewProfileName, checkProfileName, keyMode, readKey } from '../../src/profile/parts.ts';
import { codePoint } from '../support/code-point.ts';
import { failure, LIVE_KEY, TEST_KEY, wholeText } from './dependencies.ts';

const thrown = (work: () => unknown): CliError | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
};

describe('profile names', () => {
  test('pass exactly when they have the form, and nothing unprintable is repeated', () => {
    const text = fc.oneof(fc.string({ unit: codePoint, maxLength: 40 }), fc.stringMatching(/^[a-z0-9_-]{0,34}$/));
    fc.assert(
      fc.property(text, name => {
        fc.pre(!/sk_(live|test)_/i.test(name));
        const error = thrown(() => checkProfileName(name));
        expect(error === undefined).toBe(/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name) && !name.endsWith('\n'));
        if (error !== undefined) expect(error.message).toMatch(/^[\x20-\x7e]+$/);
      }),
    );
  });

  test.each(['a.b', '../x', '__proto__', '', 'A', '-x', 'a b', 'a\n', 'x'.repeat(33)])('%j is refused', async name => {
    expect((await failure(() => checkProfileName(name))).kind).toBe('usage');
  });

  test('reserved names can be named but not saved', async () => {
    for (const name of ['sandbox', 'env']) {
      expect(checkProfileName(name)).toBe(name);
      expect((await failure(() => checkNewProfileName(name))).message).toContain('reserved');
    }
    expect(checkNewProfileName('constructor')).toBe('constructor');
  });

  test('a key in the place of a name is not repeated', async () => {
    for (const key of [TEST_KEY, LIVE_KEY, 'sk_test_abcdefgh12']) {
      expect(wholeText(await failure(() => checkProfileName(key)))).not.toContain(key.slice(8));
    }
  });
});

describe('keys', () => {
  const body = fc.stringMatching(/^[A-Za-z0-9_-]{8,60}$/);

  test('keep their text and their mode, with one newline at most', () => {
    fc.assert(
      fc.property(body, fc.constantFrom('live', 'test'), fc.constantFrom('', '\n', '\r\n'), (tail, mode, end) => {
        const key = readKey(`sk_${mode}_${tail}${end}`);
        expect(key.expose()).toBe(`sk_${mode}_${tail}`);
        expect(keyMode(key)).toBe(mode);
        expect(`${key} ${JSON.stringify(key)}`).not.toContain(tail);
      }),
    );
  });

  test('are refused without a word of them', () => {
    const spoil = fc.constantFrom('\n\n', '\r', ' ', '\u0000', 'é', '\u2028', '\r\n\r\n', '\n x', '.', '"');
    fc.assert(
      fc.property(body, spoil, (tail, bad) => {
        const error = thrown(() => readKey(`sk_live_${tail}${bad}`));
        expect(error?.kind).toBe('usage');
        expect(error?.message).toMatch(/^not an API key: /);
        expect(error?.message).not.toContain(tail);
      }),
    );
  });

  test.each([
    '',
    '\n',
    'sk_test_',
    'sk_test_1234567',
    'sk_prod_12345678',
    'Bearer sk_test_12345678',
    ' sk_test_12345678',
  ])('%j is refused', async text => {
    expect((await failure(() => readKey(text))).kind).toBe('usage');
  });
});

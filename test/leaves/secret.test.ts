import { format, inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { codePoint } from '../support/code-point.ts';

const TEXT = 'sk_test_4f8a91c27d3be650';

describe('a secret', () => {
  it.each<readonly [string, (secret: Secret) => string]>([
    ['template string', secret => `${secret}`],
    ['String()', secret => String(secret)],
    ['concatenation', secret => 'key: '.concat(secret as unknown as string)],
    ['JSON', secret => JSON.stringify({ secret, list: [secret] })],
    ['inspect', secret => inspect(secret)],
    ['inspect with everything', secret => inspect({ secret }, { showHidden: true, depth: 9, getters: true })],
    ['inspect without custom', secret => inspect(secret, { customInspect: false, showHidden: true, depth: 9 })],
    ['inspect as a key', secret => inspect(new Map([[secret, new Set([secret])]]), { showHidden: true, depth: 9 })],
    ['format', secret => format('%s %j %o %O', secret, secret, secret, secret)],
    ['own keys', secret => Reflect.ownKeys(secret).join() + JSON.stringify({ ...secret })],
    ['clone', secret => JSON.stringify(structuredClone(secret))],
    ['error', secret => inspect(new Error('no', { cause: secret }), { showHidden: true })],
  ])('is not shown by %s', (_, show) => {
    const shown = show(new Secret(TEXT));
    expect(shown).not.toContain(TEXT);
    expect(shown).not.toContain('4f8a91c27d3be650');
  });

  it('says that something is there', () => {
    expect(`${new Secret(TEXT)}`).toBe('[redacted]');
    expect(JSON.stringify({ key: new Secret(TEXT) })).toBe('{"key":"[redacted]"}');
    expect(inspect(new Secret(TEXT))).toBe('[redacted]');
  });

  it('gives its text when asked to expose it', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), text => {
        expect(new Secret(text).expose()).toBe(text);
      }),
    );
  });

  it.each([
    [TEXT, 'sk_test_…e650'],
    ['sk_live_4f8a91c27d3be650', 'sk_live_…e650'],
    ['whsec_abcdefgh', 'whsec_…efgh'],
    ['sk_test_short', 'sk_test_…'],
    ['4000001234567899', '…7899'],
    ['123', '…'],
    ['', '…'],
  ])('%j is hinted at as %s', (text, hint) => {
    expect(new Secret(text).hint()).toBe(hint);
  });
});

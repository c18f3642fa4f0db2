/** Signatures of webhook payloads: made as documented, read more kindly, and mistakes named. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainMismatch, matchSignature, sign } from '../../src/contract/signature/signature.ts';
import { Secret } from '../../src/core/secret.ts';
import { codePoint } from '../support/code-point.ts';

const KEY = Buffer.from('sixteen bytes of key');
const SECRET = new Secret(`whsec_${KEY.toString('base64url')}`);
const OTHER = new Secret('another');
const BODY = Buffer.from('{"id":"evt_1","amount":12.5,"label":"caf\u00e9/bar"}');
const hex = sign(BODY, SECRET);

describe('sign', () => {
  it('uses the secret as the text it is', () => {
    expect(hex).toBe(createHmac('sha256', SECRET.expose()).update(BODY).digest('hex'));
    expect(hex).toMatch(/^[0-9a-f]{64}$/);
  });
});

/** HMAC fills a key up with zero bytes: a key of them signs as the empty one, which everybody knows. */
it.each(['A'.repeat(22), 'A'.repeat(43), 'AAAA', 'c2hvcnQ'])('whsec_%s is no key in its decoded form', rest => {
  const byAnybody = createHmac('sha256', Buffer.from(rest, 'base64')).update(BODY).digest('hex');
  expect(matchSignature(BODY, byAnybody, [new Secret(`whsec_${rest}`)])).toBeUndefined();
});

describe('matchSignature', () => {
  const decoded = createHmac('sha256', KEY).update(BODY).digest('hex');
  const base64 = Buffer.from(hex, 'hex').toString('base64');

  it.each([
    ['as documented', hex, 0, []],
    ['with a prefix', `sha256=${hex}`, 0, ['prefix']],
    ['with the other prefix', `v1=${hex}`, 0, ['prefix']],
    ['in upper case', hex.toUpperCase(), 0, ['upper_case']],
    ['in base64', base64, 0, ['base64']],
    ['in base64url', Buffer.from(hex, 'hex').toString('base64url'), 0, ['base64']],
    ['in base64 with a prefix', `sha256=${base64}`, 0, ['prefix', 'base64']],
    ['with the decoded rest of the secret', decoded, 0, ['decoded_secret']],
    ['with the old secret', sign(BODY, OTHER), 1, []],
    ['in a list', `t=1700000000,v1=${hex},v0=${'0'.repeat(64)}`, 0, ['list', 'prefix']],
    ['in a list of both secrets', `${sign(BODY, OTHER)}, ${hex}`, 0, ['list']],
    ['in a list with spaces', `${'0'.repeat(64)} ${hex}`, 0, ['list']],
  ])('reads one %s', (_, received, secret, deviations) => {
    expect(matchSignature(BODY, received, [SECRET, OTHER])).toEqual({ secret, deviations });
  });

  it.each([
    ['nothing', ''],
    ['half a digest', hex.slice(0, 32)],
    ['a digest too long', `${hex}00`],
    ['two digests glued together', hex + hex],
    ['no hex', 'g'.repeat(64)],
    ['spaces', '   '],
    ['a header of 100,000 characters', `${'0,'.repeat(50_000)}${hex}`],
    ['the seventeenth of a list', `${`${'0'.repeat(64)},`.repeat(16)}${hex}`],
  ])('does not match %s', (_, received) => {
    expect(matchSignature(BODY, received, [SECRET])).toBeUndefined();
  });

  it('reads back what sign made, and nothing else, whatever bytes and secrets', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (bytes, one, two) => {
        const made = sign(bytes, new Secret(one));
        expect(matchSignature(bytes, made, [new Secret(one)])).toEqual({ secret: 0, deviations: [] });
        // HMAC fills short keys up with zeros, so those are one key.
        const differ =
          Buffer.from(one)
            .toString('hex')
            .replace(/(00)+$/, '') !==
          Buffer.from(two)
            .toString('hex')
            .replace(/(00)+$/, '');
        if (differ) expect(matchSignature(bytes, made, [new Secret(two)])).toBeUndefined();
        expect(matchSignature(Buffer.concat([bytes, Buffer.of(0)]), made, [new Secret(one)])).toBeUndefined();
      }),
    );
  });

  it('never throws and never matches a received text that nobody signed', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200, unit: codePoint }), received => {
        expect(matchSignature(BODY, received, [SECRET, OTHER])).toBeUndefined();
      }),
    );
  });
});

describe('explainMismatch', () => {
  const text = BODY.toString();
  const value: unknown = JSON.parse(text);
  const python = '{"id": "evt_1", "amount": 12.5, "label": "caf\\u00e9/bar"}';
  const lines = '{\n  "a": 1\n}\n';
  const withCr = lines.replaceAll('\n', '\r\n');

  it.each([
    ['newline_added', `${text}\n`, hex],
    ['newline_added', `${text}\r\n`, hex],
    ['newline_removed', text, sign(Buffer.from(`${text}\n`), SECRET)],
    ['line_ends_changed', withCr, sign(Buffer.from(lines), SECRET)],
    ['line_ends_changed', lines, sign(Buffer.from(withCr), SECRET)],
    ['json_written_again', JSON.stringify(value, null, 2), hex],
    ['json_written_again', python, hex],
    ['json_written_again', text, sign(Buffer.from(python), SECRET)],
    ['json_written_again', text.replaceAll('/', '\\/'), hex],
    ['json_written_again', `\ufeff${JSON.stringify(value, null, 4)}`, hex],
    ['no_signature', text, '  '],
    ['not_a_digest', text, 'abc'],
  ])('finds %s', (mistake, body, received) => {
    expect(matchSignature(Buffer.from(body), received, [SECRET])).toBeUndefined();
    expect(explainMismatch(Buffer.from(body), received, [SECRET]).map(found => found.mistake)).toEqual([mistake]);
  });

  it('finds white space around the secret, on either side', () => {
    const spaced = new Secret(`${SECRET.expose()}\n`);
    const mistakes = (received: string, secret: Secret) =>
      explainMismatch(BODY, received, [secret]).map(found => found.mistake);
    expect(mistakes(hex, spaced)).toEqual(['secret_has_space_around']);
    expect(mistakes(sign(BODY, spaced), SECRET)).toEqual(['secret_has_space_around']);
  });

  it('claims nothing about what it cannot explain, and tells no secret', () => {
    expect(explainMismatch(BODY, sign(BODY, OTHER), [SECRET])).toEqual([]);
    expect(explainMismatch(Buffer.from('not json'), hex, [SECRET])).toEqual([]);
    const told = JSON.stringify(explainMismatch(Buffer.from(`${text}\n`), hex, [SECRET]));
    expect(told).not.toContain(SECRET.expose());
  });
});

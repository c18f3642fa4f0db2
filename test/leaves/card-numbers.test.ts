import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskedValue, passesLuhn, withoutCardNumbers } from '../../src/core/card-numbers.ts';

const NUMBER = '4000009471306822';

/** Digits with a right check digit. */
const cardNumber = fc
  .stringMatching(/^[3-6]\d{11,17}$/)
  .map(digits => [...'0123456789'].map(last => `${digits}${last}`).find(passesLuhn) ?? digits);

describe('a card number', () => {
  it('is found wherever it stands', () => {
    const before = fc.constantFrom('', 'PAN', 'x', '(400 ', '12 ', 'a_', 'é', '№', '…');
    const behind = fc.constantFrom('', 'y', ' 12/29', ')', '.', ' 404', '\n');
    fc.assert(
      fc.property(before, cardNumber, behind, (one, number, other) => {
        expect(withoutCardNumbers(`${one}${number}${other}`)).not.toContain(number);
      }),
    );
  });

  it('is found in groups of four, however they are parted', () => {
    const between = fc.constantFrom(' ', '-', '.', '_', '·', '\u00a0', '\u2007', '\u202f', '\u2011', '\u200b', ' - ');
    fc.assert(
      fc.property(cardNumber, between, (number, gap) => {
        const text = number.replace(/(\d{4})(?=\d)/g, `$1${gap}`);
        expect(withoutCardNumbers(`was ${text}, sorry`)).not.toMatch(/\d{3}/);
      }),
    );
  });

  it('is found in any groups that spaces, dashes and underscores part', () => {
    const parted = fc.tuple(
      fc.constantFrom(' ', '-', '_', '\u00a0', ' - '),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 15 }),
    );
    fc.assert(
      fc.property(parted, ([gap, sizes]) => {
        let [text, rest] = ['', NUMBER];
        for (const size of sizes)
          [text, rest] = [`${text}${text === '' || rest === '' ? '' : gap}${rest.slice(0, size)}`, rest.slice(size)];
        expect(withoutCardNumbers(`was ${text}, sorry`)).toBe('was [redacted], sorry');
      }),
    );
  });

  it.each([
    ['４０００００９４７１３０６８２２', '[redacted]'],
    [`card ${NUMBER} of 1234 5678`, 'card [redacted] of 1234 5678'],
    ['404 4000 0094 7130 6822 12', '404 [redacted] 12'],
    [`00${NUMBER}`, '[redacted]'],
    ['4000 0094-7130 6822', '[redacted]'],
    ['4000/0094/7130/6822', '[redacted]'],
    ['4000\n0094\n7130\r\n6822', '[redacted]'],
    ['4000,0094,7130,6822', '[redacted]'],
    ['4000, 0094, 7130, 6822', '[redacted]'],
    ['4000:0094:7130:6822', '[redacted]'],
    ['4000*0094*7130*6822', '[redacted]'],
    ['4000|0094|7130|6822;12', '[redacted];12'],
    ['3782,822463,10005', '[redacted]'],
    ['4000\t0094\t7130\t6822', '[redacted]'],
    ['٤٠٠٠٠٠٩٤٧١٣٠٦٨٢٢', '[redacted]'],
    ['४००० ००९४ ७१३० ६८२२', '[redacted]'],
  ])('%s', (text, expected) => {
    expect(withoutCardNumbers(text)).toBe(expected);
  });

  it.each([
    '4000009471306823',
    '123456789012',
    '2026-11-20T14:03:11Z and 2026-11-21T09:00:00Z',
    '1000.00 2000.00 3000.00 4000.00 5000.00',
    // The 16 digits inside pass the test; the digest, the address and the UUID are none of it.
    `${NUMBER}abcdefabcdefabcdefabcdef`,
    `0x${NUMBER}abcdefabcdefabcdefabcdef`,
    `cw_${NUMBER}abcdefabcdefabcd`,
    'é 40000094713068229999',
    '1763647391006',
    // The digits of both pass the test: an amount, and numbers of a list.
    '4,000,009,471,306,822',
    '40,0000,94,71,306822',
    'http://127.0.0.1:4010/000000000000000b',
    'ﬁne',
    '٢٠٢٦',
    // Two numbers of eight digits, a line each, and dates.
    '40000094\n71306822',
    '20/11/2026 and 21/11/2026',
  ])('is not seen in %s', text => {
    expect(withoutCardNumbers(text)).toBe(text);
  });
});

it('an id is hidden only where it ends in the last four digits beside it', () => {
  const isId = (name: string) => name === 'id';
  const plain = { id: NUMBER, last4: '1111', deep: [{ id: NUMBER, last4: '6822', cvv: '123' }] };
  expect(maskedValue(plain, isId)).toEqual({
    value: { id: NUMBER, last4: '1111', deep: [{ id: '[redacted]', last4: '6822', cvv: '[redacted]' }] },
    hidden: ['deep[].id', 'deep[].cvv'],
    inexact: [],
  });
  const other = { id: NUMBER, last4: '1111' };
  expect(maskedValue(other, isId).value).toBe(other);
});

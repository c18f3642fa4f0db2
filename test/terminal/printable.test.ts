import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printable, printableJson, printableLines } from '../../src/terminal/printable.ts';
import { codePoint } from '../support/code-point.ts';
import { processorMs } from '../support/processor-time.ts';

const HOSTILE = fc
  .array(
    fc.oneof(
      fc.string({ unit: codePoint, maxLength: 8 }),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
      fc.constantFrom(
        ...'\x1b \x9b \u202e \u2066 \u200b \u200d \ufeff \u00ad \u2028 \u3164 \ud800 \udfff \r \b \x07'.split(' '),
        ...'\u{e0041} \u{e007f} \ufe0f \ufe0e \u20e3 1 # 😀 👨 👩 ❤ 🏴 🏽 \x1b]0;title\x07 \x1b[2J é e\u0301'.split(
          ' ',
        ),
      ),
    ),
    { maxLength: 30 },
  )
  .map(parts => parts.join(''));

/** Written without the expression under test: an independent list of what must not come out. */
function actsOnTerminal(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  const within = (from: number, to: number) => code >= from && code <= to;
  return (
    within(0, 0x1f) ||
    within(0x7f, 0x9f) ||
    within(0x200b, 0x200c) ||
    within(0x200e, 0x200f) ||
    within(0x2028, 0x202e) ||
    within(0x2060, 0x206f) ||
    within(0xd800, 0xdfff) ||
    within(0xe0000, 0xe0fff) ||
    [0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x180e, 0x3164, 0xfeff, 0xffa0].includes(code)
  );
}

describe('printable', () => {
  test('no control, bidi, zero-width or tag character comes out', () => {
    fc.assert(
      fc.property(HOSTILE, text => {
        expect([...printable(text)].filter(actsOnTerminal)).toEqual([]);
        expect([...printableLines(text)].filter(character => character !== '\n').filter(actsOnTerminal)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('a joiner comes out only between the parts of an emoji', () => {
    fc.assert(
      fc.property(HOSTILE, text => {
        expect(printable(text).replace(/\p{Emoji}[\ufe0f\u{1f3fb}-\u{1f3ff}]?\u200d(?=\p{Emoji})/gu, '')).not.toContain(
          '\u200d',
        );
      }),
      { numRuns: 500 },
    );
  });

  test('what is printable stays, so twice is once', () => {
    fc.assert(
      fc.property(HOSTILE, text => {
        expect(printable(printable(text))).toBe(printable(text));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['ads: search — 広告 é ' + 'e\u0301', 'ads: search — 広告 é ' + 'e\u0301'],
    ['Acme \u202eLtd', 'Acme \\u{202e}Ltd'],
    ['\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
    ['a\tb\r\nc', 'a\\tb\\r\\nc'],
    ['\x9b2J \x7f', '\\x9b2J \\x7f'],
    ['zero\u200bwidth', 'zero\\u{200b}width'],
    ['👨‍👩‍👧 ❤️ 1️⃣ 🇩🇪 👍🏽', '👨‍👩‍👧 ❤️ 1️⃣ 🇩🇪 👍🏽'],
    ['a\u200db', 'a\\u{200d}b'],
    ['a\ufe0f', 'a\\u{fe0f}'],
    ['🏴\u{e0067}\u{e007f}', '🏴\\u{e0067}\\u{e007f}'],
    [
      '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
      '🏴\\u{e0067}\\u{e0062}\\u{e0065}\\u{e006e}\\u{e0067}\\u{e007f}',
    ],
    ['lone \ud800 half', 'lone \\u{d800} half'],
    ['one\u2028two', 'one\\u{2028}two'],
  ])('%j', (text, expected) => expect(printable(text)).toBe(expected));

  test('printableLines keeps newlines alone', () => {
    expect(printableLines('a\nb\rc\td')).toBe('a\nb\\rc\\td');
  });

  test('JSON stays the same value', () => {
    fc.assert(
      fc.property(HOSTILE, text => {
        const json = printableJson(JSON.stringify({ text }, undefined, 2));
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ text })));
        expect([...json].filter(character => character !== '\n').filter(actsOnTerminal)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('long text of any kind takes linear time', () => {
    for (const part of ['\u200d', '👨\u200d', '\x1b[', '🏴\u{e0067}', '1\ufe0f', 'a']) {
      expect(processorMs(() => printable(part.repeat(200_000)))).toBeLessThan(1_500);
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitted } from '../../src/terminal/fold.ts';

describe('a line of conversation', () => {
  it.each([
    ['error: no such card', 40, ['error: no such card']],
    [
      'error: the wallet is too low: $5,000.00 asked, $1,204.10 there',
      40,
      ['error: the wallet is too low: $5,000.00', '  asked, $1,204.10 there'],
    ],
    ['  card_1 is unchanged at one hundred dollars', 24, ['  card_1 is unchanged at', '    one hundred dollars']],
    [
      '  try: cardwright cards fund card_1 --amount 120.00',
      30,
      ['  try:', '    cardwright cards fund card_1 --amount 120.00'],
    ],
    ['  try: rm /home/me/a/file && cardwright login', 30, ['  try:', '    rm /home/me/a/file && cardwright login']],
    ['See: cardwright sandbox snapshot save --help', 30, ['See:', '  cardwright sandbox snapshot save --help']],
    [
      '  to this pipe:        cardwright cards details card_1 --reveal',
      40,
      ['  to this pipe:', '    cardwright cards details card_1 --reveal'],
    ],
    [
      'op_31. If anything stops this run: cardwright ops resume op_31',
      50,
      ['op_31. If anything stops this run:', '  cardwright ops resume op_31'],
    ],
    [
      'Next: cardwright cards details card_1     show number and CVV',
      40,
      ['Next: cardwright cards details card_1', '  show number and CVV'],
    ],
    ['warning: 広告広告広告 is a label', 20, ['warning: 広告広告広', '  告 is a label']],
  ])('%j on %i columns', (text, cells, lines) => {
    expect(fitted(text, cells)).toEqual(lines);
  });

  it('keeps every word, whole, and breaks no command', () => {
    const word = fc.stringMatching(/^[a-z]{1,14}$/);
    const sentence = fc.array(word, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(sentence, sentence, fc.integer({ min: 24, max: 100 }), (told, typed, cells) => {
        const command = `cardwright ${typed.join(' ')}`;
        const lines = fitted(`error: ${told.join(' ')}: ${command}`, cells);
        expect(lines.join(' ').split(/ +/).filter(Boolean)).toEqual([
          'error:',
          ...`${told.join(' ')}: ${command}`.split(' '),
        ]);
        expect(lines.filter(line => line.includes(command))).toHaveLength(1);
        // Only what is one piece may be wider than the screen.
        for (const line of lines) {
          if (line.length > cells) expect(line.endsWith(command) || !line.trim().includes(' ')).toBe(true);
        }
      }),
    );
  });
});

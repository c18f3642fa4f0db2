import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/core/nearest.ts';

const VERBS = ['create', 'list', 'get', 'details', 'fund', 'withdraw', 'freeze', 'unfreeze', 'terminate'];

describe('nearest', () => {
  it.each([
    ['lst', 'list'],
    ['lits', 'list'],
    ['creat', 'create'],
    ['terminat', 'terminate'],
    ['funds', 'fund'],
    ['gte', 'get'],
    ['xyz', undefined],
    ['laen', undefined],
    ['frod', 'fund'],
    ['', undefined],
    ['freeeeeze', undefined],
  ])('%s -> %s', (word, expected) => {
    expect(nearest(word, VERBS)).toBe(expected);
  });

  it.each([
    ['--stat', ['--sort', '--status'], '--status'],
    ['--sta', ['--live', '--status-code', '--status'], '--status'],
    ['--s', ['--sort', '--status'], undefined],
    ['web', ['wait', 'webhooks'], 'webhooks'],
    ['--sorted', ['--status', '--sort'], '--sort'],
  ])('%s of %j is the beginning of a word before it is a mistyped one', (typed, known, expected) => {
    expect(nearest(typed, known)).toBe(expected);
  });

  it.each([
    ['--api-key-stdin', ['--key-stdin', '--profile'], '--key-stdin'],
    ['--freeze-at', ['--label', '--auto-freeze-at'], '--auto-freeze-at'],
    ['--timeout-wait', ['--timeout', '--wait-timeout'], '--wait-timeout'],
    ['limit', ['status', 'spending_limit'], 'spending_limit'],
    ['--bin-id', ['--bin', '--label'], '--bin'],
    ['--no-such', ['--no-input', '--label'], undefined],
    ['idle', ['id', 'label'], 'id'],
  ])('%s has the words of one of %j', (typed, known, expected) => {
    expect(nearest(typed, known)).toBe(expected);
  });

  const word = fc.string({ minLength: 4, maxLength: 12 });

  it('finds a word with one letter left out, doubled, replaced or swapped with its neighbour', () => {
    const mistakes = (text: string, at: number) => [
      text.slice(0, at) + text.slice(at + 1),
      text.slice(0, at) + text.charAt(at) + text.slice(at),
      `${text.slice(0, at)}\u2603${text.slice(at + 1)}`,
      text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2),
    ];
    fc.assert(
      fc.property(word, fc.nat(), (text, n) => {
        for (const wrong of mistakes(text, n % (text.length - 1))) {
          if (wrong.length >= 4) expect(nearest(wrong, [text])).toBe(text);
        }
      }),
    );
  });

  it('prefers the word itself, and suggests only what it was given', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.string(), (words, typed) => {
        const found = nearest(typed, words);
        expect(found === undefined || words.includes(found)).toBe(true);
        const [first = ''] = words;
        expect(nearest(first, words)).toBe(first);
      }),
    );
  });

  it('stays quick however long the word is', () => {
    expect(nearest('x'.repeat(100_000), VERBS)).toBeUndefined();
  });
});

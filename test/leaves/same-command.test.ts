import { expect, test } from 'vitest';
import { sameCommandWith, sameCommandWithout, withTypedWords } from '../../src/core/shell-quote.ts';

test.each([
  ['policy apply p.yaml -p shop', ['--yes'], 'policy apply p.yaml -p shop --yes'],
  ['cards exec card_1 -- ./pay.sh --yes', ['--reveal', '--yes'], 'cards exec card_1 --reveal --yes -- ./pay.sh --yes'],
  ['policy apply p.yaml --max-cards 3 --yes', ['--max-cards 30'], 'policy apply p.yaml --yes --max-cards 30'],
  [
    'policy apply p.yaml --max-share=3%',
    ['--max-share 50%', '--max-cards 9'],
    'policy apply p.yaml --max-share 50% --max-cards 9',
  ],
  ['3ds wait --latest', ['--latest'], '3ds wait --latest'],
] as const)('%s, with %j', (typed, options, whole) => {
  expect(withTypedWords(sameCommandWith(...options), typed.split(' '))).toBe(`cardwright ${whole}`);
});

test('an option is left out with its value', () => {
  const hint = sameCommandWithout('--intent');
  for (const typed of [
    ['cards', 'freeze', 'card_1', '--intent', 'a b'],
    ['cards', 'freeze', '--intent=a b', 'card_1'],
  ])
    expect(withTypedWords(hint, typed)).toBe('cardwright cards freeze card_1');
});

test('words that a shell acts upon are quoted, and a sentence keeps its end', () => {
  const note = `If these are meant: ${sameCommandWith('--again')}. It makes 2 cards.`;
  const told = withTypedWords(note, ['cards', 'create', '--file', "it's $HOME.csv"]);
  expect(told).toBe(
    `If these are meant: cardwright cards create --file 'it'\\''s $HOME.csv' --again. It makes 2 cards.`,
  );
});

test('what cannot be a whole command stays as it is', () => {
  for (const text of [
    'the same command with --plan <plan.json>',
    'the same command with the whole id',
    'the same command again',
  ])
    expect(withTypedWords(text, ['whoami'])).toBe(text);
});

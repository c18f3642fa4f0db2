/** What a hint means by the same command is a whole command, with the words that were typed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sameCommandWith, sameCommandWithout, withTypedWords } from '../../src/core/shell-quote.ts';

const SOURCE = join(import.meta.dirname, '..', '..', 'src');

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

test('nobody else writes the phrase', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
  const written = files.filter(name =>
    /['"`][^'"`\n]*the same command with(?:out)? --/i.test(readFileSync(join(SOURCE, name), 'utf8')),
  );
  expect(written).toEqual(['core/shell-quote.ts']);
});

test('a hint is a command to copy: what is no command stands in the message or a note', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
  const programs = ['cardwright', 'cat', 'chmod', 'export', 'getent', 'kill', 'ls', 'mv', 'rm', 'ulimit', 'unset'];
  const literal = /\bhint: (?!'port' in )['"`](?!\$\{)([^\s'"`]*)/g;
  const others = files.flatMap(name =>
    [...readFileSync(join(SOURCE, name), 'utf8').matchAll(literal)]
      .filter(([, word = '']) => !programs.includes(word))
      .map(([found]) => `${name} ${found}`),
  );
  expect(others).toEqual([]);
});

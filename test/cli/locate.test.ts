import { describe, expect, it } from 'vitest';
import { asHelp, locate, nextWords, plainWords } from '../../src/cli/parsing/locate.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { CliError } from '../../src/core/errors.ts';
import { words } from '../support/words.ts';

const found = async (line: string) => {
  const { command, words: path } = await locate(words(line), REGISTRY);
  return command?.path ?? `group ${path.join(' ')}`;
};

async function refusal(line: string): Promise<CliError> {
  const thrown: unknown = await locate(words(line), REGISTRY).then(
    ({ command }) => new Error(`led to ${command?.path}`),
    (error: unknown) => error,
  );
  if (thrown instanceof CliError) return thrown;
  throw thrown;
}

describe('locate', () => {
  it.each([
    ['cards list', 'cards list'],
    ['--json cards list', 'cards list'],
    ['cards --json list', 'cards list'],
    ['-p team cards list', 'cards list'],
    ['--profile team cards list', 'cards list'],
    ['--profile=team cards list', 'cards list'],
    ['-pteam cards list', 'cards list'],
    ['-o json cards -p team list --limit 3', 'cards list'],
    ['cards -- list', 'group cards'],
    ['cards freeze card_1 card_2 -', 'cards freeze'],
    ['sandbox simulate', 'group sandbox simulate'],
    ['sandbox simulate authorize --card card_1', 'sandbox simulate authorize'],
    ['wallet', 'wallet'],
    ['wallet addresses', 'wallet addresses'],
    ['whoami', 'whoami'],
    ['cards', 'group cards'],
    ['', 'group '],
    ['--json', 'group '],
  ])('%s -> %s', async (line, expected) => {
    expect(await found(line)).toBe(expected);
  });

  it.each([
    ['card list', 'unknown command "card". Did you mean "cards"?', 'cardwright --help'],
    ['cards lst', 'unknown command "lst". Did you mean "list"?', 'cardwright cards --help'],
    [
      'sandbox simulate autorize',
      'unknown command "autorize". Did you mean "authorize"?',
      'cardwright sandbox simulate --help',
    ],
    ['qwertyuiop', 'unknown command "qwertyuiop".', 'cardwright --help'],
    ['constructor', 'unknown command "constructor".', 'cardwright --help'],
    ['helpp', 'unknown command "helpp". Did you mean "help"?', 'cardwright --help'],
  ])('%s is unknown', async (line, message, hint) => {
    const error = await refusal(line);
    expect(error.kind).toBe('usage');
    expect(error.message).toBe(message);
    expect(error.facts).toMatchObject({ hint, outcome: 'not_sent' });
  });

  it('never runs the nearest word: an abbreviation is unknown too', async () => {
    expect((await refusal('cards lis')).exitCode).toBe(2);
  });

  it('knows the words that may follow', async () => {
    const group = REGISTRY.find(({ name }) => name === 'sandbox');
    expect(nextWords(['sandbox'], Object.keys((await group?.leaves()) ?? {}))).toContain('simulate');
    expect(plainWords(['-o', 'json', 'a', '--', 'b'])).toEqual(['a']);
  });
});

describe('help as a word', () => {
  it('means a group of that name, however near a topic it is', async () => {
    const group = { name: 'outputs', heading: 'Mine', summary: '', leaves: async () => ({}) };
    const { argv } = await asHelp(['help', 'outputs'], [...REGISTRY, group]);
    expect(argv).toEqual(['outputs']);
  });

  it.each([
    ['help', '', true],
    ['help cards fund', 'cards fund', true],
    ['--json help cards', '--json cards', true],
    ['-p help help cards', '-p help cards', true],
    ['help help', 'help', true],
    ['help exit-codes', 'help exit-codes', false],
    ['help exit-code', 'help exit-code', false],
    ['help crads', 'crads', true],
    ['cards help', 'cards help', false],
    ['', '', false],
  ])('%s -> %s', async (line, expected, asksHelp) => {
    expect(await asHelp(words(line), REGISTRY)).toEqual({ argv: words(expected), asksHelp });
  });
});

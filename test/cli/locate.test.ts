import { describe, expect, it } from 'vitest';
import { nextWords, readLine } from '../../src/cli/parsing/tree.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { CliError } from '../../src/core/errors.ts';
import { words } from '../support/words.ts';

/** Where a line leads: a command, the help of a place, or the start. */
const found = async (line: string) => {
  const read = await readLine(words(line), REGISTRY);
  if (read.asks === 'command') return read.parsed.command.path;
  return read.asks === 'help' ? `help ${read.located.words.join(' ')}`.trim() : read.asks;
};

async function refusal(line: string): Promise<CliError> {
  const thrown: unknown = await found(line).then(
    where => new Error(`led to ${where}`),
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
    ['-o json cards -p team list --per-page 3', 'cards list'],
    ['cards -- list', 'cards list'],
    ['cards freeze card_1 card_2 -', 'cards freeze'],
    ['sandbox simulate', 'help sandbox simulate'],
    ['sandbox simulate authorize --card card_1', 'sandbox simulate authorize'],
    ['wallet', 'wallet'],
    ['wallet addresses', 'wallet addresses'],
    ['whoami', 'whoami'],
    ['cards', 'help cards'],
    ['', 'start'],
    ['--json', 'start'],
    ['--json --help', 'help'],
    ['cards create --bogus -h', 'help cards create'],
    ['cards -qV', 'version'],
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
  });
});

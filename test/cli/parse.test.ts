import { describe, expect, it } from 'vitest';
import { GLOBALS, readGlobals } from '../../src/app/globals.ts';
import { type Command, commandsOf } from '../../src/cli/parsing/declaration.ts';
import { readLine } from '../../src/cli/parsing/tree.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { CliError } from '../../src/core/errors.ts';
import { words } from '../support/words.ts';
import { NOW } from './line.ts';

const settings = { now: NOW };

/** Global options and values of a line, as the command would get them. */
async function parse(line: string, stdin = '') {
  const read = await readLine(words(line), REGISTRY);
  if (read.asks !== 'command') throw new Error(`${line} leads to no command`);
  const { parsed } = read;
  return { globals: readGlobals(parsed.globals, {}), values: await parsed.values(settings, async () => stdin) };
}

async function refusal(line: string): Promise<CliError> {
  const thrown: unknown = await parse(line).then(
    () => new Error(`was taken: ${line}`),
    (error: unknown) => error,
  );
  if (thrown instanceof CliError) return thrown;
  throw thrown;
}

describe('equal spellings', () => {
  it.each([
    [
      'cards fund card_1 --amount 25 --json',
      [
        'cards fund card_1 --amount=25 --json',
        '--json cards fund --amount 25 card_1',
        'cards --json fund card_1 --amount 25.00',
        'cards fund --amount 25 --json -- card_1',
      ],
    ],
    [
      'cards list -o json -q',
      [
        'cards list -qojson',
        'cards list -qo json',
        '-q cards list --output=json',
        '--output json --quiet cards list',
        'cards -o json list -q',
      ],
    ],
    ['-p team cards list', ['cards list -pteam', 'cards list --profile=team', '--profile team cards list']],
    [
      'bins pick --need 3ds,apple_pay',
      ['bins pick --need 3ds --need apple_pay', 'bins pick --need=3ds --need=apple_pay'],
    ],
    ['cards create --bin b --amount 5 --label -x', ['cards create --label=-x --bin b --amount 5']],
  ])('%s', async (line, others) => {
    const expected = await parse(line);
    for (const other of others) expect(await parse(other), other).toEqual(expected);
  });

  it('takes what follows -- as it is', async () => {
    expect((await parse('cards get -- --json')).values).toEqual({ cards: ['--json'] });
    expect((await refusal('cards list -- extra')).message).toBe('cards list does not take "extra"');
  });

  it.each(['card_2 card_3', 'card_2\tvisa', 'card_2,card_3', 'card_2;5', 'id\ncard_2', 'CARD_ID'])(
    'takes nothing of a standard input that is no list of ids: %j',
    async input => {
      await expect(parse('cards terminate -', `${input}\n`)).rejects.toMatchObject({ kind: 'usage' });
    },
  );
});

describe('refusals', () => {
  it.each([
    ['cards fund card_1', 'cards fund needs --amount <usd>'],
    ['cards create', 'cards create needs --bin <bin|auto> and --amount <usd>'],
    ['cards fund --amount 25', 'cards fund needs a card'],
    ['cards freeze', 'cards freeze needs one or more cards'],
    ['cards fund card_1 card_2', 'cards fund does not take "card_2"'],
    ['sandbox exec npm test', 'sandbox exec does not take "npm"; a program goes after --'],
    ['cards fund card_1 --amount', '--amount needs a value'],
    ['cards list -o', '--output needs a value'],
    ['cards list --statu frozen', 'unknown option "--statu". Did you mean "--status"?'],
    ['cards list --js', 'unknown option "--js".'],
    ['cards list -z', 'unknown option "-z".'],
    ['cards list --status melted', '--status "melted" must be active, frozen or terminated'],
    ['cards fund card_1 --amount 1e3', '--amount "1e3" is not an amount'],
  ])('%s', async (line, message) => {
    const error = await refusal(line);
    expect(error.kind).toBe('usage');
    expect(error.facts.outcome).toBe('not_sent');
    expect(error.message.startsWith(message), error.message).toBe(true);
  });

  it.each([
    '--api-key=sk_live_CANARY',
    '--api-key sk_live_CANARY',
    '--key=sk_live_CANARY',
    '--secret=whsec_CANARY',
    '--secret whsec_CANARY',
    '--apikey=sk_live_CANARY',
    '--token=CANARY',
    '--cvv=CANARY',
    '--number=CANARY',
    '-k=CANARY',
  ])('never repeats what could be a secret: %s', async option => {
    for (const before of ['cards list', 'webhooks create --url https://example.com --event card.created']) {
      const { kind, facts } = await refusal(`${before} ${option}`);
      expect(kind).toBe('usage');
      expect(JSON.stringify(facts)).not.toContain('CANARY');
    }
  });

  it('names the ways that work in place of a secret option', async () => {
    expect((await refusal('cards list --api-key=x')).message).toContain('login --key-stdin');
    expect((await refusal('webhooks create --secret x')).message).toContain('--secret-file');
    // Before the command, its value stands where a command could.
    for (const line of ['--api-key x cards list', '--api-key x', 'cards --key x list']) {
      expect((await refusal(line)).message, line).toContain('login --key-stdin');
    }
    expect((await refusal('cards nosuch -- --key')).message).toContain('unknown command');
  });
});

const commands: readonly Command[] = (await Promise.all(REGISTRY.map(commandsOf))).flat();

it('no flag of a command hides an option of every command', () => {
  const options = new Set<string>(GLOBALS.map(({ name }) => `--${name}`));
  const hiding = commands.flatMap(command =>
    command.flags.filter(({ name }) => options.has(name)).map(({ name }) => `${command.path} ${name}`),
  );
  expect(hiding).toEqual([]);
});

describe('a flag given twice', () => {
  const flags = commands.flatMap(command => command.flags.map(flag => ({ ...flag, path: command.path })));
  /** Two words that parse for every kind of option; values are checked later. */
  const twice = (path: string, name: string, second: string) => refusalOf(`${path} ${name} one ${name} ${second}`);

  async function refusalOf(line: string): Promise<string> {
    try {
      await readLine(words(line), REGISTRY);
      return 'taken';
    } catch (thrown) {
      return thrown instanceof CliError ? `${thrown.kind}: ${thrown.message}` : String(thrown);
    }
  }

  it('never lets one of two values win silently, whatever the command', async () => {
    for (const { path, name, placeholder, repeats } of flags.filter(flag => flag.placeholder !== '')) {
      const said = await twice(path, name, 'two');
      if (repeats) expect(said, `${path} ${name} ${placeholder}`).toBe('taken');
      else expect(said).toBe(`usage: ${name} takes one value, but was given "one" and "two"`);
      expect(await twice(path, name, 'one'), `${path} ${name}`).toBe('taken');
    }
  });

  it('holds for the options of every command as well', async () => {
    const valued = GLOBALS.filter(option => 'value' in option && !('repeats' in option));
    for (const { name } of valued) {
      expect(await twice('cards list', `--${name}`, 'two')).toContain(`--${name} takes one value`);
    }
    expect(await refusalOf('-o json cards list --output csv')).toContain('--output takes one value');
    expect(await refusalOf('--json --json cards list -q -q')).toBe('taken');
  });

  it('collects conditions as they were typed, commas and all', async () => {
    const { values } = await parse("cards list --where 'label=a,b' --where balance<20");
    expect(values).toEqual({ where: ['label=a,b', 'balance<20'] });
  });

  it.each([
    ['tx list --from 5d', 'unknown option "--from". Did you mean "--since"?'],
    ['tx tail --for 5s', 'unknown option "--for". Did you mean "--wait-timeout"?'],
    ['webhooks update wh_1 --events card.created', 'unknown option "--events". Did you mean "--event"?'],
    ['reconcile --full', 'unknown command "reconcile". Did you mean "books reconcile"?'],
    ['cards approve op_1', 'unknown command "approve". Did you mean "ops approve"?'],
    ['ops nosuch', 'unknown command "nosuch".'],
  ])('tells what may be meant: %s', async (line, message) => {
    expect(await refusalOf(line)).toContain(`usage: ${message}`);
  });
});

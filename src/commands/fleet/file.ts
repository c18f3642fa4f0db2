/** Reading and validating a fleet file. */

import type { Context, Shown } from '../../cli/context.ts';
import { countOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, option, optionalArgument, takes, tells } from '../../cli/parsing/flag.ts';
import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { plainAmount, toUsd } from '../../core/money.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { Fleet } from '../../fleet/fleet-file.ts';
import { readFleet } from '../../fleet/read.ts';

export const USUAL_FILE = 'cards.fleet.yaml';

export const fleetFile = optionalArgument(
  local('file', `Fleet in YAML, - for standard input; ${USUAL_FILE} when left out.`),
);

/** What the form of a file is, for the help of each command that reads one. */
export const FLEET_FORMAT =
  'The file has version: 1, fleet (its name), caps (per_apply, cards, wallet_reserve), cards by name, and may have defaults, templates, moved, retired and quarantine. cardwright fleet validate --schema prints its JSON Schema.';

export interface NamedFleet {
  readonly fleet: Fleet;
  /** The text as it stands. */
  readonly content: string;
  /** What the user called it, in messages. */
  readonly name: string;
  /** Its path as a word of a command. */
  readonly word: string;
}

/**
 * Throws `usage` with every fault of the file, and where it cannot be read. Nothing is sent. `offline`: nobody asks the clock of
 * the service later, so that this machine's judges the days of `retired`, with a day to spare.
 */
export async function fleetOf(ctx: Context, file: string | undefined, offline = false): Promise<NamedFleet> {
  const path = file ?? USUAL_FILE;
  const name = ctx.files.nameOf(path);
  const content = await ctx.files.readFile(path).catch((thrown: unknown) => {
    const isOurs = file === undefined && thrown instanceof CliError;
    throw isOurs ? thrown.with({ hint: 'cardwright fleet import --none' }) : thrown;
  });
  return { fleet: await parsedFleet(ctx, content, name, offline), content, name, word: shellWord(path) };
}

/** Throws `usage` with every fault of a text, which may stand in no file yet. */
export async function parsedFleet(ctx: Context, content: string, name: string, offline = false): Promise<Fleet> {
  return readFleet(content, { file: name, now: offline ? ctx.clock.now() + DAY : undefined });
}

export const validateFleet = command({
  path: 'fleet validate',
  summary: 'Check a fleet file: every fault with its line and column',
  reach: 'files',
  answers: [
    {
      one: {
        file: tells.text('What the file was called.'),
        fleet: tells.text('Name of the fleet.'),
        cards: tells.count('Cards it asks for.'),
        entries: tells.count('Keys of cards; one with count or names is several cards.'),
        retired: tells.count('Cards that are to be terminated.'),
        per_apply: tells.usd('Most that one apply takes from the wallet, USD.'),
      },
    },
    { any: 'With --schema, the JSON Schema of a fleet file.' },
  ],
  about: [
    'Nothing is asked of the service: what only the account can tell (a BIN, a pinned card) is checked by fleet plan. Days in retired are checked by the clock of this machine, with a day to spare.',
    FLEET_FORMAT,
  ],
  args: { file: fleetFile },
  flags: {
    schema: option(takes.flag('Print the JSON Schema of a fleet file, for editors; no file is read.')),
  },
  examples: {
    'Check the file of this folder': 'fleet validate',
    'What an editor needs': 'fleet validate --schema',
  },
  async run(ctx, { file, schema }) {
    if (!schema) return { named: await fleetOf(ctx, file, true) };
    const { fleetSchema } = await import('../../fleet/schema.ts');
    return { schema: fleetSchema() };
  },
  show: checked =>
    'named' in checked
      ? showFleet(checked.named)
      : { data: checked.schema, noun: 'schema', columns: [], prose: `${JSON.stringify(checked.schema, null, 2)}\n` },
});

function showFleet({ fleet, name }: NamedFleet): Partial<Shown> {
  const { wishes, entries, retired, caps } = fleet;
  const [cards, per_apply] = [wishes.length, toUsd(caps.per_apply)];
  const most = `at most ${plainAmount(caps.per_apply)} an apply`;
  return {
    data: { file: name, fleet: fleet.name, cards, entries, retired: retired.length, per_apply },
    prose: `${name}: fleet ${fleet.name}, ${countOf(cards, 'card')}, ${most}. No fault.\n`,
  };
}

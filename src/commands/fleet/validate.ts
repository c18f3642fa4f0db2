import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import type { Shown } from '../../cli/shown.ts';
import { flag } from '../../contract/field.ts';
import { plainAmount, toUsd } from '../../core/money.ts';
import { FLEET_FORMAT, fleetFile, fleetOf, type NamedFleet } from './read-file.ts';

/** Checks a fleet file without asking anybody. */
export const validateFleet = command({
  path: 'fleet validate',
  summary: 'Check a fleet file: every fault with its line and column',
  reach: 'files',
  answers: {
    either: [
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
  },
  about: [
    'Nothing is asked of the service: what only the account can tell (a BIN, a pinned card) is checked by fleet plan. Days in retired are checked by the clock of this machine, with a day to spare.',
    FLEET_FORMAT,
  ],
  args: { file: fleetFile },
  flags: {
    schema: option(flag({ doc: 'Print the JSON Schema of a fleet file, for editors; no file is read.', basis: OURS })),
  },
  examples: [
    { does: 'Check the file of this folder', run: 'fleet validate' },
    { does: 'What an editor needs', run: 'fleet validate --schema' },
  ],
  async run(ctx, { file, schema }) {
    if (!schema) return { named: await fleetOf(ctx, file, true) };
    const { fleetSchema } = await import('../../fleet/schema.ts');
    return { schema: fleetSchema() };
  },
  show: checked => ('named' in checked ? showFleet(checked.named) : showSchema(checked.schema)),
});

function showFleet({ fleet, name }: NamedFleet): Shown {
  const { wishes, entries, retired, caps } = fleet;
  const data = {
    file: name,
    fleet: fleet.name,
    cards: wishes.length,
    entries,
    retired: retired.length,
    per_apply: toUsd(caps.perApply),
  };
  const cards = `${wishes.length} ${wishes.length === 1 ? 'card' : 'cards'}`;
  return {
    data,
    noun: 'fleet',
    columns: [],
    prose: `${name}: fleet ${fleet.name}, ${cards}, at most ${plainAmount(caps.perApply)} an apply. No fault.\n`,
  };
}

function showSchema(schema: Readonly<Record<string, unknown>>): Shown {
  return { data: schema, noun: 'schema', columns: [], prose: `${JSON.stringify(schema, null, 2)}\n` };
}

/** The fleet file of a command: the one that was named, else `cards.fleet.yaml` of the working folder. */
import type { Context } from '../../cli/context.ts';
import { local, optionalArgument } from '../../cli/parsing/flag.ts';
import { DAY } from '../../core/durations.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { Fleet } from '../../fleet/fleet-file.ts';
import { readFleet } from '../../fleet/read.ts';
import { readPlainYaml } from '../../terminal/yaml-lines.ts';

export const USUAL_FILE = 'cards.fleet.yaml';
const MOST_BYTES = 16_777_216;

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
  /** The same as a word of a command. */
  readonly word: string;
}

/**
 * Throws `usage` with every fault of the file, and where it cannot be read. Nothing is sent. `offline`: nobody asks the clock of
 * the service later, so that this machine's judges the days of `retired`, with a day to spare.
 */
export async function fleetOf(ctx: Context, file: string | undefined, offline = false): Promise<NamedFleet> {
  const path = file ?? USUAL_FILE;
  const name = path === '-' ? 'standard input' : path;
  const content = path === '-' ? await ctx.stdin.readAll(MOST_BYTES) : await ctx.readFile(path);
  return { fleet: await parsedFleet(ctx, content, name, offline), content, name, word: shellWord(path) };
}

/** The same of a text that stands in no file yet. */
export async function parsedFleet(ctx: Context, content: string, name: string, offline = false): Promise<Fleet> {
  const source = { file: name, text: content, now: offline ? ctx.clock.now() + DAY : undefined };
  const plain = readPlainYaml(content);
  if (plain !== undefined) return readFleet({ faults: [], root: plain }, source);
  const { readYaml } = await import('../../terminal/yaml-text.ts');
  return readFleet(readYaml(content, { uniqueKeys: false }), source);
}

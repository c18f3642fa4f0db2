/**
 * Which state folders this configuration was used with. A journal that was moved away or removed takes every guard with it
 * that looks at earlier operations, so that a fresh one beside a configuration that knew another is said before money moves.
 */
import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { jsonOrUndefined } from '../core/objects.ts';
import { type FileDependencies, preparePrivateFolder, readPrivate, writePrivate } from '../files/private-files.ts';
import type { Database } from './database.ts';
import { copied } from './sqlite.ts';

/** One state folder, as it was when money was moved from there. */
interface KnownState {
  /** Name of the machine: a configuration may be shared by several, each with a state of its own. */
  readonly machine: string;
  readonly folder: string;
  /** Print of the random value of its journal. */
  readonly id: string;
  /** Which file of that journal counts: others are copies, or what a copy was made of that was accepted. */
  readonly place?: string | undefined;
}

type StateFolders = Readonly<Record<'configFolder' | 'stateFolder' | 'machine', string>>;

const VERSION = 1;
/** Containers have a new name each time. */
const MOST = 50;

/**
 * Notes that money is moved from this journal, in `known-states.json` of the configuration folder. Throws `guarded` when money was
 * moved with this configuration and the journal of it is not here; a configuration that cannot be written is left as it is. Throws
 * `guarded` too for another file of the journal than the one that was accepted last; with `isAccepted` this one counts.
 */
export async function noteKnownState(
  database: Database,
  { configFolder, stateFolder: folder, machine }: StateFolders,
  files: FileDependencies,
  isAccepted = false,
): Promise<void> {
  const path = join(configFolder, 'known-states.json');
  const [meta] = await database.read(tx =>
    tx.all<{ journal: string; place: string; used: number }>(
      "select journal, place, (select count(*) from account where mode in ('test', 'live')) as used from meta",
    ),
  );
  const isUnused = meta?.used === 0;
  const now: KnownState = { machine, folder, id: (meta?.journal ?? '').slice(0, 16), place: meta?.place };
  const passed = (thrown: unknown) => {
    // A configuration that cannot be read or written says nothing against a journal that is known to the account.
    if (isUnused || !(thrown instanceof CliError)) throw thrown;
    return undefined;
  };
  const known = await readPrivate(path, files).then(statesIn, passed);
  const here = known?.findLast(each => each.machine === machine && each.id === now.id);
  const last = known?.findLast(each => each.machine === machine);
  const isOther = known === undefined || (last !== undefined && here === undefined);
  if (isUnused && isOther && !isAccepted) throw fresh(folder, last);
  if (here?.place !== undefined && here.place !== now.place && !isAccepted) throw copied(database.shown);
  if (here?.folder === folder && here.place === now.place) return;
  const kept = { version: VERSION, states: [...(known ?? []).filter(each => each !== here), now].slice(-MOST) };
  await preparePrivateFolder(configFolder, files)
    .then(() => writePrivate(path, `${JSON.stringify(kept, undefined, 2)}\n`, files))
    .catch((thrown: unknown) => {
      if (!(thrown instanceof CliError)) throw thrown;
    });
}

/** Undefined where the file cannot be understood. */
function statesIn(text: string | undefined): readonly KnownState[] | undefined {
  if (text === undefined) return [];
  const { version, states } = (jsonOrUndefined(text) ?? {}) as { version?: unknown; states?: unknown };
  const isKnown = (state: Partial<KnownState> | null) =>
    [state?.machine, state?.folder, state?.id].every(each => typeof each === 'string');
  return version === VERSION && Array.isArray(states) && states.every(isKnown) ? states : undefined;
}

function fresh(stateFolder: string, last: KnownState | undefined): CliError {
  const where = last === undefined ? 'cannot be read' : `is ${last.folder}`;
  return new CliError('guarded', {
    message: `the state folder ${stateFolder} holds no journal of earlier operations, and the one that was used before ${where}`,
    notes: [
      'Operations that are not finished, the limits of the day and the audit log stand there: without them the same change could be made twice.',
      'Put it back, or name it: XDG_STATE_HOME, CARDWRIGHT_CONFIG_DIR and HOME say where it is.',
      'If it is gone for good, look at the cards and the wallet first; then accept this folder:',
    ],
    hint: 'cardwright journal accept',
    outcome: 'not_sent',
  });
}

/**
 * Which state folders this configuration was used with. A journal that was moved away or removed takes every guard with it
 * that looks at earlier operations, so that a fresh one beside a configuration that knew another is said before money moves.
 */
import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import { type FileDependencies, preparePrivateFolder, readPrivate, writePrivate } from '../files/private-files.ts';
import type { Database } from './database.ts';

/** One state folder, as it was when money was moved from there. */
export interface KnownState {
  /** Name of the machine: a configuration may be shared by several, each with a state of its own. */
  readonly machine: string;
  readonly folder: string;
  /** Print of the random value of its journal. */
  readonly id: string;
}

export interface KnownStates {
  /** Whoever removes this file accepts the state folder of the next operation. */
  readonly path: string;
  /** Those of this machine, oldest first; `damaged` where the file cannot be understood. */
  read(): Promise<readonly KnownState[] | 'damaged'>;
  /** Adds the folder that is used now. A configuration that cannot be written is left as it is. */
  add(id: string): Promise<void>;
}

export interface StateFolders {
  readonly configFolder: string;
  readonly stateFolder: string;
  readonly machine: string;
}

const VERSION = 1;
/** Containers have a new name each time. */
const MOST = 50;

/** Kept in `known-states.json` of the configuration folder. */
export function knownStatesIn(
  { configFolder, stateFolder, machine }: StateFolders,
  around: FileDependencies,
): KnownStates {
  const path = join(configFolder, 'known-states.json');
  const all = async () => statesIn(await readPrivate(path, around));
  return {
    path,
    async read() {
      const states = await all();
      return states === 'damaged' ? states : states.filter(each => each.machine === machine);
    },
    async add(id) {
      const now: KnownState = { machine, folder: stateFolder, id };
      try {
        const found = await all();
        const states = found === 'damaged' ? [] : found;
        if (found !== 'damaged' && states.some(each => isSame(each, now))) return;
        await preparePrivateFolder(configFolder, around);
        const kept = { version: VERSION, states: [...states, now].slice(-MOST) };
        await writePrivate(path, `${JSON.stringify(kept, undefined, 2)}\n`, around);
      } catch (error) {
        // A configuration that is mounted read-only says nothing against the operation.
        if (!(error instanceof CliError)) throw error;
      }
    },
  };
}

function isSame(one: KnownState, other: KnownState): boolean {
  return one.machine === other.machine && one.folder === other.folder && one.id === other.id;
}

function statesIn(text: string | undefined): readonly KnownState[] | 'damaged' {
  if (text === undefined) return [];
  try {
    const { version, states } = JSON.parse(text) as { readonly version?: unknown; readonly states?: unknown };
    return version === VERSION && Array.isArray(states) && states.every(isKnownState) ? states : 'damaged';
  } catch {
    return 'damaged';
  }
}

function isKnownState(value: unknown): value is KnownState {
  if (typeof value !== 'object' || value === null) return false;
  const { machine, folder, id } = value as Record<keyof KnownState, unknown>;
  return [machine, folder, id].every(each => typeof each === 'string');
}

/**
 * Notes that money is moved from this journal. Throws `guarded` when money was moved with this configuration and the journal of it
 * is not here.
 */
export async function noteKnownState(
  database: Database,
  { stateFolder }: StateFolders,
  knownStates: KnownStates,
): Promise<void> {
  const [meta] = await database.read(tx =>
    tx.all<{ journal: string; used: number }>(
      "select journal, (select count(*) from account where mode in ('test', 'live')) as used from meta",
    ),
  );
  const id = (meta?.journal ?? '').slice(0, 16);
  if (meta?.used === 0) {
    const known = await knownStates.read();
    const last = known === 'damaged' ? undefined : known.at(-1);
    const isKnown = known !== 'damaged' && known.some(each => each.id === id);
    if (!isKnown && (known === 'damaged' || last !== undefined)) throw fresh(stateFolder, last, knownStates);
  }
  await knownStates.add(id);
}

function fresh(stateFolder: string, last: KnownState | undefined, { path }: KnownStates): CliError {
  const text =
    last === undefined
      ? `the state folder ${stateFolder} is new, and which one was used before cannot be read`
      : last.folder === stateFolder
        ? `the state folder ${stateFolder} was emptied or moved away: the journal of earlier operations is not in it`
        : `the state folder ${stateFolder} is new: the journal of earlier operations is in ${last.folder}`;
  return new CliError('guarded', {
    message: text,
    notes: [
      'Operations that are not finished, the limits of the day and the audit log stand there: without them the same change could be made twice.',
      last === undefined || last.folder === stateFolder
        ? 'Put the folder back from where it was moved to, or from a copy.'
        : 'XDG_STATE_HOME, CARDWRIGHT_CONFIG_DIR and HOME say where the state folder is.',
      'If it is gone for good, look at the cards and the wallet first; then accept this folder:',
    ],
    hint: `rm ${shellWord(path)}`,
    outcome: 'not_sent',
  });
}

/**
 * Whose operations these are: the print of an API key, an HMAC under a random value of this machine. Without that value
 * a plan cannot be told from one of another account, so nothing that is not finished goes on without it.
 */
import { createHash } from 'node:crypto';
import { CliError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { Randomness } from '../../platform/host.ts';
import type { KnownState, KnownStates } from '../known-states.ts';
import { isOp } from '../wal/op-id.ts';
import type { PlanRecord } from '../wal/records.ts';
import { stateOf } from '../wal/replay.ts';
import { type LocalOps, localReading } from './local-ops.ts';
import { movedIn } from './moved-in.ts';
import { isNewer, readOrError } from './read-ops.ts';

const SALT = /^[0-9a-f]{32}$/;

export interface StateFolder extends LocalOps {
  readonly stateFolder: string;
  /** The state folders that the configuration knows; none is asked about when left out. */
  readonly knownStates?: KnownStates;
}

export interface KeyPrintDependencies extends StateFolder {
  readonly random: Randomness;
  /** The API key under HMAC with a local random value; eight hexadecimal digits, never the key. */
  readonly keyPrint: (salt: string) => Promise<string>;
}

/**
 * The print of the key this process acts with, for a plan. Makes the random value where there is none yet. Throws
 * `guarded` when it is damaged, lost while operations that are not finished depend on it, or not there beside a
 * configuration that knew another state folder.
 */
export async function printOf(dependencies: KeyPrintDependencies, mode: PlanRecord['mode']): Promise<string> {
  if (mode === 'sandbox') return 'sandbox';
  const { disk, places, random } = dependencies;
  const known = await saltIn(dependencies);
  if (known !== undefined) {
    await dependencies.knownStates?.add(printOfState(known));
    return dependencies.keyPrint(known);
  }
  await refuseWithoutSalt(dependencies);
  await disk.prepareFolder(places.root);
  // Of two processes that come first at the same time both use the one that is there then.
  await disk.note(places.saltFile, Buffer.from(random.bytes(16)).toString('hex'));
  const made = await saltIn(dependencies);
  if (made === undefined) throw lost(dependencies, []);
  await dependencies.knownStates?.add(printOfState(made));
  return dependencies.keyPrint(made);
}

/** The same where it is known already; nothing is made. Throws `guarded` where the random value is damaged. */
export async function printIfMade(
  dependencies: Pick<KeyPrintDependencies, 'disk' | 'places' | 'keyPrint'>,
  mode: PlanRecord['mode'],
): Promise<string | undefined> {
  if (mode === 'sandbox') return 'sandbox';
  const salt = await saltIn(dependencies);
  return salt === undefined ? undefined : dependencies.keyPrint(salt);
}

/** A state folder as it stands before anything is moved. */
export interface StateStanding {
  readonly folder: string;
  /** Money was moved from here with the key of a service, as the files of this machine have it. */
  readonly used: boolean;
  /** Those that the configuration knows of this machine. */
  readonly known: readonly KnownState[] | 'damaged';
  /** Operations whose journals are damaged. */
  readonly damaged: readonly string[];
}

/** Looks, and changes nothing. Throws the `guarded` that the next operation of an account would end with. */
export async function stateStanding(folder: StateFolder): Promise<StateStanding> {
  const used = (await saltIn(folder)) !== undefined;
  if (!used) await refuseWithoutSalt(folder);
  const [known, damaged] = [(await folder.knownStates?.read()) ?? [], await damagedOps(folder)];
  return { folder: folder.stateFolder, used, known, damaged };
}

async function damagedOps(folder: StateFolder): Promise<readonly string[]> {
  const store = localReading(folder);
  const damaged: string[] = [];
  for (const op of await opsIn(folder))
    if ((await readOrError(store, op)) instanceof CliError && !(await isNewer(store, op))) damaged.push(op);
  return damaged.sort();
}

/** Those with a folder, and those that are marked: a journal may be gone. */
async function opsIn({ disk, places }: StateFolder): Promise<ReadonlySet<string>> {
  return new Set([...(await disk.names(places.unfinished)), ...(await disk.names(places.root))].filter(isOp));
}

async function refuseWithoutSalt(folder: StateFolder): Promise<void> {
  const { unfinished, any } = await accountOps(folder);
  if (unfinished.length > 0) throw lost(folder, unfinished);
  // With operations of an account in it, this is the folder that was used before.
  if (!any && folder.knownStates !== undefined) await refuseFresh(folder, folder.knownStates);
}

/** Whether a plan was made with the key this process acts with. Throws `guarded` when that cannot be told. */
export async function isOwnPlan(dependencies: KeyPrintDependencies, plan: PlanRecord): Promise<boolean> {
  if (plan.mode === 'sandbox') return true;
  const salt = await saltIn(dependencies);
  if (salt === undefined) throw lost(dependencies, [plan.op]);
  const print = await dependencies.keyPrint(salt);
  if (print === plan.key_print) return true;
  return (await movedIn(dependencies, plan.op))?.key_print === print;
}

/** Undefined when there is none. */
async function saltIn({ disk, places }: LocalOps): Promise<string | undefined> {
  const text = await disk.read(places.saltFile);
  if (text === undefined || SALT.test(text)) return text;
  throw new CliError('guarded', {
    message: `${places.saltFile} is damaged: which API key the operations of this machine belong to is unknown`,
    notes: ['Put it back from a copy of the state folder; without a copy, remove the file and repeat the command.'],
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}

/** Operations of an account: those that a resume could still send something of, or that cannot be read; and any at all. */
async function accountOps(folder: StateFolder): Promise<{ readonly unfinished: string[]; readonly any: boolean }> {
  const unfinished: string[] = [];
  let any = false;
  for (const op of await opsIn(folder)) {
    const history = await readOrError(localReading(folder), op);
    if (history === undefined) continue;
    if (!(history instanceof CliError) && history.plan.mode === 'sandbox') continue;
    any = true;
    if (history instanceof CliError || stateOf(history) !== 'finished') unfinished.push(op);
  }
  return { unfinished: unfinished.sort(), any };
}

/** Tells two journals apart without telling the random value of either. */
function printOfState(salt: string): string {
  return createHash('sha256').update(`state ${salt}`).digest('hex').slice(0, 16);
}

/** Throws `guarded` when money was moved with this configuration and the journal of it is not here. */
async function refuseFresh({ stateFolder }: StateFolder, knownStates: KnownStates): Promise<void> {
  const known = await knownStates.read();
  const last = known === 'damaged' ? undefined : known.at(-1);
  if (known !== 'damaged' && last === undefined) return;
  throw new CliError('guarded', {
    message: freshText(stateFolder, last),
    notes: [
      'Operations that are not finished, the limits of the day and the audit log stand there: without them the same change could be made twice.',
      last === undefined || last.folder === stateFolder
        ? 'Put the folder back from where it was moved to, or from a copy.'
        : 'XDG_STATE_HOME, CARDWRIGHT_CONFIG_DIR and HOME say where the state folder is.',
      'If it is gone for good, look at the cards and the wallet first; then accept this folder:',
    ],
    hint: `rm ${shellWord(knownStates.path)}`,
    outcome: 'not_sent',
  });
}

function freshText(stateFolder: string, last: KnownState | undefined): string {
  if (last === undefined) return `the state folder ${stateFolder} is new, and which one was used before cannot be read`;
  return last.folder === stateFolder
    ? `the state folder ${stateFolder} was emptied or moved away: the journal of earlier operations is not in it`
    : `the state folder ${stateFolder} is new: the journal of earlier operations is in ${last.folder}`;
}

const NAMED = 3;

function lost({ places }: StateFolder, ops: readonly string[]): CliError {
  const [first] = ops;
  const more = ops.length > NAMED ? ` and ${ops.length - NAMED} more` : '';
  const notes = [
    ...(ops.length > 0 ? [`Not finished: ${ops.slice(0, NAMED).join(', ')}${more}.`] : []),
    'With the key of another account they would move money of cards that are not theirs, so nothing is sent.',
    'Put the file back from a copy of the state folder; or look at the service, then settle each of them by hand with: cardwright ops resolve',
    'When all of them are settled, a new file is made by itself.',
  ];
  return new CliError('guarded', {
    message: `${places.saltFile} is gone: which API key the operations of this machine belong to is unknown`,
    notes,
    hint: first === undefined ? 'cardwright ops list' : `cardwright ops show ${first}`,
    outcome: 'not_sent',
    ...(first !== undefined && { op: first }),
  });
}

/**
 * Whose operations these are: the print of an API key, an HMAC under a random value of this machine. Without that value
 * a plan cannot be told from one of another account, so nothing that is not finished goes on without it.
 */
import { CliError } from '../../core/errors.ts';
import { isOp } from '../wal/paths.ts';
import { readOrError } from '../wal/read.ts';
import type { PlanRecord } from '../wal/records.ts';
import { stateOf } from '../wal/replay.ts';
import type { Acting, Room } from './dependencies.ts';

const SALT = /^[0-9a-f]{32}$/;

/**
 * The print of the key this process acts with, for a plan. Makes the random value where there is none yet. Throws
 * `guarded` when it is damaged, or lost while operations that are not finished depend on it.
 */
export async function printOf(room: Room, mode: Acting['mode']): Promise<string> {
  if (mode === 'sandbox') return 'sandbox';
  const { disk, places, random } = room;
  const known = await saltIn(room);
  if (known !== undefined) return room.keyPrint(known);
  const waiting = await unfinishedOps(room);
  if (waiting.length > 0) throw lost(room, waiting);
  await disk.prepareFolder(places.root);
  // Of two processes that come first at the same time both use the one that is there then.
  await disk.note(places.saltFile, Buffer.from(random.bytes(16)).toString('hex'));
  const made = await saltIn(room);
  if (made === undefined) throw lost(room, []);
  return room.keyPrint(made);
}

/** Whether a plan was made with the key this process acts with. Throws `guarded` when that cannot be told. */
export async function isOwnPlan(room: Room, plan: PlanRecord): Promise<boolean> {
  if (plan.mode === 'sandbox') return true;
  const salt = await saltIn(room);
  if (salt === undefined) throw lost(room, [plan.op]);
  return (await room.keyPrint(salt)) === plan.key_print;
}

/** Undefined when there is none. */
async function saltIn({ disk, places }: Room): Promise<string | undefined> {
  const text = await disk.read(places.saltFile);
  if (text === undefined || SALT.test(text)) return text;
  throw new CliError('guarded', {
    message: `${places.saltFile} is damaged: which API key the operations of this machine belong to cannot be told`,
    notes: ['Put it back from a copy of the state folder; without a copy, remove the file and repeat the command.'],
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}

/** Operations of an account that a resume could still send something of, or that cannot be read. */
async function unfinishedOps({ disk, places }: Room): Promise<string[]> {
  const found: string[] = [];
  for (const op of (await disk.names(places.root)).filter(isOp)) {
    const history = await readOrError(disk, places, op);
    if (history === undefined) continue;
    if (history instanceof CliError) found.push(op);
    else if (history.plan.mode !== 'sandbox' && stateOf(history) !== 'finished') found.push(op);
  }
  return found.sort();
}

const NAMED = 3;

function lost({ places }: Room, ops: readonly string[]): CliError {
  const [first] = ops;
  const more = ops.length > NAMED ? ` and ${ops.length - NAMED} more` : '';
  const notes = [
    ...(ops.length > 0 ? [`Not finished: ${ops.slice(0, NAMED).join(', ')}${more}.`] : []),
    'With the key of another account they would move money of cards that are not theirs, so nothing is sent.',
    'Put the file back from a copy of the state folder; or look at the service, then settle each of them by hand with: cardwright ops resolve',
    'When all of them are settled, a new file is made by itself.',
  ];
  return new CliError('guarded', {
    message: `${places.saltFile} is gone: which API key the operations of this machine belong to cannot be told`,
    notes,
    hint: first === undefined ? 'cardwright ops list' : `cardwright ops show ${first}`,
    outcome: 'not_sent',
    ...(first !== undefined && { op: first }),
  });
}

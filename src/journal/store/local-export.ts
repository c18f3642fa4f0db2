/** Ops of one service in the files of this machine, taken out whole, and put in. */
import { join } from 'node:path';
import { CliError } from '../../core/errors.ts';
import { isLocked } from '../../files/lock.ts';
import { isOp } from '../wal/op-id.ts';
import type { PlanRecord } from '../wal/records.ts';
import { bytesOf, type LocalOps, localHeads } from './local-ops.ts';
import { isOf } from './moved.ts';
import { type MovedIn, noteMovedIn } from './moved-in.ts';
import { createMark, lengthInMark, noteLength } from './unfinished-mark.ts';

type Service = Pick<PlanRecord, 'origin' | 'mode'>;

export interface LocalOp {
  readonly plan: PlanRecord;
  readonly bytes: Uint8Array;
  /** It says END, and that was told. */
  readonly finished: boolean;
  /** Whether its key of the caller's is still its own. */
  readonly ownsKey: boolean;
}

/** Throws `guarded` while a process of this machine plans or works on an op, of whichever service. */
export async function refuseWorking({ disk, places }: LocalOps, pid: number): Promise<void> {
  for (const name of await disk.names(places.root)) {
    const isClaim = /^claim-[0-9a-f]{32}$/.test(name);
    if (!isClaim && !isOp(name)) continue;
    if (!(await isLocked(isClaim ? join(places.root, name) : places.lock(name), { pid }))) continue;
    throw new CliError('guarded', {
      message: 'another command of this machine is at work; the journal is moved when it has ended',
      hint: 'cardwright ops list --journal local',
      outcome: 'not_sent',
    });
  }
}

/** Throws `check_failed` for one that is damaged: it may be of this service. */
export async function* opsOfService(local: LocalOps, service: Service): AsyncIterable<LocalOp> {
  const { disk, places } = local;
  for await (const { op, unfinished, plan: planOf } of localHeads(local)) {
    const plan = await planOf();
    // Nobody works on it, so that the mark cannot be ahead.
    const least = await lengthInMark(local, op);
    const bytes = await bytesOf(local, op);
    if (least !== undefined && (bytes?.length ?? 0) < least) throw damaged(op);
    if (bytes === undefined || (plan === undefined && bytes.indexOf(0x0a) === -1)) continue;
    if (plan === undefined) throw damaged(op);
    if (!isOf(plan, service)) continue;
    const { given_key: key } = plan;
    const ownsKey = key !== undefined && (await disk.read(places.givenKey(plan.origin, key))) === op;
    yield { plan, bytes, finished: !unfinished, ownsKey };
  }
}

interface SavedOp extends Omit<LocalOp, 'finished'> {
  /** Undefined for one that is finished, and whose operator has seen that. */
  readonly moved: MovedIn | undefined;
}

/** Puts an op here, or what its journal lacks. Throws `check_failed` where another one is there under its name. */
export async function saveOp(local: LocalOps, saved: SavedOp): Promise<void> {
  const { plan, bytes, moved, ownsKey } = saved;
  const { disk, places } = local;
  const { op, origin, given_key: key } = plan;
  const before = (await bytesOf(local, op)) ?? new Uint8Array();
  const same = Math.min(before.length, bytes.length);
  if (Buffer.compare(before.subarray(0, same), bytes.subarray(0, same)) !== 0) throw otherBytes(op);
  // This machine has gone on with it since an earlier move.
  if (before.length > bytes.length) return;
  if (before.length < bytes.length || before.length === 0) {
    if (moved !== undefined) await markUnfinished(local, op);
    await disk.prepareFolder(places.folder(op));
    if (moved !== undefined) await noteMovedIn(local, op, moved);
    const file = (await disk.open(places.journal(op))) ?? (await disk.create(places.journal(op)));
    try {
      await file.append(bytes.subarray(before.length));
      await file.sync();
    } finally {
      await file.close();
    }
    await disk.syncNames(places.folder(op));
    await disk.syncNames(places.root);
  }
  if (moved === undefined) await disk.remove(places.unfinishedMark(op));
  else if ((await lengthInMark(local, op)) !== bytes.length) await tellLength(local, op, bytes.length);
  if (key === undefined || !ownsKey) return;
  await disk.prepareFolder(places.givenKeys);
  await disk.replace(places.givenKey(origin, key), op);
}

/** Before its journal is there; the length is noted when that is durable. */
async function markUnfinished(local: LocalOps, op: string): Promise<void> {
  await local.disk.prepareFolder(local.places.unfinished);
  if ((await local.disk.read(local.places.unfinishedMark(op))) === undefined) {
    await (await createMark(local, op)).close();
  }
}

async function tellLength({ disk, places }: LocalOps, op: string, length: number): Promise<void> {
  const mark = await disk.open(places.unfinishedMark(op));
  try {
    if (mark !== undefined) await noteLength(mark, length);
    await mark?.sync();
  } finally {
    await mark?.close();
  }
}

function damaged(op: string): CliError {
  return new CliError('check_failed', {
    message: `the journal of ${op} is damaged, and may be one of this service; nothing was moved`,
    hint: `cardwright ops show ${op} --journal local`,
    outcome: 'not_sent',
    op,
  });
}

function otherBytes(op: string): CliError {
  return new CliError('check_failed', {
    message: `${op} is on this machine with other records than in the shared journal`,
    hint: `cardwright ops show ${op} --journal local`,
    outcome: 'not_sent',
    op,
  });
}

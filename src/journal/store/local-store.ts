/**
 * Ops as files of this machine: a folder for each, with its journal and its lock; a mark for each that is not finished;
 * a note for each key of the caller's. The order of what is written and synced is docs/design/reliability.md, section 6.
 */
import { CliError } from '../../core/errors.ts';
import { keepOpen } from '../../files/keep-open.ts';
import { isLocked, isLockedByRunning } from '../../files/lock.ts';
import type { PlanRecord } from '../wal/records.ts';
import type { JournalFile } from '../wal/storage.ts';
import { addressesOf, noteAddress } from './addresses.ts';
import { keepDamaged, recordedByHand } from './keep-damaged.ts';
import { isOwnPlan, type KeyPrintDependencies, printIfMade, printOf } from './key-print.ts';
import { forgetIntents, holdIntents, keepDoneIntents, notedIntents, noteIntents } from './local-intents.ts';
import { bytesOf, type LocalOps, localHeads, localReading, planIn } from './local-ops.ts';
import { localRequests } from './local-requests.ts';
import { type AccountPrint, movedFrom, type OverShared, refuseMoved } from './moved.ts';
import { isMovedUntold, movedIn } from './moved-in.ts';
import type { Claim, GivenKey, KeyHold, OpStore, Tape } from './op-store.ts';
import { placesIn } from './paths.ts';
import { readHistory } from './read-ops.ts';
import { keyInUse, opInUse } from './refusals.ts';
import { createMark, lengthInMark, noteLength, withLengths } from './unfinished-mark.ts';

/** Everything is kept in `ops` below the state folder. */
export interface LocalStoreSettings extends Omit<KeyPrintDependencies, 'places'> {
  readonly pid: number;
  readonly accountPrint: AccountPrint;
  /** `byAddress` when left out. */
  readonly overShared?: OverShared | undefined;
}

/** Waiting for another process that writes the same plan down; a plan of 100,000 rows takes seconds. */
const CLAIM_PATIENCE_MS = 30_000;

export function localStore(settings: LocalStoreSettings): OpStore {
  const { disk, pid } = settings;
  const places = placesIn(settings.stateFolder);
  const local = { disk, places };
  const { accountPrint, overShared } = settings;
  const ways = { accountPrint, overShared };
  /** All addresses of the account, the asked one first. What was moved to a shared journal is not answered for here. */
  const addresses = async ({ origin, mode }: Pick<PlanRecord, 'origin' | 'mode'>) => {
    const key_print = await printIfMade({ ...settings, places }, mode);
    if (key_print === undefined) return [origin];
    const [all, moved] = [await addressesOf(local, { origin, mode, key_print }), await movedFrom(local)];
    return all.filter(each => each === origin || !moved.some(to => to.mode === mode && to.origin === each));
  };
  return {
    async ready() {
      await disk.prepareFolder(places.root);
      await disk.refuseNetwork(places.root);
      await disk.prepareFolder(places.unfinished);
    },
    keyPrint: mode => printOf({ ...settings, places }, mode),
    isOwnPlan: plan => isOwnPlan({ ...settings, places }, plan),
    holdKey: async given => holdKey(local, given, await addresses(given)),
    notedIntents: async wanted => notedIntents(local, wanted, await addresses(wanted)),
    holdIntents: async wanted => holdIntents(local, wanted, await addresses(wanted)),
    forgetIntents: before => forgetIntents(local, before),
    async claim(claim) {
      const { digest } = claim.record;
      // Two commands that look for twins at the same time would each find none.
      const unclaim = await disk.hold(places.claim(digest), CLAIM_PATIENCE_MS);
      try {
        await refuseMoved(local, claim.record, { ...ways, begins: true });
        await claim.refuse();
        await noteAddress(local, claim.record);
        return await writeDown(local, claim);
      } finally {
        await unclaim();
      }
    },
    take: (op, { settles } = {}) => take(local, op, { ...ways, settles }),
    refuseMoved: plan => refuseMoved(local, plan, ways),
    requests: localRequests({ ...local, random: settings.random, take: op => take(local, op, ways) }),
    read: op => bytesOf(local, op),
    leastLength: op => lengthInMark(local, op),
    heads: filter => localHeads(local, filter),
    isHeld: op => isLocked(places.lock(op), { pid }),
    isHeldByRunning: op => isLockedByRunning(places.lock(op), { pid }),
    isUntold: op => isMovedUntold(local, op),
    forget: op => forget(local, op),
    auditLog: 'cardwright audit list -o wide',
    setAside: op => `record it: cardwright ops resolve ${op} --as done --note "why"`,
    keepDamaged: (op, note) => keepDamaged(local, { op, note, pid }),
    recordedByHand: op => recordedByHand(local, op),
  };
}

/** Held at every address of the account: another command may use the key at another one. */
async function holdKey({ disk, places }: LocalOps, { key }: GivenKey, addresses: readonly string[]): Promise<KeyHold> {
  await disk.prepareFolder(places.root);
  await disk.prepareFolder(places.givenKeys);
  const paths = addresses.map(address => places.givenKey(address, key));
  const held: (() => Promise<void>)[] = [];
  const release = async () => {
    for (const each of held.splice(0)) await each();
  };
  try {
    // In one order for all, so that of two commands one gets every lock.
    for (const path of paths.toSorted()) held.push(await disk.hold(`${path}.lock`));
  } catch (thrown) {
    await release();
    throw keyInUse(key, thrown);
  }
  const usedFor = async () => {
    for (const path of paths) {
      const op = await disk.read(path);
      if (op !== undefined) return op;
    }
    return undefined;
  };
  return { usedFor, release };
}

async function writeDown(local: LocalOps, claim: Claim): Promise<Tape> {
  const { disk, places } = local;
  const { op, origin, given_key: key } = claim.record;
  // Before the mark: without a plan behind it a name is free.
  if (claim.intents !== undefined) await noteIntents(local, claim.record, claim.intents);
  const mark = await createMark(local, op);
  let file: JournalFile | undefined;
  let unlock: (() => Promise<void>) | undefined;
  try {
    if (key !== undefined) await noteGivenKey(local, { origin, key }, op);
    await disk.prepareFolder(places.folder(op));
    unlock = await disk.hold(places.lock(op));
    const lines = claim.lines();
    file = await disk.create(places.journal(op));
    for (const bytes of lines) await file.append(bytes);
    await file.sync();
    await disk.syncNames(places.folder(op));
    await disk.syncNames(places.root);
    await claim.refuseAgain();
    const length = await file.size();
    await noteLength(mark, length);
    await mark.sync();
    return tapeOf(local, { op, file: withLengths(file, mark, length), mark, unlock });
  } catch (thrown) {
    await takeBack(local, { op, file, mark, unlock });
    throw thrown;
  }
}

/** An earlier op of this key came to nothing, so the new one takes its place. */
async function noteGivenKey(
  { disk, places }: LocalOps,
  { origin, key }: Pick<GivenKey, 'origin' | 'key'>,
  op: string,
): Promise<void> {
  await disk.prepareFolder(places.givenKeys);
  const path = places.givenKey(origin, key);
  await disk.remove(path);
  // The key is held, so nobody else writes its name meanwhile.
  if (!(await disk.note(path, op))) throw new CliError('internal', { message: `the key of ${op} is not held` });
  await disk.syncNames(places.givenKeys);
}

interface Taking {
  readonly accountPrint: AccountPrint;
  readonly overShared?: OverShared | undefined;
  readonly settles?: boolean | undefined;
}

async function take(local: LocalOps, op: string, taking: Taking): Promise<Tape> {
  const { disk, places } = local;
  await disk.refuseNetwork(places.root);
  const unlock = await disk.hold(places.lock(op)).catch((thrown: unknown) => {
    throw opInUse(op, thrown);
  });
  try {
    const formerLeaseEnd = (await movedIn(local, op))?.at;
    const file = await disk.open(places.journal(op));
    if (file === undefined) throw new CliError('internal', { message: `${op} has no journal` });
    const [mark, size] = await keepOpen(file, async () => {
      const plan = planIn(file, op);
      if (plan !== undefined) await refuseMoved(local, plan, taking);
      const marked = await disk.open(places.unfinishedMark(op));
      return keepOpen(marked, async () => [marked, await file.size()] as const);
    });
    return { ...tapeOf(local, { op, file: withLengths(file, mark, size), mark, unlock }), formerLeaseEnd };
  } catch (thrown) {
    await unlock();
    throw thrown;
  }
}

interface Hands {
  readonly op: string;
  readonly file: JournalFile | undefined;
  readonly mark: JournalFile | undefined;
  /** Removes the lock of the op, which this process holds; undefined where it does not. */
  readonly unlock: (() => Promise<void>) | undefined;
}

function tapeOf(local: LocalOps, hands: Hands & Pick<Tape, 'file'>): Tape {
  const { disk, places } = local;
  const { op, file, unlock } = hands;
  return {
    op,
    file,
    abandon: () => takeBack(local, hands),
    async release(finished) {
      try {
        if (finished) await disk.remove(places.unfinishedMark(op));
      } finally {
        await unlock?.();
      }
    },
  };
}

/** Nothing of it has left, and a disk that is full wants the space back. */
async function takeBack(local: LocalOps, { op, file, mark, unlock }: Hands): Promise<void> {
  // A journal that is removed on purpose is not one that is missing.
  await mark?.truncate(0).catch(() => undefined);
  await mark?.close().catch(() => undefined);
  await file?.close();
  await forgetPlan(local, op).catch(() => undefined);
  await unlock?.();
}

/** The lock goes with the folder. */
async function forgetPlan({ disk, places }: LocalOps, op: string): Promise<void> {
  await disk.remove(places.folder(op));
  await disk.remove(places.unfinishedMark(op));
}

async function forget(local: LocalOps, op: string): Promise<boolean> {
  const { disk, places } = local;
  const history = await readHistory(localReading(local), op);
  const { given_key: given, origin } = history?.plan ?? {};
  if (history !== undefined) await keepDoneIntents(local, history);
  if (given !== undefined && origin !== undefined && (await disk.read(places.givenKey(origin, given))) === op) {
    await disk.remove(places.givenKey(origin, given));
  }
  await disk.remove(places.unfinishedMark(op));
  await disk.remove(places.folder(op));
  return true;
}

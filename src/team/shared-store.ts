/** Ops in a database that several machines share (docs/decisions/0023-op-store.md). */
import type { OpLease } from '../journal/shared-ops.ts';
import { isDoneUntold } from '../journal/shown-ops.ts';
import type { LocalOps } from '../journal/store/local-ops.ts';
import type {
  CountedOp,
  IntentsHold,
  NamedIntents,
  NotedIntent,
  OpHands,
  OpStore,
  HeadFilter as StoreFilter,
  OpHead as StoreHead,
  UnawareOp,
  Waiting,
} from '../journal/store/op-store.ts';
import { decodeLines, decodeWhole } from '../journal/wal/codec.ts';
import { cardOf, historyOf } from '../journal/wal/replay.ts';
import type { HeadFilter, OpHead, UsedIntent } from './calls.ts';
import { checkShared } from './check.ts';
import { claimOp } from './claim-op.ts';
import { factsOf, planIn, refusalOf } from './claims.ts';
import { wordsForDamaged } from './damaged-records.ts';
import { usedByOthers } from './kept-both.ts';
import { refuseAbsent, refuseLost } from './loss.ts';
import { pushAll } from './recover.ts';
import { holdName } from './shared-name.ts';
import { lately, type SharedOps } from './shared-ops.ts';
import { sharedRequests } from './shared-requests.ts';
import { takeOp } from './taking.ts';

export interface SharedStoreSettings {
  /**
   * Connects at the first call, and asks for these names then. Throws `guarded` where the journal cannot be used for what
   * this run acts as.
   */
  readonly shared: (names?: readonly string[]) => Promise<SharedOps>;
  /** The same, and nothing that was left is brought. */
  readonly opened: () => Promise<SharedOps>;
  /** Brings every line for the audit log that waits; how many were brought since the journal was opened. */
  readonly notes?: () => Promise<number>;
  /** Print of the API key, 16 hexadecimal digits. */
  readonly keyPrint: () => Promise<string>;
  /** Name of the account in the journal. */
  readonly account: string;
  /** Whether the files of this machine go on with the account alone. */
  readonly hasLeft: () => Promise<boolean>;
  /** Of the files of this machine. */
  readonly places: LocalOps['places'];
}

const PAGE = 1000;
/** A machine whose clock is farther off than this from that of the database is told so. */
export const MOST_CLOCK_MS = 60_000;

export function sharedStore({
  shared,
  opened,
  notes,
  keyPrint,
  account,
  hasLeft,
  places,
}: SharedStoreSettings): OpStore {
  return {
    clockSlackMs: MOST_CLOCK_MS,
    ready: async () => void (await shared()),
    keyPrint: mode => (mode === 'sandbox' ? Promise.resolve('sandbox') : keyPrint()),
    async isOwnPlan(plan) {
      const print = await keyPrint();
      if (plan.key_print === print) return true;
      // A key that was replaced is one of the account's as ours is.
      const { statements, account } = await shared();
      const [head] = await statements().heads(account, { op: plan.op });
      // Of an op that was brought from the files of a machine the print in its plan is that of the machine.
      const wanted = head?.key_print ?? plan.key_print;
      if (wanted === print) return true;
      const listed = await Promise.all([wanted, print].map(each => statements().hasKey(account, each)));
      return listed.every(each => each === true);
    },
    async refuseKeyTaken() {
      const [{ statements, account, role }, print] = [await shared(), await keyPrint()];
      if (!(await statements().hasKey(account, print))) {
        throw refusalOf({ verdict: 'key' }, { account, key_print: print, role });
      }
    },
    async holdKey({ key }) {
      const ops = await shared();
      const { statements, account } = ops;
      const usedFor = async () => {
        const op = await statements().givenKeyOf(account, key);
        if (op !== undefined) await refuseLost(ops, { what: 'idempotency key', name: key, op });
        return op;
      };
      return { usedFor, release: async () => undefined };
    },
    notedIntents: async wanted => noted(await shared([...wanted.names]), wanted),
    holdIntents: async wanted => held(await shared([...wanted.names]), wanted),
    usedByOthers: async (op, wanted) => usedByOthers(await shared(), op, wanted),
    unawareOps: async op => unawareOps(await shared(), op),
    forgetIntents: async before => forgetNames(await shared(), before),
    holdName: async name => holdName(await shared(), name),
    claim: async claim => claimOp(await shared(), claim),
    take: async (op, how) => takeOp(await shared(), op, how),
    requests: sharedRequests(shared),
    async read(op) {
      const ops = await shared();
      const segments = await ops.statements().readOp(ops.account, op, 1);
      if (segments.length === 0) await refuseAbsent(ops, op);
      return segments.length === 0 ? undefined : Buffer.concat(segments.map(({ bytes }) => bytes));
    },
    heads: filter => headsOf(shared, filter),
    async isHeld(op) {
      const { statements, account } = await shared();
      const [head] = await statements().heads(account, { op });
      return head !== undefined && head.lease_ms > 0;
    },
    handsOf: async op => handsOf(await shared(), op),
    outlast: async (op, waiting) => outlast(await shared(), op, waiting),
    push: async () => ({
      ...(await pushAll(await opened(), { left: await hasLeft(), places })),
      notes: (await notes?.()) ?? 0,
    }),
    leases: async () => leasesOf(await shared()),
    check: async opFlaws => checkShared(await opened(), opFlaws),
    forget: async op => forgetOp(await shared(), op),
    auditLog: 'cardwright audit list --shared -o wide',
    setAside: op => wordsForDamaged(account, op),
  };
}

async function* headsOf(
  shared: SharedStoreSettings['shared'],
  { unfinished, writtenSince }: StoreFilter = {},
): AsyncIterable<StoreHead> {
  const ops = await shared();
  const which = { unfinished, untold: unfinished, written_since: writtenSince, plan: true };
  for (let skip = 0; ; skip += PAGE) {
    const page = await headsPage(ops, { ...which, skip, most: PAGE });
    for (const head of page) yield headOf(ops, head);
    if (page.length < PAGE) return;
  }
}

async function noted(shared: SharedOps, { names }: NamedIntents): Promise<ReadonlyMap<string, NotedIntent>> {
  const known = await usedNames(shared, [...names]);
  const [first] = known;
  if (first !== undefined) await refuseLost(shared, { what: 'intent', name: first.name, op: first.op });
  return new Map(known.map(({ done, ...each }) => [each.name, { ...each, ...(done && { done }) }]));
}

async function usedNames(shared: SharedOps, names: readonly string[]): Promise<readonly UsedIntent[]> {
  const recent = lately(shared);
  if (recent === undefined || names.some(name => !recent.names.has(name))) {
    return shared.statements().intentsOf(shared.account, names);
  }
  return names.flatMap(name => recent.names.get(name) ?? []);
}

/** Nobody is kept waiting: of two claims with one name the database takes the first. */
async function held(shared: SharedOps, wanted: NamedIntents): Promise<IntentsHold> {
  return { noted: await noted(shared, wanted), release: async () => undefined };
}

async function unawareOps({ statements, account }: SharedOps, op: string): Promise<readonly UnawareOp[]> {
  const found: UnawareOp[] = [];
  for (let skip = 0; ; skip += PAGE) {
    const page = await statements().heads(account, { unaware_of: op, plan: true, skip, most: PAGE });
    for (const { op: other, plan, begun_by: begun, holder, host, first } of page) {
      const begunBy = begun === null || begun === holder ? `${holder} on ${host}` : begun;
      found.push({ op: other, begunBy, isFirst: first === true, plan: async () => planIn(plan ?? undefined) });
    }
    if (page.length < PAGE) return found;
  }
}

/** The rules of one claim ask several times; what came between is told by the claim itself. */
async function headsPage(shared: SharedOps, filter: HeadFilter): Promise<readonly OpHead[]> {
  const { statements, account, looking } = shared;
  const { unfinished: told } = lately(shared) ?? {};
  const isTold = filter.unfinished === true && filter.written_since === undefined && filter.skip === 0;
  if (told !== undefined && told.length < PAGE && isTold) return told;
  const name = JSON.stringify(filter);
  const page = looking?.get(name) ?? statements().heads(account, filter);
  looking?.set(name, page);
  return page;
}

async function handsOf({ statements, account, role }: SharedOps, op: string): Promise<OpHands | undefined> {
  const [head] = await statements().heads(account, { op });
  if (head === undefined) return undefined;
  const { holder, host, state, untold: isUntold, lease_ms: leftMs } = head;
  return { holder, host, isOther: holder !== role, leftMs, isFinished: state === 'finished', isUntold };
}

/** Pauses between two looks at an op that somebody else has, ms. */
const PAUSE_MS = { first: 100, most: 800 } as const;

/** Said when it takes longer than most commands do. */
const TOLD_AFTER_MS = 1000;

async function outlast(shared: SharedOps, op: string, { mostMs, signal, told }: Waiting): Promise<boolean> {
  const { clock } = shared;
  const began = clock.monotonic();
  let isTold = false;
  for (let pause: number = PAUSE_MS.first; ; pause = Math.min(PAUSE_MS.most, 2 * pause)) {
    shared.recent = undefined;
    shared.looking?.clear();
    const hands = await handsOf(shared, op);
    if (hands === undefined || hands.isFinished || hands.leftMs === 0) return true;
    const waited = clock.monotonic() - began;
    if (waited >= mostMs || signal.aborted) return false;
    if (waited >= TOLD_AFTER_MS && !isTold) {
      told(hands);
      isTold = true;
    }
    await clock.sleep(Math.min(pause, mostMs - waited), signal).catch(() => undefined);
  }
}

async function leasesOf({ statements, account }: SharedOps): Promise<readonly OpLease[]> {
  const heads = await statements().heads(account, { live: true });
  return heads.map(({ lease_ms: leftMs, started_at, ...head }) => ({
    ...head,
    leftMs,
    startedAt: new Date(started_at).toISOString(),
  }));
}

function headOf({ statements, account }: SharedOps, head: OpHead) {
  const { op, state, plan, n, holder, host } = head;
  return {
    op,
    hands: { holder, host },
    unfinished: state !== 'finished' || head.untold,
    counted: countedOf(head),
    plan: async () => planIn(plan ?? undefined),
    async end() {
      // END is in the last segment, or before the lines of processes that looked at the op after it.
      const segments = await statements().readOp(account, op, Math.max(1, n - 3));
      return decodeWhole(Buffer.concat(segments.map(({ bytes }) => bytes))).findLast(record => record.t === 'END');
    },
  };
}

function countedOf({ state, shown, denied, untold, lease_ms }: OpHead): CountedOp | undefined {
  if (shown === null) return undefined;
  if (denied) return { ...shown, state: 'rejected' };
  if (untold) return { ...shown, state: 'untold' };
  if (state !== 'running') return shown;
  if (lease_ms > 0) return { ...shown, state: 'running' };
  return shown.state === 'finished' || isDoneUntold(shown.state, shown.counts) ? { ...shown, state: 'untold' } : shown;
}

/** Its records go; that it was there stays, with the names of rows that are done. */
async function forgetOp({ statements, account, head, host }: SharedOps, op: string): Promise<boolean> {
  const bytes = Buffer.concat((await statements().readOp(account, op, 1)).map(segment => segment.bytes));
  const history = historyOf(decodeLines(bytes, op).written);
  if (history === undefined) return false;
  const done = [...history.rows.values()].flatMap(row => {
    const { item, state } = row;
    const card = cardOf(row);
    const named = item.intent !== undefined && state === 'done';
    return named ? [{ name: item.intent, done: card === undefined ? {} : { card } }] : [];
  });
  const call = { account, known: head.known(), op, host, done };
  const answer = await statements().pruneOp(call, factsOf(history.plan, 'pruned'));
  head.learn(answer.head);
  await head.keep();
  return answer.verdict !== 'kept';
}

async function forgetNames({ statements, account, head }: SharedOps, before: number): Promise<void> {
  head.learn((await statements().forgetNames({ account, known: head.known(), before_ms: before })).head);
}

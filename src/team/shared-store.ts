/**
 * Ops in a database that several machines share. Claims of an account come one after the other there; the rules are asked
 * before the claim, and once more where the database says that somebody came between (docs/decisions/0023-op-store.md).
 */
import { CliError } from '../core/errors.ts';
import type { OpLease } from '../journal/shared-ops.ts';
import type { Claim, IntentsHold, NamedIntents, NotedIntent, OpStore, Tape } from '../journal/store/op-store.ts';
import { keyInUse } from '../journal/store/refusals.ts';
import { decodeLines, decodeWhole } from '../journal/wal/codec.ts';
import { historyOf } from '../journal/wal/replay.ts';
import type { ClaimResult, HeadFilter, OpHead } from './calls.ts';
import { checkShared } from './check.ts';
import { factsOf, planIn, refusalOf, wantedOf } from './claims.ts';
import { pushAll } from './recover.ts';
import { holdName } from './shared-name.ts';
import type { SharedOps } from './shared-ops.ts';
import { sharedRequests } from './shared-requests.ts';
import { sharedTape } from './shared-tape.ts';
import { localCopy } from './spool.ts';
import { createStanding, type Standing } from './standing.ts';
import { takeOp } from './taking.ts';

export interface SharedStoreSettings {
  /** Connects at the first call. Throws `guarded` where the journal cannot be used for what this run acts as. */
  readonly shared: () => Promise<SharedOps>;
  /** The same, and nothing that was left is brought. */
  readonly opened: () => Promise<SharedOps>;
  /** Print of the API key, 16 hexadecimal digits. */
  readonly keyPrint: () => Promise<string>;
}

const PAGE = 1000;

export function sharedStore({ shared, opened, keyPrint }: SharedStoreSettings): OpStore {
  return {
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
      const [theirs, ours] = [wanted, print].map(each => statements().hasKey(account, each));
      return (await theirs) === true && (await ours) === true;
    },
    async holdKey({ key }) {
      const { statements, account } = await shared();
      return { usedFor: () => statements().givenKeyOf(account, key), release: async () => undefined };
    },
    notedIntents: async wanted => noted(await shared(), wanted),
    holdIntents: async wanted => held(await shared(), wanted),
    forgetIntents: async before => forgetNames(await shared(), before),
    holdName: async name => holdName(await shared(), name),
    claim: async claim => claimOp(await shared(), claim),
    take: async (op, how) => takeOp(await shared(), op, how),
    requests: sharedRequests(shared),
    async read(op) {
      const { statements, account } = await shared();
      const segments = await statements().readOp(account, op, 1);
      return segments.length === 0 ? undefined : Buffer.concat(segments.map(({ bytes }) => bytes));
    },
    async *heads({ unfinished, writtenSince } = {}) {
      const ops = await shared();
      for (let skip = 0; ; skip += PAGE) {
        const page = await headsPage(ops, { unfinished, written_since: writtenSince, plan: true, skip, most: PAGE });
        for (const head of page) yield headOf(ops, head);
        if (page.length < PAGE) return;
      }
    },
    async isHeld(op) {
      const { statements, account } = await shared();
      const [head] = await statements().heads(account, { op });
      return head !== undefined && head.lease_ms > 0;
    },
    push: async () => pushAll(await opened()),
    leases: async () => leasesOf(await shared()),
    check: async () => checkShared(await opened()),
    forget: async op => forgetOp(await shared(), op),
    setAside: op => `tell an admin of the shared journal about ${op}`,
  };
}

async function noted(
  { statements, account }: SharedOps,
  { names }: NamedIntents,
): Promise<ReadonlyMap<string, NotedIntent>> {
  const known = await statements().intentsOf(account, [...names]);
  return new Map(known.map(({ done, ...each }) => [each.name, { ...each, ...(done && { done }) }]));
}

/** Nobody is kept waiting: of two claims with one name the database takes the first. */
async function held(shared: SharedOps, wanted: NamedIntents): Promise<IntentsHold> {
  return { noted: await noted(shared, wanted), release: async () => undefined };
}

/** The rules of one claim ask several times; what came between is told by the claim itself. */
function headsPage(shared: SharedOps, filter: HeadFilter): Promise<readonly OpHead[]> {
  const { statements, account, looking } = shared;
  const name = JSON.stringify(filter);
  const page = looking?.get(name) ?? statements().heads(account, filter);
  looking?.set(name, page);
  return page;
}

async function refuseFrom(shared: SharedOps, claim: Claim): Promise<void> {
  shared.looking = new Map();
  try {
    await claim.refuse();
  } finally {
    shared.looking = undefined;
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
  const { op, state, plan, n } = head;
  return {
    op,
    unfinished: state !== 'finished',
    plan: async () => planIn(plan ?? undefined),
    async end() {
      // END is in the last segment, or before the lines of processes that looked at the op after it.
      const segments = await statements().readOp(account, op, Math.max(1, n - 3));
      return decodeWhole(Buffer.concat(segments.map(({ bytes }) => bytes))).findLast(record => record.t === 'END');
    },
  };
}

async function claimOp(shared: SharedOps, claim: Claim): Promise<Tape> {
  await refuseFrom(shared, claim);
  const lines = claim.lines()[Symbol.iterator]();
  const standing = createStanding();
  let first = new Uint8Array();
  while (standing.writer() === undefined) {
    const { value, done } = lines.next();
    if (done === true) throw new CliError('internal', { message: 'a plan without lines' });
    standing.read(value);
    first = Buffer.concat([first, value]);
  }
  const tape = await claimed(shared, claim, { first, standing });
  try {
    for (let next = lines.next(); next.done !== true; next = lines.next()) {
      await tape.file.append(next.value);
      await tape.file.sync();
    }
    await claim.refuseAgain();
    await shared.head.keep();
    return tape;
  } catch (thrown) {
    // What the database does not take back is not planned, or is open: a resume says so.
    await tape.abandon().catch(() => undefined);
    throw thrown;
  }
}

/** The same call again where somebody came between and the rules do not know him; a second no is the last word. */
async function claimed(
  shared: SharedOps,
  claim: Claim,
  { first, standing }: { readonly first: Uint8Array; readonly standing: Standing },
): Promise<Tape> {
  const { statements, head, clock } = shared;
  const wanted = wantedOf(shared, claim, standing);
  const facts = factsOf(claim.record, 'begun');
  let again = false;
  for (let changes = 0; ; ) {
    const since = clock.monotonic();
    const looked = changes < MOST_CHANGES ? head.looked() : undefined;
    const answer = await statements().claim({ ...wanted, known: head.known(), looked }, first, facts);
    head.learn(answer.head);
    if (answer.verdict === 'claimed') {
      const { epoch, n, lease_ms: leaseMs } = answer;
      const copy = await localCopy(shared, { op: wanted.op, by: wanted.by, bytes: first });
      const reserved = wanted.spending.total;
      return sharedTape(shared, {
        op: wanted.op,
        epoch,
        n,
        leaseMs,
        reserved,
        since,
        facts,
        standing,
        copy,
      });
    }
    shared.mayHold ||= answer.verdict === 'pending';
    await refuseFrom(shared, claim);
    if (answer.verdict === 'changed') {
      changes += 1;
      continue;
    }
    if (again || !isPassing(answer)) throw refusedBy(answer, claim);
    again = true;
  }
}

/** Where others claim all the time the rules are asked so often; then the database alone decides. */
const MOST_CHANGES = 5;

/** Somebody may be through by now. */
function isPassing({ verdict }: ClaimResult): boolean {
  return verdict === 'twin' || verdict === 'repeated';
}

function refusedBy(answer: Exclude<ClaimResult, { verdict: 'claimed' | 'changed' }>, { record }: Claim): CliError {
  const refused = refusalOf(answer);
  const { given_key: key } = record;
  const isKey = key !== undefined && 'key' in answer && answer.key !== undefined;
  return isKey ? (keyInUse(key, refused) as CliError) : refused;
}

/** Its records go; that it was there stays, with the names of rows that are done. */
async function forgetOp({ statements, account, head, host }: SharedOps, op: string): Promise<boolean> {
  const bytes = Buffer.concat((await statements().readOp(account, op, 1)).map(segment => segment.bytes));
  const history = historyOf(decodeLines(bytes, op).written);
  if (history === undefined) return false;
  const done = [...history.rows.values()].flatMap(({ item, state, done: made }) => {
    const card = made?.id ?? item.card;
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

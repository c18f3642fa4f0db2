/**
 * What this machine knows and the database does not: the next command brings it. An outcome that one process alone has seen
 * must not be lost with its connection.
 */
import { decodeLines, encodeLines } from '../journal/wal/codec.ts';
import type { JournalRecord, StoredRecord } from '../journal/wal/records.ts';
import type { Ending, Facts, OpHead, Segment } from './calls.ts';
import { factsOf, planIn } from './claims.ts';
import { lateDone } from './late-done.ts';
import { leaseMsFor } from './lease.ts';
import {
  bytesAt,
  copyAt,
  damagedCopy,
  type KeptCopy,
  keepCopy,
  leftCopies,
  linesConfirmed,
  linesOf,
  lockCopy,
  removeCopy,
  wasShown,
  writerOf,
} from './local-copies.ts';
import { bringLost, recordsLost } from './lost-records.ts';
import { codeOf, type SharedOps, segmentRefused, takesNothing } from './shared-ops.ts';
import { endingOf, outcomeFacts } from './shared-tape.ts';
import { createStanding } from './standing.ts';
import { noteUntold } from './untold.ts';

/** What became of copies that were left. */
export interface Pushed {
  /** Ops whose rows were brought, each with their number; none where the database had everything. */
  readonly brought: readonly { readonly op: string; readonly rows: number }[];
  /** Ops that the database does not know: it has lost them, or it is another one. */
  readonly missing: readonly string[];
  /** Ops of which the database had lost records that were there before, each with the rows that were sent by them. */
  readonly restored: readonly { readonly op: string; readonly rows: number }[];
  /** Ops in other hands, with how many records were not brought, for they are no outcomes; their copies are kept. */
  readonly leftOut: readonly LeftOut[];
  /** Names of rows that were done after all, and that belong to another op since they were recorded as not done. */
  readonly clashes: readonly { readonly op: string; readonly with: string; readonly name: string }[];
}

interface LeftOut {
  readonly op: string;
  readonly records: number;
  /** Role and machine that have it. */
  readonly holder: string;
  readonly host: string;
}

/**
 * Brings what other processes of this machine have left. Only where the database holds the chain as this machine knows it: a
 * line that it has lost looks like one that was never sent. Throws where the database cannot be asked.
 */
export async function pushSpool(shared: SharedOps): Promise<Pushed> {
  const pushed: Pushing = { brought: [], missing: [], leftOut: [], restored: [], clashes: [] };
  for (const { op, path } of await leftCopies(shared)) {
    const rows = await pushCopy(shared, { op, path }, pushed);
    if (rows > 0) pushed.brought.push({ op, rows });
  }
  return pushed;
}

type Pushing = { readonly [Key in keyof Pushed]: Pushed[Key][number][] };

/** Rows whose outcome was brought. */
async function pushCopy(
  shared: SharedOps,
  { op, path }: Pick<KeptCopy, 'op' | 'path'>,
  pushed: Pushing,
): Promise<number> {
  const { disk } = shared;
  const release = await lockCopy(disk, path);
  if (release === undefined) return 0;
  try {
    const bytes = await copyAt(disk, path);
    // Whoever had it has ended it between the look and the lock.
    if (bytes === undefined) return 0;
    const kept = linesOf(bytes, { op, path });
    const { segments, there, whole, restored, isLost } = await readWithLost(shared, { op, path, bytes, kept });
    if (segments.length === 0) {
      if (kept.some(({ record }) => record.t === 'SENT')) pushed.missing.push(op);
      // It was taken back, and nothing of it had left.
      else await removeCopy(disk, path);
      return 0;
    }
    if (restored > 0) pushed.restored.push({ op, rows: restored });
    if (isCutOff({ kept, there }, writerOf(path))) throw damagedCopy({ op, path }, 'is shorter than it was');
    const { rows, clashes } = await witnessed(shared, op, { kept, there });
    pushed.clashes.push(...clashes);
    const isShown = await wasShown(disk, path);
    const isEnded = await endLease(shared, { op, by: writerOf(path), segments, isShown });
    const beyond = recordsBeyond(kept, there);
    const other = await leftOutOf(shared, op, beyond);
    if (other !== undefined) pushed.leftOut.push(other);
    // What could not be brought back now is tried again.
    else if (isLost) return rows;
    // A process that died behind its claim has not written here what it claimed.
    if (rows === 0 && beyond === 0 && whole.length > bytes.length) await disk.replace(path, whole.toString());
    // A lease that nobody lets go keeps the same change from nobody who names it otherwise: the next command ends it.
    if (isEnded) await keepLeft(shared, { op, path, segments, isShown });
    return rows;
  } finally {
    await release();
  }
}

/**
 * The database has all of it now, and may lose it like everything else: it is kept for a week, as every copy is. A process
 * that has ended its op and was killed then has told nobody.
 */
async function keepLeft(
  shared: SharedOps,
  { op, path, segments, isShown }: Pick<KeptCopy, 'op' | 'path'> & Pick<LeftOp, 'segments' | 'isShown'>,
): Promise<void> {
  const { statements, account, disk, clock } = shared;
  const [now] = await statements().heads(account, { op });
  const isFinished = now?.state === 'finished';
  const isUntold = isFinished && !isShown && segments.findLast(({ n }) => n > 0)?.by === writerOf(path);
  if (isUntold && !(await noteUntold(shared, op))) return;
  const how = isFinished && !isUntold ? 'finished' : 'open';
  await keepCopy({ disk, clock, folder: await shared.spoolFolder() }, { op, path, how });
}

/** What the database has of an op beside a copy that is kept of it; undefined while another process has the copy. */
export async function comparedWith(shared: SharedOps, { op, path }: Pick<KeptCopy, 'op' | 'path'>) {
  const release = await lockCopy(shared.disk, path);
  if (release === undefined) return undefined;
  try {
    const bytes = await bytesAt(shared.disk, path);
    const kept = linesOf(bytes, { op, path });
    return { ...(await readWithLost(shared, { op, path, bytes, kept })), kept };
  } finally {
    await release();
  }
}

/** What the database has of an op, with what it had lost of it and this copy has brought back. */
async function readWithLost(
  shared: SharedOps,
  { op, path, bytes, kept }: Pick<KeptCopy, 'op' | 'path'> & { bytes: Uint8Array; kept: readonly StoredRecord[] },
) {
  const { disk, statements, account } = shared;
  const confirmed = await linesConfirmed(disk, path);
  const read = async () => {
    const segments = await statements().readOp(account, op, 1);
    const whole = Buffer.concat(segments.map(segment => segment.bytes));
    const there = decodeLines(whole, op).written;
    return { segments, whole, there, lost: recordsLost({ kept, there, confirmed }) };
  };
  const before = await read();
  if (before.segments.length === 0 || before.lost === undefined) return { ...before, restored: 0, isLost: false };
  await bringLost(shared, { op, bytes, lines: before.lost.lines });
  const after = await read();
  const isLost = after.lost !== undefined;
  return { ...after, restored: isLost ? 0 : before.lost.rows, isLost };
}

interface Witnessed {
  /** Rows whose outcome was brought. */
  readonly rows: number;
  readonly clashes: Pushed['clashes'];
}

async function witnessed(shared: SharedOps, op: string, lines: CopyAndJournal): Promise<Witnessed> {
  const { statements, account, head, host } = shared;
  let rows = 0;
  const clashes: Pushed['clashes'][number][] = [];
  const left = async () => {
    const [now] = await statements().heads(account, { op });
    return now === undefined ? 0 : now.reserved - now.spent;
  };
  for (const [by, beyond] of outcomesBeyond(lines.kept, lines.there)) {
    const known = lines.there.filter(each => each.by === by).length;
    const late = await lateDone(lines.there, beyond, left);
    const running = !lines.there.some(({ record }) => record.t === 'END') || undefined;
    const call = { account, known: head.known(), op, by, host, running, late: late?.late };
    const answer = await statements().witness(call, encodeLines(by, known, beyond), late?.facts);
    head.learn(answer.head);
    // It has ended between the reading and the call.
    if (answer.verdict === 'ended')
      return witnessed(shared, op, { kept: lines.kept, there: await linesNow(shared, op) });
    for (const { intent, key, op: other } of answer.clashes ?? [])
      clashes.push({ op, with: other, name: intent ?? key ?? '' });
    rows += new Set(beyond.map(line => ('row' in line ? line.row : 0))).size;
  }
  return { rows, clashes };
}

async function linesNow({ statements, account }: SharedOps, op: string): Promise<readonly StoredRecord[]> {
  const segments = await statements().readOp(account, op, 1);
  return decodeLines(Buffer.concat(segments.map(({ bytes }) => bytes)), op).written;
}

interface LeftOp {
  readonly op: string;
  /** Who held the copy: its lock is ours now, so that process is gone or has let the op go. */
  readonly by: string;
  readonly segments: readonly Segment[];
  /** That process has shown its end, and could not say so here. */
  readonly isShown: boolean;
}

/**
 * What a process of this machine has left need not wait for its lease, and is finished where its end was shown. Where somebody else has taken the op up since, the epoch
 * is another one, and nothing is changed. False where the account takes nothing now and the lease runs on.
 */
async function endLease(shared: SharedOps, left: LeftOp): Promise<boolean> {
  const { op, by, segments, isShown } = left;
  const { statements, account, role, head } = shared;
  const [now] = await statements().heads(account, { op, plan: isShown });
  const last = segments.findLast(({ n }) => n > 0);
  if (now?.state !== 'running' || now.holder !== role) return true;
  const hasBegun = last?.by === by && last.epoch === now.epoch;
  // Without a lease a take would be a new one.
  if (now.lease_ms === 0 && !(isShown && hasBegun)) return true;
  try {
    const epoch = hasBegun ? now.epoch : await epochTaken(shared, { op, by });
    if (epoch === undefined) return true;
    const holding = { account, known: head.known(), op, epoch };
    const finish = endShownOf(left, now);
    const letGo = (how: LettingGo) => statements().letGo({ ...holding, ending: how.ending }, how.facts);
    const leaseAlone = { ending: { finished: false }, facts: { event: 'let_go', op } };
    const answer = await letGo(finish ?? leaseAlone).catch((thrown: unknown) => {
      // A frozen account lets a lease go, and finishes nothing.
      if (finish !== undefined && takesNothing(thrown)) return letGo(leaseAlone);
      throw thrown;
    });
    head.learn(answer.head);
    return true;
  } catch (thrown) {
    if (takesNothing(thrown)) return false;
    // It was taken up in this moment.
    if (segmentRefused(thrown)) return true;
    throw thrown;
  }
}

interface LettingGo {
  readonly ending: Ending;
  readonly facts: Facts;
}

/** Undefined where nobody was told its end. */
function endShownOf({ op, segments, isShown }: LeftOp, now: OpHead): LettingGo | undefined {
  const standing = createStanding();
  if (isShown) for (const { bytes } of segments) standing.read(bytes);
  if (standing.end() === undefined) return undefined;
  const plan = planIn(now.plan ?? undefined);
  const facts = plan === undefined ? { op } : factsOf(plan, 'outcome');
  return { ending: endingOf({ standing, reserved: now.reserved }), facts: outcomeFacts({ standing, facts }) };
}

/** In which the process that had this copy has taken the op up; undefined where it is in other hands. The call is its own, made again. */
async function epochTaken(shared: SharedOps, { op, by }: Pick<LeftOp, 'op' | 'by'>): Promise<number | undefined> {
  const { statements, account, head, host } = shared;
  const machine = await shared.machine();
  const call = { account, known: head.known(), machine, op, by, host, ttl_ms: leaseMsFor(shared), resume: true };
  try {
    const answer = await statements().take(call, { event: 'taken', op });
    head.learn(answer.head);
    return answer.verdict === 'taken' ? answer.epoch : undefined;
  } catch (thrown) {
    // Its lease was over in this moment, so that the call was not the same any more.
    if (codeOf(thrown) === 'CW007') return undefined;
    throw thrown;
  }
}

/** Undefined where nothing was left out, or the op is still that of this machine: its resume looks for itself. */
async function leftOutOf(
  { statements, account, role, host }: SharedOps,
  op: string,
  records: number,
): Promise<LeftOut | undefined> {
  const [head] = records === 0 ? [] : await statements().heads(account, { op });
  if (head === undefined || (head.holder === role && head.host === host)) return undefined;
  return { op, records, holder: head.holder, host: head.host };
}

/** Lines of a copy behind those that the database has, that are neither an outcome nor the frame of a run. */
function recordsBeyond(kept: readonly StoredRecord[], there: readonly StoredRecord[]): number {
  let count = 0;
  for (const by of new Set(kept.map(each => each.by))) {
    const known = there.filter(each => each.by === by).length;
    const beyond = kept.filter(each => each.by === by).slice(known);
    count += beyond.filter(({ record }) => record.t !== 'RUN' && record.t !== 'END' && !isOutcome(record)).length;
  }
  return count;
}

interface CopyAndJournal {
  readonly kept: readonly StoredRecord[];
  readonly there: readonly StoredRecord[];
}

/** The plan is in a copy before the database holds a SENT of its writer; a claim may hold SENT before the copy does. */
function isCutOff({ kept, there }: CopyAndJournal, by: string): boolean {
  const own = there.filter(each => each.by === by);
  return kept.filter(each => each.by === by).length < own.findIndex(({ record }) => record.t === 'SENT');
}

/** By writer: what a row came to that it has sent, of what it wrote behind the last line that the database has. */
function outcomesBeyond(
  kept: readonly StoredRecord[],
  there: readonly StoredRecord[],
): ReadonlyMap<string, readonly JournalRecord[]> {
  const beyond = new Map<string, JournalRecord[]>();
  for (const by of new Set(kept.map(each => each.by))) {
    const known = there.filter(each => each.by === by);
    const sent = new Set(known.flatMap(({ record }) => (record.t === 'SENT' ? record.row : [])));
    const lines = kept.filter(each => each.by === by).slice(known.length);
    const outcomes = lines.map(({ record }) => record).filter(record => isOutcome(record) && sent.has(record.row));
    if (outcomes.length > 0) beyond.set(by, outcomes);
  }
  return beyond;
}

function isOutcome(record: JournalRecord): record is Extract<JournalRecord, { readonly t: 'DONE' | 'FAILED' | 'ACK' }> {
  return record.t === 'DONE' || record.t === 'FAILED' || record.t === 'ACK';
}

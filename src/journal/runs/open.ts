/**
 * An op that is there already: taken in hand, then its RUN record, and only then its records
 * (docs/design/reliability.md, section 6).
 */
import type { WriteName } from '../../contract/calls.ts';
import { CliError } from '../../core/errors.ts';
import { identify } from '../../files/process-identity.ts';
import { quietPeriodMs } from '../execution/policy.ts';
import { type RowIndex, rowsInMemory } from '../execution/row-index.ts';
import { createRunContext, type Elsewhere, type RowOwners, type RunContext } from '../execution/run-context.ts';
import { type Capability, capabilityOf, UNKNOWN } from '../idempotency-support.ts';
import type { OpStore, TakeOver, Tape } from '../store/op-store.ts';
import { historyNamed } from '../store/read-ops.ts';
import type { ResumeOptions, Run, RunPlan, TakeUp } from '../types.ts';
import { decodeLines, wholeLength } from '../wal/codec.ts';
import { type History, historyOf, isPending } from '../wal/replay.ts';
import { type Log, openLog } from '../wal/writer.ts';
import { cameToNothing, isApprovedIn, pendingElsewhere, type VerifiedApprovals } from './approval-gate.ts';
import type { JournalDependencies } from './dependencies.ts';
import { madeBeforeBy } from './made-before.ts';
import { asUnknown } from './may-be-sent.ts';
import { movedMeanwhile } from './moved-meanwhile.ts';
import { otherMovesOf } from './other-moves.ts';
import { releasing } from './release.ts';
import { countsOf, createRun, plannedOf, sumOf } from './run.ts';
import { type SentUntil, sentUntilBy } from './sent-until.ts';
import { refuseMisstated } from './stated-rows.ts';
import { takeUpOf } from './take-up.ts';
import { rowOwners } from './twin-rows.ts';

/** A run over records that were read and are not held: it may look, and sends and writes nothing. */
export async function readOnlyRun(
  dependencies: JournalDependencies,
  history: History,
  { resendAbsent = false }: ResumeOptions,
): Promise<Run> {
  const rowOwner = ownersIn(dependencies, history);
  const context = await runContextFor(dependencies, {
    ...wishesOf(history, { log: undefined, resendAbsent }),
    rowOwner,
    takeUp: await takeUpOf(dependencies.store, history.plan.op),
  });
  const release = async () => undefined;
  return createRun({
    context,
    plan: planOf(history),
    log: undefined,
    release,
    notice: dependencies.notice,
    others: async () => [],
    end: history.end,
    isNew: false,
  });
}

function ownersIn({ store, notice }: JournalDependencies, history: History): RowOwners {
  return rowOwners(store, history, note => notice(`note: ${note}`));
}

/** To look at rows of an op that is not in hand: it sends and writes nothing. */
export function readOnlyContext(dependencies: JournalDependencies, history: History): Promise<RunContext> {
  return runContextFor(dependencies, wishesOf(history, { log: undefined, resendAbsent: false }));
}

/**
 * Takes the op over. Throws `guarded` when another process works on it, and for one whose request came to nothing;
 * `pending_approval` and what else `ApprovalGate.verify` throws for one that is held.
 */
export async function openOp(
  dependencies: JournalDependencies,
  seen: History,
  { resendAbsent = false, reason }: ResumeOptions,
): Promise<Run> {
  const { notice } = dependencies;
  const { op } = seen.plan;
  // Before it is in hand: a card that must be read for it may take long, and a shared journal hands out what was approved.
  const approved = await approvedOf(dependencies, seen);
  const { history, log, tape, sentUntil } = await takeOver(dependencies, op, { reason, approved });
  const release = releasing(dependencies, tape, dependencies.hold());
  try {
    if (history.denied !== undefined) throw cameToNothing(history);
    await refuseMisstated(dependencies, history, tape.spending);
    if (isPending(history)) await useApprovals(dependencies, { history, log, approved });
    else await dependencies.approvals?.recheck(history);
    const rowOwner = ownersIn(dependencies, history);
    const wishes = { ...wishesOf(history, { log, resendAbsent }), tape, sentUntil, rowOwner };
    const context = await runContextFor(dependencies, wishes);
    const others = () => movedMeanwhile(dependencies, history.plan);
    const approvedBy = history.approved?.persons ?? approved?.persons;
    const isUnsent = [...history.rows.values()].every(({ firstSent }) => firstSent === undefined);
    const isReleased = history.plan.approval !== undefined && isUnsent;
    const kept = { end: history.end, isNew: false, approvedBy, isReleased };
    return createRun({ context, plan: planOf(history), log, release, notice, others, ...kept });
  } catch (thrown) {
    await log.close();
    await release(false);
    throw thrown;
  }
}

/** Undefined for an op that is not held. */
async function approvedOf(
  { approvals, store }: JournalDependencies,
  history: History,
): Promise<VerifiedApprovals | undefined> {
  if (history.denied !== undefined) throw cameToNothing(history);
  if (!isPending(history)) return undefined;
  if (approvals === undefined) throw pendingElsewhere(history, await isApprovedIn(store, history));
  return approvals.verify(history);
}

/** From here on the request is used up: the op is one that was begun, and is settled like any other. */
async function useApprovals(
  { clock, store }: JournalDependencies,
  { history, log, approved }: Pick<Held, 'history' | 'log'> & { readonly approved: VerifiedApprovals | undefined },
): Promise<void> {
  // A journal of several people counts them itself, and has said so in the records.
  if (approved === undefined || store.requests?.account !== undefined) throw pendingElsewhere(history);
  const { persons, envelopes } = approved;
  await log.append({ t: 'APPROVED', persons, envelopes, at: clock.now() });
}

interface Held {
  readonly history: History;
  readonly log: Log;
  readonly tape: Tape;
  readonly sentUntil: SentUntil;
}

/**
 * Having it in hand keeps other processes out; RUN is the fence behind it. Only what is read after our RUN is believed:
 * whoever else still holds the file open sees it before sending anything more.
 */
async function takeOver(
  { store, random, pid, clock }: JournalDependencies,
  op: string,
  how: TakeOver = {},
): Promise<Held> {
  const tape = await store.take(op, how);
  const { file } = tape;
  try {
    const before = await file.readAll();
    const whole = wholeLength(before, op);
    // A torn line was never relied upon, and nothing may be appended to it.
    if (whole < before.length) await file.truncate(whole);
    const by = Buffer.from(random.bytes(4)).toString('hex');
    const { started, boot } = identify(pid);
    const log = openLog(file, { op, by, seq: 0, size: whole });
    await log.append({ t: 'RUN', pid, start: started, boot, at: clock.now() });
    const { written } = decodeLines(await file.readAll(), op);
    const read = historyOf(written);
    if (read === undefined || !read.planned) throw neverPlanned(op);
    const isLookedFor = tape.mayBeSent === true && how.settles !== true;
    const history = isLookedFor ? await asUnknown({ history: read, log, file }) : read;
    return { history, log, tape, sentUntil: sentUntilBy(written, tape.formerLeaseEnd) };
  } catch (thrown) {
    await file.close();
    await tape.release(false);
    throw thrown;
  }
}

interface Locked extends Pick<Held, 'history' | 'log'> {
  /** Closes the journal for good. */
  end(): Promise<void>;
}

/** Works on an op without sending anything. Throws as `openOp`. */
export async function underLock(
  dependencies: JournalDependencies,
  op: string,
  work: (held: Locked) => Promise<void>,
): Promise<void> {
  const { history, log, tape } = await takeOver(dependencies, op, { settles: true });
  let ended = false;
  try {
    await work({
      history,
      log,
      async end() {
        const rows = [...(await historyNamed(dependencies.store, op)).rows.values()];
        const { done, refused, not_sent } = countsOf(rows);
        const moved = sumOf(rows.filter(({ state }) => state === 'done'));
        await log.append({ t: 'END', done, refused, not_sent, cents: moved, at: dependencies.clock.now() });
        ended = true;
      },
    });
  } finally {
    await log.close();
    await tape.release(ended);
  }
}

interface RunContextWishes extends Pick<History, 'plan' | 'latest'> {
  readonly rowIndex: RowIndex;
  readonly log: Log | undefined;
  readonly resendAbsent: boolean;
  readonly resumed: boolean;
  /** Undefined where nothing is sent. */
  readonly tape?: Tape;
  /** Undefined where nobody else has worked on it. */
  readonly sentUntil?: SentUntil;
  /** Of an op that is not in hand. */
  readonly takeUp?: TakeUp;
  /** Undefined where it has just got its names. */
  readonly rowOwner?: RowOwners;
}

function wishesOf(
  { plan, rows, latest }: History,
  { log, resendAbsent }: Pick<RunContextWishes, 'log' | 'resendAbsent'>,
): RunContextWishes {
  return { plan, latest, rowIndex: rowsInMemory(rows), log, resendAbsent, resumed: true };
}

export async function runContextFor(
  dependencies: JournalDependencies,
  { plan, latest, rowIndex, log, resendAbsent, resumed, tape, sentUntil, rowOwner, takeUp }: RunContextWishes,
): Promise<RunContext> {
  const { stop } = dependencies;
  const now = new Map<string, Capability>();
  for (const operation of Object.keys(plan.capability) as WriteName[]) {
    const account = { origin: plan.origin, mode: plan.mode, keyPrint: plan.key_print };
    now.set(operation, await capabilityOf(dependencies, account, operation));
  }
  return createRunContext({
    plan,
    rowIndex,
    latest,
    log,
    resendAbsent,
    resumed,
    takeUp,
    service: await dependencies.service(),
    serviceNow: dependencies.serviceNow ?? (() => undefined),
    clock: dependencies.clock,
    capability: operation => now.get(operation) ?? UNKNOWN,
    stop: tape?.lost === undefined ? stop : AbortSignal.any([stop, tape.lost]),
    mayLeave: tape?.mayLeave ?? (async () => true),
    cut: dependencies.cut,
    notice: dependencies.notice,
    otherMoves: otherMovesOf(dependencies, plan),
    begunAt: dependencies.begunAt,
    madeBefore: madeBeforeBy(dependencies.store, plan),
    sentUntil: sentUntil ?? (() => 0),
    rowOwner: rowOwner ?? (async () => undefined),
    elsewhere: async row => (tape?.lost?.aborted === true ? rowElsewhere(dependencies.store, plan.op, row) : {}),
    quietPeriodMs: quietPeriodMs(plan.mode, dependencies.writeTotalMs),
  });
}

/** Nothing where the journal cannot be read now: that is said by then. */
async function rowElsewhere(store: OpStore, op: string, number: number): Promise<Elsewhere> {
  try {
    const { rows, end } = await historyNamed(store, op);
    const row = rows.get(number);
    const meanwhile = row && { row, isOver: end !== undefined };
    return { meanwhile, takeUp: await takeUpOf(store, op) };
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    return {};
  }
}

function planOf({ plan, rows }: History): RunPlan {
  return {
    command: plan.command,
    rows: [...rows.values()].map(({ item }) => plannedOf(item)),
    digest: plan.digest,
    bulk: plan.bulk,
    marker: plan.marker,
    ...(plan.given_key !== undefined && { key: plan.given_key }),
    ...(plan.marker_prefix !== undefined && { markerPrefix: plan.marker_prefix }),
    ...(plan.phased && { phased: true }),
  };
}

function neverPlanned(op: string): CliError {
  return new CliError('usage', {
    message: `${op} was stopped before its plan was written; nothing was sent, and there is nothing to resume. Run the command that began it again`,
    outcome: 'not_sent',
    op,
  });
}

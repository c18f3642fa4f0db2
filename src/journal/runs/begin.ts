/** A new op: checked against its twins, written down whole and durable before anything may be sent. */
import { CliError } from '../../core/errors.ts';
import { spendingOf } from '../../core/spending.ts';
import { identify } from '../../files/process-identity.ts';
import { judgedRows } from '../approvals/rule.ts';
import { placedRows } from '../execution/row-index.ts';
import type { Tape } from '../store/op-store.ts';
import type { Run } from '../types.ts';
import { type RunRecord, VERSION_WITH_APPROVAL } from '../wal/records.ts';
import { openLog } from '../wal/writer.ts';
import { pendingElsewhere } from './approval-gate.ts';
import { tellRecorded } from './by-hand.ts';
import { tellDenied } from './denied-before.ts';
import type { JournalDependencies } from './dependencies.ts';
import { refuseFinishedMeanwhile } from './finished-rows.ts';
import { movedMeanwhile } from './moved-meanwhile.ts';
import { namedIn } from './named-rows.ts';
import { runContextFor } from './open.ts';
import { type PlanBytes, type Planning, planLines } from './plan-lines.ts';
import type { PlannedOp } from './planned.ts';
import { releasing } from './release.ts';
import { createRun } from './run.ts';
import { refuseSharedRows } from './shared-rows.ts';
import { refuseTwins } from './twins.ts';

/**
 * Makes the plan durable and takes it in hand. Throws `guarded` for twins and for a store that does not take it, and
 * `pending_approval` for a plan that is held: then it is durable, and nobody has it in hand.
 */
export async function beginOp(dependencies: JournalDependencies, planned: PlannedOp): Promise<Run> {
  const { approvals } = dependencies;
  // Of many rows that was said before anybody was asked.
  if (!planned.plan.bulk) await tellRecorded(dependencies, planned);
  if (approvals === undefined) return begunOp(dependencies, planned);
  return approvals.judge(planned, async request => {
    if (request === undefined) return begunOp(dependencies, planned);
    const record = { ...planned.record, version: VERSION_WITH_APPROVAL, approval: request };
    throw await heldOp(dependencies, { ...planned, record });
  });
}

async function begunOp(dependencies: JournalDependencies, planned: PlannedOp): Promise<Run> {
  const writing = writingOf(dependencies, planned);
  try {
    const tape = await claimed(dependencies, planned, writing);
    return await runOf(dependencies, planned, { ...writing, tape });
  } catch (thrown) {
    writing.letGo();
    throw thrown;
  }
}

function claimed(dependencies: JournalDependencies, planned: PlannedOp, { lines }: Writing): Promise<Tape> {
  const { plan, record, finishedBefore } = planned;
  return dependencies.store.claim({
    record,
    again: plan.again,
    sentNext: !plan.bulk && record.approval === undefined,
    spending: () => spendingOf(plan.rows),
    judged: () => judgedRows(plan.rows),
    intents: namedIn(plan)?.claimed,
    refuse: () => refuseTwins(dependencies, planned),
    lines,
    // Two runs with some rows in common are two claims: of those, whoever looks later sees the plan of the other.
    async refuseAgain() {
      if (!plan.bulk) return;
      await refuseSharedRows(dependencies, planned, { unfinished: true });
      if (finishedBefore !== undefined) await refuseFinishedMeanwhile(dependencies, planned, finishedBefore);
    },
  });
}

/** Resolves to the refusal of an op that is held. */
async function heldOp(dependencies: JournalDependencies, planned: PlannedOp): Promise<CliError> {
  const writing = writingOf(dependencies, planned);
  try {
    const tape = await claimed(dependencies, planned, writing);
    await tape.file.close();
    await tape.release(false);
  } finally {
    writing.letGo();
  }
  await tellDenied(dependencies, planned);
  const held = { plan: planned.record };
  return (await dependencies.approvals?.pending(held)) ?? pendingElsewhere(held);
}

/** The plan as it is written down. */
interface Writing {
  lines(): Iterable<Uint8Array>;
  /** What was written; the lines have been taken by then. */
  written(): PlanBytes & Pick<Planning, 'by' | 'run'>;
  /** The process may end again. */
  letGo(): void;
}

function writingOf({ random, pid, clock, hold }: JournalDependencies, { record, items }: PlannedOp): Writing {
  let held: (() => void) | undefined;
  let done: ReturnType<Writing['written']> | undefined;
  return {
    lines() {
      held = hold();
      const by = Buffer.from(random.bytes(4)).toString('hex');
      const { started, boot } = identify(pid);
      const run: RunRecord = { t: 'RUN', pid, start: started, boot, at: clock.now() };
      return kept(planLines({ by, plan: record, items, run }), written => {
        done = { ...written, by, run };
      });
    },
    written() {
      if (done === undefined) throw new CliError('internal', { message: `the plan of ${record.op} was not written` });
      return done;
    },
    letGo: () => held?.(),
  };
}

/** The same lines; what they amount to is told when the last one was taken. */
function* kept<T>(lines: Generator<Uint8Array, T, undefined>, tell: (written: T) => void): Iterable<Uint8Array> {
  tell(yield* lines);
}

async function runOf(
  dependencies: JournalDependencies,
  { plan, record }: PlannedOp,
  { tape, written, letGo }: Writing & { readonly tape: Tape },
): Promise<Run> {
  const { op } = record;
  const { file } = tape;
  try {
    const { by, run, size, records, places } = written();
    const log = openLog(file, { op, by, seq: records, size });
    const { readAt } = file;
    const context = await runContextFor(dependencies, {
      plan: record,
      latest: run.at,
      rowIndex: placedRows({ op, readAt }, places),
      log,
      resendAbsent: plan.resendAbsent ?? false,
      resumed: false,
      tape,
    });
    const release = releasing(dependencies, tape, letGo);
    const others = () => movedMeanwhile(dependencies, record);
    return createRun({ context, plan, log, release, notice: dependencies.notice, others, end: undefined, isNew: true });
  } catch (thrown) {
    await tape.abandon();
    throw thrown;
  }
}

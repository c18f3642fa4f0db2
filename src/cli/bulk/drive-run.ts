/** A run of the journal driven to its end under the eyes of a person: outcomes out, progress, signals, exit code. */
import { type DriveRow, drive, isSignal } from '../../bulk/scheduler.ts';
import type { CliError } from '../../core/errors.ts';
import { cents, dollars, toUsd } from '../../core/money.ts';
import type { SpendHold } from '../../core/spending.ts';
import type { RowOutcome, Run } from '../../journal/types.ts';
import type { Row } from '../../terminal/view.ts';
import type { Context } from '../context.ts';
import { type EarlierRow, outcomeOf, type RecordedRow, type RunRecord, whyOf } from '../record.ts';
import type { Shown } from '../shown.ts';
import { RESULT_COLUMNS, resultRow } from './result-row.ts';
import { createTally, type Tally } from './tally.ts';

export interface OpenedRun {
  readonly run: Run;
  /** Ended when the run ends. */
  readonly hold: SpendHold;
}

export interface Driving {
  /** Begins or takes up the run; called when the result is about to be printed. Its errors end the command. */
  readonly open: () => Promise<OpenedRun>;
  readonly concurrency: number;
  readonly keepGoing: boolean;
  /** Rows of the input that are no rows of the run. */
  readonly skipped: readonly RowOutcome[];
}

/** What is shown of the run. The rows come while it is under way; the run is let go when they end. */
export function driveRun(ctx: Context, driving: Driving): Shown {
  let failure: CliError | undefined;
  let page: Row = {};
  async function* batches() {
    const { run, hold } = await driving.open();
    const rows = rowsOf(run, driving.skipped);
    const tally = createTally({ total: rows.length, single: !run.plan.bulk });
    const working: Working = { ...driving, run, hold, rows, tally };
    let stopped: CliError | undefined;
    let recorded: RunRecord | undefined;
    ctx.progress.begin();
    try {
      if (!ctx.dryRun) recorded = await recordRun(ctx, run);
      // An output that cannot be written must be found out before anything is sent.
      yield [];
      stopped = yield* outcomesOf(ctx, { ...working, recorded });
    } finally {
      failure = await concluded(ctx, working, stopped);
      await recorded?.end(failure === undefined ? 'done' : outcomeOf(failure));
      page = { total: rows.length, op: run.op, ...tally.counts() };
    }
  }
  return {
    listing: { batches: batches(), page: () => page, runsOn: true },
    noun: 'row',
    idField: 'card_id',
    columns: RESULT_COLUMNS,
    failure: () => failure,
  };
}

/** A line for each row that was decided before and not recorded; then one for the run, where anything is left to do. */
async function recordRun(ctx: Context, { op, plan, rows, total }: Run): Promise<RunRecord | undefined> {
  const [first] = rows;
  const operation = first?.planned.operation ?? plan.command;
  const earlier: EarlierRow[] = [];
  let isWork = false;
  for (const row of rows) {
    if (row.state === 'open' || row.state === 'unknown') isWork = true;
    else if (row.outcome !== undefined && row.decided !== undefined)
      earlier.push({ ...recordedRow(row.outcome), decided: row.decided });
  }
  await ctx.recorder.recordEarlier({ operation, op }, earlier);
  if (!isWork) return undefined;
  const amount = total / 100;
  return ctx.recorder.beginRun({
    event: 'run',
    operation,
    rows: rows.length,
    op,
    ...(amount > 0 && { amount }),
  });
}

function recordedRow({ row, outcome, cardId, last4, amount, error }: RowOutcome): RecordedRow {
  return {
    row,
    ...(cardId !== undefined && { card_id: cardId }),
    ...(last4 !== undefined && { last4 }),
    ...(amount !== undefined && { amount: toUsd(amount) }),
    outcome,
    ...(outcome !== 'done' && whyOf(error)),
  };
}

interface Working extends OpenedRun, Driving {
  readonly recorded?: RunRecord | undefined;
  readonly rows: readonly DriveRow[];
  readonly tally: Tally;
}

/** Money operations on one card wait for each other: evidence of two at once would be worth nothing. */
function rowsOf(run: Run, skipped: readonly RowOutcome[]): readonly DriveRow[] {
  const planned: DriveRow[] = [];
  for (const { row, state, cardId: lane, outcome } of run.rows) {
    const told = state === 'open' || state === 'unknown' ? undefined : outcome;
    // One form for all: there may be a hundred thousand.
    planned.push({ row, lane, told, doubted: state === 'unknown' });
  }
  if (skipped.length === 0) return planned;
  return [...planned, ...skipped.map(told => ({ row: told.row, told }))].sort((one, other) => one.row - other.row);
}

/** Returns why rows were left out. */
async function* outcomesOf(
  ctx: Context,
  { run, rows, tally, concurrency, keepGoing, recorded }: Working,
): AsyncGenerator<readonly Row[], CliError | undefined> {
  for (const { told } of rows) if (told !== undefined) tally.add(told);
  const driven = drive({
    run,
    rows,
    concurrency,
    keepGoing,
    stop: ctx.signal,
    onOutcome(outcome) {
      tally.add(outcome);
      recorded?.row(recordedRow(outcome));
      ctx.progress.update(tally.standing);
    },
  });
  const onSignal = () => {
    const many = driven.inFlight();
    const are = many === 1 ? '1 request is' : `${many} requests are`;
    if (many > 0) ctx.notice(`Stopping: ${are} on their way. Ctrl-C again leaves them to ops resume.`);
  };
  ctx.signal.addEventListener('abort', onSignal, { once: true });
  try {
    for await (const batch of driven.outcomes) {
      for (const { begun } of batch) if (!begun) tally.leaveOut();
      yield batch.map(resultRow);
    }
    return driven.stoppedBy();
  } finally {
    ctx.signal.removeEventListener('abort', onSignal);
    ctx.progress.clear();
  }
}

/** Audits, lets go of what the day's limit holds, and says what it came to. */
async function concluded(ctx: Context, working: Working, stopped: CliError | undefined): Promise<CliError | undefined> {
  const { hold, tally } = working;
  await using run = working.run;
  const reason: unknown = ctx.signal.aborted ? ctx.signal.reason : undefined;
  const signal = isSignal(reason) ? reason : undefined;
  // After a signal nothing is asked of the service any more; a resume makes the audit.
  const cutShort = signal !== undefined && tally.counts().not_sent + tally.counts().unknown > 0;
  const finished = cutShort ? { objections: [], remarks: [], ended: false } : await run.finish();
  const { objections, ended } = finished;
  for (const remark of finished.remarks) ctx.notice(`note: ${remark}`);
  await hold.end(cents(Math.max(0, run.total - tally.moved - tally.doubtful)));
  const verdict = tally.verdict({ op: run.op, objections, ended, stopped, signal });
  if (verdict !== undefined) return verdict;
  const { total } = tally.standing;
  ctx.notice(`${total} of ${total} done${tally.moved > 0 ? `, ${dollars(tally.moved)} in all` : ''}.`);
  return undefined;
}

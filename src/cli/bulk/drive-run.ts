/** A run of the journal driven to its end under the eyes of a person: outcomes out, progress, signals, exit code. */
import { type DriveRow, drive, isSignal } from '../../bulk/scheduler.ts';
import type { CliError } from '../../core/errors.ts';
import { dollars } from '../../core/money.ts';
import type { PlannedRow, RowOutcome, Run } from '../../journal/types.ts';
import type { Column, Row } from '../../terminal/view.ts';
import { type RunRecord, recordedRow } from '../../writes/audit-record.ts';
import type { Underway } from '../../writes/pipeline.ts';
import type { Context, Shown } from '../context.ts';
import { RESULT_COLUMNS, resultRow } from './result-row.ts';
import { createRunCounts, type RunCounts } from './run-counts.ts';

export interface Driving {
  /** Begins or takes up the run; called when the result is about to be printed. Its errors end the command. */
  readonly begin: () => Promise<Underway<Run>>;
  readonly concurrency: number;
  readonly keepGoing: boolean;
  /** Rows of the input that are no rows of the run. */
  readonly skipped: readonly RowOutcome[];
  /** Called when all rows were handed over, those of `skipped` too; resolves to what speaks against one of these. */
  readonly showBefore?: (() => Promise<CliError | undefined>) | undefined;
  /** Cards of the selection that are no rows at all. */
  readonly leftOut?: number | undefined;
  /** Asked before the first row of a phase; what it resolves to stops the run. */
  readonly beforePhase?: ((phase: number) => Promise<CliError | undefined>) | undefined;
  /** What is told of each row besides, and of the run. */
  readonly telling?: Telling | undefined;
  /** It is `ops resume`: for rows that it leaves unknown another command leads on. */
  readonly resumed?: boolean;
}

/** More columns of the rows of a run, and members of its page. */
export interface Telling {
  readonly columns: readonly Column[];
  row(outcome: RowOutcome): Row;
  page(): Row;
}

/** What the page says of a selection's cards that are no rows; nothing where there is none. */
export function leftOutCount(count = 0): { readonly left_out?: number } {
  return count === 0 ? {} : { left_out: count };
}

/** What is shown of the run. The rows come while it is under way; the run is let go when they end. */
export function driveRun(ctx: Context, driving: Driving): Shown {
  let failure: CliError | undefined;
  let page: Row = {};
  let summary: string | undefined;
  async function* batches() {
    const underway = await driving.begin();
    const { run } = underway;
    const rows = rowsOf(run, driving.skipped);
    const tally = createRunCounts({ total: rows.length, single: !run.plan.bulk, resumed: driving.resumed ?? false });
    const working: Working = { ...driving, run, recorded: underway.rows, rows, tally };
    let [stopped, objected]: (CliError | undefined)[] = [];
    ctx.ui.progress.begin();
    try {
      // An output that cannot be written must be found out before anything is sent.
      yield [];
      stopped = yield* outcomesOf(ctx, working);
      objected = await driving.showBefore?.();
    } finally {
      failure = (await ended(underway, () => concluded(ctx, working, stopped))) ?? objected;
      if (failure === undefined) summary = summaryOf(tally);
      const more = driving.telling?.page();
      page = { total: rows.length, op: run.op, ...tally.counts(), ...leftOutCount(driving.leftOut), ...more };
    }
  }
  return {
    listing: { batches: batches(), page: () => page, runsOn: true },
    noun: 'row',
    idField: 'card_id',
    columns: [...RESULT_COLUMNS, ...(driving.telling?.columns ?? [])],
    failure: () => failure,
    // Below the table, which ends with the last row.
    goesOn: async () => {
      if (summary !== undefined) ctx.ui.notice(summary);
    },
  };
}

/** The last stage of the pipeline, whatever became of the run. */
async function ended(
  underway: Underway<Run>,
  conclude: () => Promise<CliError | undefined>,
): Promise<CliError | undefined> {
  const learned = { op: underway.run.op };
  const failure = await conclude().catch(async (thrown: unknown) => {
    await underway.end({ failure: thrown, learned });
    throw thrown;
  });
  await underway.end({ failure, learned });
  return failure;
}

interface Working extends Driving {
  readonly run: Run;
  readonly recorded: RunRecord | undefined;
  readonly rows: readonly DriveRow[];
  readonly tally: RunCounts;
}

function phaseOf({ phase, needs, operation }: PlannedRow): Pick<DriveRow, 'phase' | 'needs' | 'spends'> {
  return { phase, needs, spends: operation === 'cards.create' || operation === 'cards.fund' };
}

/** Money operations on one card wait for each other: evidence of two at once would be worth nothing. */
export function rowsOf(run: Run, skipped: readonly RowOutcome[]): readonly DriveRow[] {
  const planned: DriveRow[] = [];
  const { phased = false } = run.plan;
  for (const standing of run.rows) {
    const { row, state, cardId: lane } = standing;
    const earlier = state === 'open' || state === 'unknown' ? undefined : standing.outcome;
    // One form for all: there may be a hundred thousand.
    planned.push({ row, lane, earlier, doubted: state === 'unknown', ...(phased && phaseOf(standing.planned)) });
  }
  if (skipped.length === 0) return planned;
  return [...planned, ...skipped.map(earlier => ({ row: earlier.row, earlier }))].sort(
    (one, other) => one.row - other.row,
  );
}

/** Returns why rows were left out. */
async function* outcomesOf(
  ctx: Context,
  { run, rows, tally, concurrency, keepGoing, recorded, beforePhase, telling, skipped }: Working,
): AsyncGenerator<readonly Row[], CliError | undefined> {
  const noRowsOfRun = new Set(skipped);
  for (const { earlier } of rows) {
    if (earlier === undefined) continue;
    if (noRowsOfRun.has(earlier)) tally.addSkipped(earlier);
    else tally.add(earlier);
  }
  const driven = drive({
    run,
    rows,
    concurrency,
    keepGoing,
    stop: ctx.signal,
    beforePhase,
    onOutcome(outcome) {
      tally.add(outcome);
      recorded?.row(recordedRow(outcome));
      ctx.ui.progress.update(tally.standing);
    },
  });
  const onSignal = () => {
    const many = driven.inFlight();
    const [are, their, them] = many === 1 ? ['1 request is', 'its', 'it'] : [`${many} requests are`, 'their', 'them'];
    if (many > 0) ctx.ui.notice(`Stopping: ${are} on ${their} way. Ctrl-C again leaves ${them} to ops resume.`);
  };
  ctx.signal.addEventListener('abort', onSignal, { once: true });
  try {
    for await (const batch of driven.outcomes) {
      for (const { begun } of batch) if (!begun) tally.leaveOut();
      yield batch.map(outcome => ({ ...resultRow(outcome), ...telling?.row(outcome) }));
    }
    return driven.stoppedBy();
  } finally {
    ctx.signal.removeEventListener('abort', onSignal);
    ctx.ui.progress.clear();
  }
}

/** Verifies the run, and says what it came to. */
async function concluded(ctx: Context, working: Working, stopped: CliError | undefined): Promise<CliError | undefined> {
  const { run, tally } = working;
  const reason: unknown = ctx.signal.aborted ? ctx.signal.reason : undefined;
  const signal = isSignal(reason) ? reason : undefined;
  // After a signal nothing is asked of the service any more; a resume makes the audit.
  const cutShort = signal !== undefined && tally.counts().not_sent + tally.counts().unknown > 0;
  const finished = cutShort ? { objections: [], remarks: [], doubted: [], ended: false } : await run.finish();
  const { objections, doubted, ended } = finished;
  for (const outcome of doubted) tally.doubt(outcome);
  for (const remark of finished.remarks) ctx.ui.notice(`note: ${remark}`);
  const verdict = tally.verdict({ op: run.op, objections, ended, stopped, signal });
  if (verdict !== undefined) return verdict;
  return undefined;
}

function summaryOf(tally: RunCounts): string {
  const { total } = tally.standing;
  return `${total} of ${total} done${sumText(tally)}.`;
}

/** What earlier operations moved for rows of the input is no part of the sum. */
function sumText({ moved, doneBefore }: RunCounts): string {
  if (doneBefore === 0) return moved > 0 ? `, ${dollars(moved)} in all` : '';
  return `, ${doneBefore} of them before this run${moved > 0 ? `, which moved ${dollars(moved)}` : ''}`;
}

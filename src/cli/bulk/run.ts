/**
 * Many rows, from a file, a selection or ids: checked, sums held against wallet and limits, confirmed; then driven to their end
 * with progress, signals and one exit code; and taken up again by `ops resume` (docs/design/cli.md, "Many rows").
 */

import { drive, isSignal } from '../../bulk/scheduler.ts';
import { CALLS, type WriteName } from '../../contract/calls.ts';
import { CliError, notSent, usage } from '../../core/errors.ts';
import { type Cents, cents, dollars, toCents, toUsd } from '../../core/money.ts';
import { capital } from '../../core/row-words.ts';
import type { Run } from '../../journal/run.ts';
import type { PlannedRow, ResumeOptions, RowOutcome, RunPlan } from '../../journal/types.ts';
import type { Column, Row } from '../../terminal/view.ts';
import { recordedRow } from '../../writes/audit-record.ts';
import { tellPending } from '../../writes/guard.ts';
import type { Change, Underway } from '../../writes/pipeline.ts';
import { fillingWallet } from '../../writes/single-write.ts';
import type { Context, Shown } from '../context.ts';
import { showPlanned } from '../dry-run.ts';
import { countOf, rowsListing } from '../listing.ts';
import { type BulkDeclaration, type BulkInput, type BulkOperation, USUAL_WORKERS } from './flags.ts';
import { DONE_IDS, RESULT_COLUMNS, RunTally, resultRow, rowsOf, runOverview } from './results.ts';
import { changeOf, type ReadRows, readAs, readRows, totalOf, withoutDone } from './rows.ts';
import { selectRows } from './selection.ts';

const RESULTS = { noun: 'row', ...DONE_IDS, columns: RESULT_COLUMNS } as const;

interface BulkCommand extends BulkDeclaration {
  readonly operation: BulkOperation;
}

/** Throws before anything is sent: `usage` for wrong rows, `insufficient_funds`, `guarded`, `not_confirmed`. */
export async function runBulk(ctx: Context, bulk: BulkCommand, input: BulkInput): Promise<Shown> {
  const { operation } = bulk;
  const { file, keepGoing = false, noMarker = false, concurrency, maxTotal, again } = input;
  const read = await rowsIn(ctx, bulk, input);
  if (read.rows.length === 0 && read.skipped.length === 0) {
    if (file !== undefined) throw usage(`${read.name} holds no rows. Nothing was sent`);
    return noRows(ctx, `${read.found[0]} There is nothing to do.`, leftOutCount(read.leftOut));
  }
  const command = operation.replace('.', ' ');
  const intent = intentOf(operation, read.rows.length, totalOf(read.rows));
  return runRows(ctx, { command, intent, read, keepGoing, noMarker, concurrency, maxTotal, again });
}

function rowsIn(ctx: Context, { operation, bestBin }: BulkCommand, input: BulkInput): Promise<ReadRows> | ReadRows {
  const { file, ids, keepGoing = false, noMarker = false } = input;
  if (file !== undefined) return readRows(ctx, { operation, file, keepGoing, marker: !noMarker, bestBin });
  return ids === undefined ? selectRows(ctx, operation, input) : rowsOfIds(operation, ids, input);
}

function operationsOf(rows: Iterable<PlannedRow>): readonly WriteName[] {
  return [...new Set([...rows].map(({ operation }) => operation))];
}

/** Rows that are read and checked, as a run of the journal. */
interface RowsToRun {
  /** Words of the command, for `ops list`. */
  readonly command: string;
  /** For the question: `Freeze 3 cards`. */
  readonly intent: string;
  readonly read: ReadRows;
  readonly keepGoing: boolean;
  readonly noMarker: boolean;
  readonly concurrency?: number | undefined;
  readonly maxTotal?: Cents | undefined;
  readonly again?: boolean | undefined;
  /** Rows of a phase begin when those of the phase before have ended. */
  readonly phased?: boolean;
  /** What speaks against the rows as a whole. */
  readonly refusal?: CliError | undefined;
}

/** Guards, asks and runs them. Throws before anything is sent: `insufficient_funds`, `guarded`, `not_confirmed`. */
export async function runRows(ctx: Context, given: RowsToRun): Promise<Shown> {
  const journal = await ctx.journal.open();
  const uses = await journal.earlierUses(planFor(given));
  const wanted = { ...given, read: withoutDone(given.read, uses) };
  const { read, intent, keepGoing, concurrency, maxTotal } = wanted;
  const { rows, skipped, leftOut } = read;
  const total = totalOf(rows);
  const showBefore = () => journal.shown(uses.values());
  if (rows.length === 0) return nothingToSend(ctx, read, showBefore);
  return sendRows(ctx, planFor(wanted), {
    ...{ intent, total, maxTotal, name: read.name, keepGoing, concurrency, skipped, leftOut, showBefore },
    async check(foresee) {
      // A dry run says what it would do before it says what stops it.
      if (given.refusal !== undefined && ctx.dryRun) for (const line of read.found) ctx.ui.notice(line);
      if (given.refusal !== undefined) throw given.refusal;
      // Before the wallet is looked at: for the rest of an unfinished run it may well be too low.
      await foresee();
      return noticeSum(ctx, wanted);
    },
  });
}

interface Sending extends Omit<Driving, 'begin' | 'resumed'> {
  /** For the question: `Freeze 3 cards`. */
  readonly intent: string;
  /** Of their amounts, for the audit log and for --max-total. */
  readonly total: Cents;
  /** How the rows are called in messages. */
  readonly name: string;
  readonly maxTotal: Cents | undefined;
  /** Throws what speaks against them before anybody is asked. Resolves to the wallet that the end of the run is compared with. */
  readonly check: (foresee: () => Promise<unknown>) => Promise<Cents | undefined>;
}

/** Guards, asks and drives rows that have a plan; in a dry run their requests. Throws before anything is sent. */
export async function sendRows(ctx: Context, plan: RunPlan, sending: Sending): Promise<Shown> {
  const { intent, total, name, maxTotal, check, ...driving } = sending;
  const { length } = plan.rows;
  const operations = operationsOf(plan.rows);
  const prepared = await (await ctx.journal.open()).prepare(plan);
  let wallet: Cents | undefined;
  const change: Change = {
    audited: {
      event: 'run',
      operation: operations[0] ?? plan.command,
      rows: length,
      ...(total > 0 && { amount: toUsd(total) }),
    },
    operations,
    async check() {
      if (maxTotal !== undefined && total > maxTotal)
        throw notSent('guarded', `${name} adds up to ${dollars(total)}, more than --max-total ${dollars(maxTotal)}`, {
          reason: 'max_total',
          notes: ['Check the amounts, or give a higher --max-total.'],
        });
      wallet = await check(() => prepared.foresee());
    },
    // One question for all rows; their count is typed where they cannot be undone, or the key is live.
    async ask() {
      if (ctx.ui.yes) return;
      const irreversible = operations.some(operation => CALLS[operation].effect === 'irreversible');
      const isTyped = irreversible || (await ctx.api.identity()).mode === 'live';
      const typed = isTyped ? ({ what: 'their count', expect: String(length) } as const) : undefined;
      await ctx.ui.ask({ intent, irreversible, typed });
    },
  };
  if (ctx.dryRun) {
    await ctx.journal.pipeline.foresee(change);
    await tellPending(ctx.ui.notice, prepared);
    return showPlanned(prepared.requests, { isList: true });
  }
  const admitted = await ctx.journal.pipeline.admit(change);
  return driveRun(ctx, {
    ...driving,
    begin: () =>
      admitted.begin({
        op: prepared.op,
        async open() {
          const run = await prepared.begin(wallet);
          // What was held before goes on under the name that it has.
          ctx.ui.notice(`${run.op}. If anything stops this run: cardwright ops resume ${run.op}`);
          return run;
        },
      }),
  });
}

function planFor({ command, read, noMarker, again, phased = false }: RowsToRun): RunPlan {
  return {
    command,
    rows: read.rows,
    digest: read.digest,
    bulk: true,
    marker: !noMarker,
    again: again === true || read.aimed,
    ...(phased && { phased }),
  };
}

/**
 * Count, sum and wallet. Resolves to the wallet, where money moves. Throws `insufficient_funds`: what takes money from the wallet
 * must find it there, or go on with what it covers.
 */
async function noticeSum(ctx: Context, { read, keepGoing }: RowsToRun): Promise<Cents | undefined> {
  const { rows } = read;
  const total = totalOf(rows);
  const [counted = '', ...lines] = read.found;
  const [operation] = operationsOf(rows);
  const isBack = rows.some(row => row.operation === 'cards.withdraw');
  const wallet = total === 0 ? undefined : toCents((await ctx.api.read('wallet.get', {})).balance);
  if (wallet !== undefined && !isBack && total > wallet && !keepGoing)
    throw new CliError('insufficient_funds', {
      message: `the wallet is too low: ${dollars(total)} asked, ${dollars(wallet)} there, ${dollars(cents(total - wallet))} short. Nothing was sent`,
      ...fillingWallet(await ctx.api.identity(), cents(total - wallet)),
      outcome: 'not_sent',
      ...(operation && { operation }),
    });
  const sum = isBack
    ? `${dollars(total)} back to the wallet.`
    : wallet && `${dollars(total)} of the wallet's ${dollars(wallet)}.`;
  for (const line of [sum === undefined ? counted : `${counted} ${sum}`, ...lines]) ctx.ui.notice(line);
  return wallet;
}

/** `Create 3 cards for $31.50`; of a card that is there each change counts: `Fund 3 times, $75.00 in all`. */
function intentOf(operation: BulkOperation, count: number, total: Cents): string {
  const [, verb = ''] = operation.split('.');
  if (operation === 'cards.create') return `Create ${countOf(count, 'card')} for ${dollars(total)}`;
  const isMove = operation === 'cards.fund' || operation === 'cards.withdraw';
  return `${capital(verb)} ${countOf(count, isMove ? 'time' : 'card')}${isMove ? `, ${dollars(total)} in all` : ''}`;
}

/** Every row was left out, or was done before: there is no run. */
function nothingToSend(
  ctx: Context,
  { skipped, found, leftOut }: ReadRows,
  showBefore: () => Promise<CliError | undefined>,
): Shown {
  const tally = new RunTally({ total: skipped.length, single: false });
  for (const outcome of skipped) tally.addSkipped(outcome);
  if (tally.doneBefore > 0) for (const line of found) ctx.ui.notice(line);
  const objected = skipped.find(({ outcome, error }) => outcome === 'done' && error !== undefined)?.error;
  let failure = tally.doneBefore === skipped.length ? objected : tally.verdict({});
  async function* batches() {
    yield skipped.map(resultRow);
    if (!ctx.dryRun) failure ??= await showBefore();
  }
  return {
    listing: {
      batches: batches(),
      page: () => ({ total: skipped.length, ...tally.counts(), ...leftOutCount(leftOut) }),
    },
    ...RESULTS,
    failure: () => failure,
  };
}

/** An input that holds nothing to do is an answer. `page` is what it says besides. */
export function noRows(ctx: Context, why: string, page: Row = {}): Shown {
  ctx.ui.notice(why);
  return { ...RESULTS, listing: rowsListing([], { page: { total: 0, ...page } }), changedNothing: true };
}

/** A change of each card. Throws `usage` for a name or a key, which one change has. */
function rowsOfIds(operation: BulkOperation, ids: readonly string[], input: BulkInput): ReadRows {
  const { amount, intent, purpose, idempotencyKey } = input;
  const named = { '--intent': intent, '--purpose': purpose, '--idempotency-key': idempotencyKey };
  const name = Object.entries(named).find(([, value]) => value !== undefined)?.[0];
  if (name !== undefined)
    throw notSent('usage', `${name} is of one change, and standard input may hold several cards`, {
      notes: ['In a file each row has an intent of its own: columns card_id,amount,intent.'],
      hint: `cardwright ${operation.replace('.', ' ')} --help`,
    });
  const moved = amount === undefined ? {} : { amount };
  const rows = ids.map((card_id, at) => changeOf(at + 1, operation, { card_id, ...moved }));
  const read = readAs('standard input', operation, rows);
  return ids.length === 0 ? { ...read, found: ['Standard input holds no ids.'] } : read;
}

interface Driving {
  /** Begins or takes up the run; called when the result is about to be printed. Its errors end the command. */
  readonly begin: () => Promise<Underway<Run>>;
  readonly concurrency?: number | undefined;
  readonly keepGoing?: boolean;
  /** Rows of the input that are no rows of the run. */
  readonly skipped?: readonly RowOutcome[];
  /** Called when all rows were handed over, those of `skipped` too; resolves to what speaks against one of these. */
  readonly showBefore?: (() => Promise<CliError | undefined>) | undefined;
  /** Cards of the selection that are no rows at all. */
  readonly leftOut?: number | undefined;
  /** Asked before the first row of a phase; what it resolves to stops the run. */
  readonly beforePhase?: ((phase: number) => Promise<CliError | undefined>) | undefined;
  /** What is shown of each row besides, and of the run. */
  readonly extras?: Extras | undefined;
  /** It is `ops resume`: for rows that it leaves unknown another command leads on. */
  readonly resumed?: boolean;
}

/** More columns of the rows of a run, and members of its page. */
interface Extras {
  readonly columns: readonly Column[];
  row(outcome: RowOutcome): Row;
  page(): Row;
  /** Called when every row was shown. */
  atEnd?(): Promise<void>;
  /** What is told beside the failure of the run. */
  beside?(failure: CliError): CliError;
}

/** What the page says of a selection's cards that are no rows; nothing where there is none. */
function leftOutCount(count = 0): { readonly left_out?: number } {
  return count === 0 ? {} : { left_out: count };
}

/** What is shown of the run. The rows come while it is under way; the run is let go when they end. */
function driveRun(ctx: Context, driving: Driving): Shown {
  const { concurrency = USUAL_WORKERS, keepGoing = false, skipped = [], beforePhase, extras } = driving;
  let failure: CliError | undefined;
  let page: Row = {};
  let summary: string | undefined;
  const shownRow = (outcome: RowOutcome): Row => ({ ...resultRow(outcome), ...extras?.row(outcome) });
  async function* batches() {
    const underway = await driving.begin();
    const { run, rows: recorded } = underway;
    const rows = rowsOf(run, skipped);
    const tally = new RunTally({ total: rows.length, single: !run.bulk, resumed: driving.resumed ?? false });
    const noRowsOfRun = new Set(skipped);
    for (const { earlier } of rows) {
      if (earlier !== undefined && noRowsOfRun.has(earlier)) tally.addSkipped(earlier);
      else if (earlier !== undefined) tally.add(earlier);
    }
    const driven = drive({
      ...{ run, rows, concurrency, keepGoing, beforePhase },
      stop: ctx.signal,
      onOutcome(outcome) {
        tally.add(outcome);
        recorded.row(recordedRow(outcome));
        ctx.ui.progress.update(tally.totals);
      },
    });
    const onSignal = () => {
      const requests = countOf(driven.inFlight(), 'request');
      if (driven.inFlight() > 0)
        ctx.ui.notice(`Stopping; ${requests} under way. Ctrl-C again leaves that to ops resume.`);
    };
    const creates = new Set<number>();
    for (const { n, operation } of run.changes) if (operation === 'cards.create') creates.add(n);
    /** Rows from the first on that the end of the run may correct: one that makes a card, or one that was refused. */
    const held = new Map<number, RowOutcome>();
    let objected: CliError | undefined;

    /** Verifies the run, and says what it came to. */
    async function concluded(): Promise<CliError | undefined> {
      const reason: unknown = ctx.signal.aborted ? ctx.signal.reason : undefined;
      const signal = isSignal(reason) ? reason : undefined;
      const { objections, remarks, ended, corrected } = await run.finish();
      for (const outcome of corrected) {
        tally.correct(outcome);
        recorded.row(recordedRow(outcome));
        if (held.has(outcome.row)) held.set(outcome.row, outcome);
      }
      for (const remark of remarks) ctx.ui.notice(`note: ${remark}`);
      const stopped = driven.stoppedBy();
      return tally.verdict({ op: run.op, objections, ended, stopped, signal });
    }

    ctx.ui.progress.begin();
    ctx.signal.addEventListener('abort', onSignal, { once: true });
    try {
      // An output that cannot be written must be found out before anything is sent.
      yield [];
      for await (const batch of driven.outcomes) {
        const isCompared = ({ row, outcome }: RowOutcome) => outcome === 'refused' || creates.has(row);
        const from = held.size > 0 ? 0 : batch.findIndex(isCompared);
        const shown = from < 0 ? batch : batch.slice(0, from);
        for (const outcome of batch.slice(shown.length)) held.set(outcome.row, outcome);
        yield shown.map(shownRow);
      }
      objected = await driving.showBefore?.();
    } finally {
      ctx.signal.removeEventListener('abort', onSignal);
      ctx.ui.progress.clear();
      // The last stage of the pipeline, whatever became of the run.
      const learned = { op: run.op };
      const found = await concluded().catch(async (thrown: unknown) => {
        await underway.end({ failure: thrown, learned });
        throw thrown;
      });
      await underway.end({ failure: found, learned });
      failure = found ?? objected;
      if (failure === undefined) summary = `${rows.length} of ${rows.length} done${movedText(tally)}.`;
      // The page counts the rows as they are shown.
      page = { total: rows.length, op: run.op, ...tally.counts(), ...leftOutCount(driving.leftOut) };
    }
    if (held.size > 0) yield [...held.values()].map(shownRow);
    await extras?.atEnd?.();
  }
  return {
    // The last rows are shown behind the end of the run.
    listing: { batches: batches(), page: () => ({ ...page, ...extras?.page() }), runsOn: true },
    ...RESULTS,
    columns: [...RESULT_COLUMNS, ...(extras?.columns ?? [])],
    failure: () => failure && (extras?.beside?.(failure) ?? failure),
    // Below the table, which ends with the last row.
    goesOn: async () => {
      if (summary !== undefined) ctx.ui.notice(summary);
    },
  };
}

/** What earlier operations moved for rows of the input is no part of the sum. */
function movedText({ moved, doneBefore }: RunTally): string {
  if (doneBefore === 0) return moved > 0 ? `, ${dollars(moved)} in all` : '';
  return `, ${doneBefore} of them before this run${moved > 0 ? `, which moved ${dollars(moved)}` : ''}`;
}

/** Goes on with an op; in a dry run it is only looked at. What is still open counts against the limits of the profile like a new run. */
export async function resumeRows(
  ctx: Context,
  op: string,
  options: ResumeOptions,
  driving: Omit<Driving, 'begin' | 'resumed'> = {},
): Promise<Shown> {
  const seen = await (await ctx.journal.open()).look(op, options);
  if (ctx.dryRun) return runOverview(ctx, seen);
  const { command, changes } = seen;
  const operations = new Set(changes.map(({ operation }) => operation));
  const [operation = command] = operations;
  const total = totalOf(changes);
  const admitted = await ctx.journal.pipeline.admit({
    audited: { event: 'run', operation, rows: changes.length, op, ...(total > 0 && { amount: toUsd(total) }) },
    operations,
    ask: async verdict => {
      if (verdict === 'ask') await ctx.ui.ask({ intent: `Resume ${op}` });
    },
  });
  const begin = () => admitted.begin({ op, open: async () => (await ctx.journal.open()).resume(op, options) });
  return driveRun(ctx, { ...driving, begin, resumed: true });
}

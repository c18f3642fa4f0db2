/**
 * Many rows, from a file or a selection: checked, sums held against wallet and limits, confirmed, run
 * (docs/design/cli.md, "Bulk").
 */

import { OPERATIONS } from '../../contract/operations.ts';
import { CliError } from '../../core/errors.ts';
import type { Identity } from '../../core/identity.ts';
import { type Cents, cents, dollars, spendingOf, toCents, toUsd } from '../../core/money.ts';
import { sameCommandWith } from '../../core/shell-quote.ts';
import type { RunPlan } from '../../journal/types.ts';
import { tellPending } from '../../writes/pending-notice.ts';
import type { Change } from '../../writes/pipeline.ts';
import { fillingWallet } from '../../writes/refused-write.ts';
import type { Context, Shown } from '../context.ts';
import { showPlanned } from '../dry-run.ts';
import { withoutDone } from './done-before.ts';
import { driveRun, leftOutCount } from './drive-run.ts';
import { type BulkDeclaration, type BulkInput, type BulkOperation, USUAL_WORKERS } from './flags.ts';
import { type ReadRows, readRows } from './read-rows.ts';
import { RESULT_COLUMNS, resultRow } from './result-row.ts';
import { selectRows } from './select-rows.ts';

export interface BulkCommand extends BulkDeclaration {
  readonly operation: BulkOperation;
}

/** Throws before anything is sent: `usage` for wrong rows, `insufficient_funds`, `guarded`, `not_confirmed`. */
export async function runBulk(ctx: Context, bulk: BulkCommand, input: BulkInput): Promise<Shown> {
  const { operation, bestBin } = bulk;
  const { file, keepGoing = false, noMarker = false, concurrency, maxTotal, again } = input;
  const read =
    file === undefined
      ? await selectRows(ctx, operation, input)
      : await readRows(ctx, { operation, file, keepGoing, marker: !noMarker, bestBin });
  if (read.rows.length === 0 && read.skipped.length === 0) return nothingToDo(ctx, read, file !== undefined);
  return runRows(ctx, {
    operations: [operation],
    command: operation.replace('.', ' '),
    intent: intentOf(operation, read.rows.length, read.total),
    read,
    keepGoing,
    noMarker,
    concurrency,
    maxTotal,
    again,
  });
}

/** Rows that are read and checked, as a run of the journal. */
export interface RowsToRun {
  /** What the rows do; where money moves, the same way in all of them. */
  readonly operations: readonly [BulkOperation, ...BulkOperation[]];
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
  /** Throws what speaks against the rows as a whole, before anything is asked. */
  readonly refuse?: () => void;
}

/** Guards, asks and runs them. Throws before anything is sent: `insufficient_funds`, `guarded`, `not_confirmed`. */
export async function runRows(ctx: Context, given: RowsToRun): Promise<Shown> {
  try {
    return await guardedRows(ctx, given);
  } catch (thrown) {
    const isAway = thrown instanceof CliError && thrown.facts.reason === 'journal_unreachable';
    if (!isAway || given.operations.some(operation => operation !== 'cards.freeze')) throw thrown;
    // Freezing twice is freezing once: it needs no journal of several people.
    throw thrown.with({ hint: sameCommandWith('--journal local') });
  }
}

async function guardedRows(ctx: Context, given: RowsToRun): Promise<Shown> {
  const journal = await ctx.journal.open();
  const uses = await journal.earlierUses(planFor(given));
  const wanted = { ...given, read: withoutDone(given.read, uses) };
  const { operations, read, keepGoing, concurrency = USUAL_WORKERS, maxTotal } = wanted;
  const { total } = read;
  const showBefore = () => journal.shown(uses.values());
  if (read.rows.length === 0) return nothingToSend(ctx, read, showBefore);
  const plan = planFor(wanted);
  const prepared = await journal.prepare(plan);
  let wallet: Cents | undefined;
  const check = async () => {
    if (maxTotal !== undefined && total > maxTotal) throw overMaxTotal(read.name, total, maxTotal);
    refuseToldOf(ctx, wanted);
    // Before the wallet is looked at: for the rest of an unfinished run it may well be too low.
    await journal.refuse(plan);
    wallet = await tellSum(ctx, wanted);
  };
  const change: Change = {
    audited: {
      event: 'run',
      operation: operations[0],
      rows: read.rows.length,
      ...(total > 0 && { amount: toUsd(total) }),
    },
    operations,
    check,
    ask: () => askForAll(ctx, wanted),
  };
  const spending = spendingOf(read.rows);
  if (ctx.dryRun) {
    await ctx.journal.pipeline.foresee(change, spending);
    await tellPending(ctx.ui.notice, prepared);
    return showPlanned(prepared.requests, { isList: true });
  }
  const admitted = await ctx.journal.pipeline.admit(change);
  const { op } = prepared;
  return driveRun(ctx, {
    concurrency,
    keepGoing,
    skipped: read.skipped,
    showBefore,
    leftOut: read.leftOut,
    begin: () =>
      admitted.begin({
        lines: 'run',
        op,
        spending,
        async open() {
          const run = await prepared.begin({ wallet });
          ctx.ui.notice(`${op}. If anything stops this run: cardwright ops resume ${op}`);
          return run;
        },
      }),
  });
}

function planFor({ command, read, noMarker, maxTotal, again, phased = false }: RowsToRun): RunPlan {
  return {
    command,
    rows: read.rows,
    digest: read.digest,
    bulk: true,
    marker: !noMarker,
    again: again === true || read.aimed,
    ...(phased && { phased }),
    ...(maxTotal !== undefined && { maxTotal }),
  };
}

/** A dry run tells what it would do before it tells what stops it. */
function refuseToldOf(ctx: Context, { refuse, read }: RowsToRun): void {
  try {
    refuse?.();
  } catch (thrown) {
    if (ctx.dryRun) for (const line of read.found) ctx.ui.notice(line);
    throw thrown;
  }
}

/** Count, sum and wallet. Resolves to the wallet, where money moves. Throws `insufficient_funds`. */
async function tellSum(ctx: Context, { operations, read }: RowsToRun): Promise<Cents | undefined> {
  const { total } = read;
  const [counted = '', ...lines] = read.found;
  const wallet = total === 0 ? undefined : toCents((await ctx.api.read('wallet.get', {})).balance);
  ctx.ui.notice(`${counted}${sumText(operations, total, { wallet, identity: await ctx.api.identity() })}`);
  for (const line of lines) ctx.ui.notice(line);
  return wallet;
}

/** One question for all rows; their count is typed where they cannot be undone, or the key is live. */
async function askForAll(ctx: Context, { operations, intent, read }: RowsToRun): Promise<void> {
  if (ctx.ui.yes) return;
  const { mode } = await ctx.api.identity();
  const count = read.rows.length;
  const irreversible = operations.some(operation => OPERATIONS[operation].effect === 'irreversible');
  const typed = { what: 'their count', expect: String(count) } as const;
  await ctx.ui.ask({
    intent,
    irreversible,
    command: sameCommandWith('--yes'),
    ...((irreversible || mode === 'live') && { typed }),
  });
}

/** What takes money from the wallet must find it there; the rest names the sum alone. */
function sumText(
  operations: RowsToRun['operations'],
  total: Cents,
  { wallet, identity }: { readonly wallet: Cents | undefined; readonly identity: Pick<Identity, 'mode'> },
): string {
  if (wallet === undefined) return '';
  if (operations.includes('cards.withdraw')) return ` ${dollars(total)} back to the wallet.`;
  if (total <= wallet) return ` ${dollars(total)} of the wallet's ${dollars(wallet)}.`;
  throw new CliError('insufficient_funds', {
    message: `the wallet is too low: ${dollars(total)} asked, ${dollars(wallet)} there, ${dollars(cents(total - wallet))} short. Nothing was sent`,
    ...fillingWallet(identity),
    outcome: 'not_sent',
    operation: operations[0],
  });
}

function intentOf(operation: BulkOperation, count: number, total: Cents): string {
  const cards = count === 1 ? '1 card' : `${count} cards`;
  const times = count === 1 ? '1 time' : `${count} times`;
  switch (operation) {
    case 'cards.create':
      return `Create ${cards} for ${dollars(total)}`;
    case 'cards.fund':
      return `Fund cards ${times} with ${dollars(total)} in all`;
    case 'cards.withdraw':
      return `Withdraw from cards ${times}, ${dollars(total)} in all`;
    default: {
      const verb = operation.split('.')[1] ?? operation;
      return `${verb[0]?.toUpperCase()}${verb.slice(1)} ${cards}`;
    }
  }
}

function overMaxTotal(name: string, total: Cents, most: Cents): CliError {
  return new CliError('guarded', {
    reason: 'max_total',
    message: `${name} adds up to ${dollars(total)}, more than --max-total ${dollars(most)}`,
    notes: ['Check the amounts, or give a higher --max-total.'],
    outcome: 'not_sent',
  });
}

/** Every row was left out, or was done before: there is no run. */
function nothingToSend(
  ctx: Context,
  { name, skipped, found, leftOut }: ReadRows,
  showBefore: () => Promise<CliError | undefined>,
): Shown {
  const many = skipped.length;
  const wrong = skipped.filter(({ outcome, error }) => outcome !== 'done' || error !== undefined);
  const done = skipped.filter(({ outcome }) => outcome === 'done').length;
  if (done > 0) for (const line of found) ctx.ui.notice(line);
  let failure = wrong.length > 0 ? notAllDone(name, many, { done, wrong }) : undefined;
  async function* batches() {
    yield skipped.map(resultRow);
    if (!ctx.dryRun) failure ??= await showBefore();
  }
  return {
    listing: {
      batches: batches(),
      page: () => ({
        total: many,
        done,
        refused: 0,
        unknown: 0,
        not_sent: many - done,
        ...leftOutCount(leftOut),
      }),
    },
    noun: 'row',
    idField: 'card_id',
    columns: RESULT_COLUMNS,
    failure: () => failure,
  };
}

function notAllDone(
  name: string,
  many: number,
  { done, wrong }: { readonly done: number; readonly wrong: ReadRows['skipped'] },
): CliError {
  const [lost] = wrong.flatMap(({ outcome, error }) => (outcome === 'done' && error !== undefined ? [error] : []));
  if (lost !== undefined && done === many) return lost;
  return new CliError('partly_failed', {
    message: `${name}: ${done} of ${many} done, ${many - done} not sent`,
    notes: wrong.slice(0, TOLD_ROWS).map(({ row, error }) => `row ${row}  not sent: ${error?.message ?? ''}`),
    outcome: done === 0 ? 'not_sent' : 'refused',
  });
}

/** Rows that are told one by one in words; all of them stand in the result. */
const TOLD_ROWS = 5;

/** A file without rows is a mistake; a selection that holds no card is an answer. */
function nothingToDo(ctx: Context, { name, found, leftOut }: ReadRows, isFile: boolean): Shown {
  if (isFile) throw new CliError('usage', { message: `${name} holds no rows. Nothing was sent`, outcome: 'not_sent' });
  ctx.ui.notice(`${found[0]} There is nothing to do.`);
  async function* batches() {
    yield [];
  }
  return {
    listing: { batches: batches(), page: () => ({ total: 0, ...leftOutCount(leftOut) }) },
    noun: 'row',
    idField: 'card_id',
    columns: RESULT_COLUMNS,
  };
}

/**
 * Many rows, from a file or a selection: checked, sums held against wallet and limits, confirmed, run
 * (docs/design/cli.md, "Bulk").
 */
import { OPERATIONS } from '../../contract/operations.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, dollars, toCents, toUsd } from '../../core/money.ts';
import { spendingOf } from '../../core/spending.ts';
import type { RunPlan } from '../../journal/types.ts';
import type { Change } from '../../writes/pipeline.ts';
import type { Context } from '../context.ts';
import { showPlanned } from '../dry-run.ts';
import type { Shown } from '../shown.ts';
import { driveRun } from './drive-run.ts';
import { type BulkDeclaration, type BulkInput, type BulkOperation, USUAL_WORKERS } from './flags.ts';
import { type ReadRows, readRows } from './read-rows.ts';
import { RESULT_COLUMNS } from './result-row.ts';
import { selectRows } from './select-rows.ts';

export interface BulkCommand extends BulkDeclaration {
  readonly operation: BulkOperation;
}

/** Throws before anything is sent: `usage` for wrong rows, `insufficient_funds`, `guarded`, `not_confirmed`. */
export async function runBulk(ctx: Context, bulk: BulkCommand, input: BulkInput): Promise<Shown> {
  const { operation, bestBin } = bulk;
  const { file, keepGoing = false, noMarker = false, concurrency = USUAL_WORKERS, maxTotal, again } = input;
  const read =
    file === undefined
      ? await selectRows(ctx, operation, input)
      : await readRows(ctx, { operation, file, keepGoing, marker: !noMarker, bestBin });
  if (read.rows.length === 0 && read.skipped.length === 0) return nothingToDo(ctx, read, file !== undefined);
  const { total } = read;
  const plan: RunPlan = {
    command: operation.replace('.', ' '),
    rows: read.rows,
    digest: read.digest,
    digestInOrder: read.digestInOrder,
    bulk: true,
    marker: !noMarker,
    again: again === true || read.aimed,
    ...(maxTotal !== undefined && { maxTotal }),
  };
  const journal = await ctx.journal();
  const prepared = await journal.prepare(plan);
  let wallet: Cents | undefined;
  const check = async () => {
    if (maxTotal !== undefined && total > maxTotal) throw overMaxTotal(read.name, total, maxTotal);
    // Before the wallet is looked at: for the rest of an unfinished run it may well be too low.
    await journal.refuseTwin(plan);
    wallet = await tellSum(ctx, { operation, read, total });
  };
  const change: Change = {
    audited: { event: 'run', operation, rows: read.rows.length, ...(total > 0 && { amount: toUsd(total) }) },
    operations: [operation],
    check,
    ask: () => askForAll(ctx, { operation, read, total }),
  };
  const spending = spendingOf(read.rows);
  if (ctx.dryRun) {
    await ctx.pipeline.foresee(change, spending);
    return showPlanned(prepared.requests);
  }
  const admitted = await ctx.pipeline.admit(change);
  const { op } = prepared;
  return driveRun(ctx, {
    concurrency,
    keepGoing,
    skipped: read.skipped,
    begin: () =>
      admitted.begin({
        lines: 'run',
        op,
        spending,
        async open() {
          const run = await prepared.begin({ wallet });
          ctx.notice(`${op}. If anything stops this run: cardwright ops resume ${op}`);
          return run;
        },
      }),
  });
}

interface Asking {
  readonly operation: BulkOperation;
  readonly read: ReadRows;
  readonly total: Cents;
}

/** Count, sum and wallet. Resolves to the wallet, where money moves. Throws `insufficient_funds`. */
async function tellSum(ctx: Context, { operation, read, total }: Asking): Promise<Cents | undefined> {
  const [counted = '', ...lines] = read.found;
  const wallet = total === 0 ? undefined : toCents((await ctx.read('wallet.get', {})).balance);
  ctx.notice(`${counted}${sumText(operation, total, wallet)}`);
  for (const line of lines) ctx.notice(line);
  return wallet;
}

/** One question for all rows; their count is typed where they cannot be undone, or the key is live. */
async function askForAll(ctx: Context, { operation, read, total }: Asking): Promise<void> {
  if (ctx.yes) return;
  const { mode } = await ctx.identity();
  const count = read.rows.length;
  const irreversible = OPERATIONS[operation].effect === 'irreversible';
  const typed = { what: 'their count', expect: String(count) } as const;
  await ctx.ask({
    intent: intentOf(operation, count, total),
    irreversible,
    command: 'the same command with --yes',
    ...((irreversible || mode === 'live') && { typed }),
  });
}

/** What takes money from the wallet must find it there; the rest names the sum alone. */
function sumText(operation: BulkOperation, total: Cents, wallet: Cents | undefined): string {
  if (wallet === undefined) return '';
  if (operation === 'cards.withdraw') return ` ${dollars(total)} back to the wallet.`;
  if (total <= wallet) return ` ${dollars(total)} of the wallet's ${dollars(wallet)}.`;
  throw new CliError('insufficient_funds', {
    message: `the wallet is too low: ${dollars(total)} asked, ${dollars(wallet)} there, ${dollars(cents(total - wallet))} short. Nothing was sent`,
    hint: 'cardwright wallet addresses',
    outcome: 'not_sent',
    operation,
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
    hint: 'check the amounts, or give a higher --max-total',
    outcome: 'not_sent',
  });
}

/** A file without rows is a mistake; a selection that holds no card is an answer. */
function nothingToDo(ctx: Context, { name, found }: ReadRows, isFile: boolean): Shown {
  if (isFile) throw new CliError('usage', { message: `${name} holds no rows. Nothing was sent`, outcome: 'not_sent' });
  ctx.notice(`${found[0]} There is nothing to do.`);
  async function* batches() {
    yield [];
  }
  return {
    listing: { batches: batches(), page: () => ({ total: 0 }) },
    noun: 'row',
    idField: 'card_id',
    columns: RESULT_COLUMNS,
  };
}

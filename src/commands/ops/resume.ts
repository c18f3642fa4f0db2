import { command } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { OURS, option } from '../../cli/flag.ts';
import { runVerdict } from '../../cli/run-verdict.ts';
import { flag } from '../../contract/field.ts';
import type { RowOutcome, Run } from '../../journal/types.ts';
import { op } from './arguments.ts';
import { outcomeRow, ROW_COLUMNS } from './columns.ts';

/** Takes an operation up where it stopped: settles unknown rows, sends open ones. */
export const resumeOp = command({
  path: 'ops resume',
  summary: 'Take an operation up where it stopped',
  about: [
    'Rows without a trustworthy answer are looked for first, and waited for until nothing can be on its way any more. They are sent again only under their own key, where the service is known to honour it. Rows that were never sent are sent. --dry-run only looks.',
    'With --resend-absent rows of which no trace was found are sent again all the same, under the same key: where the service ignores keys and is slow, that can make a second card.',
  ],
  args: { op },
  flags: {
    resendAbsent: option(flag({ doc: 'Send rows again of which no trace was found.', basis: OURS })),
  },
  examples: [
    { does: 'Only look', run: 'ops resume op_00000000000000000000000001 --dry-run' },
    { does: 'Settle it', run: 'ops resume op_00000000000000000000000001' },
  ],
  async run(ctx, { op, resendAbsent = false }) {
    const journal = await ctx.journal();
    if (!ctx.dryRun) await guard(ctx, op);
    await using run = await journal.resume(op, { resendAbsent, lookOnly: ctx.dryRun });
    const outcomes = await allRows(ctx, run);
    const finished = await run.finish();
    const failure = runVerdict({ op, outcomes, finished, rows: run.rows.length, stopped: stopReason(ctx) });
    return { outcomes, failure };
  },
  show({ outcomes, failure }) {
    async function* batches() {
      yield outcomes.map(outcomeRow);
    }
    return {
      listing: { batches: batches(), page: () => ({ total: outcomes.length }) },
      noun: 'row',
      idField: 'card_id',
      columns: ROW_COLUMNS,
      failure,
    };
  },
});

async function guard(ctx: Context, op: string): Promise<void> {
  const { rowsInDetail } = await (await ctx.journal()).show(op);
  await ctx.guardRun([...new Set(rowsInDetail.map(({ operation }) => operation))], `Resume ${op}`);
}

/** Settled rows are told as they are; a row that stops the run leaves the rest untouched. */
async function allRows(ctx: Context, run: Run): Promise<readonly RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  let stopped = false;
  for (const { row, state, outcome: told } of run.rows) {
    if (told !== undefined && state !== 'unknown') outcomes.push(told);
    else if (!stopped && !ctx.signal.aborted) {
      const outcome = await run.perform(row);
      outcomes.push(outcome);
      stopped = outcome.stops === true || outcome.error?.kind === 'insufficient_funds';
    }
  }
  return outcomes;
}

function stopReason(ctx: Context): unknown {
  return ctx.signal.aborted ? (ctx.signal.reason as unknown) : undefined;
}

import { RUN_ANSWER } from '../../cli/answer-fields.ts';
import { driveRun, type OpenedRun } from '../../cli/bulk/drive-run.ts';
import { USUAL_WORKERS } from '../../cli/bulk/flags.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option, typedOnly } from '../../cli/parsing/flag.ts';
import { flag } from '../../contract/field.ts';
import { spendingOf } from '../../core/spending.ts';
import type { PlannedRow, Run } from '../../journal/types.ts';
import { op } from './arguments.ts';

/** Takes an operation up where it stopped: settles unknown rows, sends open ones. */
export const resumeOp = command({
  path: 'ops resume',
  summary: 'Finish an operation that stopped',
  answers: RUN_ANSWER,
  effect: 'moves-money',
  reach: 'service',
  ends: {
    not_confirmed: 'Declined, or nobody could be asked. Nothing was sent.',
    not_found: 'This machine knows no such operation.',
    partly_failed: 'Settled, with rows that failed and none unknown.',
    insufficient_funds: 'The wallet is too low for what was sent again.',
    outcome_unknown: 'Something is still unknown; the same command asks again.',
    guarded: 'A guard said no. Nothing was sent.',
  },
  about: [
    'First looks for the effect of each row without a trustworthy answer, and waits until no request can still be on its way. Such a row is sent again only with its own idempotency key, and only if the service is known to honour it. Rows that were never sent are sent. --dry-run only looks.',
    '--resend-absent also sends rows again of which no trace was found, with the same key. If the service ignores keys and is slow, that can make a second card.',
  ],
  args: { op },
  flags: {
    resendAbsent: typedOnly(option(flag({ doc: 'Also send rows of which no trace was found.', basis: OURS }))),
  },
  examples: [
    { does: 'Only look', run: 'ops resume op_00000000000000000000000001 --dry-run' },
    { does: 'Settle it', run: 'ops resume op_00000000000000000000000001' },
  ],
  async run(ctx, { op, resendAbsent = false }) {
    const journal = await ctx.journal();
    if (!ctx.dryRun) await guard(ctx, op);
    return driveRun(ctx, {
      concurrency: USUAL_WORKERS,
      keepGoing: false,
      skipped: [],
      open: async () => held(ctx, await journal.resume(op, { resendAbsent, lookOnly: ctx.dryRun })),
    });
  },
  show: shown => shown,
});

async function guard(ctx: Context, op: string): Promise<void> {
  const { rowsInDetail } = await (await ctx.journal()).show(op);
  await ctx.guardRun([...new Set(rowsInDetail.map(({ operation }) => operation))], `Resume ${op}`);
}

/** What is still open counts against the limits of the profile like a new run. */
async function held(ctx: Context, run: Run): Promise<OpenedRun> {
  try {
    return { run, hold: await ctx.holdSpending(spendingOf(ctx.dryRun ? [] : openRows(run)), run.op) };
  } catch (thrown) {
    await run[Symbol.asyncDispose]();
    throw thrown;
  }
}

function* openRows({ rows }: Run): Iterable<PlannedRow> {
  for (const { state, planned } of rows) if (state === 'open') yield planned;
}

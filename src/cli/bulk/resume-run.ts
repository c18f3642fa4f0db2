/** An operation taken up again, by `ops resume` and by whoever finds that its plan was begun before. */
import type { WriteName } from '../../contract/calls.ts';
import { CliError } from '../../core/errors.ts';
import { spendingOf, toUsd } from '../../core/money.ts';
import type { OpView, PlannedRow, ResumeOptions, Run } from '../../journal/types.ts';
import type { Underway } from '../../writes/pipeline.ts';
import type { Context } from '../context.ts';

/** What is still open counts against the limits of the profile like a new run. */
export async function resuming(
  ctx: Context,
  seen: OpView,
  options: ResumeOptions,
): Promise<() => Promise<Underway<Run>>> {
  const { op, plan, rows, total } = seen.run;
  const operations = new Set<WriteName>();
  for (const { planned } of rows) operations.add(planned.operation);
  const [operation = plan.command] = operations;
  const spending = spendingOf(openRows(seen.run));
  const admitted = await ctx.journal.pipeline.admit({
    audited: { event: 'run', operation, rows: rows.length, op, ...(total > 0 && { amount: toUsd(total) }) },
    operations,
    ask: async verdict => {
      if (verdict === 'ask') await ctx.ui.ask({ intent: `Resume ${op}`, command: `cardwright ops resume ${op} --yes` });
    },
  });
  return () =>
    admitted.begin({
      lines: isWork(seen.run) ? 'run' : 'none',
      op,
      resumed: op,
      spending,
      async open() {
        const run = await seen.takeOver(options);
        if (spendingOf(openRows(run)).total <= spending.total) return run;
        await run[Symbol.asyncDispose]();
        throw changedMeanwhile(op);
      },
    });
}

function isWork({ rows }: Run): boolean {
  for (const { state } of rows) if (state === 'open' || state === 'unknown') return true;
  return false;
}

/** More is open now than was held for: another resume has found out that it was not sent. */
function changedMeanwhile(op: string): CliError {
  return new CliError('guarded', {
    message: `another process has worked on ${op} since it was looked at. This command sent nothing`,
    hint: `cardwright ops resume ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function* openRows({ rows }: Run): Iterable<PlannedRow> {
  for (const { state, planned } of rows) if (state === 'open') yield planned;
}

import { driveRun } from '../../cli/bulk/drive-run.ts';
import { USUAL_WORKERS } from '../../cli/bulk/flags.ts';
import { resuming } from '../../cli/bulk/resume-run.ts';
import { LOOKED_ANSWER, runOverview } from '../../cli/bulk/run-overview.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option, typedOnly } from '../../cli/parsing/flag.ts';
import type { Shown } from '../../cli/shown.ts';
import { flag, text } from '../../contract/field.ts';
import type { ResumeOptions } from '../../journal/types.ts';
import { op } from './arguments.ts';

/** Takes an operation up where it stopped: settles unknown rows, sends open ones. */
export const resumeOp = command({
  path: 'ops resume',
  summary: 'Finish an operation that stopped',
  answers: LOOKED_ANSWER,
  effect: 'moves-money',
  reach: 'service',
  ends: {
    not_confirmed: 'Declined, or nobody could be asked. Nothing was sent.',
    not_found: 'This machine knows no such operation.',
    partly_failed: 'Finished; some rows failed, none is unknown.',
    insufficient_funds: 'The wallet is too low for what was sent again.',
    outcome_unknown:
      'Some rows are still unknown. The last line says what leads on: another look later, or a person who decides.',
    guarded: 'A guard refused it. Nothing was sent.',
  },
  about: [
    'First looks for the effect of each row without a trustworthy answer: a create by its marker, a transfer by the balance of its card, a state by reading it, for 8 seconds. Such a row is sent again, twice at most, only with its own idempotency key, only when the look did not find it, and only if the service is known to honour that key, which is not old. Rows that were never sent are sent.',
    'An operation of somebody else is resumed when its lease is over; --reason says why, and stands in the journal. A held one is released when it has its approvals.',
    '--dry-run looks, and says of each row what a resume would do with it: send it, send it again, or leave it to a person. It ends with 0 when that is known of every row, and with 11 while a row stays unknown.',
    '--resend-absent also sends rows again of which no trace was found, with the same key, once nothing of the first sending can be on its way any more (150 s). If the service ignores keys and is slow, that can make a second card.',
  ],
  args: { op },
  flags: {
    resendAbsent: typedOnly(option(flag({ doc: 'Also send rows of which no trace was found.', basis: OURS }))),
    reason: option(
      text({ doc: 'Why an operation of somebody else is taken over.', basis: OURS, maxLength: 200 }),
      '<text>',
    ),
  },
  examples: [
    { does: 'What it would do', run: 'ops resume op_00000000000000000000000001 --dry-run' },
    {
      does: "A colleague's, whose machine is gone",
      run: 'ops resume op_00000000000000000000000001 --reason "ana is on holiday"',
    },
    { does: 'Settle it', run: 'ops resume op_00000000000000000000000001' },
  ],
  run: (ctx, { op, resendAbsent = false, reason }) => resumed(ctx, op, { resendAbsent, reason }),
  show: shown => shown,
});

/** Looks, asks and resumes. Throws before anything is sent as `Journal.look` and its `takeOver`. */
export async function resumed(ctx: Context, op: string, options: ResumeOptions): Promise<Shown> {
  const seen = await (await ctx.journal()).look(op, options);
  if (ctx.dryRun) return runOverview(ctx, seen);
  const begin = await resuming(ctx, seen, options);
  return driveRun(ctx, { concurrency: USUAL_WORKERS, keepGoing: false, skipped: [], begin, resumed: true });
}

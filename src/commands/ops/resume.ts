import { driveRun } from '../../cli/bulk/drive-run.ts';
import { USUAL_WORKERS } from '../../cli/bulk/flags.ts';
import { resuming } from '../../cli/bulk/resume-run.ts';
import { LOOKED_ANSWER, runOverview } from '../../cli/bulk/run-overview.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option, typedOnly } from '../../cli/parsing/flag.ts';
import type { Shown } from '../../cli/shown.ts';
import { flag } from '../../contract/field.ts';
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
    'First looks for the effect of each row without a trustworthy answer, again and again with growing pauses until no request can still be on its way: at most 150 s, unless --timeout is longer than 75 s. Such a row is sent again only with its own idempotency key, and only if the service is known to honour it; a service that was only probed may have forgotten the key, so nothing of the row must show 7.75 s later either, and the end looks whether it was done twice. Rows that were never sent are sent.',
    '--dry-run looks, and says of each row what a resume would do with it: send it, send it again, look for it once more, or leave it to a person. It ends with 0 when that is known of every row, and with 11 while a row stays unknown.',
    '--resend-absent also sends rows again of which no trace was found, with the same key. If the service ignores keys and is slow, that can make a second card. A single create whose wallet has moved is not sent.',
  ],
  args: { op },
  flags: {
    resendAbsent: typedOnly(option(flag({ doc: 'Also send rows of which no trace was found.', basis: OURS }))),
  },
  examples: [
    { does: 'What it would do', run: 'ops resume op_00000000000000000000000001 --dry-run' },
    { does: 'Settle it', run: 'ops resume op_00000000000000000000000001' },
  ],
  run: (ctx, { op, resendAbsent = false }) => resumed(ctx, op, { resendAbsent }),
  show: shown => shown,
});

/** Looks, asks and resumes. Throws before anything is sent as `Journal.look` and its `takeOver`. */
export async function resumed(ctx: Context, op: string, options: ResumeOptions): Promise<Shown> {
  const seen = await (await ctx.journal()).look(op, options);
  if (ctx.dryRun) {
    await seen.refuse();
    return runOverview(ctx, seen);
  }
  const begin = await resuming(ctx, seen, options);
  return driveRun(ctx, { concurrency: USUAL_WORKERS, keepGoing: false, skipped: [], begin, resumed: true });
}

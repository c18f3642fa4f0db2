/** A plan that was begun before: over, or to be gone on with. */
import { driveRun } from '../../cli/bulk/drive-run.ts';
import { resuming } from '../../cli/bulk/resume-run.ts';
import { runOverview } from '../../cli/bulk/run-overview.ts';
import type { Context } from '../../cli/context.ts';
import type { Shown } from '../../cli/shown.ts';
import { CliError } from '../../core/errors.ts';
import type { PlanDocument } from '../../fleet/plan-document.ts';
import { tellingOf, withPins } from './carry-out.ts';

export interface Earlier {
  readonly plan: PlanDocument;
  readonly earlier: { readonly op: string; readonly ended: number | undefined };
  /** The fleet file as a word of a command. */
  readonly word: string;
  readonly concurrency: number;
  readonly resendAbsent: boolean;
}

/** Goes on with its operation. Throws `guarded` where that has ended: a plan is carried out once. */
export async function resumePlan(
  ctx: Context,
  { plan, earlier, word, concurrency, resendAbsent }: Earlier,
): Promise<Shown> {
  const { op, ended } = earlier;
  if (ended !== undefined) {
    throw new CliError('guarded', {
      reason: 'plan_used',
      message: `this plan was carried out before, at ${new Date(ended).toISOString()}: ${op}. Nothing was sent`,
      notes: ['What is still to be done is in a new plan.'],
      hint: `cardwright ops show ${op}`,
      outcome: 'not_sent',
      op,
    });
  }
  const seen = await (await ctx.journal()).look(op, { resendAbsent });
  if (ctx.dryRun) return runOverview(ctx, seen);
  const begin = await resuming(ctx, seen, { resendAbsent });
  ctx.notice(`This plan was begun before; going on with ${op}.`);
  const telling = tellingOf(plan);
  return withPins(driveRun(ctx, { concurrency, keepGoing: false, skipped: [], begin, resumed: true, telling }), {
    telling,
    word,
  });
}

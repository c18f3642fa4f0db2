/** `fleet apply`: a reviewed plan made again and compared, or a plan made, shown and asked about; then carried out. */
import type { Context } from '../../cli/context.ts';
import type { Shown } from '../../cli/shown.ts';
import { CliError } from '../../core/errors.ts';
import type { Cents } from '../../core/money.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { PlanDocument } from '../../fleet/plan-document.ts';
import { readPlanFile } from '../../fleet/plan-file.ts';
import type { Allowed } from '../../fleet/plan-input.ts';
import { planText } from '../../fleet/plan-text.ts';
import { foreignReasons, staleReasons } from '../../fleet/stale.ts';
import { type Carrying, carryOut } from './carry-out.ts';
import { type MadePlan, makePlan, type PlanOptions } from './make-plan.ts';
import { planAgain } from './plan-again.ts';
import { fleetOf, type NamedFleet, USUAL_FILE } from './read-file.ts';
import { resumePlan } from './resume-plan.ts';
import { USUAL_LIFE_MS } from './run-plan.ts';
import { waitUntilSettled } from './settled.ts';

export interface ApplyFlags {
  readonly file?: string | undefined;
  /** Path of the plan file. */
  readonly plan?: string | undefined;
  readonly maxTotal?: Cents | undefined;
  readonly concurrency: number;
  readonly resendAbsent?: boolean | undefined;
}

/** Throws before anything is sent: `usage`, `guarded`, `insufficient_funds`, `not_confirmed`, and as `makePlan`. */
export async function runApply(ctx: Context, flags: ApplyFlags): Promise<Shown> {
  const { file, plan: path, maxTotal, concurrency, resendAbsent = false } = flags;
  if (path === undefined && !ctx.canAsk && !ctx.dryRun) throw await planNeeded(ctx, file);
  const named = await fleetOf(ctx, file);
  const limits = { maxTotal, concurrency, resendAbsent };
  if (path === undefined) return locked(ctx, named, release => applyNow(ctx, named, { ...limits, release }));
  const plan = readPlanFile(await ctx.readFile(path), path, named.word);
  const earlier = await (await ctx.journal()).begunAs(plan.id);
  if (earlier !== undefined) return resumePlan(ctx, { plan, earlier, word: named.word, concurrency, resendAbsent });
  return locked(ctx, named, release => applyPlan(ctx, named, { ...limits, release, plan, path }));
}

/** One apply of a fleet at a time on this machine; what is carried out holds the lock to its end. */
async function locked(
  ctx: Context,
  { fleet }: NamedFleet,
  work: (release: () => Promise<void>) => Promise<Shown>,
): Promise<Shown> {
  if (ctx.dryRun) return work(async () => undefined);
  const release = await (await ctx.journal()).holdFleet(fleet.name);
  try {
    return await work(release);
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

type Limits = Pick<Carrying, 'maxTotal' | 'concurrency' | 'resendAbsent' | 'release'>;

/** On a terminal: made, shown and asked about. */
async function applyNow(ctx: Context, named: NamedFleet, limits: Limits): Promise<Shown> {
  const lifeMs = USUAL_LIFE_MS;
  let made = await settledPlan(ctx, named, { allowed: {}, lifeMs });
  if (!ctx.dryRun) {
    for (const line of planText(made.document).trimEnd().split('\n')) ctx.notice(line);
    const allowed = await askForHeldBack(ctx, made.document);
    if (Object.keys(allowed).length > 0) made = await makePlan(ctx, named, { allowed, lifeMs });
  }
  return carryOut(ctx, named, { ...limits, document: made.document });
}

interface Reviewed extends Limits {
  readonly plan: PlanDocument;
  /** What the user called it. */
  readonly path: string;
}

/** A plan that was made before: made again, and sent only where it comes out the same. */
async function applyPlan(ctx: Context, named: NamedFleet, { plan, path, ...limits }: Reviewed): Promise<Shown> {
  const lifeMs = USUAL_LIFE_MS;
  const stale = async (reasons: readonly string[]) =>
    staleError(path, { reasons, hint: await planAgain(ctx, { fleet: named.word, path }) });
  const planned = settledPlan(ctx, named, { allowed: plan.allowed, lifeMs, of: plan });
  const made = await planned.catch(async (thrown: unknown) => {
    // Another number than the plan's by now.
    if (!(thrown instanceof CliError) || thrown.facts.reason !== 'other_number') throw thrown;
    throw await stale([thrown.message.replace('. Nothing was planned', '')]);
  });
  const { document: fresh, account, records, scope } = made;
  const foreign = foreignReasons(plan, fresh);
  const reasons =
    foreign.length > 0 ? foreign : staleReasons(plan, { fresh, fleet: named.fleet, account, records, scope });
  if (reasons.length > 0) throw await stale(reasons);
  return carryOut(ctx, named, { ...limits, document: plan });
}

/** Where something may still be on its way that this journal does not know, it is waited for and looked at again. */
async function settledPlan(ctx: Context, named: NamedFleet, options: PlanOptions): Promise<MadePlan> {
  const made = await makePlan(ctx, named, options);
  return (await waitUntilSettled(ctx, made)) ? makePlan(ctx, named, options) : made;
}

/** The count of each class, typed; an empty answer leaves it held back. */
async function askForHeldBack(ctx: Context, { held_back: held }: PlanDocument): Promise<Allowed> {
  const allowed: Record<string, number> = {};
  for (const { class: name, count } of held) {
    const question = `Plan ${name} of ${count} too? Type the count to allow it`;
    if (await ctx.prompts.typed(question, { expect: String(count), flag: '--plan <plan.json>' })) allowed[name] = count;
  }
  return allowed;
}

async function planNeeded(ctx: Context, file = USUAL_FILE): Promise<CliError> {
  return new CliError('usage', {
    message: 'fleet apply needs --plan <plan.json> where nobody can be asked',
    notes: ['A plan is made, reviewed, and then carried out.'],
    hint: await planAgain(ctx, { fleet: shellWord(file), path: 'plan.json' }),
    outcome: 'not_sent',
  });
}

function staleError(path: string, { reasons, hint }: { reasons: readonly string[]; hint: string }): CliError {
  return new CliError('guarded', {
    reason: 'plan_stale',
    message: `${path} is stale: ${reasons[0]}. Nothing was sent`,
    notes: reasons.slice(1),
    hint,
    outcome: 'not_sent',
  });
}

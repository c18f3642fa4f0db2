import { RESULT_ROW, RUN_PAGE, tells } from '../../cli/answer-fields.ts';
import { USUAL_WORKERS } from '../../cli/bulk/flags.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import type { Shown } from '../../cli/shown.ts';
import { integer, money, text } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import type { PlanDocument } from '../../fleet/plan-document.ts';
import { readPlanFile } from '../../fleet/plan-file.ts';
import type { Allowed } from '../../fleet/plan-input.ts';
import { planText } from '../../fleet/plan-text.ts';
import { foreignReasons, staleReasons } from '../../fleet/stale.ts';
import { PHASES } from '../../fleet/step.ts';
import { type Carrying, carryOut } from './carry-out.ts';
import { type MadePlan, makePlan } from './make-plan.ts';
import { USUAL_LIFE_MS } from './plan.ts';
import { FLEET_FORMAT, fleetFile, fleetOf, type NamedFleet } from './read-file.ts';
import { resumePlan } from './resume-plan.ts';
import { waitUntilSettled } from './settled.ts';

const MOST_WORKERS = 256;

/** Changes the account so that it has the cards of a fleet file. */
export const applyFleet = command({
  path: 'fleet apply',
  summary: 'Make the cards what a fleet file says, through the journal',
  effect: 'moves-money',
  reach: 'service',
  answers: {
    list: {
      ...RESULT_ROW,
      name: tells.text('Name of the card in the file.'),
      do: tells.word('What was done.', Object.keys(PHASES)),
    },
    page: {
      ...RUN_PAGE,
      fleet: tells.text('Name of the fleet.'),
      plan: tells.text('Id of the plan.'),
      spent: tells.usd('What the done rows took from the wallet, USD.'),
    },
  },
  ends: {
    not_confirmed: 'Declined, or nobody could be asked. Nothing was sent.',
    partly_failed: 'Some steps are done and others not; a new plan holds the rest.',
    insufficient_funds: 'The wallet and what comes back do not cover the plan and the reserve.',
    outcome_unknown: 'Steps were sent without a trustworthy answer; cardwright ops resume settles them.',
    guarded:
      'The plan is stale, used, expired, edited or of another account, or a cap or guard said no. Nothing was sent.',
    check_failed: 'Two cards carry one marker.',
  },
  about: [
    'Off a terminal it carries out a plan that was made and reviewed before, and --plan is required. The plan is made again from the file and the account, and sent only where the steps are the same. A plan is carried out once; run again while its operation is open, it goes on with it.',
    'On a terminal it makes the plan, shows it and asks, for each class that is held back too.',
    'Phases follow each other: freeze, withdraw, terminate, create, fund, unfreeze. The keys follow from the intention, so that a second machine sends the same.',
    FLEET_FORMAT,
  ],
  args: { file: fleetFile },
  flags: {
    plan: option(text({ doc: 'The plan to carry out, from fleet plan --out.', basis: OURS }), '<plan.json>'),
    maxTotal: option(money({ doc: 'Refuse a plan that spends more.', basis: OURS, min: 0 })),
    concurrency: option(
      integer({
        doc: 'Steps to send at the same time.',
        basis: OURS,
        min: 1,
        max: MOST_WORKERS,
        defaults: USUAL_WORKERS,
      }),
    ),
  },
  examples: [
    { does: 'Carry out a reviewed plan', run: 'fleet apply --plan plan.json --yes' },
    { does: 'What it would send', run: 'fleet apply --plan plan.json --dry-run' },
  ],
  async run(ctx, { file, plan: path, maxTotal, concurrency = USUAL_WORKERS }): Promise<Shown> {
    if (path === undefined && !ctx.canAsk && !ctx.dryRun) throw planNeeded();
    const named = await fleetOf(ctx, file);
    const limits = { maxTotal, concurrency };
    if (path === undefined) return locked(ctx, named, release => applyNow(ctx, named, { ...limits, release }));
    const plan = readPlanFile(await ctx.readFile(path), path);
    const earlier = await (await ctx.journal()).begunAs(plan.id);
    if (earlier !== undefined) return resumePlan(ctx, { plan, earlier, concurrency });
    return locked(ctx, named, release => applyPlan(ctx, named, { ...limits, release, plan, path }));
  },
  show: shown => shown,
});

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

type Limits = Pick<Carrying, 'maxTotal' | 'concurrency' | 'release'>;

/** On a terminal: made, shown and asked about. */
async function applyNow(ctx: Context, named: NamedFleet, limits: Limits): Promise<Shown> {
  const lifeMs = USUAL_LIFE_MS;
  let made = await settledPlan(ctx, named, { allowed: {}, lifeMs });
  if (!ctx.dryRun) {
    ctx.notice(planText(made.document).trimEnd());
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
  const made = await settledPlan(ctx, named, { allowed: plan.allowed, lifeMs, of: plan }).catch((thrown: unknown) => {
    // Another number than the plan's by now.
    if (!(thrown instanceof CliError) || thrown.facts.reason !== 'other_number') throw thrown;
    throw stale(path, [thrown.message.replace('. Nothing was planned', '')]);
  });
  const { document: fresh, account, records, scope } = made;
  const foreign = foreignReasons(plan, fresh);
  const reasons =
    foreign.length > 0 ? foreign : staleReasons(plan, { fresh, fleet: named.fleet, account, records, scope });
  if (reasons.length > 0) throw stale(path, reasons);
  return carryOut(ctx, named, { ...limits, document: plan });
}

/** Where something may still be on its way that this journal does not know, it is waited for and looked at again. */
async function settledPlan(ctx: Context, named: NamedFleet, wishes: Parameters<typeof makePlan>[2]): Promise<MadePlan> {
  const made = await makePlan(ctx, named, wishes);
  return (await waitUntilSettled(ctx, made)) ? makePlan(ctx, named, wishes) : made;
}

/** The count of each class, typed; an empty answer leaves it held back. */
async function askForHeldBack(ctx: Context, { held_back: held }: PlanDocument): Promise<Allowed> {
  const allowed: Record<string, number> = {};
  for (const { class: name, count } of held) {
    const question = `Plan ${name} of ${count} too? Type the count to allow it`;
    if (await ctx.prompts.typed(question, { expect: String(count), flag: '--plan' })) allowed[name] = count;
  }
  return allowed;
}

function planNeeded(): CliError {
  return new CliError('usage', {
    message: 'fleet apply needs --plan <plan.json> where nobody can be asked',
    notes: ['A plan is made, reviewed, and then carried out.'],
    hint: 'cardwright fleet plan --out plan.json',
    outcome: 'not_sent',
  });
}

function stale(path: string, reasons: readonly string[]): CliError {
  return new CliError('guarded', {
    reason: 'plan_stale',
    message: `${path} is stale: ${reasons[0]}. Nothing was sent`,
    notes: reasons.slice(1),
    hint: 'cardwright fleet plan --out plan.json',
    outcome: 'not_sent',
  });
}

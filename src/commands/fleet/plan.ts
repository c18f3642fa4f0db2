import { maybe, orNull, tells } from '../../cli/answer-fields.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { eachTime, OURS, option } from '../../cli/parsing/flag.ts';
import { quote, usage } from '../../cli/parsing/values.ts';
import type { Shown } from '../../cli/shown.ts';
import { choice, flag, text } from '../../contract/field.ts';
import { DAY, durationOf, HOUR } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { differs, type PlanDocument } from '../../fleet/plan-document.ts';
import { readPlanFile } from '../../fleet/plan-file.ts';
import type { Allowed } from '../../fleet/plan-input.ts';
import { planMarkdown } from '../../fleet/plan-markdown.ts';
import { planText } from '../../fleet/plan-text.ts';
import { HELD_CLASSES, PHASES } from '../../fleet/step.ts';
import { makePlan, refuseOverCaps } from './make-plan.ts';
import { FLEET_FORMAT, fleetFile, fleetOf } from './read-file.ts';

const EXIT_CODE = ['any', 'drift'] as const;
type ExitCode = (typeof EXIT_CODE)[number];

/** A day: the plan of a pull request is applied when it is merged. */
export const USUAL_LIFE_MS = DAY;
const [SHORTEST_LIFE_MS, LONGEST_LIFE_MS] = [HOUR, 7 * DAY];

/** `--allow`, of plan alone: an apply takes the numbers from its plan or asks for them. */
const ALLOW = eachTime(
  option(
    text({ doc: `Plan steps that are held back: ${HELD_CLASSES.join(', ')}, with their exact number.`, basis: OURS }),
    '<class=count>',
  ),
);

const STEP = {
  row: tells.count('Its number, from 1.'),
  phase: tells.count('1 to 6; a phase begins when the one before has ended.'),
  do: tells.word('What is done.', Object.keys(PHASES)),
  name: tells.text('Name of the card in the file.'),
  card: maybe(tells.text('The card; not of a create.')),
  last4: maybe(tells.text('Its last four digits.')),
  generation: maybe(tells.count('Of a create: one more than of the card before.')),
  amount: maybe(tells.usd('What is moved, USD.')),
  key: maybe(tells.text('Idempotency key; the same for the same intention everywhere.')),
  body: maybe(tells.json('Of a create: the request.')),
  instead: maybe(tells.text('Of a create: the card whose place it takes.')),
  why: tells.text('Why it is there.'),
  seen: maybe(tells.json('What was seen and must not have changed.')),
} as const;

/** Members of a plan document. */
export const PLAN_ANSWER = {
  plan: tells.count('Version of the form: 1.'),
  id: tells.text('Digest of everything else.'),
  fleet: tells.text('Name of the fleet.'),
  created_at: tells.time('When it was made.'),
  expires_at: tells.time('When it may no longer be applied.'),
  bound: tells.json('What it holds for: origin, mode, contract, file, witness, version.'),
  caps: tells.json('Of the file: per_apply, cards, wallet_reserve; USD.'),
  totals: tells.json('Steps of each kind, and spend, returns, wallet, wallet_after in USD.'),
  allowed: tells.json('Numbers that were allowed.'),
  steps: tells.rows(STEP, 'What is done, in this order.'),
  differences: tells.rows(
    {
      name: tells.text('Name of the card in the file.'),
      card: orNull(tells.text('The card.')),
      field: tells.text('What differs.'),
      class: tells.word('fixed: the service cannot change it. drift: it changed at the service.', [
        'fixed',
        'drift',
        'note',
      ]),
      is: tells.json('What it is.'),
      wanted: tells.json('What the file says.'),
    },
    'Where cards differ from the file.',
  ),
  blocked: tells.texts('Names with a fixed difference and no replace.'),
  held_back: tells.rows(
    {
      class: tells.word('Its class.', HELD_CLASSES),
      count: tells.count('How many steps.'),
      names: tells.texts('Of these cards.'),
    },
    'Steps that need --allow.',
  ),
  unknown: tells.rows(
    { name: tells.text('Name of the card in the file.'), op: tells.text('Operation to resume.') },
    'Names of which an outcome is not known.',
  ),
  to_retire: tells.rows(
    {
      card: tells.text('The card.'),
      name: tells.text('The name it had.'),
      balance: tells.usd('Its balance, USD.'),
    },
    'Frozen cards of which nothing more is wanted.',
  ),
  notes: tells.texts('What else is worth knowing.'),
  cards_after: tells.count('Cards of the fleet that are not terminated, when it is done.'),
  as_wanted: tells.count('Cards that are as the file says.'),
  strangers: tells.count('Other cards of the account; never touched.'),
} as const;

/** Shows how the account differs from a fleet file, and what an apply would do. */
export const planFleetFile = command({
  path: 'fleet plan',
  summary: 'Show how the cards differ from a fleet file, and the steps to it',
  reach: 'service',
  answers: { one: PLAN_ANSWER },
  ends: {
    differs: 'With --exit-code, something is to be done or decided. The plan is printed.',
    outcome_unknown: 'An operation on a card of the file has no known outcome. The rest of the plan is printed.',
    contract_mismatch: 'The list of cards may be incomplete, so a card could be made a second time.',
    guarded: 'Beyond the caps of the file, another number than --allow says, or a renamed fleet.',
    check_failed: 'Two cards stand for one name, or one card for two. Nothing is planned.',
  },
  about: [
    'Only reads. There is no state file: a card belongs to the fleet by its marker (metadata cardwright: fleet/<fleet>/<name>#<generation>) or because the file names its id.',
    'Held back until their exact number is allowed: unfreeze (somebody froze it), recreate (somebody terminated it), terminate (its quarantine is over), removals (more than one card, or than a tenth of them, would be frozen).',
    FLEET_FORMAT,
  ],
  args: { file: fleetFile },
  flags: {
    out: option(text({ doc: 'Write the plan to a new file, for fleet apply --plan.', basis: OURS }), '<file>'),
    md: option(flag({ doc: 'Print Markdown, for a pull request.', basis: OURS })),
    noAmounts: option(flag({ doc: 'With --md: without amounts and balances.', basis: OURS })),
    exitCode: option(
      choice(EXIT_CODE, {
        doc: 'End with 16 where anything is to be done or decided, or only where the service has changed.',
        basis: OURS,
      }),
    ),
    allow: ALLOW,
    expires: option(
      text({ doc: 'How long it may be applied: 1h to 7d; 24h when left out.', basis: OURS }),
      '<duration>',
    ),
    show: option(text({ doc: 'Print a plan that was written before; nothing is asked.', basis: OURS }), '<plan>'),
  },
  examples: [
    { does: 'What would change', run: 'fleet plan' },
    { does: 'Fail a CI job when somebody changed a card at the service', run: 'fleet plan --exit-code drift' },
    { does: 'A plan for a review', run: 'fleet plan --out plan.json --md' },
  ],
  async run(ctx, { file, out, md, noAmounts, exitCode, allow = [], expires, show }): Promise<ShownPlan> {
    const form = { md: md === true, amounts: noAmounts !== true };
    if (show !== undefined) {
      return { document: readPlanFile(await ctx.readFile(show), show), form, failure: undefined };
    }
    const named = await fleetOf(ctx, file);
    const made = await makePlan(ctx, named, { allowed: allowedOf(allow), lifeMs: lifeOf(expires) });
    const { document } = made;
    const failure = failureOf(document, { exitCode, word: named.word });
    if (out !== undefined && failure?.kind !== 'guarded') await writePlan(ctx, out, document);
    return { document, form, failure };
  },
  show: showPlan,
});

interface ShownPlan {
  readonly document: PlanDocument;
  readonly form: { readonly md: boolean; readonly amounts: boolean };
  readonly failure: CliError | undefined;
}

function showPlan({ document, form, failure }: ShownPlan): Shown {
  const page = form.md ? planMarkdown(document, form) : planText(document);
  return { data: { ...document }, noun: 'plan', columns: [], prose: page, failure };
}

/** The very bytes that `--json` prints. */
async function writePlan(ctx: Context, path: string, document: PlanDocument): Promise<void> {
  await ctx.createFile(path, `${JSON.stringify(document, null, 2)}\n`);
}

/** `unfreeze=2` and the like. Throws `usage`. */
function allowedOf(texts: readonly string[]): Allowed {
  const allowed: Record<string, number> = {};
  for (const typed of texts) {
    const [, name = '', count = ''] = /^([a-z]+)=(\d{1,6})$/.exec(typed) ?? [];
    const known = HELD_CLASSES.find(each => each === name);
    if (known === undefined) {
      throw usage(
        `--allow ${quote(typed)} is not a class with its number, such as unfreeze=2: ${HELD_CLASSES.join(', ')}`,
      );
    }
    if (known in allowed) throw usage(`--allow names ${known} twice`);
    allowed[known] = Number(count);
  }
  // In one order, however they were typed: the plan's id covers them.
  return Object.fromEntries(HELD_CLASSES.flatMap(name => (name in allowed ? [[name, allowed[name]]] : [])));
}

function lifeOf(typed: string | undefined): number {
  if (typed === undefined) return USUAL_LIFE_MS;
  const life = durationOf(typed);
  if (life !== undefined && life >= SHORTEST_LIFE_MS && life <= LONGEST_LIFE_MS) return life;
  throw usage(`--expires ${quote(typed)} is not a length of time from 1h to 7d`);
}

interface Asked {
  readonly exitCode: ExitCode | undefined;
  readonly word: string;
}

/** What the exit code says of a plan that was printed. */
function failureOf(document: PlanDocument, { exitCode, word }: Asked): CliError | undefined {
  try {
    refuseOverCaps({ document });
  } catch (thrown) {
    if (thrown instanceof CliError) return thrown;
    throw thrown;
  }
  const [unknown] = document.unknown;
  if (unknown !== undefined) {
    const { length } = document.unknown;
    return new CliError('outcome_unknown', {
      message: `${length === 1 ? `what became of ${unknown.name} is` : `what became of ${length} cards is`} not known; nothing is planned for ${length === 1 ? 'it' : 'them'}`,
      hint: `cardwright ops resume ${unknown.op}`,
      op: unknown.op,
    });
  }
  if (exitCode === undefined) return undefined;
  const drifted = document.differences.filter(each => each.class === 'drift');
  const isOther = exitCode === 'drift' ? drifted.length > 0 : differs(document);
  if (!isOther) return undefined;
  const { steps, blocked, held_back: held, fleet } = document;
  const parts = [
    [steps.length, 'to do'],
    [blocked.length, 'blocked'],
    [held.reduce((all, { count }) => all + count, 0), 'held back'],
  ] as const;
  const told = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const what = exitCode === 'drift' ? `${drifted.length} changed at the service` : told.join(', ');
  return new CliError('differs', {
    message: `the cards of ${fleet} differ from the file: ${what}. Nothing was sent`,
    hint: `cardwright fleet plan ${word} --out plan.json`,
    outcome: 'not_sent',
  });
}

import { maybe, orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { eachTime, local, OURS, option } from '../../cli/parsing/flag.ts';
import { choice, flag, text } from '../../contract/field.ts';
import { GUARDED_CLASSES, PHASES } from '../../fleet/step.ts';
import { FLEET_FORMAT, fleetFile } from './read-file.ts';
import { EXIT_CODES, type ShownPlan } from './run-plan.ts';

/** `--allow`, of plan alone: an apply takes the numbers from its plan or asks for them. */
const ALLOW = eachTime(
  option(
    text({
      doc: `Plan steps that are held back: ${GUARDED_CLASSES.join(', ')}, with their exact number.`,
      basis: OURS,
    }),
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
      class: tells.word('Its class.', GUARDED_CLASSES),
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
    'Held back until their exact number is allowed: unfreeze (somebody froze it), recreate (somebody terminated it), terminate (its quarantine is over), removals (more than one card would be frozen, or the last).',
    FLEET_FORMAT,
  ],
  args: { file: fleetFile },
  flags: {
    out: option(local('file', 'Write the plan to a new file, for fleet apply --plan.'), '<file>'),
    md: option(flag({ doc: 'Print Markdown, for a pull request.', basis: OURS })),
    noAmounts: option(flag({ doc: 'With --md: without amounts and balances.', basis: OURS })),
    exitCode: option(
      choice(EXIT_CODES, {
        doc: 'End with 16 where anything is to be done or decided, or only where the service has changed.',
        basis: OURS,
      }),
    ),
    allow: ALLOW,
    expires: option(
      text({ doc: 'How long it may be applied: 1h to 7d; 24h when left out.', basis: OURS }),
      '<duration>',
    ),
    show: option(local('file', 'Print a plan that was written before; nothing is asked.'), '<file>'),
  },
  examples: [
    { does: 'What would change', run: 'fleet plan' },
    { does: 'Fail a CI job when somebody changed a card at the service', run: 'fleet plan --exit-code drift' },
    { does: 'A plan for a review', run: 'fleet plan --out plan.json --md' },
  ],
  async run(ctx, options): Promise<ShownPlan> {
    const { runPlan } = await import('./run-plan.ts');
    return runPlan(ctx, options);
  },
  show: ({ page, data, failure }) => ({ data, noun: 'plan', columns: [], prose: page, failure }),
});

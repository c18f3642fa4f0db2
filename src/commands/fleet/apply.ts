import { RESULT_ROW, RUN_PAGE, tells } from '../../cli/answer-fields.ts';
import { USUAL_WORKERS } from '../../cli/bulk/flags.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, OURS, option, typedOnly } from '../../cli/parsing/flag.ts';
import type { Shown } from '../../cli/shown.ts';
import { flag, integer, money } from '../../contract/field.ts';
import { PHASES } from '../../fleet/step.ts';
import { FLEET_FORMAT, fleetFile } from './read-file.ts';

const MOST_WORKERS = 256;

/** Changes the account so that it has the cards of a fleet file. */
export const applyFleet = command({
  path: 'fleet apply',
  summary: 'Make the cards what a fleet file says, through the journal',
  effect: 'moves-money',
  reach: 'service',
  answers: {
    either: [
      {
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
      { any: 'With --dry-run, the requests.' },
    ],
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
    plan: option(local('file', 'The plan to carry out, from fleet plan --out.'), '<file>'),
    maxTotal: option(money({ doc: 'Refuse a plan that spends more.', basis: OURS, min: 0 })),
    resendAbsent: typedOnly(
      option(flag({ doc: 'Also send steps of which no trace was found, as ops resume does.', basis: OURS })),
    ),
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
    { does: 'What it would send', run: 'fleet apply --plan plan.json --dry-run' },
    { does: 'Carry out a reviewed plan', run: 'fleet apply --plan plan.json --yes' },
  ],
  async run(ctx, { concurrency = USUAL_WORKERS, ...options }): Promise<Shown> {
    const { runApply } = await import('./run-apply.ts');
    return runApply(ctx, { ...options, concurrency });
  },
  show: shown => shown,
});

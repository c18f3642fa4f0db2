import { tells } from '../../cli/answer-fields.ts';
import type { Context } from '../../cli/context.ts';
import { showPlanned } from '../../cli/dry-run.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { flag } from '../../contract/field.ts';
import type { Attempt } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { cents } from '../../core/money.ts';
import { spendingOf } from '../../core/spending.ts';
import type { Probe } from '../../journal/types.ts';
import type { Column, Row } from '../../terminal/view.ts';
import { learnedFrom, recordOf } from '../../writes/audit-record.ts';
import { bestBin } from '../bins/rank.ts';
import { readingRoutes } from './reading-routes.ts';

const COLUMNS: readonly Column[] = [
  { field: 'operation', title: 'OPERATION', kind: 'text', priority: 1 },
  { field: 'result', title: 'RESULT', kind: 'word', priority: 1 },
  { field: 'route', title: 'ROUTE', kind: 'text', priority: 3 },
  { field: 'detail', title: 'DETAIL', kind: 'text', priority: 2, shrink: 'wraps' },
];

/** Asks every reading route once and tells which answer as the contract says. */
export const checkContract = command({
  path: 'contract check',
  summary: 'Send every read request and compare the answers with the contract',
  answers: {
    list: {
      operation: tells.text('Operation of the contract.'),
      result: tells.text('fits, wrong or skipped; of a probed key whether it is honoured.'),
      route: tells.text('Method and path that were asked.'),
      detail: tells.text('What is wrong, else empty.'),
    },
  },
  about: [
    'Only GET requests are sent. A route that needs an id is tried with an id from the lists, and skipped when there is none.',
    '--probe-idempotency also uses one key twice for create, fund and withdraw, terminates the card it made, and remembers for this key and address whether idempotency keys are honoured. It writes, and refuses a live key. Up to $4.00 count against the limits of the profile.',
    'The result is honoured if the second answer repeats the first and reading shows one effect, and ignored if there are two effects. Anything else, such as a lost or throttled second answer, is unknown; then no request is ever sent twice.',
  ],
  reach: 'service',
  ends: {
    contract_mismatch: 'A route answers otherwise than the contract says.',
    not_confirmed: 'Declined, or nobody could be asked. Nothing was sent.',
    guarded: 'A guard refused it. Nothing was sent.',
    insufficient_funds: 'The wallet is too low for the probe.',
    outcome_unknown: 'A probe was sent, and no trustworthy answer came.',
  },
  flags: {
    probeIdempotency: option(
      flag({ doc: 'Find out whether idempotency keys are honoured; test keys only.', basis: OURS }),
    ),
  },
  examples: [
    { does: 'Reading routes only', run: 'contract check' },
    { does: 'Whether keys are honoured, with a test key', run: 'contract check --probe-idempotency --yes --json' },
  ],
  async run(ctx, { probeIdempotency = false }) {
    if (ctx.dryRun) return { planned: await plannedProbe(ctx, probeIdempotency) };
    const probed = probeIdempotency ? await probe(ctx) : [];
    return { rows: [...(await readingRoutes(ctx)), ...probed] };
  },
  show(checked) {
    if ('planned' in checked) return showPlanned(checked.planned);
    const { rows } = checked;
    async function* batches() {
      yield rows;
    }
    const wrong = rows.filter(({ result }) => result === 'wrong');
    return {
      listing: { batches: batches(), page: () => ({ total: rows.length }) },
      noun: 'route',
      idField: 'operation',
      columns: COLUMNS,
      ...(wrong.length > 0 && { failure: mismatch(wrong) }),
    };
  },
});

async function plannedProbe(ctx: Context, probes: boolean): Promise<Probe['requests']> {
  if (!probes) throw usage('contract check has no dry run: without --probe-idempotency it only reads');
  const { id } = await bestBin(ctx, cents(100));
  return (await (await ctx.journal()).probe(id)).requests;
}

const INTENT = 'Create a $1.00 card, use keys twice on it and terminate it';

/** Guards, limits, question and audit lines as for every other write; a dry run goes as far as the plan. */
async function probe(ctx: Context): Promise<Row[]> {
  const { id } = await bestBin(ctx, cents(100));
  const { rows, run } = await (await ctx.journal()).probe(id);
  const command = 'cardwright contract check --probe-idempotency --yes';
  const admitted = await ctx.pipeline.admit({
    audited: { event: 'run', operation: 'cards.create', rows: rows.length },
    operations: [...rows].map(({ operation }) => operation),
    ask: async () => (ctx.yes ? undefined : ctx.ask({ intent: INTENT, command })),
  });
  const spending = spendingOf(rows);
  // Each of its writes has lines of its own.
  const underway = await admitted.begin({ lines: 'none', spending, open: async () => undefined });
  try {
    const probed = await run(async ({ operation, input, key }, send) => {
      const ended = await ctx.recorder.begin(recordOf(operation, input, key));
      const attempt = await send();
      await ended(outcomeOfAttempt(attempt), learnedFrom(attempt.result));
      return attempt;
    });
    return probed.map(({ operation, capability, text }) => ({
      operation,
      result: capability.key,
      route: 'key',
      detail: text,
    }));
  } finally {
    await underway.end({});
  }
}

function outcomeOfAttempt({ class: outcome, error }: Attempt): string {
  return outcome === 'done' ? 'done' : (error?.facts.outcome ?? 'unknown');
}

function mismatch(wrong: readonly Row[]): CliError {
  const names = wrong.map(({ operation }) => String(operation)).join(', ');
  return new CliError('contract_mismatch', {
    message: `${wrong.length} route${wrong.length === 1 ? ' does' : 's do'} not answer as the contract says: ${names}`,
    hint: 'cardwright contract show --assumed',
  });
}

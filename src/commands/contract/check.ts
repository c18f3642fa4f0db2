import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/command.ts';
import type { Context } from '../../cli/context.ts';
import { OURS, option } from '../../cli/flag.ts';
import { usage } from '../../cli/values.ts';
import { flag } from '../../contract/field.ts';
import { CliError } from '../../errors.ts';
import { cents } from '../../money.ts';
import type { Column, Row } from '../../terminal/view.ts';
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
  summary: 'Ask every reading route and compare the answers with the contract',
  answers: {
    list: {
      operation: tells.text('Operation of the contract.'),
      result: tells.text('fits, wrong or skipped; of a probed key whether it is honoured.'),
      route: tells.text('Method and path that were asked.'),
      detail: tells.text('What is wrong, else empty.'),
    },
  },
  about: [
    'Only GET requests are made. A route that needs an id is asked with one that the lists hold; without any it is skipped.',
    '--probe-idempotency also uses one key twice for create, fund and withdraw, terminates the card it made, and remembers for this address whether keys are honoured. It writes, and refuses a live key.',
  ],
  reach: 'service',
  ends: {
    contract_mismatch: 'A route answers otherwise than the contract says.',
    outcome_unknown: 'A probe was sent, and no trustworthy answer came.',
  },
  flags: {
    probeIdempotency: option(
      flag({ doc: 'Find out whether idempotency keys are honoured; test keys only.', basis: OURS }),
    ),
  },
  examples: [
    { does: 'Reading routes only', run: 'contract check' },
    { does: 'Whether keys are honoured, with a test key', run: 'contract check --probe-idempotency --json' },
  ],
  async run(ctx, { probeIdempotency = false }) {
    if (ctx.dryRun) throw usage('contract check has no dry run: without --probe-idempotency it only reads');
    const checked = await readingRoutes(ctx);
    const probed = probeIdempotency ? await probe(ctx) : [];
    return { rows: [...checked, ...probed], probed: probeIdempotency };
  },
  show({ rows }) {
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

async function probe(ctx: Context): Promise<Row[]> {
  const { id } = await bestBin(ctx, cents(100));
  const probed = await (await ctx.journal()).probe(id);
  return probed.map(({ operation, capability, text }) => ({
    operation,
    result: capability.key,
    route: 'key',
    detail: text,
  }));
}

function mismatch(wrong: readonly Row[]): CliError {
  const names = wrong.map(({ operation }) => String(operation)).join(', ');
  return new CliError('contract_mismatch', {
    message: `${wrong.length} route${wrong.length === 1 ? ' does' : 's do'} not answer as the contract says: ${names}`,
    hint: 'cardwright contract show --assumed',
  });
}

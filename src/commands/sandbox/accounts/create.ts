import { tells } from '../../../cli/answer-fields.ts';
import { command } from '../../../cli/parsing/command.ts';
import { OURS, option } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { choice, integer } from '../../../contract/field.ts';
import { DIALECT_NAMES } from '../../../contract/sandbox/faults.ts';
import { ACCOUNT_COLUMNS, ACCOUNT_ROW, accountName, checkedName, storeFlag } from './shown.ts';

const ours = (doc: string) => ({ doc, basis: OURS });

/** Makes an account of a sandbox on a database. */
export const createAccount = command({
  path: 'sandbox accounts create',
  summary: 'Make an account of a sandbox on PostgreSQL, with keys of its own',
  effect: 'reversible',
  reach: 'service',
  about: [
    'Prints the API key and the admin token of the account this once; the database keeps their digests alone. Access to the database is what it takes to make an account.',
  ],
  answers: {
    one: {
      ...ACCOUNT_ROW,
      api_key: tells.text('Key for the service, told this once.'),
      admin_token: tells.text('Token for its control surface, told this once.'),
    },
  },
  args: { name: accountName },
  flags: {
    store: storeFlag,
    seed: option(integer({ ...ours('Seed of ids, card numbers and codes.'), min: 0 })),
    data: option(choice(['empty', 'demo'], { ...ours('What it holds at first.'), defaults: 'demo' })),
    ids: option(choice(['derived', 'counted'], { ...ours('Form of ids: counted gives card_1.'), defaults: 'derived' })),
    dialect: option(choice(DIALECT_NAMES, { ...ours('How it speaks.'), defaults: 'default' })),
  },
  examples: [
    {
      does: 'For one job',
      run: 'sandbox accounts create job-17 --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox --json',
    },
    {
      does: 'With the same ids each time',
      run: 'sandbox accounts create ana --seed 7 --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox',
    },
  ],
  async run(ctx, { name, store, seed, data = 'demo', ids = 'derived', dialect = 'default' }) {
    if (ctx.dryRun) throw usage('sandbox accounts create sends nothing to the service; it has no dry run');
    const wish = { name: checkedName(name), seed, data, ids, dialect };
    return ctx.servers.withAccounts(store, accounts => accounts.create(wish));
  },
  show: made => ({
    data: { ...made },
    noun: 'account',
    idField: 'name',
    columns: [
      ...ACCOUNT_COLUMNS,
      { field: 'api_key', title: 'API KEY', kind: 'text', priority: 1 },
      { field: 'admin_token', title: 'ADMIN TOKEN', kind: 'text', priority: 1 },
    ],
    blocks: [
      { kind: 'line', text: `Made the account ${made.name} (${made.account}).` },
      {
        kind: 'pairs',
        pairs: [
          ['API key', made.api_key],
          ['Admin token', made.admin_token],
        ],
      },
    ],
    notes: ['Key and token are shown this once.'],
  }),
});

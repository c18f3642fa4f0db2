import { command } from '../../../cli/parsing/command.ts';
import { needs, OURS } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { text } from '../../../contract/field.ts';
import { ACCOUNT_COLUMNS, ACCOUNT_ROW, accountName, checkedLifetime, checkedName, storeFlag } from './shown.ts';

/** Lets an account of a sandbox on a database end later. */
export const extendAccount = command({
  path: 'sandbox accounts extend',
  summary: 'Let an account of a sandbox on PostgreSQL expire later',
  effect: 'reversible',
  reach: 'service',
  about: [
    'The time is counted from now, on the clock of the database. An end that is later already stays. An account that has expired is not brought back.',
  ],
  answers: { one: ACCOUNT_ROW },
  args: { name: accountName },
  flags: {
    store: storeFlag,
    expires: needs(
      text({ doc: 'How long it lasts from now on at least, such as 2h or 1d12h.', basis: OURS }),
      '<span>',
    ),
  },
  examples: [
    {
      does: 'Two hours more for a job',
      run: 'sandbox accounts extend job-17 --expires 2h --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox',
    },
    {
      does: 'A day more, as JSON with the new end',
      run: 'sandbox accounts extend job-17 --expires 1d --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox --json',
    },
  ],
  run(ctx, { name: given, store, expires }) {
    if (ctx.dryRun) throw usage('sandbox accounts extend sends nothing to the service; it has no dry run');
    const name = checkedName(given);
    const lifetime = checkedLifetime(expires);
    return ctx.servers.withAccounts(store, accounts => accounts.extend(name, lifetime));
  },
  show: account => ({
    data: { ...account },
    noun: 'account',
    idField: 'name',
    columns: ACCOUNT_COLUMNS,
    blocks: [{ kind: 'line', text: `The account ${account.name} expires at ${account.expires_at}.` }],
  }),
});

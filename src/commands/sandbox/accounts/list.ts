import { command } from '../../../cli/parsing/command.ts';
import { shellWord } from '../../../core/shell-quote.ts';
import { ACCOUNT_COLUMNS, ACCOUNT_ROW, storeFlag } from './shown.ts';

/** Lists the accounts of a sandbox on a database. */
export const listAccounts = command({
  path: 'sandbox accounts list',
  summary: 'List the accounts of a sandbox on PostgreSQL',
  effect: 'read',
  reach: 'service',
  answers: { list: ACCOUNT_ROW },
  flags: { store: storeFlag },
  examples: [
    { does: 'All of them', run: 'sandbox accounts list --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox' },
    {
      does: 'The names alone',
      run: 'sandbox accounts list --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox -o id',
    },
  ],
  run: async (ctx, { store }) => ({
    store,
    rows: await ctx.servers.withAccounts(store, accounts => accounts.list()),
  }),
  show({ store, rows }) {
    async function* batches() {
      yield rows.map(row => ({ ...row }));
    }
    return {
      listing: {
        batches: batches(),
        page: () => ({ total: rows.length }),
        footer: count =>
          count === 0
            ? `No accounts. Make one: cardwright sandbox accounts create ana --store ${shellWord(store)}`
            : undefined,
      },
      noun: 'account',
      idField: 'name',
      columns: ACCOUNT_COLUMNS,
    };
  },
});

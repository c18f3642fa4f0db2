import { tells } from '../../../cli/answer-fields.ts';
import { confirmed } from '../../../cli/confirm.ts';
import { command } from '../../../cli/parsing/command.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { shellWord } from '../../../core/shell-quote.ts';
import { accountName, checkedName, storeFlag } from './shown.ts';

/** Removes an account of a sandbox on a database, with everything it holds. */
export const removeAccount = command({
  path: 'sandbox accounts remove',
  summary: 'Remove an account of a sandbox on PostgreSQL, with everything it holds',
  effect: 'irreversible',
  reach: 'service',
  answers: { one: { name: tells.text('The account.'), removed: tells.yes('Always true.') } },
  args: { name: accountName },
  flags: { store: storeFlag },
  examples: [
    {
      does: 'When a job has ended',
      run: 'sandbox accounts remove job-17 --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox --yes',
    },
    { does: 'Asked first', run: 'sandbox accounts remove ana --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox' },
  ],
  async run(ctx, { name: given, store }) {
    if (ctx.dryRun) throw usage('sandbox accounts remove sends nothing to the service; it has no dry run');
    const name = checkedName(given);
    const intent = `Remove the account ${name} and everything it holds`;
    await confirmed(ctx, {
      intent,
      question: `${intent}?`,
      command: `cardwright sandbox accounts remove ${name} --store ${shellWord(store)} --yes`,
    });
    await ctx.servers.withAccounts(store, accounts => accounts.remove(name));
    return { name, removed: true };
  },
  show: ({ name }) => ({
    noun: 'account',
    idField: 'name',
    columns: [
      { field: 'name', title: 'NAME', kind: 'id', priority: 1 },
      { field: 'removed', title: 'REMOVED', kind: 'boolean', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Removed ${name}.` }],
  }),
});

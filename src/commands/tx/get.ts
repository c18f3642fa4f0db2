import { watchedPages } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, OURS } from '../../cli/parsing/flag.ts';
import { must, text } from '../../contract/field.ts';
import { TRANSACTION } from '../../contract/resources.ts';
import { CliError } from '../../core/errors.ts';
import { TRANSACTION_COLUMNS } from './columns.ts';

/** Shows one transaction, found in the list: the service has no operation for one. */
export const getTransaction = command({
  path: 'tx get',
  summary: 'Show one transaction',
  answers: { one: TRANSACTION },
  about: ['The service has no operation for one transaction: the pages of the list are read until it is found.'],
  operation: 'transactions.list',
  ends: { not_found: 'There is no such transaction.' },
  args: { transaction: argument(must(text({ doc: 'Transaction identifier.', basis: OURS, maxLength: 128 }))) },
  flags: { card: 'query.card_id' },
  examples: [
    { does: 'In words', run: 'tx get txn_1' },
    { does: 'Its merchant for a script', run: 'tx get txn_1 --card card_1 --jq .merchant' },
  ],
  async run(ctx, { transaction, card }) {
    const pages = (await ctx.reader()).pages('transactions.list', { card_id: card });
    let count = 0;
    for await (const { data } of watchedPages(pages, { noun: 'transaction', progress: ctx.progress })) {
      const found = data.find(({ id }) => id === transaction);
      if (found !== undefined) return found;
      count += data.length;
    }
    const where = card === undefined ? 'of this account' : `of ${card}`;
    throw new CliError('not_found', {
      message: `no transaction ${transaction} among the ${count} ${where}`,
      hint: 'cardwright tx list',
      operation: 'transactions.list',
    });
  },
  show: () => ({ noun: 'transaction', columns: TRANSACTION_COLUMNS }),
});

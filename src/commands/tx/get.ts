import { pagesWithProgress } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, OURS } from '../../cli/parsing/flag.ts';
import { quote } from '../../cli/parsing/values.ts';
import type { Item } from '../../contract/calls.ts';
import { must, text } from '../../contract/field.ts';
import { TRANSACTION } from '../../contract/resources.ts';
import { CliError } from '../../core/errors.ts';
import { dollars, toCents } from '../../core/money.ts';
import { TRANSACTION_COLUMNS } from './columns.ts';

type Transaction = Item<'transactions.list'>;

/** The most candidates an error names. */
const MOST_NAMED = 10;

function severalFit(word: string, alike: readonly Transaction[]): CliError {
  const named = alike.slice(0, MOST_NAMED).map(({ id, created_at, merchant, amount }) => {
    const facts = [created_at, merchant, dollars(toCents(amount))];
    return `${id} (${facts.filter(Boolean).join(', ')})`;
  });
  const more = alike.length > MOST_NAMED ? [`and ${alike.length - MOST_NAMED} more`] : [];
  return new CliError('usage', {
    message: `${quote(word)} fits ${alike.length} transactions: write more characters of the id`,
    notes: [...named, ...more],
    hint: 'cardwright tx list --all',
    outcome: 'not_sent',
  });
}

/** Shows one transaction, found in the list: the service has no operation for one. */
export const getTransaction = command({
  path: 'tx get',
  summary: 'Show one transaction',
  answers: { one: TRANSACTION },
  about: ['The service has no request for one transaction, so the pages of the list are read until it is found.'],
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
    const beginning = transaction.replace(/(?:…|\.\.\.)$/u, '');
    const alike: Transaction[] = [];
    let count = 0;
    for await (const { data } of pagesWithProgress(pages, { noun: 'transaction', progress: ctx.progress })) {
      const found = data.find(({ id }) => id === transaction);
      if (found !== undefined) return found;
      alike.push(...data.filter(({ id }) => id.startsWith(beginning)));
      count += data.length;
    }
    const [only] = alike;
    if (alike.length === 1 && only !== undefined) return only;
    if (alike.length > 1) throw severalFit(transaction, alike);
    const where = card === undefined ? 'of this account' : `of ${card}`;
    throw new CliError('not_found', {
      message: `no transaction ${transaction} among the ${count} ${where}`,
      hint: 'cardwright tx list',
      operation: 'transactions.list',
    });
  },
  show: () => ({ noun: 'transaction', columns: TRANSACTION_COLUMNS }),
});

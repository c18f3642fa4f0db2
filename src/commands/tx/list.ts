import { command } from '../../cli/command.ts';
import { PAGING_FLAGS, pagedListing } from '../../cli/listing.ts';
import { TRANSACTION_COLUMNS } from './columns.ts';
import { refuseBackwards } from './range.ts';

/** Lists transaction records, newest first. */
export const listTransactions = command({
  path: 'tx list',
  summary: 'List transactions, newest first',
  about: [
    'Times are ISO 8601, a date such as 2026-11-01, yesterday, or 7d for seven days ago; local unless a zone is given. Both ends are included.',
  ],
  operation: 'transactions.list',
  flags: {
    card: 'query.card_id',
    type: 'query.type',
    from: 'query.from',
    to: 'query.to',
    page: 'query.page',
    ...PAGING_FLAGS,
  },
  examples: [
    { does: 'The newest', run: 'tx list' },
    { does: 'Declines of the last week', run: 'tx list --type decline --from 7d --all' },
    { does: 'One object a line', run: 'tx list --card card_1 --all -o ndjson' },
  ],
  async run(ctx, { card, type, from, to, page, all, limit }) {
    refuseBackwards({ from, to });
    const reader = await ctx.reader();
    const sorted = ctx.sorted && page === undefined;
    const pages = reader.pages('transactions.list', { card_id: card, type, from, to, page });
    const wish = { noun: 'transaction', all, limit, progress: ctx.progress, sorted, numbered: page !== undefined };
    return pagedListing(pages, wish);
  },
  show: listing => ({ listing, noun: 'transaction', columns: TRANSACTION_COLUMNS }),
});

import { columnsOf, SHORT_ID } from '../../cli/columns.ts';
import { PAGING_FLAGS, pagedListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { FOUND_CARD } from '../../contract/sandbox/holdings.ts';

const COLUMNS = columnsOf(FOUND_CARD, {
  id: { priority: 1, shortTo: SHORT_ID },
  last4: { priority: 1 },
  status: { priority: 1 },
  balance: { priority: 1 },
  hold: { priority: 2 },
  label: { priority: 3, shrink: true },
  created_at: { title: 'AGE', priority: 4 },
});

/** Cards of the sandbox, looked for without a trace. */
export const sandboxCards = command({
  path: 'sandbox cards',
  summary: 'List the cards of the sandbox, or search them',
  about: [
    'Newest first, with what is on hold. Looking changes nothing in the sandbox; cards list is a request of yours.',
  ],
  operation: 'cards',
  flags: {
    q: 'query.q',
    status: 'query.status',
    bin: 'query.bin',
    page: 'query.page',
    perPage: 'query.per_page',
    ...PAGING_FLAGS,
  },
  examples: [
    { does: 'The newest', run: 'sandbox cards' },
    { does: 'By a part of the label', run: 'sandbox cards --q ads --status active' },
  ],
  async run(ctx, { q, status, bin, page, perPage, all, limit }) {
    const admin = await ctx.sandbox();
    return pagedListing(admin.pages('cards', { q, status, bin, page, per_page: perPage }), {
      noun: 'card',
      all,
      limit,
      sorted: ctx.sorted && page === undefined,
      numbered: page !== undefined,
      perPage,
    });
  },
  show: listing => ({ listing, noun: 'card', columns: COLUMNS }),
});

import { orNull, tells } from '../../../cli/answer-fields.ts';
import { PAGING_FLAGS, pagedListing } from '../../../cli/listing.ts';
import { command } from '../../../cli/parsing/command.ts';
import { ADMIN_OPERATIONS } from '../../../contract/sandbox/admin.ts';
import { DELIVERY_COLUMNS, type Delivery, lastAnswer } from './columns.ts';

/** Lists deliveries with every attempt. */
export const listDeliveries = command({
  path: 'sandbox deliveries list',
  summary: 'List deliveries to subscriptions with their attempts, newest first',
  answers: {
    list: {
      ...ADMIN_OPERATIONS.deliveries.returns.shape,
      last: orNull(tells.text('What came of the newest attempt.')),
    },
  },
  about: [
    'sandbox start, sandbox exec and webhooks listen send deliveries; until one of them runs, deliveries wait. --json shows each attempt with what was sent and what was answered.',
  ],
  operation: 'deliveries',
  flags: {
    webhook: 'query.webhook_id',
    event: 'query.event',
    eventId: 'query.event_id',
    state: 'query.state',
    page: 'query.page',
    perPage: 'query.per_page',
    ...PAGING_FLAGS,
  },
  examples: [
    { does: 'The newest', run: 'sandbox deliveries list' },
    { does: 'What did not arrive, with every attempt', run: 'sandbox deliveries list --state failed --all --json' },
  ],
  async run(ctx, { webhook, event, eventId, state, page, perPage, all, limit }) {
    const admin = await ctx.sandbox();
    const pages = admin.pages('deliveries', {
      webhook_id: webhook,
      event,
      event_id: eventId,
      state,
      page,
      per_page: perPage,
    });
    return pagedListing(withLast(pages), {
      noun: 'delivery',
      all,
      limit,
      sorted: ctx.sorted && page === undefined,
      numbered: page !== undefined,
      perPage,
    });
  },
  show: listing => ({ listing, noun: 'delivery', columns: DELIVERY_COLUMNS }),
});

async function* withLast<P>(pages: AsyncIterable<P & { readonly data: readonly Delivery[] }>) {
  for await (const page of pages) {
    yield { ...page, data: page.data.map(row => ({ ...row, last: lastAnswer(row) })) };
  }
}

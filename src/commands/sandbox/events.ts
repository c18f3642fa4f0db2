import { columnsOf } from '../../cli/columns.ts';
import { PAGING_FLAGS, pagedListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { withoutCode } from '../../contract/event-code.ts';
import type { ItemOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import { EVENT } from '../../contract/sandbox/ledger.ts';
import { checkEvents } from '../webhooks/events-flag.ts';

type EventItem = ItemOf<AdminOperations['events']>;

const COLUMNS = columnsOf(EVENT, {
  seq: { title: 'NO', priority: 1 },
  type: { priority: 1 },
  created_at: { title: 'AT', priority: 2, kind: 'text' },
  id: { title: 'EVENT ID', priority: 3 },
  body: { title: 'BODY', priority: 6, shrink: true },
});

/** What the sandbox told, whether anybody listened or not. */
export const sandboxEvents = command({
  path: 'sandbox events',
  summary: 'List the events that the sandbox recorded, newest first',
  about: [
    'With --after they come in their order, from the one behind that number on. A one-time code in a body is replaced; 3ds list shows it.',
    'Looking changes nothing in the sandbox.',
  ],
  operation: 'events',
  flags: {
    type: 'query.type',
    card: 'query.card_id',
    after: 'query.after',
    page: 'query.page',
    perPage: 'query.per_page',
    ...PAGING_FLAGS,
  },
  examples: [
    { does: 'The newest', run: 'sandbox events' },
    { does: 'What came after number 2, in its order', run: 'sandbox events --after 2 --all --json' },
  ],
  async run(ctx, { type, card, after, page, perPage, all, limit }) {
    if (type !== undefined) checkEvents([type]);
    const admin = await ctx.sandbox();
    const order = after === undefined ? 'desc' : 'asc';
    const pages = admin.pages('events', { type, card_id: card, after, order, page, per_page: perPage });
    return pagedListing(withoutCodes(pages), {
      noun: 'event',
      all,
      limit,
      sorted: ctx.sorted && page === undefined,
      numbered: page !== undefined,
      perPage,
    });
  },
  show: listing => ({ listing, noun: 'event', columns: COLUMNS }),
});

async function* withoutCodes<P>(pages: AsyncIterable<P & { readonly data: readonly EventItem[] }>) {
  for await (const page of pages) {
    yield { ...page, data: page.data.map(event => ({ ...event, body: withoutCode(event.type, event.body) })) };
  }
}

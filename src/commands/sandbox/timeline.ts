import { columnsOf } from '../../cli/columns.ts';
import { PAGING_FLAGS, pagedListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { quote, usage } from '../../cli/parsing/values.ts';
import { TIMELINE_ITEM, TIMELINE_KINDS } from '../../contract/sandbox/inspector.ts';
import { card } from '../cards/arguments.ts';

const COLUMNS = [
  ...columnsOf(TIMELINE_ITEM, {
    at: { title: 'AT', priority: 2, kind: 'text' },
    kind: { priority: 1 },
    number: { title: 'NO', priority: 4 },
    text: { title: 'WHAT', priority: 1, shrink: true },
    amount: { priority: 3 },
    id: { title: 'ID', priority: 5, kind: 'id' },
  }),
];

/** The life of a card. */
export const cardTimeline = command({
  path: 'sandbox timeline',
  summary: 'Show what happened to a card: requests, money, challenges, events, deliveries',
  about: [
    'Newest first. Each kind is in the order of its own numbers, because the clock of the sandbox may stand or go back; at one time, what led to something stands before it.',
    'Of each kind the newest 10,000 are looked at; of requests, those that are still in the log. Looking changes nothing in the sandbox.',
  ],
  operation: 'cards.timeline',
  args: { card },
  flags: { kinds: 'query.kinds', page: 'query.page', perPage: 'query.per_page', ...PAGING_FLAGS },
  examples: [
    { does: 'The newest', run: 'sandbox timeline card_1' },
    { does: 'Money alone, all of it', run: 'sandbox timeline card_1 --kinds transaction,entry --all' },
  ],
  async run(ctx, { card, kinds, page, perPage, all, limit }) {
    checkKinds(kinds);
    const admin = await ctx.sandbox();
    const pages = await begun(admin.pages('cards.timeline', { card_id: card, kinds, page, per_page: perPage }));
    return pagedListing(pages, {
      noun: 'item',
      all,
      limit,
      sorted: ctx.sorted && page === undefined,
      numbered: page !== undefined,
      perPage,
    });
  },
  show: listing => ({ listing, noun: 'item', columns: COLUMNS }),
});

/** The same pages, the first of them read: a card that is not there is said before anything is shown. */
async function begun<Page>(pages: AsyncIterable<Page>): Promise<AsyncIterable<Page>> {
  const iterator = pages[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
  })();
}

/** Throws `usage` with the kinds there are. */
function checkKinds(kinds: string | undefined): void {
  const known: readonly string[] = TIMELINE_KINDS;
  const other = kinds?.split(',').find(kind => !known.includes(kind.trim()));
  if (other !== undefined) throw usage(`--kinds ${quote(other)} is none of ${known.join(', ')}`);
}

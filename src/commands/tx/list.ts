import { allOf, CONDITION_VALUES, CONDITIONS } from '../../cli/condition.ts';
import type { Context } from '../../cli/context.ts';
import { PAGING_FLAGS, pagedListing } from '../../cli/listing.ts';
import { OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { text } from '../../contract/field.ts';
import { TRANSACTION } from '../../contract/resources.ts';
import type { Row } from '../../terminal/view.ts';
import { TRANSACTION_COLUMNS } from './columns.ts';
import { refuseBackwards } from './range.ts';

/** Lists transaction records, newest first. */
export const listTransactions = command({
  path: 'tx list',
  summary: 'List transactions, newest first',
  about: [
    'A time is ISO 8601, a date such as 2026-11-01, yesterday, or 7d for seven days ago. It is local unless it names a zone. Both ends are included.',
    '--where, --merchant and --label read every page. --merchant and --label match a part of the name, in upper or lower case.',
    CONDITION_VALUES,
  ],
  operation: 'transactions.list',
  flags: {
    card: 'query.card_id',
    type: 'query.type',
    since: 'query.from',
    until: 'query.to',
    page: 'query.page',
    ...PAGING_FLAGS,
    merchant: option(text({ doc: 'Only those whose merchant contains this.', basis: OURS })),
    label: option(text({ doc: 'Only those of cards whose label contains this.', basis: OURS })),
    where: CONDITIONS,
    offline: OFFLINE,
  },
  examples: [
    { does: 'The newest', run: 'tx list' },
    { does: 'Declines of the last week', run: 'tx list --type decline --since 7d --all' },
    { does: 'What one merchant took, twenty dollars and more', run: "tx list --merchant acme --where 'amount>=20'" },
    { does: 'One object a line', run: 'tx list --card card_1 --all -o ndjson' },
  ],
  async run(ctx, { card, type, since, until, page, all, limit, merchant, label, where }) {
    refuseBackwards({ since, until });
    const keep: ((row: Row) => boolean)[] = [];
    if (where !== undefined)
      keep.push(allOf(where, { shape: TRANSACTION, now: () => ctx.serviceNow(), flag: '--where' }));
    if (merchant !== undefined) keep.push(row => contains(row['merchant'], merchant));
    if (label !== undefined) {
      const labelled = await cardsLabelled(ctx, label);
      keep.push(row => labelled.has(String(row['card_id'])));
    }
    const reader = await ctx.reader();
    const sorted = ctx.sorted && page === undefined;
    const pages = reader.pages('transactions.list', { card_id: card, type, from: since, to: until, page });
    const wish = {
      noun: 'transaction',
      all,
      limit,
      progress: ctx.progress,
      sorted,
      numbered: page !== undefined,
      keep,
    };
    return pagedListing(pages, wish);
  },
  show: listing => ({ listing, noun: 'transaction', columns: TRANSACTION_COLUMNS }),
});

function contains(value: unknown, part: string): boolean {
  return typeof value === 'string' && value.toLowerCase().includes(part.toLowerCase());
}

/** Ids of the cards whose label contains the text: a record of a transaction has no label. */
async function cardsLabelled(ctx: Context, label: string): Promise<ReadonlySet<string>> {
  const pages = (await ctx.reader()).pages('cards.list', { per_page: 100 });
  const found = new Set<string>();
  for await (const { data } of pages) for (const card of data) if (contains(card.label, label)) found.add(card.id);
  return found;
}

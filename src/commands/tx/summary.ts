import { orNull, tells } from '../../cli/answer-fields.ts';
import { pagesWithProgress } from '../../cli/listing.ts';
import { OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { choice } from '../../contract/field.ts';
import { cents, dollars, toCents } from '../../core/money.ts';
import type { Column, Listing } from '../../terminal/view.ts';
import { refuseBackwards } from './range.ts';
import { GROUPINGS, type Grouping, leftOutText, Summary } from './sums.ts';

const by = option(choice(GROUPINGS, { doc: 'What to sum by; day by default.', basis: OURS }));

const SUMS = {
  transactions: tells.count('How many there are.'),
  spent: tells.usd('Settled less refunded, USD.'),
  settled: tells.usd('Settled, USD.'),
  refunded: tells.usd('Refunded, USD.'),
  pending: tells.usd('Held by open authorizations, USD.'),
  declined: tells.usd('Declined, USD.'),
} as const;

/** Adds transactions up, over all pages. */
export const summarizeTransactions = command({
  path: 'tx summary',
  summary: 'Sum transactions by day, merchant, card or type',
  answers: {
    list: { group: orNull(tells.text('Day, merchant, card or type.')), ...SUMS },
    page: { by: tells.word('What was added up by.', GROUPINGS), ...SUMS },
  },
  about: [
    'Reads every page. Spent is settlements minus refunds. Pending is the sum of authorizations that still hold money. Days are in your time zone.',
    'At a terminal a bar is drawn beside each sum, unless you give --accessible.',
  ],
  operation: 'transactions.list',
  flags: { by, card: 'query.card_id', type: 'query.type', since: 'query.from', until: 'query.to', offline: OFFLINE },
  examples: [
    { does: 'What was spent, day by day', run: 'tx summary --since 30d' },
    { does: 'Where the money goes', run: 'tx summary --by merchant' },
    { does: 'The sums of each card as data', run: 'tx summary --by card --json' },
  ],
  async run(ctx, { by = 'day', card, type, since, until }) {
    refuseBackwards({ since, until });
    const reader = await ctx.reader();
    const summary = new Summary(by);
    const pages = reader.pages('transactions.list', { card_id: card, type, from: since, to: until });
    for await (const { data } of pagesWithProgress(pages, { noun: 'transaction', progress: ctx.progress })) {
      for (const record of data) summary.add(record);
    }
    if (summary.leftOut > 0) ctx.notice(leftOutText(summary.leftOut));
    return { by, listing: listingOf(summary, by) };
  },
  show: ({ by, listing }) => ({ listing, noun: 'group', idField: 'group', columns: columnsFor(by), bars: 'spent' }),
});

function listingOf(summary: Summary, by: Grouping): Listing {
  const total = summary.total();
  const groups = summary.groups();
  async function* batches() {
    yield groups.map(group => ({ ...group }));
  }
  return {
    batches: batches(),
    page: () => ({ total: groups.length, by, ...total }),
    footer(rows) {
      if (rows === 0) return 'No transactions.';
      const words = [`${dollars(toCents(total.spent))} spent`, `${count(total.transactions, 'transaction')}`];
      if (toCents(total.pending) > cents(0)) words.push(`${dollars(toCents(total.pending))} pending`);
      return `${words.join(', ')}.`;
    },
  };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function columnsFor(by: Grouping): readonly Column[] {
  const kind = by === 'card' ? 'id' : 'text';
  return [
    { field: 'group', title: by.toUpperCase(), kind, priority: 1, ...(by === 'merchant' && { shrink: true as const }) },
    { field: 'spent', title: 'SPENT', kind: 'money', priority: 1 },
    { field: 'transactions', title: 'COUNT', kind: 'integer', priority: 2 },
    { field: 'settled', title: 'SETTLED', kind: 'money', priority: 6, wideOnly: true },
    { field: 'refunded', title: 'REFUNDED', kind: 'money', priority: 5, wideOnly: true },
    { field: 'pending', title: 'PENDING', kind: 'money', priority: 4 },
    { field: 'declined', title: 'DECLINED', kind: 'money', priority: 7, wideOnly: true },
  ];
}

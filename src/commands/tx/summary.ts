/** Sums of transactions by month, merchant or card. */
import { effectOf } from '../../books/records.ts';
import { countOf, pagesWithProgress, rowsListing } from '../../cli/listing.ts';
import { OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import type { Item } from '../../contract/calls.ts';

import { isInDollars } from '../../contract/resources.ts';
import { cents, dollars, toCents, toUsd } from '../../core/money.ts';
import type { Column, Listing } from '../../terminal/view.ts';
import { refuseBackwards } from './transactions.ts';

type Transaction = Item<'transactions.list'>;

export const GROUPINGS = ['day', 'merchant', 'card', 'type'] as const;
type Grouping = (typeof GROUPINGS)[number];

/** Takes records one after the other; the sums are exact however many there are. */
export class Summary {
  readonly #groups = new Map<string | null, Tally>();
  readonly #all = emptyTally();
  #leftOut = 0;
  readonly #by: Grouping;

  constructor(by: Grouping) {
    this.#by = by;
  }

  /** A record in another currency is counted alone: its amount is no sum of dollars. */
  add(record: Transaction): void {
    if (!isInDollars(record)) {
      this.#leftOut += 1;
      return;
    }
    const { created_at, merchant, card_id, type } = record;
    const day = created_at == null ? null : localDay(created_at);
    const key = { day, merchant, card: card_id, type }[this.#by] ?? null;
    const group = this.#groups.get(key) ?? emptyTally();
    this.#groups.set(key, group);
    for (const tally of [group, this.#all]) tallyRecord(tally, record);
  }

  /** Days in their order, everything else by what was spent, most first; what is not known stands last. */
  groups() {
    const rows = [...this.#groups].map(([group, tally]) => ({ group, ...sumsOf(tally) }));
    type Row = (typeof rows)[number];
    const byName = (a: Row, b: Row) => (a.group ?? '').localeCompare(b.group ?? '', 'en');
    const known = (a: Row, b: Row) => Number(a.group === null) - Number(b.group === null);
    if (this.#by === 'day') return rows.sort((a, b) => known(a, b) || byName(a, b));
    return rows.sort((a, b) => known(a, b) || b.spent - a.spent || b.pending - a.pending || byName(a, b));
  }

  /** How many records are in another currency than USD. */
  get leftOut(): number {
    return this.#leftOut;
  }

  total() {
    return sumsOf(this.#all);
  }
}

/** `2026-11-20`, of the zone of this process, as `--since 2026-11-20` means it. */
function localDay(time: string): string {
  const at = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function tallyRecord(tally: Tally, { id, type, status, amount, authorization_id }: Transaction): void {
  tally.transactions += 1;
  const columns = { tx_id: id, type, status: status ?? null, authorization_id: authorization_id ?? null };
  const effect = effectOf({ ...columns, cents: toCents(amount) });
  for (const column of ['settled', 'refunded', 'pending', 'declined'] as const) {
    tally[column] = cents(tally[column] + effect[column]);
  }
}

type Tally = ReturnType<typeof emptyTally>;

function emptyTally() {
  return { transactions: 0, settled: cents(0), refunded: cents(0), pending: cents(0), declined: cents(0) };
}

/** USD, as amounts are in JSON. `spent` is what was settled less what was refunded. */
function sumsOf({ transactions, settled, refunded, pending, declined }: Tally) {
  return {
    transactions,
    spent: toUsd(cents(settled - refunded)),
    settled: toUsd(settled),
    refunded: toUsd(refunded),
    pending: toUsd(pending),
    declined: toUsd(declined),
  };
}

/** Said of records that the sums leave out. */
export function leftOutText(count: number): string {
  const records = count === 1 ? '1 record is' : `${count} records are`;
  return `warning: ${records} in another currency than USD and left out of the sums; tx list -o wide shows the currency`;
}

const by = option(takes.choice(GROUPINGS, 'What to sum by; day by default.'));

const SUMS = {
  transactions: tells.count('How many there are.'),
  spent: tells.usd('Settled less refunded, USD.'),
  settled: tells.usd('Settled, USD.'),
  refunded: tells.usd('Refunded, USD.'),
  pending: tells.usd('Held by open authorizations, USD.'),
  declined: tells.usd('Declined, USD.'),
} as const;

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
    const reader = await ctx.api.reader();
    const summary = new Summary(by);
    const pages = reader.pages('transactions.list', { card_id: card, type, from: since, to: until });
    for await (const { data } of pagesWithProgress(pages, { noun: 'transaction', progress: ctx.ui.progress })) {
      for (const record of data) summary.add(record);
    }
    if (summary.leftOut > 0) ctx.ui.notice(leftOutText(summary.leftOut));
    return { by, listing: listingOf(summary, by) };
  },
  show: ({ by, listing }) => ({ listing, noun: 'group', idField: 'group', columns: columnsFor(by), bars: 'spent' }),
});

function listingOf(summary: Summary, by: Grouping): Listing {
  const total = summary.total();
  const groups = summary.groups();
  return rowsListing(groups, {
    page: { total: groups.length, by, ...total },
    footer(rows) {
      if (rows === 0) return 'No transactions.';
      const words = [`${dollars(toCents(total.spent))} spent`, countOf(total.transactions, 'transaction')];
      if (toCents(total.pending) > cents(0)) words.push(`${dollars(toCents(total.pending))} pending`);
      return `${words.join(', ')}.`;
    },
  });
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

/** Sums of transactions by spans of time, or by what they have in common. */
import { effectOf } from '../../books/records.ts';
import { dayOf, dayText } from '../../books/spending.ts';
import { CONDITION_VALUES } from '../../cli/condition.ts';
import { columnsOf, countOf, pagesWithProgress, rowsListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import type { Item } from '../../contract/calls.ts';
import { isInDollars } from '../../contract/resources.ts';
import { instantOf } from '../../core/durations.ts';
import { cents, toCents, toUsd } from '../../core/money.ts';
import { money } from '../cards/cards.ts';
import { labelsOf, MATCH_FLAGS, RANGE_FLAGS, refuseBackwards, testsOf } from './transactions.ts';

type Transaction = Item<'transactions.list'>;

export const GROUPINGS = ['day', 'week', 'month', 'merchant', 'card', 'label', 'type'] as const;
type Grouping = (typeof GROUPINGS)[number];

const SPANS: readonly Grouping[] = ['day', 'week', 'month'];

/** Takes records one after the other; the sums are exact however many there are. */
export class Summary {
  readonly #groups = new Map<string | null, Tally>();
  readonly #all = emptyTally();
  readonly #by: Grouping;
  readonly #labels: ReadonlyMap<string, string>;
  /** How many records are in another currency than USD. */
  leftOut = 0;

  /** `labels` of cards, for a summary by label. */
  constructor(by: Grouping, labels: ReadonlyMap<string, string> = new Map()) {
    this.#by = by;
    this.#labels = labels;
  }

  /** A record in another currency is counted alone: its amount is no sum of dollars. */
  add(record: Transaction): void {
    if (!isInDollars(record)) {
      this.leftOut += 1;
      return;
    }
    const key = this.#groupOf(record) ?? null;
    const group = this.#groups.get(key) ?? emptyTally();
    this.#groups.set(key, group);
    const { id, type, status = null, amount, authorization_id = null } = record;
    const effect = effectOf({ tx_id: id, type, status, authorization_id, cents: toCents(amount) });
    for (const tally of [group, this.#all]) {
      tally.transactions += 1;
      for (const column of ['settled', 'refunded', 'pending', 'declined'] as const)
        tally[column] = cents(tally[column] + effect[column]);
    }
  }

  #groupOf({ created_at, merchant, card_id, type }: Transaction): string | null | undefined {
    if (SPANS.includes(this.#by)) return created_at == null ? null : spanOf(created_at, this.#by);
    const label = this.#labels.get(card_id ?? '');
    return { merchant, card: card_id, label, type }[this.#by as 'merchant'];
  }

  /** Spans of time in their order, everything else by what was spent, most first; what is not known stands last. */
  groups() {
    const rows = [...this.#groups].map(([group, tally]) => ({ group, ...sumsOf(tally) }));
    type Row = (typeof rows)[number];
    const byName = (a: Row, b: Row) => (a.group ?? '').localeCompare(b.group ?? '', 'en');
    const known = (a: Row, b: Row) => Number(a.group === null) - Number(b.group === null);
    if (SPANS.includes(this.#by)) return rows.sort((a, b) => known(a, b) || byName(a, b));
    return rows.sort((a, b) => known(a, b) || b.spent - a.spent || b.pending - a.pending || byName(a, b));
  }

  total() {
    return sumsOf(this.#all);
  }
}

/** `2026-11-20`, the first day of a week, or `2026-11`, of the zone of this process, as `--since 2026-11-20` means it. */
function spanOf(time: string, by: Grouping): string {
  const day = dayOf(instantOf(time) ?? Number.NaN);
  // The first day of all was a Thursday.
  const text = dayText(by === 'week' ? day - ((day + 3) % 7) : day);
  return by === 'month' ? text.slice(0, '2026-11'.length) : text;
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

const GROUP = orNull(tells.text('First day, month, merchant, card, label or type.'));

const SUMS = {
  transactions: tells.count('How many there are.'),
  spent: tells.usd('Settled less refunded, USD.'),
  settled: tells.usd('Settled, USD.'),
  refunded: tells.usd('Refunded, USD.'),
  pending: tells.usd('Sum of open authorizations, USD: at most what they hold.'),
  declined: tells.usd('Declined, USD.'),
} as const;

export const summarizeTransactions = command({
  path: 'tx summary',
  summary: 'Sum transactions by day, week, month, merchant, card, label or type',
  answers: {
    list: { group: GROUP, ...SUMS },
    page: { by: tells.word('What was added up by.', GROUPINGS), ...SUMS },
  },
  about: [
    'Reads every page. Spent is settlements minus refunds. Pending is the sum of open authorizations, at most what they hold: a partial reversal leaves no record, and overview shows what is held. Days are in your time zone, and a week begins on Monday.',
    'At a terminal a bar is drawn beside each sum, unless you give --accessible.',
    CONDITION_VALUES,
  ],
  operation: 'transactions.list',
  flags: {
    by: option(takes.choice(GROUPINGS, 'What to sum by; day by default.')),
    ...RANGE_FLAGS,
    ...MATCH_FLAGS,
  },
  examples: {
    'What was spent, day by day': 'tx summary --since 30d',
    'Week by week': 'tx summary --by week --since 90d',
    'Where the money goes': 'tx summary --by merchant',
    'The sums of each card as data': 'tx summary --by card --json',
  },
  async run(ctx, { by = 'day', card, type, since, until, ...wanted }) {
    refuseBackwards({ since, until });
    const { label } = wanted;
    const labels = by === 'label' || label !== undefined ? await labelsOf(ctx) : new Map<string, string>();
    const tests = testsOf(ctx, { ...wanted, labels });
    const reader = await ctx.api.reader();
    const summary = new Summary(by, labels);
    const pages = reader.pages('transactions.list', { card_id: card, type, from: since, to: until });
    for await (const { data } of pagesWithProgress(pages, { noun: 'transaction', progress: ctx.ui.progress })) {
      for (const record of data) if (tests.every(test => test(record))) summary.add(record);
    }
    if (summary.leftOut > 0) ctx.ui.notice(leftOutText(summary.leftOut));
    return { by, total: summary.total(), groups: summary.groups() };
  },
  noun: 'group',
  idField: 'group',
  show: ({ by, total, groups }) => ({
    listing: rowsListing(groups, {
      page: { total: groups.length, by, ...total },
      footer(rows) {
        if (rows === 0) return 'No transactions.';
        const words = [`${money(total.spent)} spent`, countOf(total.transactions, 'transaction')];
        if (total.pending > 0) words.push(`${money(total.pending)} pending`);
        return `${words.join(', ')}.`;
      },
    }),
    columns: columnsOf(
      { group: GROUP, ...SUMS },
      'group spent transactions:2 settled:6+ refunded:5+ pending:4 declined:7+',
      {
        group: {
          title: by.toUpperCase(),
          ...(by === 'card' && { kind: 'id' }),
          ...((by === 'merchant' || by === 'label') && { shrink: true }),
        },
        transactions: 'COUNT',
      },
    ),
    bars: 'spent',
  }),
});

import { CHARTED_BY, Chart, type ChartedBy, type ChartGroup, dayOf, dayText } from '../../books/spending.ts';
import { allOf, CONDITION_VALUES, CONDITIONS } from '../../cli/condition.ts';
import { pagesWithProgress, rowsListing } from '../../cli/listing.ts';
import { OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { maybe, option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import type { Item } from '../../contract/calls.ts';
import { isInDollars, TRANSACTION } from '../../contract/resources.ts';
import { cents, dollars, toCents, toUsd } from '../../core/money.ts';
import { sparkline } from '../../terminal/charts.ts';
import type { Column } from '../../terminal/view.ts';
import { leftOutText } from './summary.ts';
import { contains, labelsOf, refuseBackwards } from './transactions.ts';

const USUAL_TOP = 10;

export const chartTransactions = command({
  path: 'tx chart',
  summary: 'Draw what was spent by day, week, month, card, merchant or label',
  answers: {
    list: {
      group: orNull(tells.text('First day, month, card, merchant or label; null where the records do not say.')),
      spent: tells.usd('Settled less refunded, USD.'),
      transactions: tells.count('How many records there are.'),
      days: maybe(tells.count('Days of the span that have begun; by day, week and month.')),
      buckets: maybe(
        tells.rows(
          { start: tells.text('The day.'), spent: tells.usd('Settled less refunded on it, USD.') },
          'Day by day from the first record to the last; by card, merchant and label.',
        ),
      ),
    },
    page: {
      by: tells.word('What is charted by.', CHARTED_BY),
      total: tells.usd('Spent in all, also in groups beyond --top, USD.'),
      groups: tells.count('Groups there are.'),
      later: tells.count('Records that are dated after today and are left out; with --until none are.'),
    },
  },
  about: [
    'Spent is what was settled less what was refunded. Days are those of your time zone, a week begins on Monday; spans without a record are there too; records dated after today are counted and left out, unless --until is given. A card, merchant or label has a line of its own: a level a day, · where nothing moved, ▿ where more was refunded than spent; over 30 days it joins neighbours.',
    'Lines and bars are on a terminal alone; --accessible and pipes get the numbers.',
    CONDITION_VALUES,
  ],
  operation: 'transactions.list',
  flags: {
    by: option(takes.choice(CHARTED_BY, 'What to chart by; day when left out.')),
    top: option(takes.integer('Most cards, merchants or labels.', { min: 1, defaults: USUAL_TOP })),
    card: 'query.card_id',
    type: 'query.type',
    since: 'query.from',
    until: 'query.to',
    merchant: option(takes.text('Only those whose merchant contains this.')),
    label: option(takes.text('Only those of cards whose label contains this.')),
    where: CONDITIONS,
    offline: OFFLINE,
  },
  examples: [
    { does: 'Week by week', run: 'tx chart --by week --since 90d' },
    { does: 'Where the money goes, and how it went', run: 'tx chart --by merchant --top 5' },
    { does: 'Months as data', run: 'tx chart --by month --json' },
  ],
  async run(ctx, { by = 'day', top = USUAL_TOP, card, type, since, until, merchant, label, where }) {
    refuseBackwards({ since, until });
    const test = allOf(where ?? [], { shape: TRANSACTION, now: () => ctx.api.serviceNow(), flag: '--where' });
    const labels = by === 'label' || label !== undefined ? await labelsOf(ctx) : new Map<string, string>();
    const chart = new Chart(by);
    // Told by the answers: before the first one nobody knows the time of the service.
    const today = () => dayOf(ctx.api.serviceNow());
    let later = 0;
    let leftOut = 0;
    const pages = (await ctx.api.reader()).pages('transactions.list', { card_id: card, type, from: since, to: until });
    for await (const { data } of pagesWithProgress(pages, { noun: 'transaction', progress: ctx.ui.progress })) {
      const last = until === undefined ? today() : Number.POSITIVE_INFINITY;
      for (const record of data) {
        if (merchant !== undefined && !contains(record.merchant, merchant)) continue;
        if (label !== undefined && !contains(labels.get(record.card_id ?? ''), label)) continue;
        if (!test(record)) continue;
        if (dayOf(Date.parse(record.created_at ?? '')) > last) later += 1;
        else if (!isInDollars(record)) leftOut += 1;
        else add(chart, record, groupOf(record, by, labels));
      }
    }
    if (leftOut > 0) ctx.ui.notice(leftOutText(leftOut));
    if (later > 0) {
      const records = later === 1 ? '1 record is' : `${later} records are`;
      ctx.ui.notice(`${records} dated after today and left out; --until shows them`);
    }
    const groups = chart.groups(today());
    const isCut = by === 'card' || by === 'merchant' || by === 'label';
    return { by, groups: isCut ? groups.slice(0, top) : groups, of: groups.length, total: chart.total(), later };
  },
  show({ by, groups, of, total, later }) {
    const rows = groups.map(({ group, spent, transactions, days, buckets }) => ({
      group,
      spent: toUsd(spent),
      transactions,
      ...(days !== undefined && { days }),
      ...(buckets && { buckets: buckets.map(each => ({ start: dayText(each.start), spent: toUsd(each.spent) })) }),
    }));
    const courses = new Map(groups.map(({ group, buckets = [] }) => [group, buckets]));
    const isSpan = by === 'day' || by === 'week' || by === 'month';
    const largest = groups.reduce((most, { spent }) => Math.max(most, spent), 0);
    return {
      listing: rowsListing(rows, {
        page: { by, total: toUsd(total), groups: of, later },
        footer(count) {
          if (count === 0) return 'No transactions.';
          const cut = count < of ? `, ${count} of ${of} shown` : '';
          return `${dollars(total)} spent, the largest row ${dollars(cents(largest))}${cut}.${joinedText(groups)}`;
        },
      }),
      noun: 'group',
      idField: 'group',
      columns: columnsFor(by),
      ...(isSpan
        ? { bars: 'spent' }
        : { courses: { beside: 'spent', of: row => courses.get(row['group'] as string) ?? [] } }),
    };
  },
});

type Transaction = Item<'transactions.list'>;

/** A record whose time cannot be read has no day to stand on. */
function add(chart: Chart, record: Transaction, group: string | null): void {
  const { id, type, status, amount, authorization_id, created_at } = record;
  const at_ms = Date.parse(created_at ?? '');
  if (Number.isNaN(at_ms)) return;
  chart.add({
    tx_id: id,
    type: type ?? '',
    status: status ?? null,
    cents: toCents(amount),
    authorization_id: authorization_id ?? null,
    at_ms,
    group,
  });
}

function groupOf(record: Transaction, by: ChartedBy, labels: ReadonlyMap<string, string>): string | null {
  if (by === 'card') return record.card_id ?? null;
  if (by === 'merchant') return record.merchant ?? null;
  return by === 'label' ? (labels.get(record.card_id ?? '') ?? null) : null;
}

/** What one character of the lines stands for, where that is not a day. */
function joinedText(groups: readonly ChartGroup[]): string {
  const { joined } = sparkline(groups[0]?.buckets ?? [], { unicode: true });
  return joined > 1 ? ` A character stands for ${joined} days.` : '';
}

function columnsFor(by: ChartedBy): readonly Column[] {
  const kind = by === 'card' ? 'id' : 'text';
  const shrinks = by === 'merchant' || by === 'label';
  return [
    { field: 'group', title: by.toUpperCase(), kind, priority: 1, ...(shrinks && { shrink: true as const }) },
    { field: 'spent', title: 'SPENT', kind: 'money', priority: 1 },
    { field: 'transactions', title: 'COUNT', kind: 'integer', priority: 4 },
    { field: 'days', title: 'DAYS', kind: 'integer', priority: 5, wideOnly: true },
  ];
}

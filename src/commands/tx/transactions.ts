/** Transactions: listed, shown, searched, followed. */

import { allOf, CONDITION_VALUES, CONDITIONS } from '../../cli/condition.ts';
import type { Context } from '../../cli/context.ts';
import { columnsOf, PAGING_FLAGS, pagedListing, pagesAsked, pagesWithProgress, SHORT_ID } from '../../cli/listing.ts';
import { OFFLINE, SEARCH_FLAGS, searched } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, type FlagValues, manyArguments, maybe, option, takes, tells } from '../../cli/parsing/flag.ts';
import type { Item } from '../../contract/calls.ts';
import { must } from '../../contract/field.ts';
import { TRANSACTION } from '../../contract/resources.ts';
import { CliError, usage } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { Row } from '../../terminal/view.ts';
import { LIVE_FLAGS, liveView, waitingOf } from '../wait/flags.ts';

export const TRANSACTION_COLUMNS = columnsOf(
  TRANSACTION,
  'id card_id:2 type:4 status amount merchant:2 mcc:7+ authorization_id:8+ decline_reason:5+ created_at:2 currency:8+',
  { id: { shortTo: SHORT_ID }, merchant: { shrink: true }, decline_reason: 'REASON', created_at: 'WHEN' },
);

type Range = Readonly<Partial<Record<'since' | 'until', string | undefined>>>;

/** Throws `usage` when both ends are there and stand the wrong way round. Times are ISO 8601. */
export function refuseBackwards({ since, until }: Range): void {
  if (since === undefined || until === undefined || Date.parse(since) <= Date.parse(until)) return;
  throw usage(`--since ${since} is after --until ${until}`);
}

/** Whose transactions, and of when. */
export const RANGE_FLAGS = {
  card: 'query.card_id',
  type: 'query.type',
  since: 'query.from',
  until: 'query.to',
} as const;

/** What of them is ours to choose. */
export const MATCH_FLAGS = {
  merchant: option(takes.text('Only those whose merchant contains this.')),
  label: option(takes.text('Only those of cards whose label contains this.')),
  where: CONDITIONS,
  offline: OFFLINE,
} as const;

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
    ...RANGE_FLAGS,
    page: 'query.page',
    ...PAGING_FLAGS,
    ...MATCH_FLAGS,
  },
  examples: {
    'The newest': 'tx list',
    'Declines of the last week': 'tx list --type decline --since 7d --all',
    'What one merchant took, twenty dollars and more': "tx list --merchant acme --where 'amount>=20'",
    'One object a line': 'tx list --card card_1 --all -o ndjson',
  },
  async run(ctx, { card, type, since, until, page, all, limit, merchant, label, where }) {
    refuseBackwards({ since, until });
    const labels = label === undefined ? undefined : await labelsOf(ctx);
    const keep = testsOf(ctx, { where, merchant, label, labels });
    const reader = await ctx.api.reader();
    const pages = reader.pages('transactions.list', { card_id: card, type, from: since, to: until, page });
    const asked = pagesAsked(ctx, { page, all, limit });
    const listing = pagedListing(pages, { noun: 'transaction', ...asked, progress: ctx.ui.progress, keep });
    if (card === undefined) return listing;
    // Transfers between wallet and card are no transactions.
    const moved = `Money that was moved to and from it here: cardwright audit list --card ${shellWord(card)}`;
    const footer = (rows: number) => [listing.footer?.(rows), ...(rows === 0 ? [moved] : [])].filter(Boolean).join(' ');
    return { ...listing, footer };
  },
  noun: 'transaction',
  columns: TRANSACTION_COLUMNS,
});

type Wanted = Omit<FlagValues<typeof MATCH_FLAGS>, 'offline'> & {
  /** By card; needed for `label`. */
  readonly labels: ReadonlyMap<string, string> | undefined;
};

/** A test for each flag that is given. Throws `usage`. */
export function testsOf(ctx: Context, { where, merchant, label, labels }: Wanted): readonly ((row: Row) => boolean)[] {
  const known = { shape: TRANSACTION, now: () => ctx.api.serviceNow(), flag: '--where' };
  return [
    ...(where === undefined ? [] : [allOf(where, known)]),
    ...(merchant === undefined ? [] : [(row: Row) => contains(row['merchant'], merchant)]),
    ...(label === undefined ? [] : [(row: Row) => contains(labels?.get(String(row['card_id'])), label)]),
  ];
}

/** Whether a text has that part, in upper or lower case. */
export function contains(value: unknown, part: string): boolean {
  return typeof value === 'string' && value.toLowerCase().includes(part.toLowerCase());
}

/** Labels of the cards that have one, by card: a record of a transaction has none. */
export async function labelsOf(ctx: Context): Promise<ReadonlyMap<string, string>> {
  const labels = new Map<string, string>();
  const pages = (await ctx.api.reader()).pages('cards.list', { per_page: 100 });
  for await (const { data } of pages) {
    for (const { id, label } of data) if (label != null && label !== '') labels.set(id, label);
  }
  return labels;
}

export const getTransaction = command({
  path: 'tx get',
  summary: 'Show one transaction',
  answers: { one: TRANSACTION },
  about: 'The service has no request for one transaction, so the pages of the list are read until it is found.',
  operation: 'transactions.list',
  ends: { not_found: 'There is no such transaction.' },
  args: {
    transaction: argument(must(takes.text('Transaction identifier.', { maxLength: 128, names: 'transaction' }))),
  },
  flags: { card: 'query.card_id' },
  examples: {
    'In words': 'tx get txn_1',
    'Its merchant for a script': 'tx get txn_1 --card card_1 --jq .merchant',
  },
  async run(ctx, { transaction, card }) {
    const pages = (await ctx.api.reader()).pages('transactions.list', { card_id: card });
    let count = 0;
    for await (const { data } of pagesWithProgress(pages, { noun: 'transaction', progress: ctx.ui.progress })) {
      const found = data.find(({ id }) => id === transaction);
      if (found !== undefined) return found;
      count += data.length;
    }
    const where = card === undefined ? 'of this account' : `of ${card}`;
    throw new CliError('not_found', {
      message: `no transaction ${transaction} among the ${count} ${where}`,
      hint: 'cardwright tx list',
      operation: 'transactions.list',
    });
  },
  noun: 'transaction',
  columns: TRANSACTION_COLUMNS,
});

export const searchTransactions = command({
  path: 'tx search',
  summary: 'Find transactions by words, over the whole past',
  answers: {
    list: TRANSACTION,
    page: { as_of: maybe(tells.time('The copy is of this instant of the service.')) },
  },
  about: [
    'Each word must stand in the name of the merchant, or in label, last four digits or metadata of the card; accents and capitals do not count. The newest come first, 25 unless --limit or --all says otherwise.',
    'The mirror of the account is searched; a copy that is older than --max-age is brought up to date first.',
  ],
  operation: 'transactions.list',
  flags: {
    ...RANGE_FLAGS,
    mcc: option(takes.text('Only of this merchant category.'), '<mcc>'),
    ...SEARCH_FLAGS,
  },
  args: { words: manyArguments(takes.text('Words, or parts of them.', { maxLength: 200 })) },
  examples: {
    'Everything at one merchant': 'tx search acme --all',
    'Large ones of this year, without asking the service': 'tx search acme --min 500 --since 2026-01-01 --offline',
  },
  async run(ctx, { words, card, type, since, until, mcc, min, max, label, ...asked }) {
    refuseBackwards({ since, until });
    const query = { words, card_id: card, type, from: since, to: until, mcc, min, max, label };
    return searched(ctx, { noun: 'transaction', ...asked }, copy => copy.transactions(query));
  },
  noun: 'transaction',
  columns: TRANSACTION_COLUMNS,
});

export const tailTransactions = command({
  path: 'tx tail',
  summary: 'Show transactions as they come',
  about:
    'Asks every two seconds and prints a line for each new transaction, oldest first, until Ctrl-C. -o ndjson prints objects.',
  operation: 'transactions.list',
  flags: {
    card: 'query.card_id',
    type: 'query.type',
    last: option(takes.integer('Start with this many of the newest page.', { min: 1 })),
    ...LIVE_FLAGS,
  },
  examples: {
    'Of one card': 'tx tail --card card_1 --last 3 --wait-timeout 1s',
    'Declines, for a script': 'tx tail --type decline --wait-timeout 1s -o ndjson',
  },
  async run(ctx, { card, type, last, count, waitTimeout: forMs }) {
    const { pollTail } = await import('../../events/poll.ts');
    const reader = await ctx.api.reader();
    ctx.ui.notice(`Following ${type ?? 'transaction'}s${card === undefined ? '' : ` of ${card}`}. Ctrl-C stops.`);
    const look = pollTail<Item<'transactions.list'>>(waitingOf(ctx), {
      pages: () => reader.pages('transactions.list', { card_id: card, type }),
      last: last ?? 0,
      onGap: () => ctx.ui.notice('warning: more came at once than is looked through; see cardwright tx list --all'),
    });
    return liveView(ctx, 'transaction', { forMs, count, look });
  },
  noun: 'transaction',
  columns: TRANSACTION_COLUMNS,
  show: view => view,
});

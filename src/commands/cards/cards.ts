/** Cards: listed, shown, searched. */

import { IDLE } from '../../cli/bulk/flags.ts';
import { allOf, CONDITION_VALUES, CONDITIONS, parseCondition } from '../../cli/condition.ts';
import type { Shown } from '../../cli/context.ts';
import { columnsOf, PAGED_FLAGS, pagedListing, pagesAsked, rowsListing, SHORT_ID } from '../../cli/listing.ts';
import { OFFLINE, SEARCH_FLAGS, searched } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, manyArguments, maybe, option, takes, tells, typedOnly } from '../../cli/parsing/flag.ts';
import type { Item, Result } from '../../contract/calls.ts';
import { CARD, CARD_ID } from '../../contract/card.ts';
import { centsOf, dollars } from '../../core/money.ts';
import { MARKER_KEY } from '../../journal/names.ts';
import { monthText } from '../../terminal/times.ts';
import { pairsBlock } from '../../terminal/view.ts';

export const card = argument(CARD_ID);
export const cards = manyArguments(CARD_ID);

/** Of the commands that hand a card to a program. */
export const PROGRAM_FLAGS = {
  reveal: typedOnly(option(takes.flag('Confirm the reveal without typing the last four digits.'))),
  mask: option(takes.flag('Hide number and CVV in the log of GitHub Actions first.')),
} as const;

type CardRow = Item<'cards.list'>;

export const CARD_COLUMNS = columnsOf(
  CARD,
  'id network:6+ last4 status balance spending_limit:6+ label:3 created_at:4',
  { id: { shortTo: SHORT_ID }, spending_limit: 'LIMIT', label: { shrink: true }, created_at: 'AGE' },
);

/** `$25.00`; `-` when the service did not tell, never 0. */
export function money(amount: number | null | undefined): string {
  const value = amount === undefined || amount === null ? undefined : centsOf(amount);
  return value === undefined ? '-' : dollars(value);
}

/** `visa ending 4242`. */
export function cardName(card: Pick<CardRow, 'last4' | 'network'>): string {
  return `${card.network ?? 'card'} ending ${card.last4}`;
}

/** One card, for a person. */
export function cardPage(card: CardRow): Pick<Shown, 'blocks'> {
  const limits = card.allowed_categories ?? [];
  const pairs: readonly (readonly [label: string, value: string])[] = [
    ['Id', card.id],
    ['Card', `${cardName(card)}${card.bin_id ? `, BIN ${card.bin_id}` : ''}`],
    ['Status', card.status],
    ['Balance', money(card.balance)],
    ['Monthly limit', money(card.spending_limit)],
    ['Auto-freeze', card.auto_freeze_at === null ? 'off' : `below ${money(card.auto_freeze_at)}`],
    ['Categories', limits.length === 0 ? 'all' : limits.join(', ')],
    ['Label', card.label || '-'],
    // Our own marker is for software: the JSON holds it, `ops show` explains it.
    ...Object.entries(card.metadata ?? {})
      .filter(([key]) => key !== MARKER_KEY)
      .map(([key, value]) => [`metadata.${key}`, String(value)] as const),
    ['Created', card.created_at ?? '-'],
    ['Expires', monthText(card.expires_at) ?? '-'],
  ];
  return { blocks: [pairsBlock(pairs)] };
}

export const listCards = command({
  path: 'cards list',
  summary: 'List cards, newest first',
  about: [
    '--label, --where and --idle look at every page. --idle 30d shows cards that are not terminated, are older than 30 days and had no transaction since, not even a decline; it reads the transactions of that time.',
    CONDITION_VALUES,
  ],
  operation: 'cards.list',
  flags: {
    status: 'query.status',
    bin: 'query.bin_id',
    ...PAGED_FLAGS,
    label: option(takes.text('Only cards whose label contains this.')),
    where: CONDITIONS,
    idle: IDLE,
    offline: OFFLINE,
  },
  examples: {
    'The first page': 'cards list',
    'Every active card with less than $20': "cards list --status active --where 'balance<20'",
    'Older than thirty days, and nothing on them': "cards list --where 'created_at<30d' --where balance=0",
    'Ids alone, for the next command': 'cards list --status frozen --all -o id',
  },
  async run(ctx, { status, bin, page, perPage, all, limit, label, where, idle }) {
    const known = { shape: CARD, now: () => ctx.api.serviceNow() };
    const chosen = idle === undefined ? undefined : await import('../../cli/bulk/selection.ts');
    const span = chosen?.idleSpan(idle ?? '');
    const tests = where === undefined ? [] : [allOf(where, { ...known, flag: '--where' })];
    if (label !== undefined) tests.push(parseCondition(`label~${label}`, { ...known, flag: '--label' }));
    const reader = await ctx.api.reader();
    if (chosen !== undefined && span !== undefined) {
      const since = (await ctx.api.askServiceTime()) - span;
      tests.push(await chosen.idleCards(reader, ctx.ui.progress, since));
    }
    const asked = pagesAsked(ctx, { page, perPage, all, limit });
    const wide = asked.sorted || all || limit !== undefined || tests.length > 0;
    const pages = reader.pages('cards.list', {
      status,
      bin_id: bin,
      page,
      per_page: perPage ?? (wide ? 100 : undefined),
    });
    return pagedListing(pages, { noun: 'card', ...asked, keep: tests, progress: ctx.ui.progress });
  },
  noun: 'card',
  columns: CARD_COLUMNS,
});

type Card = Result<'cards.get'>;

export const getCard = command({
  path: 'cards get',
  summary: 'Show cards, without their numbers',
  operation: 'cards.get',
  answers: [{ one: CARD }, { list: CARD }],
  args: { cards },
  flags: { offline: OFFLINE },
  examples: {
    'In words': 'cards get card_1',
    'Its balance for a script': 'cards get card_1 --json --fields balance',
    'Each card of a list, read now': 'cards get - < ids.txt',
  },
  async run(ctx, { cards: ids, fromInput }): Promise<{ readonly found: readonly Card[]; readonly isList: boolean }> {
    const found: Card[] = [];
    for (const id of ids) found.push(await ctx.api.read('cards.get', { card_id: id }));
    return { found, isList: fromInput === true || ids.length !== 1 };
  },
  noun: 'card',
  columns: CARD_COLUMNS,
  show({ found, isList }) {
    const [only] = found;
    return !isList && only !== undefined ? { data: only, ...cardPage(only) } : { listing: rowsListing(found) };
  },
});

export const searchCards = command({
  path: 'cards search',
  summary: 'Find cards by words of label, last four or metadata',
  answers: {
    list: CARD,
    page: { as_of: maybe(tells.time('The copy is of this instant of the service.')) },
  },
  about: [
    'Each word must stand in label, last four digits or metadata; accents and capitals do not count. --min and --max are about the balance. The newest come first, 25 unless --limit or --all says otherwise.',
    'The mirror of the account is searched; a copy that is older than --max-age is brought up to date first.',
  ],
  operation: 'cards.list',
  flags: {
    status: 'query.status',
    bin: 'query.bin_id',
    ...SEARCH_FLAGS,
  },
  args: { words: manyArguments(takes.text('Words, or parts of them.', { maxLength: 200 })) },
  examples: {
    'By its label': 'cards search ads',
    'Active ones with fifty dollars and more, as data': 'cards search ads --status active --min 50 --json',
  },
  async run(ctx, { words, status, bin, min, max, label, ...asked }) {
    const query = { words, status, bin_id: bin, min, max, label };
    return searched(ctx, { noun: 'card', ...asked }, copy => copy.cards(query));
  },
  noun: 'card',
  columns: CARD_COLUMNS,
});

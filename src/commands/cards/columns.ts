/** How cards are shown: the columns of lists, and the lines after one was issued. */
import { columnsOf, SHORT_ID } from '../../cli/columns.ts';
import type { Item } from '../../contract/calls.ts';
import { CARD } from '../../contract/card.ts';
import { centsOf, dollars } from '../../core/money.ts';
import { MARKER_KEY } from '../../journal/names.ts';

export type CardRow = Item<'cards.list'>;

export const CARD_COLUMNS = columnsOf(CARD, {
  id: { priority: 1, shortTo: SHORT_ID },
  network: { priority: 6, wideOnly: true },
  last4: { priority: 1 },
  status: { priority: 1 },
  balance: { priority: 1 },
  spending_limit: { title: 'LIMIT', priority: 6, wideOnly: true },
  label: { priority: 3, shrink: true },
  created_at: { title: 'AGE', priority: 4 },
});

/** `$25.00`; `-` when the service did not tell, never 0. */
export function money(amount: number | null | undefined): string {
  const value = amount === undefined || amount === null ? undefined : centsOf(amount);
  return value === undefined ? '-' : dollars(value);
}

/** `visa ending 4242`. */
export function cardName(card: Pick<CardRow, 'last4' | 'network'>): string {
  return `${card.network ?? 'card'} ending ${card.last4}`;
}

/** Label and value lines of one card. */
export function cardPairs(card: CardRow): [label: string, value: string][] {
  const limits = card.allowed_categories ?? [];
  return [
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
      .map(([key, value]): [string, string] => [`metadata.${key}`, String(value)]),
    ['Created', card.created_at ?? '-'],
    ['Expires', monthYear(card.expires_at)],
  ];
}

/** `11/29` of an ISO time. */
export function monthYear(iso: string | null | undefined): string {
  const [, year, month] = /^\d\d(\d\d)-(\d\d)/.exec(iso ?? '') ?? [];
  return month === undefined ? '-' : `${month}/${year}`;
}

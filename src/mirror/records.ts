/**
 * What of an answer goes into the mirror: the columns named here and no others. Free texts lose what looks like a card
 * number or a key. Unknown fields of the service are counted by their name; their values are dropped.
 */

import type { CardRow, TxRow, WalletRow } from '../books/rows.ts';
import type { Item, Result } from '../contract/calls.ts';
import { CARD } from '../contract/card.ts';
import { TRANSACTION } from '../contract/resources.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { type Cents, toCents } from '../core/money.ts';
import { REDACTED, withoutPatterns } from '../core/redaction.ts';

export type Transaction = Item<'transactions.list'>;
export type Card = Item<'cards.list'>;
export type Wallet = Result<'wallet.get'>;
export type Challenge = Item<'challenges.list'>;

type KeptRow = 'first_seen' | 'gone_at';

/** Columns of a transaction that may be seen to change. Both times are null where the service does not tell them. */
export type RecordValues = Omit<TxRow, KeptRow | 'tx_id' | 'at_ms' | 'created_at'> & {
  readonly at_ms: number | null;
  readonly created_at: string | null;
};

export type CardValues = Omit<CardRow, KeptRow | 'card_id'> & {
  readonly created_at: string | null;
  readonly expires_at: string | null;
};

export type WalletValues = Omit<WalletRow, 'at_ms'>;

export interface ChallengeValues {
  readonly challenge_id: string;
  readonly card_id: string | null;
  readonly merchant: string | null;
  readonly cents: Cents | null;
  readonly status: string | null;
  readonly expires_ms: number | null;
}

export function recordValues(record: Transaction): RecordValues {
  return {
    card_id: id(record.card_id),
    type: word(record.type) ?? '',
    status: word(record.status),
    cents: toCents(record.amount),
    currency: word(record.currency),
    merchant: word(record.merchant),
    mcc: word(record.mcc),
    merchant_country: word(record.merchant_country),
    authorization_id: id(record.authorization_id),
    decline_reason: word(record.decline_reason),
    at_ms: timeOf(record.created_at),
    created_at: timeText(record.created_at),
  };
}

/** Null where a service shows more than four digits: what is left of a masked text names no card. */
function lastDigits(last4: string | null | undefined): string | null {
  const shown = word(last4);
  return shown === null || shown.includes(REDACTED) ? null : shown.slice(-4);
}

export function cardValues(card: Card): CardValues {
  return {
    bin_id: id(card.bin_id),
    network: word(card.network),
    last4: lastDigits(card.last4),
    label: word(card.label),
    status: word(card.status) ?? '',
    balance_cents: amountOf(card.balance),
    spending_limit_cents: amountOf(card.spending_limit),
    auto_freeze_cents: amountOf(card.auto_freeze_at),
    allowed_categories: JSON.stringify((card.allowed_categories ?? []).map(each => word(each) ?? '')),
    metadata: JSON.stringify(cleanMetadata(card.metadata ?? {})),
    created_ms: timeOf(card.created_at),
    created_at: word(card.created_at),
    expires_ms: timeOf(card.expires_at),
    expires_at: word(card.expires_at),
  };
}

export function walletValues(wallet: Wallet): WalletValues {
  return {
    balance_cents: toCents(wallet.balance),
    pending_deposits_cents: amountOf(wallet.pending_deposits),
    total_deposited_cents: amountOf(wallet.total_deposited),
    total_spent_cents: amountOf(wallet.total_spent),
    cards_active: wallet.cards_active ?? null,
    cards_total_balance_cents: amountOf(wallet.cards_total_balance),
  };
}

/** Without the code. */
export function challengeValues(challenge: Challenge): ChallengeValues {
  return {
    challenge_id: storable(challenge.id),
    card_id: id(challenge.card_id),
    merchant: word(challenge.merchant),
    cents: amountOf(challenge.amount),
    status: word(challenge.status),
    expires_ms: timeOf(challenge.expires_at),
  };
}

const KNOWN_CARD = new Set(Object.keys(CARD));
const KNOWN_TRANSACTION = new Set(Object.keys(TRANSACTION));

/** Names of fields that the contract does not know; one that may be a value itself is told as `(other)`. */
export function unknownNames(row: object, of: 'card' | 'tx'): string[] {
  const known = of === 'card' ? KNOWN_CARD : KNOWN_TRANSACTION;
  return Object.keys(row)
    .filter(name => !known.has(name))
    .map(name => (/^[A-Za-z_][A-Za-z_]{0,39}\d{0,2}$/.test(name) ? name : '(other)'));
}

/** ms UTC of ISO text; null where there is none or none that can be read. */
export function timeOf(text: string | null | undefined): number | null {
  if (text == null) return null;
  // Times are UTC, also where the service leaves the zone out.
  const isLocal = /T[\d:.]+$/.test(text);
  const at = Date.parse(isLocal ? `${text}Z` : text);
  return Number.isFinite(at) ? at : null;
}

function amountOf(usd: number | null | undefined): Cents | null {
  return usd == null ? null : toCents(usd);
}

/** An id as the service wrote it: another text would be another record. */
function id(value: string | null | undefined): string | null {
  return value == null ? null : storable(value);
}

/** Names and words: masked, for a service or a person may put anything anywhere. */
function word(value: string | null | undefined): string | null {
  if (value == null) return null;
  const known = MASKED.get(value);
  if (known !== undefined) return known;
  const masked = storable(withoutPatterns(withoutCardNumbers(value)));
  if (MASKED.size >= MOST_MASKED) MASKED.clear();
  if (value.length <= LONGEST_MASKED) MASKED.set(value, masked);
  return masked;
}

/** Types, states, codes and merchants come again and again, and to look for secrets in them is half of the work. */
const MASKED = new Map<string, string>();
const MOST_MASKED = 10_000;
const LONGEST_MASKED = 100;

/** A time as services write it has no room for a secret. */
function timeText(value: string | null | undefined): string | null {
  return value != null && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/.test(value) ? value : word(value);
}

/** The engine takes neither NUL nor half a character. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

function cleanMetadata(metadata: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(metadata).map(([name, value]) => [word(name) ?? '', word(String(value)) ?? '']);
  return Object.fromEntries(entries);
}

/** What of an answer goes into the copy, and what of it had changed. Free texts lose what looks like a card number or a key. */
import type { CardRow, TxRow } from '../books/rows.ts';
import type { Item, Result } from '../contract/calls.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { instantOf, isoSeconds } from '../core/durations.ts';
import { type Cents, toCents, toUsd } from '../core/money.ts';
import { REDACTED, withoutPatterns } from '../core/redaction.ts';
import type { SqlValue } from '../engine/connection.ts';
import type { MirrorDatabase } from './file.ts';

export type Transaction = Item<'transactions.list'>;
export type Card = Item<'cards.list'>;
export type Wallet = Result<'wallet.get'>;

export type StoredCard = CardRow & Readonly<{ id: number; created_at: string | null; expires_at: string | null }>;

/** A record as its columns keep it; both times are null where the service does not tell them. */
export function recordValues(record: Transaction) {
  const at_ms = instantOf(record.created_at) ?? null;
  // Nearly every service writes a time as its instant is written: then the instant tells the same.
  const isTold = at_ms !== null && isoSeconds(at_ms) === record.created_at;
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
    at_ms,
    created_at: isTold ? null : word(record.created_at),
  };
}

export function cardValues(card: Card) {
  return {
    bin_id: id(card.bin_id),
    network: word(card.network),
    last4: lastDigits(card.last4),
    status: word(card.status) ?? '',
    balance_cents: amountOf(card.balance),
    spending_limit_cents: amountOf(card.spending_limit),
    label: word(card.label),
    allowed_categories: JSON.stringify((card.allowed_categories ?? []).map(each => word(each) ?? '')),
    auto_freeze_cents: amountOf(card.auto_freeze_at),
    metadata: JSON.stringify(cleanMetadata(card.metadata ?? {})),
    created_ms: instantOf(card.created_at) ?? null,
    created_at: word(card.created_at),
    expires_ms: instantOf(card.expires_at) ?? null,
    expires_at: word(card.expires_at),
  };
}

/** The record as the service would tell it. */
export function toldRecord(row: TxRow): Transaction {
  const { tx_id, card_id, type, status, cents, currency, merchant, mcc, merchant_country, created_at } = row;
  const told = { card_id, type, status, amount: toUsd(cents), currency, merchant, mcc, merchant_country };
  const { authorization_id, decline_reason } = row;
  return { id: tx_id, ...withoutNulls(told), authorization_id, decline_reason, created_at } as Transaction;
}

/** The card as the service would tell it. */
export function toldCard(row: StoredCard): Card {
  const { card_id, bin_id, network, last4, status, label, created_at, expires_at } = row;
  const usd = (amount: Cents | null) => amount && toUsd(amount);
  return {
    id: card_id,
    ...withoutNulls({
      ...{ bin_id, network, last4: last4 ?? '', status },
      balance: usd(row.balance_cents),
      spending_limit: usd(row.spending_limit_cents),
      label,
      allowed_categories: JSON.parse(row.allowed_categories) as unknown,
    }),
    auto_freeze_at: usd(row.auto_freeze_cents),
    metadata: JSON.parse(row.metadata) as unknown,
    ...withoutNulls({ created_at, expires_at }),
  } as Card;
}

const withoutNulls = (members: object) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

/** Null where a service shows more than four digits: what is left of a masked text names no card. */
function lastDigits(last4: string | null | undefined): string | null {
  const shown = word(last4);
  return shown === null || shown.includes(REDACTED) ? null : shown.slice(-4);
}

export function walletValues(wallet: Wallet) {
  return {
    balance_cents: toCents(wallet.balance),
    pending_deposits_cents: amountOf(wallet.pending_deposits),
    total_deposited_cents: amountOf(wallet.total_deposited),
    total_spent_cents: amountOf(wallet.total_spent),
    cards_active: wallet.cards_active ?? null,
    cards_total_balance_cents: amountOf(wallet.cards_total_balance),
  };
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

/** The engine takes neither NUL nor half a character. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

function cleanMetadata(metadata: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(metadata).map(([name, value]) => [word(name) ?? '', word(String(value)) ?? '']);
  return Object.fromEntries(entries);
}

// Writes transaction records

export interface Counts {
  new: number;
  changed: number;
  gone: number;
}

/** What a batch is written by. */
export interface Writing {
  readonly db: MirrorDatabase;
  /** Number of the sync under way. */
  readonly sync: number;
  /** Instant of the service, ms. */
  readonly now: number;
  /** `windows`: of time, read complete. */
  readonly counts: { readonly transactions: Counts; readonly cards: Counts; windows: number };
}

type RecordValues = ReturnType<typeof recordValues>;
type Stored = RecordValues & { readonly id: number; readonly missed: number; readonly gone_at: number | null };

const columnsIn = <Values extends object>(values: Values) => Object.keys(values) as (keyof Values & string)[];
/** In the order in which `recordValues` and `cardValues` tell them. */
const RECORD_COLUMNS = columnsIn(recordValues({ amount: 0 } as Transaction));
const CARD_COLUMNS = columnsIn(cardValues({} as Card));
/** What may be seen to change; `created_at` is told otherwise with it. */
const FIELDS = RECORD_COLUMNS.filter(name => name !== 'created_at');

const assigned = (columns: readonly string[]) => columns.map(name => `${name} = ?`).join(', ');

const STORED = `select r.id, r.missed, r.gone_at, ${FIELDS.map(name => (name === 'merchant' ? 'm.name as merchant' : `r.${name}`)).join(', ')}
  from record r left join merchant m on m.id = r.merchant where r.tx_id = ?`;
const ADDED = `insert into record (${RECORD_COLUMNS.join(', ')}, tx_id, first_seen, first_sync)
  values (${RECORD_COLUMNS.map(() => '?').join(', ')}, ?, ?, ?) on conflict (tx_id) do nothing`;
const CHANGED = `update record set ${assigned(RECORD_COLUMNS)} where id = ?`;
const CARD_CHANGED = `update card set gone_at = null, ${assigned(CARD_COLUMNS)} where id = ?`;

/** Stores a row as it came. Call it inside a commit. */
export function storeRecord(writing: Writing, row: Transaction): void {
  const { db, now, sync } = writing;
  const values = recordValues(row);
  const tx = storable(row.id);
  if (values.authorization_id === tx && db.fact('single') === undefined) db.setFact('single', 'yes');
  // Most records of a first reading are new: to insert without looking halves what SQLite is asked.
  if (db.run(ADDED, ...inColumns(db, values, values.at_ms ?? now), tx, now, sync) > 0) {
    writing.counts.transactions.new += 1;
    return;
  }
  const stored = db.get<Stored>(STORED, tx);
  if (stored === undefined) throw new RangeError(`the record ${tx} is neither new nor known`);
  const at_ms = values.at_ms ?? stored.at_ms ?? now;
  const seen = { ...values, at_ms };
  const changed = FIELDS.filter(field => seen[field] !== stored[field]);
  const isBack = stored.gone_at !== null;
  if (stored.missed > 0 || isBack) db.run('update record set missed = 0, gone_at = null where id = ?', stored.id);
  if (changed.length === 0 && !isBack) return;
  for (const field of changed) note(writing, tx, field, [stored[field], seen[field]]);
  if (isBack) note(writing, tx, 'gone_at', [stored.gone_at, null]);
  if (changed.length > 0) db.run(CHANGED, ...inColumns(db, values, at_ms), stored.id);
  writing.counts.transactions.changed += 1;
}

/** In the order of the columns. */
function inColumns(db: MirrorDatabase, values: RecordValues, at_ms: number): SqlValue[] {
  const merchant = values.merchant === null ? null : merchantId(db, values.merchant);
  return Object.values({ ...values, merchant, at_ms });
}

const MOST_MERCHANTS = 10_000;

function merchantId(db: MirrorDatabase, name: string): number {
  const { merchants } = db;
  const known =
    merchants.get(name) ??
    db.get<{ id: number }>('select id from merchant where name = ?', name)?.id ??
    db.get<{ id: number }>('insert into merchant (name) values (?) returning id', name)?.id ??
    0;
  if (merchants.size >= MOST_MERCHANTS) merchants.clear();
  merchants.set(name, known);
  return known;
}

type Value = string | number | null;

function note({ db, now }: Writing, tx_id: string, field: string, values: readonly [old: Value, seen: Value]): void {
  const [old, seen] = values.map(value => (value === null ? null : String(value)));
  db.insert('record_change', { tx_id, field, old: old ?? null, new: seen ?? null, seen: now });
}

/** Times, both included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A complete reading of a span: which known records should have been in it. */
interface CompleteReading extends Span {
  readonly ids: ReadonlySet<string>;
  /** The reading asked for this type alone. */
  readonly type?: string | undefined;
}

/**
 * Counts the known records that a complete reading lacked; at the second time in a row a record is gone. Returns how many
 * are missing for the first time.
 */
export function missRecords(writing: Writing, { from, to, ids, type }: CompleteReading): number {
  const { db, now } = writing;
  const known = db.all<{ id: number; tx_id: string; missed: number; type: string }>(
    'select id, tx_id, missed, type from record where at_ms between ? and ? and gone_at is null',
    from,
    to,
  );
  let first = 0;
  for (const record of known) {
    if (ids.has(record.tx_id) || (type !== undefined && record.type !== type)) continue;
    if (record.missed === 0) {
      db.run('update record set missed = 1 where id = ?', record.id);
      first += 1;
      continue;
    }
    db.run('update record set missed = missed + 1, gone_at = ? where id = ?', now, record.id);
    note(writing, record.tx_id, 'gone_at', [null, now]);
    writing.counts.transactions.gone += 1;
  }
  return first;
}

// Writes cards and the wallet, and what of them had changed.

/** Stores a card as it came. Call it inside a commit. */
export function storeCard(writing: Writing, card: Card): void {
  const { db, counts, now } = writing;
  const values = cardValues(card);
  const cardId = storable(card.id);
  const stored = db.get<StoredCard>('select * from card where card_id = ?', cardId);
  if (stored === undefined) {
    db.insert('card', { card_id: cardId, first_seen: now, ...values });
    counts.cards.new += 1;
    return;
  }
  const isSame = CARD_COLUMNS.every(name => values[name] === stored[name]);
  if (isSame && stored.gone_at === null) return;
  db.run(CARD_CHANGED, ...Object.values(values), stored.id);
  counts.cards.changed += 1;
}

/** The service does not know the card any more. */
export function storeGoneCard({ db, counts, now }: Writing, cardId: string): void {
  counts.cards.gone += db.run('update card set gone_at = ? where card_id = ? and gone_at is null', now, cardId);
}

/** Stores the wallet where it is another than at the last reading. */
export function storeWallet({ db, now }: Writing, wallet: Wallet): void {
  const values = walletValues(wallet);
  const last = db.get<Record<string, SqlValue>>('select * from wallet_state order by rowid desc limit 1');
  const isNew = last === undefined || Object.entries(values).some(([name, value]) => last[name] !== value);
  if (isNew) db.insert('wallet_state', { at_ms: now, ...values });
}

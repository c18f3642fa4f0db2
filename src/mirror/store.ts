/** What of an answer goes into the copy, and what of it had changed. Free texts lose what looks like a card number or a key. */
import type { CardRow, TxRow } from '../books/rows.ts';
import type { Item, Result } from '../contract/calls.ts';
import { withoutCardNumbers } from '../core/card-numbers.ts';
import { isoSeconds } from '../core/durations.ts';
import { type Cents, toCents, toUsd } from '../core/money.ts';
import { REDACTED, withoutPatterns } from '../core/redaction.ts';
import type { SqlValue } from '../engine/connection.ts';
import type { MirrorDatabase } from './file.ts';

export type Transaction = Item<'transactions.list'>;
export type Card = Item<'cards.list'>;
export type Wallet = Result<'wallet.get'>;

/** Both times are null where the service does not tell them. */
type RecordValues = Omit<TxRow, 'tx_id' | 'first_seen' | 'gone_at' | 'at_ms' | 'created_at'> &
  Readonly<{ at_ms: number | null; created_at: string | null }>;
export type StoredCard = CardRow & Readonly<{ id: number; created_at: string | null; expires_at: string | null }>;
type CardValues = Omit<StoredCard, 'id' | 'card_id' | 'first_seen' | 'gone_at'>;

/** How a member of an answer is kept, and told again; without `told` another column tells it. */
interface Form {
  readonly kept: (member: never) => SqlValue;
  readonly told?: (value: never) => unknown;
}

const asKept = (value: SqlValue) => value;
const ID: Form = { kept: id, told: asKept };
const WORD: Form = { kept: word, told: asKept };
/** Never null. */
const STATE: Form = { kept: (text: string | null | undefined) => word(text) ?? '', told: asKept };
const MONEY: Form = { kept: amountOf, told: (amount: Cents | null) => amount && toUsd(amount) };
const INSTANT: Form = { kept: timeOf };
const LAST4: Form = { kept: lastDigits, told: (shown: string | null) => shown ?? '' };
const LIST: Form = {
  kept: (texts: Card['allowed_categories']) => JSON.stringify((texts ?? []).map(each => word(each) ?? '')),
  told: JSON.parse,
};
const METADATA: Form = {
  kept: (metadata: Card['metadata']) => JSON.stringify(cleanMetadata(metadata ?? {})),
  told: JSON.parse,
};

/** A column, and the member that it holds. What is null is left out of what is told, but where the service tells null. */
type Mapping<Values> = readonly (readonly [keyof Values & string, member: string, Form, tellsNull?: 'null'])[];

const RECORD: Mapping<RecordValues> = [
  ['card_id', 'card_id', ID],
  ['type', 'type', STATE],
  ['status', 'status', WORD],
  ['cents', 'amount', MONEY],
  ['currency', 'currency', WORD],
  ['merchant', 'merchant', WORD],
  ['mcc', 'mcc', WORD],
  ['merchant_country', 'merchant_country', WORD],
  ['authorization_id', 'authorization_id', ID, 'null'],
  ['decline_reason', 'decline_reason', WORD, 'null'],
  ['at_ms', 'created_at', INSTANT],
  ['created_at', 'created_at', { kept: timeText, told: asKept }],
];

const CARD: Mapping<CardValues> = [
  ['bin_id', 'bin_id', ID],
  ['network', 'network', WORD],
  ['last4', 'last4', LAST4],
  ['status', 'status', STATE],
  ['balance_cents', 'balance', MONEY],
  ['spending_limit_cents', 'spending_limit', MONEY],
  ['label', 'label', WORD],
  ['allowed_categories', 'allowed_categories', LIST],
  ['auto_freeze_cents', 'auto_freeze_at', MONEY, 'null'],
  ['metadata', 'metadata', METADATA],
  ['created_ms', 'created_at', INSTANT],
  ['created_at', 'created_at', WORD],
  ['expires_ms', 'expires_at', INSTANT],
  ['expires_at', 'expires_at', WORD],
];

function kept<Values>(mapping: Mapping<Values>, answer: object): Values {
  const values: Record<string, SqlValue> = {};
  for (const [name, member, form] of mapping) values[name] = form.kept(answer[member as keyof typeof answer]);
  return values as Values;
}

/** The members of an answer, as the service would tell them. */
function told<Values>(mapping: Mapping<Values>, row: Values): object {
  const members: Record<string, unknown> = {};
  for (const [name, member, form, tellsNull] of mapping) {
    const value = form.told?.(row[name] as never);
    if (value != null || (value === null && tellsNull)) members[member] = value;
  }
  return members;
}

export const recordValues = (record: Transaction) => kept(RECORD, record);
export const cardValues = (card: Card) => kept(CARD, card);
export const toldRecord = (row: TxRow) => ({ id: row.tx_id, ...told(RECORD, row) }) as Transaction;
export const toldCard = (row: StoredCard) => ({ id: row.card_id, ...told(CARD, row) }) as Card;

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

/** ms UTC of ISO text; null where there is none or none that can be read. */
export function timeOf(text: string | null | undefined): number | null {
  if (text == null) return null;
  // Times are UTC, also where the service leaves the zone out (A-137).
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

/** Null for a time as services write it: its instant tells the same, and nearly every record has one. */
function timeText(value: string | null | undefined): string | null {
  const at = timeOf(value);
  return at !== null && isoSeconds(at) === value ? null : word(value);
}

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

type Stored = RecordValues & { readonly id: number; readonly missed: number; readonly gone_at: number | null };

const COLUMNS = RECORD.map(([name]) => name);
/** What may be seen to change; `created_at` is told otherwise with it. */
const FIELDS = COLUMNS.filter(name => name !== 'created_at');

const named = (columns: readonly string[]) => columns.join(', ');
const marks = (count: number) => Array.from({ length: count }, () => '?').join(', ');
const assigned = (columns: readonly string[]) => columns.map(name => `${name} = ?`).join(', ');

const STORED = `select r.id, r.missed, r.gone_at, ${named(FIELDS.map(name => (name === 'merchant' ? 'm.name as merchant' : `r.${name}`)))}
  from record r left join merchant m on m.id = r.merchant where r.tx_id = ?`;
const ADDED = `insert into record (${named(COLUMNS)}, tx_id, first_seen, first_sync)
  values (${marks(COLUMNS.length + 3)}) on conflict (tx_id) do nothing`;
const CHANGED = `update record set ${assigned(COLUMNS)} where id = ?`;

/** Stores rows as they came. Call it inside a commit. */
export function storeRecords(writing: Writing, rows: readonly Transaction[]): void {
  for (const row of rows) storeRecord(writing, row);
}

function storeRecord(writing: Writing, row: Transaction): void {
  const { db, now, sync } = writing;
  const values = recordValues(row);
  const tx = storable(row.id);
  if (values.authorization_id === tx && db.fact('single') === undefined) db.setFact('single', 'yes');
  // Most records of a first reading are new: to insert without looking halves what SQLite is asked.
  if (db.run(ADDED, ...columnsOf(db, values, values.at_ms ?? now), tx, now, sync) > 0) {
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
  if (changed.length > 0) db.run(CHANGED, ...columnsOf(db, values, at_ms), stored.id);
  writing.counts.transactions.changed += 1;
}

/** In the order of the columns. */
function columnsOf(db: MirrorDatabase, values: RecordValues, at_ms: number): SqlValue[] {
  const merchant = values.merchant === null ? null : merchantId(db, values.merchant);
  const kept = { ...values, merchant, at_ms };
  return COLUMNS.map(name => kept[name]);
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

function note(
  { db, now }: Writing,
  tx_id: string,
  field: string,
  [old, seen]: readonly [old: Value, seen: Value],
): void {
  const asText = (value: Value) => (value === null ? null : String(value));
  db.insert('record_change', { tx_id, field, old: asText(old), new: asText(seen), seen: now });
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

/** Stores cards as they came. Call it inside a commit. */
export function storeCards(writing: Writing, cards: readonly Card[]): void {
  for (const card of cards) storeCard(writing, card);
}

function storeCard(writing: Writing, card: Card): void {
  const { db, counts, now } = writing;
  const values = cardValues(card);
  const cardId = storable(card.id);
  const names = CARD.map(([name]) => name);
  const stored = db.get<StoredCard>('select * from card where card_id = ?', cardId);
  if (stored === undefined) {
    db.insert('card', { card_id: cardId, first_seen: now, ...values });
    counts.cards.new += 1;
    return;
  }
  const changed = names.filter(name => values[name] !== stored[name]);
  if (changed.length === 0 && stored.gone_at === null) return;
  db.run(
    `update card set gone_at = null, ${assigned(names)} where id = ?`,
    ...names.map(name => values[name]),
    stored.id,
  );
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

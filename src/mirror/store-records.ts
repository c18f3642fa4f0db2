/** Writes transaction records: new ones, changes of known ones, and those that the service no longer has. */
import type { MirrorDatabase } from './database.ts';
import { type RecordValues, recordValues, type Transaction, timeOf, unknownNames } from './records.ts';

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
  readonly counts: { readonly transactions: Counts; readonly cards: Counts };
}

type Stored = Omit<RecordValues, 'merchant'> & {
  readonly id: number;
  readonly merchant: string | null;
  readonly missed: number;
  readonly gone_at: number | null;
};

const FIELDS = [
  'card_id',
  'type',
  'status',
  'cents',
  'currency',
  'merchant',
  'mcc',
  'merchant_country',
  'authorization_id',
  'decline_reason',
  'at_ms',
] as const satisfies readonly (keyof RecordValues)[];

const STORED = `select r.id, r.card_id, r.type, r.status, r.cents, r.currency, m.name as merchant, r.mcc,
  r.merchant_country, r.authorization_id, r.decline_reason, r.at_ms, r.created_at, r.missed, r.gone_at
  from record r left join merchant m on m.id = r.merchant where r.tx_id = ?`;

/** Stores rows as they came. Returns how many were new or other than known. Call it inside a commit. */
export function storeRecords(writing: Writing, rows: readonly Transaction[]): number {
  let moved = 0;
  const since = writing.db.number('kept_since');
  for (const row of rows) if (!isFolded(writing.db, row, since) && storeRecord(writing, row)) moved += 1;
  return moved;
}

/** A record of a closed purchase that is older than what is kept: its sums are here already. */
function isFolded(db: MirrorDatabase, { id, created_at }: Transaction, since: number | undefined): boolean {
  const at = since === undefined ? null : timeOf(created_at);
  if (since === undefined || at === null || at >= since) return false;
  return db.get('select 1 from record where tx_id = ?', txId(id)) === undefined;
}

function txId(id: string): string {
  return id.replaceAll('\0', '\ufffd').toWellFormed();
}

function storeRecord(writing: Writing, row: Transaction): boolean {
  const { db } = writing;
  const values = recordValues(row);
  const tx = txId(row.id);
  if (values.authorization_id === tx && db.fact('single') === undefined) db.setFact('single', 'yes');
  // Most records of a first reading are new: to insert without looking halves what SQLite is asked.
  if (insert(writing, tx, values)) {
    countUnknown(db, 'tx', row);
    writing.counts.transactions.new += 1;
    return true;
  }
  const stored = db.get<Stored>(STORED, tx);
  if (stored === undefined) throw new RangeError(`the record ${tx} is neither new nor known`);
  const at_ms = values.at_ms ?? stored.at_ms;
  const changed = FIELDS.filter(field => (field === 'at_ms' ? at_ms : values[field]) !== stored[field]);
  const isBack = stored.gone_at !== null;
  if (stored.missed > 0 || isBack) db.run('update record set missed = 0, gone_at = null where id = ?', stored.id);
  if (changed.length === 0 && !isBack) return false;
  for (const field of changed) {
    note(writing, tx, { field, old: stored[field], new: field === 'at_ms' ? at_ms : values[field] });
  }
  if (isBack) note(writing, tx, { field: 'gone_at', old: stored.gone_at, new: null });
  if (changed.length > 0) {
    db.run(
      `update record set card_id = ?, type = ?, status = ?, cents = ?, currency = ?, merchant = ?, mcc = ?,
        merchant_country = ?, authorization_id = ?, decline_reason = ?, at_ms = ?, created_at = ? where id = ?`,
      ...columnsOf(writing, values),
      at_ms,
      values.created_at,
      stored.id,
    );
  }
  writing.counts.transactions.changed += 1;
  return true;
}

/** Whether the record is new; one that is known stays as it is. */
function insert(writing: Writing, tx: string, values: RecordValues): boolean {
  const { db, sync, now } = writing;
  const added = db.run(
    `insert into record (tx_id, card_id, type, status, cents, currency, merchant, mcc, merchant_country,
      authorization_id, decline_reason, at_ms, created_at, first_seen, first_sync)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (tx_id) do nothing`,
    tx,
    ...columnsOf(writing, values),
    values.at_ms ?? now,
    values.created_at,
    now,
    sync,
  );
  return added > 0;
}

function columnsOf({ db }: Writing, values: RecordValues) {
  const { card_id, type, status, cents, currency, mcc, merchant_country, authorization_id, decline_reason } = values;
  const merchant = values.merchant === null ? null : merchantId(db, values.merchant);
  return [card_id, type, status, cents, currency, merchant, mcc, merchant_country, authorization_id, decline_reason];
}

const MOST_MERCHANTS = 10_000;

function merchantId(db: MirrorDatabase, name: string): number {
  const { merchants } = db;
  const known = merchants.get(name) ?? merchantRow(db, name);
  if (merchants.size >= MOST_MERCHANTS) merchants.clear();
  merchants.set(name, known);
  return known;
}

function merchantRow(db: MirrorDatabase, name: string): number {
  const known = db.get<{ id: number }>('select id from merchant where name = ?', name);
  if (known !== undefined) return known.id;
  const made = db.get<{ id: number }>('insert into merchant (name) values (?) returning id', name)?.id ?? 0;
  db.run('insert into merchant_words (rowid, name) values (?, ?)', made, name);
  return made;
}

interface Change {
  readonly field: string;
  readonly old: string | number | null;
  readonly new: string | number | null;
}

function note({ db, now }: Writing, tx: string, change: Change): void {
  const asText = (value: string | number | null) => (value === null ? null : String(value));
  db.run(
    'insert into record_change (tx_id, field, old, new, seen) values (?, ?, ?, ?, ?)',
    tx,
    change.field,
    asText(change.old),
    asText(change.new),
    now,
  );
}

/** Counts fields that the contract does not know, by name. */
export function countUnknown(db: MirrorDatabase, of: 'card' | 'tx', row: object): void {
  for (const name of unknownNames(row, of)) {
    db.run(
      `insert into unknown_field (of, name, times) values (?, ?, 1)
        on conflict (of, name) do update set times = times + 1`,
      of,
      name,
    );
  }
}

/** Times, both included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A complete reading of a span: which known records should have been in it. */
export interface CompleteReading extends Span {
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
    note(writing, record.tx_id, { field: 'gone_at', old: null, new: now });
    writing.counts.transactions.gone += 1;
  }
  return first;
}

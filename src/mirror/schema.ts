/**
 * The tables and views in the file of a copy. Only these columns are written: no number, code, key or raw answer. The
 * views are a promise.
 */

import * as rows from '../books/rows.ts';
import { ACCOUNT_CURRENCY } from '../contract/resources.ts';

/** Marks the file as ours ("cwb1"); stands in its header. */
export const APPLICATION_ID = 0x63776231;
/** Of these tables; a file of another number is refused. */
export const SCHEMA = 4;

/** Authorizations that are open, whatever the service calls that; columns of `record`. */
export const IS_PENDING = `type = 'authorization' and lower(status) in ('pending', 'authorized')`;

/** Records of types that the interface does not name; a column of `record`. */
export const IS_OF_UNKNOWN_TYPE = `type not in ('authorization', 'settlement', 'refund', 'decline')`;

/** Records in another currency than USD (`isInDollars`); columns of `record`. */
export const IS_IN_OTHER_CURRENCY = `currency <> '${ACCOUNT_CURRENCY}' and currency <> '' and upper(currency) <> '${ACCOUNT_CURRENCY}'`;

/** The last record that was known by a sync, whose number it asks for: records stand in the order of their syncs. */
export const LAST_BY_SYNC = 'coalesce((select id from record where first_sync <= ? order by id desc limit 1), 0)';

type Columns = Readonly<Record<string, rows.ViewColumn>>;

/** The columns of a view as those of its table. */
const columns = (of: Columns) =>
  Object.entries(of)
    .map(([name, { type, isNullable }]) => `${name} ${type}${isNullable ? '' : ' not null'}`)
    .join(', ');

/** Tables and indexes, in the order in which they are made. Times are ms UTC, amounts cents. */
export const TABLES = [
  `create table facts (name text primary key, value text not null) without rowid`,
  `create table card (
    id integer primary key, ${columns(rows.CARDS)}, created_at text, expires_at text, unique (card_id)
  )`,
  `create table merchant (id integer primary key, name text not null unique)`,
  `create table record (
    id integer primary key, tx_id text not null unique, card_id text, type text not null, status text,
    cents integer not null, currency text, merchant integer references merchant (id), mcc text,
    merchant_country text, authorization_id text, decline_reason text, at_ms integer not null, created_at text,
    first_seen integer not null, first_sync integer not null, missed integer not null default 0, gone_at integer
  )`,
  `create index record_by_time on record (at_ms)`,
  `create index record_by_card on record (card_id, type, at_ms, cents)`,
  `create index record_by_merchant on record (merchant)`,
  `create index record_pending on record (at_ms) where ${IS_PENDING}`,
  `create index record_by_authorization on record (authorization_id) where authorization_id is not null`,
  `create index record_gone on record (gone_at) where gone_at is not null`,
  `create index record_of_unknown_type on record (at_ms) where ${IS_OF_UNKNOWN_TYPE}`,
  `create index record_in_other_currency on record (card_id, type, cents) where ${IS_IN_OTHER_CURRENCY}`,
  `create table record_change (${columns(rows.TX_CHANGES)})`,
  `create table wallet_state (${columns(rows.WALLET_OBSERVATIONS)})`,
  `create table move (
    ${columns(rows.MOVES)}, first_ms integer not null, first_sync integer not null, done_sync integer, primary key (op, row)
  ) without rowid`,
  `create table copied_op (op text primary key, last_at text not null) without rowid`,
  `create table open_window (from_ms integer not null, to_ms integer not null)`,
  `create table checkpoint (
    ${columns(rows.CHECKPOINTS)}, sync integer not null, changes integer not null, primary key (cut_id)
  ) without rowid`,
  `create table checkpoint_card (${columns(rows.CHECKPOINT_CARDS)}, primary key (cut_id, card_id)) without rowid`,
  `create table report (${columns(rows.REPORTS)}, primary key (report_id)) without rowid`,
  `create table export (${columns(rows.EXPORTS)})`,
] as const;

interface View {
  readonly name: string;
  readonly says: string;
  readonly columns: readonly (rows.ViewColumn & { readonly name: string })[];
  readonly select: string;
}

/** `select`: a whole one, or the table whose columns are those of the view. */
function view(name: string, says: string, of: Columns, select: string): View {
  return {
    name,
    says,
    columns: Object.entries(of).map(([column, { type, says: what }]) => ({ name: column, type, says: what })),
    select: select.startsWith('select ') ? select : `select ${Object.keys(of).join(', ')} from ${select}`,
  };
}

/** What `books query` reads, and what the books are given. */
export const VIEWS: readonly View[] = [
  view('cards', 'Every card ever seen.', rows.CARDS, 'card'),
  view(
    'tx',
    'Every transaction record, in its newest form.',
    rows.TX,
    `select r.tx_id, r.card_id, r.type, r.status, r.cents, r.currency, m.name as merchant, r.mcc,
      r.merchant_country, r.authorization_id, r.decline_reason, r.at_ms,
      coalesce(r.created_at, strftime('%Y-%m-%dT%H:%M:%SZ', r.at_ms / 1000, 'unixepoch')) as created_at,
      r.first_seen, r.gone_at
      from record r left join merchant m on m.id = r.merchant`,
  ),
  view(
    'tx_changes',
    'A field of a known record that a later reading showed otherwise.',
    rows.TX_CHANGES,
    'record_change',
  ),
  view('merchants', 'Every merchant name once.', rows.MERCHANTS, 'merchant'),
  view('wallet_observations', 'The wallet, whenever it had changed.', rows.WALLET_OBSERVATIONS, 'wallet_state'),
  view(
    'moves',
    'Rows of the journal of this machine that moved money between wallet and card, or ended a card.',
    rows.MOVES,
    // The service says when a card was made; the clock of this machine may be another.
    `select m.op, m.row, m.operation, m.card_id, m.cents, m.outcome,
      case when m.operation = 'cards.create' then coalesce(c.created_ms, m.at_ms) else m.at_ms end as at_ms, m.purpose
      from move m left join card c on c.card_id = m.card_id`,
  ),
  view('cuts', 'Wallet, balances and records of one instant.', rows.CHECKPOINTS, 'checkpoint'),
  view('reports', 'Reconciliations as they were printed.', rows.REPORTS, 'report'),
  view('exports', 'What was written for a period.', rows.EXPORTS, 'export'),
];

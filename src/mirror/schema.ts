/**
 * The tables and views in the file of a copy. Only these columns are written: no number, code, key or raw answer. The
 * views are a promise.
 */

import type {
  CardObservationRow,
  CardRow,
  CheckpointRow,
  ExportRow,
  MoveRow,
  ReportRow,
  TxChangeRow,
  TxRow,
  WalletRow,
} from '../books/rows.ts';
import { ACCOUNT_CURRENCY } from '../contract/resources.ts';
import type { ChallengeValues } from './store.ts';

/** Marks the file as ours ("cwb1"); stands in its header. */
export const APPLICATION_ID = 0x63776231;
export const SCHEMA = 1;

/** Authorizations that are open, whatever the service calls that; columns of `record`. */
export const IS_PENDING = `type = 'authorization' and lower(status) in ('pending', 'authorized')`;

/** Records of types that the interface does not name; a column of `record`. */
export const IS_OF_UNKNOWN_TYPE = `type not in ('authorization', 'settlement', 'refund', 'decline')`;

/** Records in another currency than USD (`isInDollars`); columns of `record`. */
export const IS_IN_OTHER_CURRENCY = `currency <> '${ACCOUNT_CURRENCY}' and currency <> '' and upper(currency) <> '${ACCOUNT_CURRENCY}'`;

const PENDING_INDEX = `create index record_pending on record (at_ms) where ${IS_PENDING}`;
const AUTHORIZATION_INDEX = `create index record_by_authorization on record (authorization_id)
    where authorization_id is not null`;
const GONE_INDEX = 'create index record_gone on record (gone_at) where gone_at is not null';
const UNKNOWN_TYPE_INDEX = `create index record_of_unknown_type on record (at_ms) where ${IS_OF_UNKNOWN_TYPE}`;
const OTHER_CURRENCY_INDEX = `create index record_in_other_currency on record (card_id, type, cents)
    where ${IS_IN_OTHER_CURRENCY}`;
/** Sums of records that are no longer kept one by one, with how many they were and when the last of them was. */
const FOLDED = `create table folded (
    card_id text primary key, settled_cents integer not null, refunded_cents integer not null,
    records integer not null, used_ms integer
  ) without rowid`;

/** Tables and indexes, in the order in which they are made. Times are ms UTC, amounts cents. */
export const TABLES = [
  `create table facts (name text primary key, value text not null) without rowid`,
  `create table card (
    id integer primary key, card_id text not null unique, bin_id text, network text, last4 text, label text,
    status text not null, balance_cents integer, spending_limit_cents integer, auto_freeze_cents integer,
    allowed_categories text not null, metadata text not null, created_ms integer, created_at text,
    expires_ms integer, expires_at text, first_seen integer not null, gone_at integer
  )`,
  `create table card_state (
    card_id text not null, at_ms integer not null, status text not null, balance_cents integer
  )`,
  `create index card_state_by_card on card_state (card_id, at_ms)`,
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
  PENDING_INDEX,
  AUTHORIZATION_INDEX,
  GONE_INDEX,
  UNKNOWN_TYPE_INDEX,
  OTHER_CURRENCY_INDEX,
  `create index record_by_sync on record (first_sync)`,
  FOLDED,
  `create table record_change (
    tx_id text not null, field text not null, old text, new text, seen integer not null
  )`,
  `create table challenge (
    challenge_id text primary key, card_id text, merchant text, cents integer, status text,
    expires_ms integer, first_seen integer not null, last_seen integer not null
  ) without rowid`,
  `create table wallet_state (
    at_ms integer not null, balance_cents integer not null, pending_deposits_cents integer,
    total_deposited_cents integer, total_spent_cents integer, cards_active integer,
    cards_total_balance_cents integer
  )`,
  `create table move (
    op text not null, row integer not null, operation text not null, card_id text, cents integer not null,
    outcome text not null, at_ms integer not null, purpose text, first_ms integer not null, first_sync integer not null, done_sync integer,
    primary key (op, row)
  ) without rowid`,
  `create table copied_op (op text primary key, last_at text not null) without rowid`,
  `create table open_window (from_ms integer not null, to_ms integer not null, tried_ms integer not null)`,
  `create table unknown_field (
    of text not null, name text not null, times integer not null, primary key (of, name)
  ) without rowid`,
  `create table checkpoint (
    cut_id text primary key, at_ms integer not null, exact integer not null, baseline integer not null,
    rules text not null, wallet_cents integer not null, total_deposited_cents integer not null,
    total_spent_cents integer not null, carried_cents integer not null, counted_rows text not null,
    sync integer not null, changes integer not null
  ) without rowid`,
  `create table checkpoint_card (
    cut_id text not null, card_id text not null, status text not null, balance_cents integer not null,
    settled_cents integer not null, refunded_cents integer not null, holds_cents integer not null,
    created_cents integer not null, funded_cents integer not null, withdrawn_cents integer not null,
    unverified integer not null, primary key (cut_id, card_id)
  ) without rowid`,
  `create table report (
    report_id text primary key, at_ms integer not null, from_cut text, to_cut text not null,
    verdict text not null, residual_cents integer not null, report text not null
  ) without rowid`,
  `create table export (
    period text not null, format text not null, account text not null, lines integer not null,
    sha256 text not null, at_ms integer not null
  )`,
  `create virtual table merchant_words using fts5(
    name, content='', tokenize="unicode61 remove_diacritics 2", prefix='2 3'
  )`,
  `create virtual table card_words using fts5(
    label, last4, metadata, tokenize="unicode61 remove_diacritics 2", prefix='2 3'
  )`,
  // A label that was changed leaves no trace in the index either.
  `insert into card_words (card_words, rank) values ('secure-delete', 1)`,
] as const;

// The views in the file of a mirror.

interface ViewColumn {
  readonly name: string;
  readonly type: 'text' | 'integer';
  readonly says: string;
}

interface View {
  readonly name: string;
  readonly says: string;
  readonly columns: readonly ViewColumn[];
  readonly select: string;
}

type Told = Omit<ViewColumn, 'name'>;

const text = (says: string): Told => ({ type: 'text', says });
const whole = (says: string): Told => ({ type: 'integer', says });
const at = (says: string): Told => whole(`${says}, ms UTC.`);
const cents = (says: string): Told => whole(`${says}, cents.`);

/** A view whose columns are those of a row, each of them told. Without a select they are columns of `from` as they are. */
function view<Row>(
  name: string,
  says: string,
  columnTexts: Readonly<Record<keyof Row & string, Told>>,
  { from = '', select }: { readonly from?: string; readonly select?: string },
): View {
  const columns = Object.entries<Told>(columnTexts).map(([column, rest]) => ({ name: column, ...rest }));
  const names = columns.map(column => column.name).join(', ');
  return { name, says, columns, select: select ?? `select ${names} from ${from}` };
}

const CARDS = view<CardRow>(
  'cards',
  'Every card ever seen.',
  {
    card_id: text('Card.'),
    bin_id: text('BIN it was issued from.'),
    network: text('Card network.'),
    last4: text('Last four digits.'),
    label: text('Label.'),
    status: text('active, frozen or terminated.'),
    balance_cents: cents('Balance when it was last read'),
    spending_limit_cents: cents('Monthly limit'),
    auto_freeze_cents: cents('Balance below which it freezes'),
    allowed_categories: text('JSON list.'),
    metadata: text('JSON object.'),
    created_ms: at('When it was made'),
    expires_ms: at('When it expires'),
    first_seen: at('When a sync first saw it'),
    gone_at: at('When the service no longer knew it'),
  },
  { from: 'card' },
);

const TX = view<TxRow>(
  'tx',
  'Every transaction record, in its newest form.',
  {
    tx_id: text('Transaction record.'),
    card_id: text('Its card.'),
    type: text('authorization, settlement, refund or decline.'),
    status: text('State of it.'),
    cents: cents('Amount, never negative; the type gives the direction'),
    currency: text('Currency.'),
    merchant: text('Merchant name.'),
    mcc: text('Merchant category code.'),
    merchant_country: text('Country of the merchant.'),
    authorization_id: text('Authorization it settles or refunds.'),
    decline_reason: text('Why it was declined.'),
    at_ms: at('When it happened'),
    created_at: text('The same as the service wrote it.'),
    first_seen: at('When a sync first saw it'),
    gone_at: at('When two complete readings no longer had it'),
  },
  {
    select: `select r.tx_id, r.card_id, r.type, r.status, r.cents, r.currency, m.name as merchant, r.mcc,
      r.merchant_country, r.authorization_id, r.decline_reason, r.at_ms,
      coalesce(r.created_at, strftime('%Y-%m-%dT%H:%M:%SZ', r.at_ms / 1000, 'unixepoch')) as created_at,
      r.first_seen, r.gone_at
      from record r left join merchant m on m.id = r.merchant`,
  },
);

const TX_CHANGES = view<TxChangeRow>(
  'tx_changes',
  'A field of a known record that a later reading showed otherwise.',
  {
    tx_id: text('Transaction record.'),
    field: text('Column of tx.'),
    old: text('Before.'),
    new: text('After.'),
    seen: at('When it was seen'),
  },
  { from: 'record_change' },
);

const MERCHANTS = view<{ name: string }>(
  'merchants',
  'Every merchant name once.',
  { name: text('Name.') },
  { from: 'merchant' },
);

const CHALLENGES = view<ChallengeValues & { readonly first_seen: number; readonly last_seen: number }>(
  'challenges',
  'Open 3DS challenges as they were seen; never a code.',
  {
    challenge_id: text('Challenge.'),
    card_id: text('Its card.'),
    merchant: text('Merchant name.'),
    cents: cents('Amount'),
    status: text('State of it.'),
    expires_ms: at('When its code stops working'),
    first_seen: at('First seen'),
    last_seen: at('Last seen'),
  },
  { from: 'challenge' },
);

const WALLET_OBSERVATIONS = view<WalletRow>(
  'wallet_observations',
  'The wallet, whenever it had changed.',
  {
    at_ms: at('When it was read'),
    balance_cents: cents('Balance'),
    pending_deposits_cents: cents('Deposits not yet confirmed'),
    total_deposited_cents: cents('Deposited in all'),
    total_spent_cents: cents('Spent in all'),
    cards_active: whole('Active cards.'),
    cards_total_balance_cents: cents('Balance of all cards'),
  },
  { from: 'wallet_state' },
);

const CARD_OBSERVATIONS = view<CardObservationRow>(
  'card_observations',
  'A card, whenever its status or balance had changed.',
  { card_id: text('Card.'), at_ms: at('When it was read'), status: text('State.'), balance_cents: cents('Balance') },
  { from: 'card_state' },
);

const MOVES = view<MoveRow>(
  'moves',
  'Rows of the journal of this machine that moved money between wallet and card, or ended a card.',
  {
    op: text('Operation.'),
    row: whole('Its row, from 1.'),
    operation: text('What was done.'),
    card_id: text('Card; null for a create whose card is not known.'),
    cents: cents('What the row asked for'),
    outcome: text('done, refused or unknown.'),
    at_ms: at('When it was sent'),
    purpose: text('What it was for, in the words of who asked; null where nobody said.'),
  },
  {
    // The service says when a card was made; the clock of this machine may be another.
    select: `select m.op, m.row, m.operation, m.card_id, m.cents, m.outcome,
      case when m.operation = 'cards.create' then coalesce(c.created_ms, m.at_ms) else m.at_ms end as at_ms, m.purpose
      from move m left join card c on c.card_id = m.card_id`,
  },
);

const CHECKPOINTS = view<CheckpointRow>(
  'cuts',
  'Wallet, balances and records of one instant.',
  {
    cut_id: text('Cut.'),
    at_ms: at('Its instant'),
    exact: whole('1 when everything was explained.'),
    baseline: whole('1 for the first one.'),
    rules: text('JSON: how this service counts.'),
    wallet_cents: cents('Balance of the wallet'),
    total_deposited_cents: cents('Deposited in all'),
    total_spent_cents: cents('Spent in all'),
    carried_cents: cents('Carried to the next checkpoint'),
    counted_rows: text('JSON: own rows whose outcome the sums showed, and their cards.'),
  },
  { from: 'checkpoint' },
);

const REPORTS = view<ReportRow>(
  'reports',
  'Reconciliations as they were printed.',
  {
    report_id: text('Report.'),
    at_ms: at('When'),
    from_cut: text('From this checkpoint.'),
    to_cut: text('To this checkpoint.'),
    verdict: text('The outcome.'),
    residual_cents: cents('Not explained'),
    report: text('The JSON that was printed.'),
  },
  { from: 'report' },
);

const EXPORTS = view<ExportRow>(
  'exports',
  'What was written for a period.',
  {
    period: text('Period.'),
    format: text('Format.'),
    account: text('Account.'),
    lines: whole('Lines.'),
    sha256: text('Digest of the file.'),
    at_ms: at('When'),
  },
  { from: 'export' },
);

/** What `mirror query` reads, and what the books are given. */
export const VIEWS: readonly View[] = [
  CARDS,
  TX,
  TX_CHANGES,
  MERCHANTS,
  CHALLENGES,
  WALLET_OBSERVATIONS,
  CARD_OBSERVATIONS,
  MOVES,
  CHECKPOINTS,
  REPORTS,
  EXPORTS,
];

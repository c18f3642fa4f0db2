/**
 * Tables of the service's own things. Money is cents, times are ms UTC, flags 0 or 1, lists and maps JSON text that SQL never looks
 * into. `account_id` leads every key. A cached balance stands beside what it belongs to; postings are the truth (I2).
 */

const WALLETS = `create table wallets (
  account_id text not null primary key,
  data_set text not null,
  balance integer not null,
  deposited integer not null,
  spent integer not null,
  entries integer not null check (entries >= 0)
) strict, without rowid`;

const BINS = `create table bins (
  account_id text not null references wallets (account_id),
  id text not null,
  position integer not null,
  network text not null check (network in ('visa', 'mastercard')),
  type text not null check (type in ('prepaid', 'debit', 'credit')),
  three_ds integer not null check (three_ds in (0, 1)),
  apple_pay integer not null check (apple_pay in (0, 1)),
  google_pay integer not null check (google_pay in (0, 1)),
  max_transaction integer not null check (max_transaction > 0),
  max_monthly integer not null check (max_monthly > 0),
  acceptance_tenths integer not null check (acceptance_tenths between 0 and 1000),
  best_for text not null,
  primary key (account_id, id)
) strict`;

/** `document` is the card as it is sent. A CVV is there if and only if the card is not terminated. Only a hold is never below 0; see I5 for balances. */
const CARDS = `create table cards (
  account_id text not null,
  id text not null,
  bin_id text not null,
  network text not null,
  number text not null check (length(number) = 16),
  cvv text,
  status text not null check (status in ('active', 'frozen', 'terminated')),
  balance integer not null,
  hold integer not null check (hold >= 0),
  spending_limit integer not null check (spending_limit > 0),
  label text not null,
  allowed_categories text not null,
  auto_freeze_at integer check (auto_freeze_at >= 0),
  metadata text not null,
  created_at integer not null,
  expires_at integer not null,
  document text not null,
  primary key (account_id, id),
  unique (account_id, number),
  foreign key (account_id, bin_id) references bins (account_id, id),
  check (status <> 'terminated' or (balance = 0 and cvv is null))
) strict`;

/**
 * One record a message. Its key is an index apart: ids come in no order, and to sort a million of them once is
 * less work than to find the place of each. An authorization carries its sums: `held` is reserved still, `settled`
 * includes `excess` (what went above the hold or came after it), `released` went back (I7). A settlement or refund
 * without an authorization is one that nobody authorized: a force post, or a refund of nothing.
 */
const TRANSACTIONS = `create table transactions (
  account_id text not null,
  id text not null,
  card_id text not null,
  type text not null check (type in ('authorization', 'settlement', 'refund', 'decline')),
  status text not null check (status in ('pending', 'settled', 'reversed', 'expired', 'completed', 'declined')),
  amount integer not null check (amount > 0),
  merchant text not null,
  mcc text not null,
  merchant_country text not null,
  authorization_id text,
  decline_reason text,
  created_at integer not null,
  held integer not null check (held >= 0),
  settled integer not null check (settled >= 0),
  excess integer not null check (excess >= 0 and excess <= settled),
  released integer not null check (released >= 0),
  refunded integer not null check (refunded >= 0 and refunded <= settled),
  foreign key (account_id, card_id) references cards (account_id, id),
  check ((type = 'decline') = (decline_reason is not null)),
  check (type in ('settlement', 'refund') or authorization_id is null),
  check (status = 'pending' or held = 0)
) strict`;

/** `purchase` is the attached authorization as JSON text, run when the right code comes; null without one. */
const CHALLENGES = `create table challenges (
  account_id text not null,
  id text not null,
  card_id text not null,
  merchant text not null,
  amount integer not null check (amount > 0),
  otp text not null,
  status text not null check (status in ('pending', 'approved', 'failed', 'expired', 'cancelled')),
  attempts integer not null check (attempts between 0 and 3),
  purchase text,
  created_at integer not null,
  expires_at integer not null,
  primary key (account_id, id),
  foreign key (account_id, card_id) references cards (account_id, id)
) strict`;

const DEPOSITS = `create table deposits (
  account_id text not null references wallets (account_id),
  id text not null,
  currency text not null check (currency in ('btc', 'eth', 'sol', 'usdt')),
  network text not null,
  crypto_amount text not null,
  amount integer not null check (amount > 0),
  status text not null check (status in ('pending', 'confirmed', 'failed')),
  tx_hash text not null,
  confirmations integer not null check (confirmations between 0 and required_confirmations),
  required_confirmations integer not null,
  created_at integer not null,
  confirmed_at integer,
  primary key (account_id, id),
  unique (account_id, tx_hash),
  check ((status = 'confirmed') = (confirmed_at is not null))
) strict`;

/** `former_secret` signs as well until `former_until`; `failing_since` is the first failure after the last success. */
const WEBHOOKS = `create table webhooks (
  account_id text not null references wallets (account_id),
  id text not null,
  url text not null,
  events text not null,
  secret text not null,
  status text not null check (status in ('active', 'disabled')),
  created_at integer not null,
  updated_at integer not null,
  former_secret text,
  former_until integer,
  failing_since integer,
  primary key (account_id, id),
  check ((former_secret is null) = (former_until is null))
) strict`;

/** `ref` names what the entry is about: a transaction, a deposit or a card. Written once, never changed (I1). */
const ENTRIES = `create table entries (
  account_id text not null references wallets (account_id),
  id integer not null,
  kind text not null,
  ref text not null,
  created_at integer not null,
  primary key (account_id, id)
) strict, without rowid`;

const POSTINGS = `create table postings (
  account_id text not null,
  entry_id integer not null,
  ledger text not null,
  amount integer not null check (amount <> 0),
  primary key (account_id, entry_id, ledger),
  foreign key (account_id, entry_id) references entries (account_id, id)
) strict, without rowid`;

/** The key of transactions first. Apart from the others: they are made anew once a data set has written its records. */
export const LATE_INDEXES: readonly string[] = [
  'create unique index transactions_by_id on transactions (account_id, id)',
  'create index transactions_by_age on transactions (account_id, created_at, id)',
  'create index transactions_by_card on transactions (account_id, card_id, created_at, id)',
  'create index postings_by_ledger on postings (account_id, ledger, entry_id)',
];

/** In the order in which they can be made. */
export const TABLES: readonly string[] = [
  WALLETS,
  BINS,
  CARDS,
  TRANSACTIONS,
  CHALLENGES,
  DEPOSITS,
  WEBHOOKS,
  ENTRIES,
  POSTINGS,
  'create index cards_by_age on cards (account_id, created_at, id)',
  ...LATE_INDEXES,
  'create index challenges_by_status on challenges (account_id, status, created_at)',
  'create index deposits_by_status on deposits (account_id, status)',
];

/** Names of the tables in the order in which they can be emptied: children first. */
export const DOMAIN_TABLES = [
  'postings',
  'entries',
  'webhooks',
  'deposits',
  'challenges',
  'transactions',
  'cards',
  'bins',
  'wallets',
] as const;

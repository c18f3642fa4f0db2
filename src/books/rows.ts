/**
 * Rows of the books: what the views of the mirror deliver, column by column. Amounts are integer cents, times are ms UTC unless the
 * name ends in `created_at` (ISO text, as the service wrote it). A column the service did not send is null; null is never 0.
 */
import type { Cents } from '../core/money.ts';

/** A column of a view, as it is shown to users. */
export interface ViewColumn {
  readonly type: 'text' | 'integer';
  readonly says: string;
  readonly isNullable?: true;
}

/** With the type that a row of the view has there. */
interface Column<Value> extends ViewColumn {
  /** For the compiler alone. */
  readonly value?: Value;
}

type Row<Columns> = { readonly [Name in keyof Columns]: Columns[Name] extends Column<infer Value> ? Value : never };

const text = <Value extends string = string>(says: string): Column<Value> => ({ type: 'text', says });
const whole = <Value extends number = number>(says: string): Column<Value> => ({ type: 'integer', says });
const at = (says: string): Column<number> => whole(`${says}, ms UTC.`);
const cents = (says: string): Column<Cents> => whole(`${says}, cents.`);
/** It may be null. */
const maybe = <Value>(column: Column<Value>): Column<Value | null> => ({ ...column, isNullable: true });

export const CARDS = {
  card_id: text('Card.'),
  bin_id: maybe(text('BIN it was issued from.')),
  network: maybe(text('Card network.')),
  last4: maybe(text('Last four digits.')),
  label: maybe(text('Label.')),
  // Or another word of the service.
  status: text('active, frozen or terminated.'),
  balance_cents: maybe(cents('Balance when it was last read')),
  spending_limit_cents: maybe(cents('Monthly limit')),
  auto_freeze_cents: maybe(cents('Balance below which it freezes')),
  allowed_categories: text('JSON list.'),
  // Values are text. Cards of this program carry the key `cardwright`: `<op>.<row>`.
  metadata: text('JSON object.'),
  created_ms: maybe(at('When it was made')),
  expires_ms: maybe(at('When it expires')),
  first_seen: at('When a sync first saw it'),
  gone_at: maybe(at('When the service no longer knew it')),
};
export type CardRow = Row<typeof CARDS>;

/** Columns of a card that a reconciliation looks at; every card is in memory, so there are no more. */
export type CountedCard = Pick<
  CardRow,
  'card_id' | 'last4' | 'label' | 'status' | 'balance_cents' | 'metadata' | 'gone_at'
>;

export const TX = {
  tx_id: text('Transaction record.'),
  card_id: maybe(text('Its card.')),
  // Or another word of the service.
  type: text('authorization, settlement, refund or decline.'),
  status: maybe(text('State of it.')),
  cents: cents('Amount, never negative; the type gives the direction'),
  currency: maybe(text('Currency.')),
  merchant: maybe(text('Merchant name.')),
  mcc: maybe(text('Merchant category code.')),
  merchant_country: maybe(text('Country of the merchant.')),
  // The record's own id: one changing record a purchase.
  authorization_id: maybe(text('Authorization it settles or refunds.')),
  decline_reason: maybe(text('Why it was declined.')),
  at_ms: at('When it happened'),
  created_at: text('The same as the service wrote it.'),
  first_seen: at('When a sync first saw it'),
  gone_at: maybe(at('When two complete readings no longer had it')),
};
export type TxRow = Row<typeof TX>;

/** Columns of a record that sums and remarks are made of; a reconciliation reads one row for each record, so no more. */
export type SummedRow = Omit<TxRow, 'merchant' | 'decline_reason' | 'created_at'>;

export const TX_CHANGES = {
  tx_id: text('Transaction record.'),
  field: text('Column of tx.'),
  old: maybe(text('Before.')),
  new: maybe(text('After.')),
  seen: at('When it was seen'),
};
export type TxChangeRow = Row<typeof TX_CHANGES>;

export const MERCHANTS = { name: text('Name.') };

export const WALLET_OBSERVATIONS = {
  at_ms: at('When it was read'),
  balance_cents: cents('Balance'),
  pending_deposits_cents: maybe(cents('Deposits not yet confirmed')),
  total_deposited_cents: maybe(cents('Deposited in all')),
  total_spent_cents: maybe(cents('Spent in all')),
  cards_active: maybe(whole('Active cards.')),
  cards_total_balance_cents: maybe(cents('Balance of all cards')),
};
export type WalletRow = Row<typeof WALLET_OBSERVATIONS>;

export const MOVES = {
  op: text('Operation.'),
  row: whole('Its row, from 1.'),
  operation: text<'cards.create' | 'cards.fund' | 'cards.withdraw' | 'cards.terminate'>('What was done.'),
  card_id: maybe(text('Card; null for a create whose card is not known.')),
  // 0 for a terminate.
  cents: cents('What the row asked for'),
  // Rows resolved by hand are `done` or `refused`; rows that never left are not in the view.
  outcome: text<'done' | 'refused' | 'unknown'>('done, refused or unknown.'),
  // By the clock of the service where that was known.
  at_ms: at('When it was sent'),
  purpose: maybe(text('What it was for, in the words of who asked; null where nobody said.')),
};
type Move = Row<typeof MOVES>;
export type MoveRow = Omit<Move, 'purpose'> & Partial<Pick<Move, 'purpose'>>;

/** Every record of a checkpoint has `first_seen` at or before `at_ms`, every later one after it. */
export const CHECKPOINTS = {
  cut_id: text('Checkpoint.'),
  at_ms: at('Its instant'),
  // No finding but those with exit 0, none provisional. The next reconciliation starts at the last exact checkpoint.
  exact: whole<0 | 1>('1 when everything was explained.'),
  baseline: whole<0 | 1>('1 for the first one.'),
  // A list of the `CountingRules` that fit every checkpoint so far, the one in use first.
  rules: text('JSON: how this service counts.'),
  wallet_cents: cents('Balance of the wallet'),
  total_deposited_cents: cents('Deposited in all'),
  total_spent_cents: cents('Spent in all'),
  // What of the wallet is explained by `hold_released` on terminated cards.
  carried_cents: cents('Carried to the next checkpoint'),
  // An object from `<op>.<row>` to card.
  counted_rows: text('JSON: own rows whose outcome the sums showed, and their cards.'),
};
export type CheckpointRow = Row<typeof CHECKPOINTS>;

export const REPORTS = {
  report_id: text('Report.'),
  at_ms: at('When'),
  from_cut: maybe(text('From this checkpoint.')),
  to_cut: text('To this checkpoint.'),
  verdict: text('The outcome.'),
  residual_cents: cents('Not explained'),
  report: text('The JSON that was printed.'),
};
export type ReportRow = Row<typeof REPORTS>;

export const EXPORTS = {
  period: text('Period.'),
  format: text('Format.'),
  account: text('Account.'),
  lines: whole('Lines.'),
  sha256: text('Digest of the file.'),
  at_ms: at('When'),
};
export type ExportRow = Row<typeof EXPORTS>;

/** How this service counts; the defaults of stand first. */
export interface CountingRules {
  readonly total_spent: 'net' | 'gross';
  readonly cards_total_balance: 'all' | 'active';
  readonly balance: 'available' | 'with_holds';
}

/** A card at a checkpoint. Sums are of all its records and own moves from the beginning to the checkpoint, cents. */
export const CHECKPOINT_CARDS = {
  cut_id: text('Checkpoint.'),
  card_id: text('Card.'),
  // `terminated` also for a card that the service no longer knows; `unlisted` for one that only records or own rows name.
  status: text('Its state.'),
  balance_cents: whole('Balance.'),
  settled_cents: whole('Settled.'),
  refunded_cents: whole('Refunded.'),
  // The upper bound that records give, less what `hold_released` explained.
  holds_cents: whole('Open holds.'),
  // Of own rows that are done, or counted as done by `counted_rows` of the checkpoint.
  created_cents: whole('It was made with.'),
  funded_cents: whole('Funded.'),
  withdrawn_cents: whole('Withdrawn.'),
  // While the holds of the first checkpoint are not verified: the card had an open authorization at every checkpoint so far.
  unverified: whole<0 | 1 | 2>('1 while its first holds are not verified, 2 where nothing bounds them.'),
};
export type CheckpointCardRow = Row<typeof CHECKPOINT_CARDS>;

/**
 * The purchase a record belongs to. The sums take records purchase by purchase, so that one purchase at a time is in
 * memory however many there are; as SQL: `order by coalesce(authorization_id, tx_id), at_ms, tx_id`.
 */
export function purchaseOf({ authorization_id, tx_id }: Pick<TxRow, 'authorization_id' | 'tx_id'>): string {
  return authorization_id ?? tx_id;
}

/** A value of the metadata of a card, JSON; undefined where it has none of that key. */
export function metadataValue(metadata: string | null | undefined, key: string): string | undefined {
  if (metadata == null || !metadata.includes(JSON.stringify(key))) return undefined;
  const values = JSON.parse(metadata) as Readonly<Record<string, unknown>>;
  const value = Object.hasOwn(values, key) ? values[key] : undefined;
  return value == null ? undefined : String(value);
}

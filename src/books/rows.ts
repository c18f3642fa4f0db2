/**
 * Rows of the books: what the views of the mirror deliver, column by column, and what the sums read. Amounts are
 * integer cents, times are ms UTC unless the name ends in `created_at` of `tx` (ISO text, as the service wrote it).
 * A column the service did not send is null; null is never 0.
 */
import type { Cents } from '../core/money.ts';

/** View `cards`: one row for each card ever seen. */
export interface CardRow {
  readonly card_id: string;
  readonly bin_id: string | null;
  readonly network: string | null;
  readonly last4: string | null;
  readonly label: string | null;
  /** `active`, `frozen`, `terminated`, or another word of the service. */
  readonly status: string;
  readonly balance_cents: Cents | null;
  readonly spending_limit_cents: Cents | null;
  readonly auto_freeze_cents: Cents | null;
  /** JSON list of text. */
  readonly allowed_categories: string;
  /** JSON object of text. Cards of this program carry the key `cardwright`: `<op>.<row>`. */
  readonly metadata: string;
  readonly created_ms: number | null;
  readonly expires_ms: number | null;
  readonly first_seen: number;
  /** When two complete readings no longer had it. */
  readonly gone_at: number | null;
}

/** View `tx`: one row for each transaction record, in its newest form. */
export interface TxRow {
  readonly tx_id: string;
  readonly card_id: string | null;
  /** `authorization`, `settlement`, `refund`, `decline`, or another word of the service. */
  readonly type: string;
  readonly status: string | null;
  /** Never negative; the type gives the direction. */
  readonly cents: Cents;
  readonly currency: string | null;
  readonly merchant: string | null;
  readonly mcc: string | null;
  readonly merchant_country: string | null;
  /** Of settlements and refunds. The record's own id: one changing record a purchase. */
  readonly authorization_id: string | null;
  readonly decline_reason: string | null;
  readonly at_ms: number;
  readonly created_at: string;
  readonly first_seen: number;
  readonly gone_at: number | null;
}

/** Columns of a record that sums and remarks are made of; a reconciliation reads one row for each record, so no more. */
export type SummedRow = Omit<TxRow, 'merchant' | 'decline_reason' | 'created_at'>;

/** View `tx_changes`: one field of a known record that a later reading showed otherwise. */
export interface TxChangeRow {
  readonly tx_id: string;
  /** A column of `tx`; amounts under `cents`. */
  readonly field: string;
  readonly old: string | null;
  readonly new: string | null;
  readonly seen: number;
}

/** View `moves`: one row of our own journal that moves money between the wallet and a card, or ends a card. */
export interface MoveRow {
  readonly op: string;
  /** From 1. */
  readonly row: number;
  readonly operation: 'cards.create' | 'cards.fund' | 'cards.withdraw' | 'cards.terminate';
  /** Null for a create whose card is not known. */
  readonly card_id: string | null;
  /** What the row asks for; 0 for a terminate. */
  readonly cents: Cents;
  /** Rows resolved by hand are `done` or `refused`; rows that never left are not in the view. */
  readonly outcome: 'done' | 'refused' | 'unknown';
  /** When it was sent, by the clock of the service where that was known. */
  readonly at_ms: number;
  /** What it was for; null or left out where nobody said. */
  readonly purpose?: string | null;
}

/** View `wallet_observations`: the seven fields of the wallet at one reading. */
export interface WalletRow {
  readonly at_ms: number;
  readonly balance_cents: Cents;
  readonly pending_deposits_cents: Cents | null;
  readonly total_deposited_cents: Cents | null;
  readonly total_spent_cents: Cents | null;
  readonly cards_active: number | null;
  readonly cards_total_balance_cents: Cents | null;
}

/** View `card_observations`: a card, whenever its status or balance had changed. */
export interface CardObservationRow {
  readonly card_id: string;
  readonly at_ms: number;
  readonly status: string;
  readonly balance_cents: Cents | null;
}

/** How this service counts; the defaults of stand first. */
export interface CountingRules {
  readonly total_spent: 'net' | 'gross';
  readonly cards_total_balance: 'all' | 'active';
  readonly balance: 'available' | 'with_holds';
}

/** A card at a checkpoint. Sums are of all its records and own moves from the beginning to the checkpoint. */
export interface CheckpointCardRow {
  readonly cut_id: string;
  readonly card_id: string;
  readonly status: string;
  readonly balance_cents: Cents;
  readonly settled_cents: Cents;
  readonly refunded_cents: Cents;
  /** Open holds: the upper bound that records give, less what `hold_released` explained. */
  readonly holds_cents: Cents;
  /** Sums of own rows that are done, or counted as done by `counted_rows` of the checkpoint. */
  readonly created_cents: Cents;
  readonly funded_cents: Cents;
  readonly withdrawn_cents: Cents;
  /**
   * 1 while the holds of the first checkpoint are not verified: the card had an open authorization at every checkpoint so far. 2
   * where records gave no bound for them either.
   */
  readonly unverified: 0 | 1 | 2;
}

/**
 * View `checkpoints`: wallet, balances and records of one instant, and the verdict of the reconciliation that made it. Every
 * record of a checkpoint has `first_seen` at or before `at_ms`, every later one after it.
 */
export interface CheckpointRow {
  readonly cut_id: string;
  readonly at_ms: number;
  /** 1: no finding but those with exit 0, none provisional. The next reconciliation starts at the last exact checkpoint. */
  readonly exact: 0 | 1;
  /** 1: the first checkpoint of an account, from zero. */
  readonly baseline: 0 | 1;
  /** JSON list of the `CountingRules` that fit every checkpoint so far, the one in use first. */
  readonly rules: string;
  readonly wallet_cents: Cents;
  readonly total_deposited_cents: Cents;
  readonly total_spent_cents: Cents;
  /** What of the wallet is explained by `hold_released` on terminated cards, carried to the next checkpoint. */
  readonly carried_cents: Cents;
  /** JSON object from own rows, `<op>.<row>`, whose outcome was unknown and that the sums showed to be done, to cards. */
  readonly counted_rows: string;
}

/** View `reports`: one reconciliation. `report` is the JSON that the command printed. */
export interface ReportRow {
  readonly report_id: string;
  readonly at_ms: number;
  readonly from_cut: string | null;
  readonly to_cut: string;
  readonly verdict: string;
  readonly residual_cents: Cents;
  readonly report: string;
}

/** View `exports`: what was written for a period, to say later what has come since. */
export interface ExportRow {
  readonly period: string;
  readonly format: string;
  readonly account: string;
  readonly lines: number;
  readonly sha256: string;
  readonly at_ms: number;
}

/**
 * The purchase a record belongs to. The sums take records purchase by purchase, so that one purchase at a time is in
 * memory however many there are; as SQL: `order by coalesce(authorization_id, tx_id), at_ms, tx_id`.
 */
export function purchaseOf({ authorization_id, tx_id }: Pick<TxRow, 'authorization_id' | 'tx_id'>): string {
  return authorization_id ?? tx_id;
}

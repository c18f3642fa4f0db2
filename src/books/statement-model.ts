/** What a statement is made from and what it says. Amounts are integer cents, times ms UTC. */
import type { Period, WallClock } from './period.ts';
import type { CardRow, CutCardRow, CutRow, MoveRow, TxRow, WalletRow } from './rows.ts';

export type LineType = 'settlement' | 'refund' | 'transfer' | 'deposit' | 'fee' | 'unexplained';

/** What stands on the other side of a line. */
export type Counter = 'merchant' | 'wallet' | 'card' | 'deposits' | 'fees' | 'unexplained';

export interface Line {
  /** Unique within its account. Both sides of a transfer carry the same. */
  readonly id: string;
  /** ms UTC. */
  readonly at: number;
  /** Day and time on the wall of the asked zone. */
  readonly date: string;
  readonly time: string;
  readonly type: LineType;
  /** Signed effect on the account, integer cents. */
  readonly cents: number;
  /** After the line, integer cents; null where a derived line may have come before it or after. */
  readonly balance: number | null;
  readonly payee: string;
  readonly memo: string;
  /** The card; on the wallet that of the transfer. */
  readonly card_id: string | null;
  readonly mcc: string | null;
  readonly country: string | null;
  readonly authorization_id: string | null;
  readonly counter: Counter;
  /** `derived`: no record and no own row says it; the difference of two cuts does. */
  readonly source: 'record' | 'journal' | 'derived';
  /** Of a derived line whose money may have moved at any time since: the day of the earlier of its two readings. */
  readonly since_date?: string;
  /** Derived since the last exact cut: a later reading may show it with another id, amount or day, or not at all. */
  readonly unproved?: true;
}

export interface StatementAccount {
  readonly kind: 'card' | 'wallet';
  readonly card_id: string | null;
  readonly last4: string | null;
  readonly label: string | null;
  readonly opening: number;
  readonly lines: readonly Line[];
  readonly closing: number;
  /** Before this instant (ms UTC) nobody knows what it had: the books begin there. Undefined: it is known throughout. */
  readonly knownSince?: number | undefined;
  /** What it had at `knownSince`, integer cents. */
  readonly atBegin?: number | undefined;
  /** Nothing of it is pending in the period and 35 days have passed. */
  readonly final: boolean;
}

export interface Statement {
  readonly period: Period;
  /** First and last day of the period and the day after, on the wall of the asked zone. */
  readonly days: { readonly first: string; readonly last: string; readonly next: string };
  /** What is shown reaches to this instant, ms UTC: the end of the period, or what was read last where that is earlier. */
  readonly until: number;
  /** The wallet, then the cards. Each walk makes them anew, so that one account at a time is in memory. */
  readonly accounts: Iterable<StatementAccount>;
  /** Cards that were asked for, also those without an account. */
  readonly cards: readonly Pick<CardRow, 'card_id' | 'last4' | 'label' | 'created_ms'>[];
  /** What was asked for: the wallet and all cards, one card, or some. */
  readonly selection: 'all' | 'card' | 'cards';
  /** Open authorizations of the period, where they were asked for. They are no lines. */
  readonly holds: readonly OpenHold[];
  /** Every account is. */
  readonly final: boolean;
  /** The first cut, ms UTC, where accounts of it are not known before; undefined where all are. */
  readonly knownSince?: number | undefined;
  /** The day of it in the time zone of the statement. */
  readonly knownSinceDay?: string | undefined;
  /** An exact cut proves the closing balances, and every account is known throughout. */
  readonly reconciled: boolean;
  /** Derived lines whose two cuts lie on both sides of an end of the period: their day may be another. */
  readonly straddling: readonly StraddlingLine[];
}

/** A derived line whose money may have moved on the other side of an end of the period. */
export interface StraddlingLine extends Omit<Line, 'balance'>, Pick<StatementAccount, 'kind'> {
  /** Days of its two cuts, on the wall of the asked zone. */
  readonly since_date: string;
  readonly until_date: string;
  /** It stands in the period, and may be older or later; else it stands behind it, and may belong to it. */
  readonly may: 'be older than' | 'be later than' | 'belong to';
}

/** Balances of an account as far as anybody knows them, integer cents; null before the books begin. */
export function provedBalances(
  { opening, closing, knownSince }: Pick<StatementAccount, 'opening' | 'closing' | 'knownSince'>,
  { to }: Pick<Period, 'to'>,
): { readonly opening: number | null; readonly closing: number | null } {
  if (knownSince === undefined) return { opening, closing };
  return { opening: null, closing: knownSince < to ? closing : null };
}

/** The balance that is known at the end of what is shown, or else the first one after it: integer cents, and when (ms UTC). */
export function provedBalance(
  { closing, knownSince, atBegin = closing }: Pick<StatementAccount, 'closing' | 'knownSince' | 'atBegin'>,
  until: number,
): { readonly cents: number; readonly at: number } {
  if (knownSince === undefined || knownSince < until) return { cents: closing, at: until };
  return { cents: atBegin, at: knownSince };
}

export interface ExactCut {
  readonly cut: CutRow;
  readonly cards: readonly CutCardRow[];
}

/** Columns of a record that its line is made of; one row is read for each line, so there are no more. */
export type PostedRow = Pick<
  TxRow,
  'tx_id' | 'type' | 'status' | 'cents' | 'merchant' | 'mcc' | 'merchant_country' | 'authorization_id' | 'at_ms'
> & {
  /** Of a purchase in one changing record that was seen to change: a line each, oldest first. */
  readonly steps?: readonly PostedStep[];
};

/** What a purchase had spent in all from then on: settled less refunded, integer cents. */
export interface PostedStep {
  /** ms UTC: of the purchase, or when the change was seen. */
  readonly at: number;
  readonly spent: number;
  /** It happened at any time from then on (ms UTC); undefined for the time of the purchase. */
  readonly since?: number;
}

/** Records of and after the period and seen by the newest cut, those that are gone left out. */
export interface StatementRecords {
  /** Settlements and refunds of a card, in any order. */
  of(card_id: string): Iterable<PostedRow>;
  /** Whether an authorization of the card that is younger than `since` may have held money at `at` and let it go (ms UTC). */
  mayHold(card_id: string, span: { readonly since: number; readonly at: number }): boolean;
  /** Of types that the interface does not name. */
  readonly unknownTypes: readonly TxRow[];
  /** Cards with an authorization that is pending and began before the end of the period. */
  readonly pendingCards: ReadonlySet<string>;
}

/** Everything from the last exact cut before the period to the newest one. */
export interface StatementInput {
  readonly period: Period;
  readonly clock: WallClock;
  /** ms UTC, now. */
  readonly now: number;
  /** Exact cuts, oldest first. Without one before the period the account began within it. */
  readonly cuts: readonly ExactCut[];
  /** What was seen after them and is not proved: the statement closes by it where no exact cut proves its end. */
  readonly unproved?: ExactCut;
  readonly cards: readonly CardRow[];
  readonly records: StatementRecords;
  readonly moves: readonly MoveRow[];
  /** Observations of the wallet, oldest first: deposits are dated by them. */
  readonly deposits: readonly Pick<WalletRow, 'at_ms' | 'total_deposited_cents'>[];
  /** Which cards have an account; the wallet has one when all have. */
  readonly only?: (card: CardRow) => boolean;
  /** One card alone: it has an account also when nothing happened to it. */
  readonly isOneCard?: boolean;
  /** Authorizations of the period that are pending, with what is left of them. */
  readonly pending?: readonly PendingRow[];
}

/** A record and what it may still hold at most, integer cents. */
export interface PendingRow {
  readonly record: TxRow;
  readonly held: number;
}

/** Money of a card that an open authorization holds. */
export interface OpenHold {
  readonly id: string;
  readonly at: number;
  readonly date: string;
  readonly card_id: string;
  /** Never negative, integer cents. */
  readonly cents: number;
  readonly payee: string;
}

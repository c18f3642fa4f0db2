/** What the records of a card say of its use: when it was used last, what it spent, how much of its limit is used. */
import { DAY } from '../core/durations.ts';
import { type EffectColumns, effectOf, isChangingRecord, spentBy } from './records.ts';
import { purchaseOf, type TxRow } from './rows.ts';

/** Columns of a record that activity is counted from. */
export type ActivityRecord = EffectColumns & Pick<TxRow, 'card_id' | 'at_ms'>;

/** What one card did up to `Activities.now`. Amounts are cents; spans are 1, 7 and 30 days of 24 hours. */
const nothing = () => ({
  /** ms UTC of the newest authorization or settlement; undefined for none. */
  lastUse: undefined as number | undefined,
  /** Settled less refunded. */
  spent: { 1: 0, 7: 0, 30: 0 },
  /** Declines of the last 24 hours. */
  declined1: 0,
  /** Refunds of the last 30 days. */
  refunded30: 0,
});
type Activity = ReturnType<typeof nothing>;
const NOTHING: Readonly<Activity> = nothing();

const SPANS = [1, 7, 30] as const;

/** ms UTC. Older records matter for `lastUse` alone; `useAt` takes their time. */
export function oldestCounted(now: number): number {
  return Math.min(monthStart(now), now - 30 * DAY);
}

/** First instant of the calendar month, UTC. */
export function monthStart(now: number): number {
  const at = new Date(now);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
}

interface MonthPurchase {
  /** Card of its authorization, once that was seen and lies in the month. */
  card: string | undefined;
  held: number;
  settled: number;
}

/** What a purchase uses of the limit of its card. */
const usedBy = ({ card, held, settled }: MonthPurchase) => (card === undefined ? 0 : Math.max(held, settled));

/**
 * Takes records in any order, each once; those after `now` (ms UTC) are left out. One in another currency than USD is a use
 * of its card, and its amount is in no sum.
 */
export class Activities {
  readonly now: number;
  /** All records after this instant, ms UTC, and up to `now` were read. */
  readonly wholeSince: number;
  /** First instant of its calendar month, UTC. */
  readonly monthStart: number;
  readonly #cards = new Map<string, Activity>();
  readonly #month = new Map<string, MonthPurchase>();
  /** Settled this month without an authorization, a card. */
  readonly #unlinked = new Map<string, number>();
  readonly #used = new Map<string, number>();

  constructor(now: number, wholeSince = Number.NEGATIVE_INFINITY) {
    this.now = now;
    this.wholeSince = wholeSince;
    this.monthStart = monthStart(now);
  }

  add(record: ActivityRecord): void {
    const { card_id: card, type, at_ms: at } = record;
    if (card === null || at > this.now) return;
    this.#addToMonth(record, card);
    if (type === 'authorization' || type === 'settlement' || isChangingRecord(record)) this.useAt(card, at);
    const counted = this.#of(card);
    const spent = spentBy(record);
    for (const days of SPANS) if (at > this.now - days * DAY) counted.spent[days] += spent;
    if (type === 'decline' && at > this.now - DAY) counted.declined1 += 1;
    if (type === 'refund' && at > this.now - 30 * DAY) counted.refunded30 += 1;
  }

  /** The card had an authorization or a settlement at that time. */
  useAt(card: string, at: number): void {
    const counted = this.#of(card);
    if (at <= this.now && at > (counted.lastUse ?? Number.NEGATIVE_INFINITY)) counted.lastUse = at;
  }

  of(card: string): Readonly<Activity> {
    return this.#cards.get(card) ?? NOTHING;
  }

  /**
   * Cents of this month's limit that are used: what authorizations of this month hold or settled for; refunds give nothing back. An upper bound, as partial reversals leave no trace.
   */
  limitUsed(card: string): number {
    return this.#used.get(card) ?? 0;
  }

  /** Cents that the card has used of this month in all: of its limit, and what was posted without an authorization. */
  monthUsed(card: string): number {
    return this.limitUsed(card) + (this.#unlinked.get(card) ?? 0);
  }

  #of(card: string): Activity {
    const counted = this.#cards.get(card) ?? nothing();
    this.#cards.set(card, counted);
    return counted;
  }

  #addToMonth(record: ActivityRecord, card: string): void {
    if (record.at_ms < this.monthStart) return;
    const isOwn = isChangingRecord(record);
    const { settled, pending } = effectOf(record);
    if (record.type !== 'authorization' && !isOwn && settled === 0) return;
    const name = purchaseOf(record);
    const purchase = this.#month.get(name) ?? { card: undefined, held: 0, settled: 0 };
    this.#month.set(name, purchase);
    const before = usedBy(purchase);
    purchase.settled += settled;
    if (record.type === 'authorization' || isOwn) purchase.card = card;
    else if (record.authorization_id === null) this.#unlinked.set(card, (this.#unlinked.get(card) ?? 0) + settled);
    if (pending > 0) purchase.held = pending;
    const { card: user } = purchase;
    if (user !== undefined) this.#used.set(user, this.limitUsed(user) + usedBy(purchase) - before);
  }
}

/** Goes through records purchase by purchase: sums of each card, and what the structure of the records shows. */
import { isInDollars } from '../contract/currency.ts';
import { effectOf, isChangingRecord, isKnownType, isPending, spentBy } from './effect.ts';
import { remarksOn } from './remarks.ts';
import { purchaseOf, type SummedRow, type TxChangeRow } from './rows.ts';
import type { Structure } from './structure.ts';

/** Sums of all records of a card, integer cents. */
export interface CardSums {
  settled: number;
  refunded: number;
  /** Upper bound of what is held: max(0, amount - its settlements) over pending authorizations. */
  holds: number;
  /** A pending purchase does not show what it had authorized, so that nothing bounds its hold (A-40, one record). */
  unbounded: boolean;
}

/** A settlement or refund that came after the base. */
export interface NewRecord {
  readonly tx_id: string;
  readonly card_id: string;
  /** Settled less refunded, integer cents. */
  readonly spent: number;
}

export interface RecordSums {
  readonly cards: ReadonlyMap<string, CardSums>;
  readonly structure: readonly Structure[];
  readonly fresh: readonly NewRecord[];
  /** Some purchase is one changing record. */
  readonly hasChangingRecords: boolean;
}

export interface ReadingOptions {
  /** ms UTC: records first seen later are new. Undefined for a first checkpoint, which remarks on structure alone. */
  readonly since: number | undefined;
  /** Changes seen after `since`. */
  readonly changes?: readonly TxChangeRow[];
  /** Cards that are terminated, for refunds that come after. */
  readonly terminated?: ReadonlySet<string>;
  /** What is known without the rows; nothing when left out. */
  readonly totals?: CardTotals;
}

export interface CardTotals {
  /** Settled and refunded, a card, integer cents. */
  readonly cards: ReadonlyMap<string, Pick<CardSums, 'settled' | 'refunded'>>;
  /** The rows are in them already, and add what they hold alone. */
  readonly hasRows: boolean;
}

/**
 * Adds up rows that come purchase by purchase (`purchaseOf`). Rows that are gone count as nothing and are named; rows in
 * another currency than USD count as nothing.
 * Records without a card count on no card. Where sums are known with their rows, purchases that are not among the rows
 * must be closed, and be as they were at the base.
 */
export function addUp(rows: Iterable<SummedRow>, options: ReadingOptions): RecordSums {
  const reading = new Reading(options);
  let purchase: SummedRow[] = [];
  let key: string | undefined;
  for (const row of rows) {
    const own = purchaseOf(row);
    if (own !== key && purchase.length > 0) {
      reading.take(purchase);
      purchase = [];
    }
    key = own;
    purchase.push(row);
  }
  if (purchase.length > 0) reading.take(purchase);
  return reading;
}

/** Columns of a record that are no text. */
const NUMBERS: ReadonlySet<string> = new Set(['cents', 'at_ms', 'gone_at']);

/** A record as it was before the first of these changes; they come in their order. */
export function before<Row extends SummedRow>(row: Row, changes: readonly TxChangeRow[]): Row {
  const old: Record<string, unknown> = {};
  for (const { field, old: value } of changes) {
    if (field in old) continue;
    old[field] = NUMBERS.has(field) && value !== null ? Number(value) : value;
  }
  return { ...row, ...old };
}

const NO_SUMS: Readonly<CardSums> = { settled: 0, refunded: 0, holds: 0, unbounded: false };

class Reading implements RecordSums {
  readonly cards = new Map<string, CardSums>();
  readonly structure: Structure[] = [];
  readonly fresh: NewRecord[] = [];
  hasChangingRecords = false;
  readonly #since: number | undefined;
  readonly #terminated: ReadonlySet<string>;
  readonly #changes = new Map<string, TxChangeRow[]>();
  readonly #addsRows: boolean;

  constructor({ since, changes = [], terminated = new Set(), totals }: ReadingOptions) {
    this.#since = since;
    this.#terminated = terminated;
    this.#addsRows = totals?.hasRows !== true;
    for (const [card, sums] of totals?.cards ?? []) this.cards.set(card, { ...NO_SUMS, ...sums });
    for (const change of [...changes].sort((a, b) => a.seen - b.seen)) {
      const known = this.#changes.get(change.tx_id);
      if (known === undefined) this.#changes.set(change.tx_id, [change]);
      else known.push(change);
    }
  }

  take(rows: readonly SummedRow[]): void {
    const isListed = (row: SummedRow) => row.gone_at === null && isInDollars(row);
    const listed = rows.every(isListed) ? rows : rows.filter(isListed);
    for (const row of listed) this.#count(row, listed);
    if (this.#since === undefined) {
      this.structure.push(...remarksOn(listed, { isNew: () => false, terminated: this.#terminated }));
      return;
    }
    const since = this.#since;
    const isNew = (row: SummedRow) => row.first_seen > since || this.#changes.has(row.tx_id);
    if (!rows.some(row => isNew(row) || (row.gone_at ?? 0) > since)) return;
    const compared = rows.flatMap(row => this.#compare(row, since));
    const moved = new Set(compared.flatMap(each => (each.kind === 'record_moved' ? each.records : [])));
    const remarks = remarksOn(listed, { isNew, terminated: this.#terminated });
    // A record that left the card of its authorization is one finding.
    const others = remarks.filter(({ kind, records }) => kind !== 'record_moved' || !records.some(id => moved.has(id)));
    this.structure.push(...compared, ...others);
  }

  #count(row: SummedRow, purchase: readonly SummedRow[]): void {
    if (row.card_id === null) return;
    const sums = this.#sumsOf(row.card_id);
    const { settled, refunded, pending } = effectOf(row);
    if (this.#addsRows) {
      sums.settled += settled;
      sums.refunded += refunded;
    }
    if (pending > 0) sums.holds += openHold(row, purchase);
    if (!isChangingRecord(row)) return;
    this.hasChangingRecords = true;
    if (isPending(row)) sums.unbounded = true;
  }

  #sumsOf(card: string): CardSums {
    const known = this.cards.get(card);
    if (known !== undefined) return known;
    const sums = { ...NO_SUMS };
    this.cards.set(card, sums);
    return sums;
  }

  /** What is otherwise than it was when the base was made, or first seen. */
  #compare(row: SummedRow, since: number): readonly Structure[] {
    const { tx_id, card_id } = row;
    if (card_id === null) return [];
    const spent = spentBy(row);
    const isAfterBase = row.first_seen > since;
    const shared = { card_id, records: [tx_id], ...(isAfterBase && { isAfterBase }) };
    if (row.gone_at !== null) {
      return row.gone_at > since && spent !== 0 ? [{ ...shared, kind: 'record_gone', cents: -spent }] : [];
    }
    if (isAfterBase && spent !== 0) this.fresh.push({ tx_id, card_id, spent });
    if (isAfterBase && !isKnownType(row.type) && row.cents !== 0 && isInDollars(row)) {
      return [{ card_id, records: [tx_id], kind: 'fee', cents: -row.cents }];
    }
    const changes = this.#changes.get(tx_id);
    if (changes === undefined || isChangingRecord(row)) return [];
    const was = before(row, changes);
    if (was.card_id !== card_id && was.card_id !== null && spent !== 0) {
      return [{ ...shared, kind: 'record_moved', other_card: was.card_id, cents: -spent }];
    }
    const cents = spentBy(was) - spent;
    return cents === 0 ? [] : [{ ...shared, kind: 'record_changed', cents }];
  }
}

/** What a pending authorization may still hold at most. */
function openHold(authorization: SummedRow, purchase: readonly SummedRow[]): number {
  let left: number = authorization.cents;
  for (const row of purchase) if (row.type === 'settlement') left -= row.cents;
  return Math.max(0, left);
}

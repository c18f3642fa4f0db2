/**
 * What transaction records say: the effect of each on its card, what those of one purchase
 * show, and their sums.
 */

import { isInDollars } from '../contract/resources.ts';
import { DAY } from '../core/durations.ts';
import { addTo } from '../core/objects.ts';
import { type Finding, type FindingClass, finding } from './findings.ts';
import { purchaseOf, type SummedRow, type TxChangeRow, type TxRow } from './rows.ts';

/** Columns of a record that decide its effect; `cents` is never negative. */
export interface EffectColumns extends Pick<TxRow, 'tx_id' | 'type' | 'status' | 'authorization_id'> {
  readonly cents: number;
  /** USD when left out. */
  readonly currency?: string | null;
}

/** Integer cents, each 0 or the amount of the record. */
const NOTHING = {
  settled: 0,
  refunded: 0,
  /** Authorized and still pending; an upper bound of the hold, as partial reversals leave no trace. */
  pending: 0,
  declined: 0,
};
type Effect = Readonly<typeof NOTHING>;

const KNOWN_TYPES: ReadonlySet<string> = new Set(['authorization', 'settlement', 'refund', 'decline']);

/** A record that is its own authorization: a purchase in one changing record. */
export function isChangingRecord({ tx_id, authorization_id }: EffectColumns): boolean {
  return authorization_id === tx_id;
}

/** Other services write the state in upper case, or call it authorized. */
export function isPending({ status }: { readonly status: string | null }): boolean {
  return status === 'pending' || (status !== null && /^(?:pending|authorized)$/i.test(status));
}

/**
 * An authorization counts as long as it is pending: settled, it has a record of its own; reversed, it is nothing. A
 * refund that is its own authorization is a purchase in one changing record: both settled and given back. An amount in
 * another currency is no amount of dollars, and nobody tells the rate: it counts as nothing.
 */
export function effectOf(record: EffectColumns): Effect {
  const { type, cents } = record;
  if (!isInDollars(record)) return NOTHING;
  if (type === 'settlement') return { ...NOTHING, settled: cents };
  if (type === 'refund') return { ...NOTHING, refunded: cents, settled: isChangingRecord(record) ? cents : 0 };
  if (type === 'decline') return { ...NOTHING, declined: cents };
  return type === 'authorization' && isPending(record) ? { ...NOTHING, pending: cents } : NOTHING;
}

/** Settled less refunded: what the record took off its card for good, negative for a refund. */
export function spentBy(record: EffectColumns): number {
  const { settled, refunded } = effectOf(record);
  return settled - refunded;
}

// What the records of one purchase say by themselves, before any balance is looked at

/** A finding about a card, and for `record_moved` the card that the record belongs to. */
export interface Remark extends Finding {
  /** The base has no such record: that it went or changed is only wrong where the sums miss it. */
  readonly isAfterBase?: boolean;
}

/** `row` names the card; a record without one is on no card. */
function remark(
  name: FindingClass,
  row: SummedRow,
  cents: number,
  records: readonly SummedRow[],
  { other, note }: { readonly other?: string; readonly note?: string } = {},
): Remark[] {
  if (row.card_id === null) return [];
  const candidates = other === undefined ? [row.card_id] : [row.card_id, other];
  return [finding({ class: name, candidates, cents, records: records.map(each => each.tx_id), note })];
}

interface Surroundings extends Required<Pick<ReadingOptions, 'ended'>> {
  /** The record came or changed after the base. */
  readonly isNew: (row: SummedRow) => boolean;
}

/** Restaurants and bars, parking, hairdressers, taxis: where a settlement is higher by a tip. */
const TIPPED: ReadonlySet<string> = new Set(['5811', '5812', '5813', '5814', '7230', '7297', '4121']);
const LATE_DAYS = 30;

/** `rows` are the records of one purchase in the order of their time. */
function remarksOn(rows: readonly SummedRow[], { isNew, ended }: Surroundings): readonly Remark[] {
  const authorization = rows.find(row => row.type === 'authorization' && row.authorization_id === null);
  const settlements = rows.filter(row => row.type === 'settlement');
  const refunds = rows.filter(row => row.type === 'refund' && !isChangingRecord(row));
  const [first, last] = [settlements[0], settlements.at(-1)];
  const found: Remark[] = [];

  const isTouched = settlements.some(isNew) || (authorization !== undefined && isNew(authorization));
  if (first !== undefined && last !== undefined && isTouched && !isChangingRecord(first)) {
    const otherwise = settledOtherwise(authorization, settlements);
    const records = authorization === undefined ? settlements : [authorization, ...settlements];
    const row = authorization === undefined ? first : last;
    if (otherwise !== undefined) found.push(...remark(otherwise.class, row, otherwise.cents, records));
  }

  for (const row of refunds.filter(isNew)) {
    const days = last === undefined ? 0 : (row.at_ms - last.at_ms) / DAY;
    const notes = [
      ...(days > LATE_DAYS ? [`${Math.floor(days)} days after the settlement`] : []),
      ...(row.at_ms > (ended.get(row.card_id ?? '') ?? Infinity) ? ['its card had ended before'] : []),
    ];
    if (notes.length > 0) found.push(...remark('late_refund', row, row.cents, [row], { note: notes.join(', ') }));
  }

  const card = authorization?.card_id ?? null;
  for (const row of [...settlements, ...refunds]) {
    if (card === null || row.card_id === null || row.card_id === card || !isNew(row)) continue;
    found.push(...remark('record_moved', row, -spentBy(row), [row], { other: card }));
  }

  // I9, also said of old purchases: the sums of a first checkpoint cannot show it either. Nothing is said of a purchase whose
  // settlements are older than what the mirror keeps.
  const [refund] = refunds;
  if (refund !== undefined && (authorization !== undefined || first !== undefined)) {
    const over = sum(refunds) - settlements.reduce((total, row) => total + effectOf(row).settled, 0);
    if (over > 0) found.push(...remark('over_refund', refund, over, [...settlements, ...refunds]));
  }

  const doubled = rows.length < 2 ? [] : [...twice(settlements, isNew), ...twice(refunds, isNew)];
  // More is settled than authorized because a record stands there twice: one fault is said once.
  const isOver = ({ class: name }: Remark) => name === 'over_settled' || name === 'tip';
  return [...(doubled.length > 0 ? found.filter(each => !isOver(each)) : found), ...doubled];
}

/** An authorization that says it was settled. */
const isSettled = ({ type, authorization_id, status }: SummedRow) =>
  type === 'authorization' && authorization_id === null && status === 'settled';

const sum = (rows: readonly SummedRow[]) => rows.reduce((total, row) => total + row.cents, 0);

/** How what was settled differs from what was authorized, and the effect on the card. */
function settledOtherwise(
  authorization: SummedRow | undefined,
  settlements: readonly SummedRow[],
): Pick<Remark, 'class' | 'cents'> | undefined {
  const settled = sum(settlements);
  if (authorization === undefined) return { class: 'force_post', cents: -settled };
  const { cents: amount, status, mcc } = authorization;
  const over = settled - amount;
  if (over === 0 || (over < 0 && isPending(authorization))) return undefined;
  if (over < 0 && (status === 'expired' || status === 'reversed')) return { class: 'force_post', cents: -settled };
  const isForeign = [authorization, ...settlements].some(
    ({ merchant_country }) => merchant_country !== null && merchant_country.toUpperCase() !== 'US',
  );
  if (isForeign && Math.abs(over) * 100 <= amount * 6) return { class: 'fx', cents: -over };
  if (over < 0) return { class: 'partial', cents: -over };
  const isTip = mcc !== null && TIPPED.has(mcc) && over * 100 <= amount * 30;
  return { class: isTip ? 'tip' : 'over_settled', cents: -over };
}

/** Equal in card, authorization, amount and second. Purchases without an authorization share none. */
function twice(rows: readonly SummedRow[], isNew: Surroundings['isNew']): Remark[] {
  const seen = new Map<string, SummedRow>();
  const found: Remark[] = [];
  for (const row of rows) {
    const key = `${row.card_id} ${row.cents} ${Math.floor(row.at_ms / 1000)}`;
    const first = seen.get(key);
    if (first !== undefined && (isNew(row) || isNew(first))) {
      found.push(...remark('duplicate', row, -spentBy(row), [first, row]));
    }
    seen.set(key, row);
  }
  return found;
}

// Goes through records purchase by purchase

/** Sums of all records of a card, integer cents. */
export type CardSums = typeof NO_RECORDS;
export const NO_RECORDS = {
  settled: 0,
  refunded: 0,
  /** Upper bound of what is held: max(0, amount - its settlements) over pending authorizations. */
  holds: 0,
  /** A pending purchase does not show what it had authorized, so that nothing bounds its hold (A-40, one record). */
  unbounded: false,
};

/** A settlement or refund that came after the base. */
export interface NewRecord {
  readonly tx_id: string;
  readonly card_id: string;
  /** Settled less refunded, integer cents. */
  readonly spent: number;
}

export type RecordSums = Readonly<ReturnType<typeof addUp>>;

export interface ReadingOptions {
  /** ms UTC: records first seen later are new. Undefined for a first checkpoint, which remarks on structure alone. */
  readonly since: number | undefined;
  /** Changes seen after `since`. */
  readonly changes?: readonly TxChangeRow[];
  /** Cards that were terminated and until when at the latest, ms UTC, for refunds that come after. */
  readonly ended?: ReadonlyMap<string, number>;
  /** Settled and refunded, a card, integer cents, the rows with them; the rows are added up when left out. */
  readonly totals?: ReadonlyMap<string, Pick<CardSums, 'settled' | 'refunded'>>;
}

/**
 * Adds up rows that come purchase by purchase (`purchaseOf`). Rows that are gone count as nothing and are named; rows in
 * another currency than USD count as nothing.
 * Records without a card count on no card. Where sums are known with their rows, purchases that are not among the rows
 * must be closed, and be as they were at the base.
 */
export function addUp(rows: Iterable<SummedRow>, options: ReadingOptions) {
  const { since, ended = new Map(), totals } = options;
  const cards = new Map(
    [...(totals ?? [])].map(([card, sums]): [string, CardSums] => [card, { ...NO_RECORDS, ...sums }]),
  );
  const remarks: Remark[] = [];
  /** Authorizations that are settled by no record: a missing one is looked for there first. */
  const unlisted: SummedRow[] = [];
  const fresh: NewRecord[] = [];
  /** Some purchase is one changing record. */
  let hasChangingRecords = false;
  const changes = new Map<string, TxChangeRow[]>();
  for (const change of (options.changes ?? []).toSorted((a, b) => a.seen - b.seen))
    addTo(changes, change.tx_id, change);
  const isNew = (row: SummedRow) => since !== undefined && (row.first_seen > since || changes.has(row.tx_id));
  const isListed = (row: SummedRow) => row.gone_at === null && isInDollars(row);

  for (const purchase of purchasesOf(rows)) {
    const listed = purchase.every(isListed) ? purchase : purchase.filter(isListed);
    for (const row of listed) count(row, listed);
    if (since !== undefined && !purchase.some(row => isNew(row) || (row.gone_at ?? 0) > since)) continue;
    const compared = since === undefined ? [] : purchase.flatMap(row => compare(row, since));
    const moved = new Set(compared.flatMap(each => (each.class === 'record_moved' ? each.records : [])));
    // A record that left the card of its authorization is one finding.
    const isOther = ({ class: name, records }: Remark) => name !== 'record_moved' || !records.some(id => moved.has(id));
    remarks.push(...compared, ...remarksOn(listed, { isNew, ended }).filter(isOther));
    if (!listed.some(({ type }) => type === 'settlement')) unlisted.push(...listed.filter(isSettled).filter(isNew));
  }
  return { cards, remarks, unlisted, fresh, hasChangingRecords };

  function count(row: SummedRow, purchase: readonly SummedRow[]): void {
    if (row.card_id === null) return;
    const sums = cards.get(row.card_id) ?? { ...NO_RECORDS };
    cards.set(row.card_id, sums);
    const { settled, refunded, pending } = effectOf(row);
    if (totals === undefined) {
      sums.settled += settled;
      sums.refunded += refunded;
    }
    // What it may still hold at most.
    if (pending > 0) sums.holds += Math.max(0, pending - sum(purchase.filter(({ type }) => type === 'settlement')));
    if (!isChangingRecord(row)) return;
    hasChangingRecords = true;
    if (isPending(row)) sums.unbounded = true;
  }

  /** What is otherwise than it was when the base was made, or first seen. */
  function compare(row: SummedRow, since: number): readonly Remark[] {
    const { tx_id, card_id } = row;
    if (card_id === null) return [];
    const spent = spentBy(row);
    const isAfterBase = row.first_seen > since;
    const told = (name: FindingClass, cents: number, other?: string) =>
      remark(name, row, cents, [row], other === undefined ? {} : { other }).map(each => ({ ...each, isAfterBase }));
    if (row.gone_at !== null) return row.gone_at > since && spent !== 0 ? told('record_gone', -spent) : [];
    if (isAfterBase && spent !== 0) fresh.push({ tx_id, card_id, spent });
    if (isAfterBase && !KNOWN_TYPES.has(row.type) && row.cents !== 0 && isInDollars(row))
      return remark('fee', row, -row.cents, [row]);
    const changed = changes.get(tx_id);
    if (changed === undefined || isChangingRecord(row)) return [];
    const was = before(row, changed);
    if (was.card_id !== card_id && was.card_id !== null && spent !== 0)
      return told('record_moved', -spent, was.card_id);
    const cents = spentBy(was) - spent;
    return cents === 0 ? [] : told('record_changed', cents);
  }
}

function* purchasesOf(rows: Iterable<SummedRow>): Generator<readonly SummedRow[]> {
  let purchase: SummedRow[] = [];
  for (const row of rows) {
    if (purchase[0] !== undefined && purchaseOf(purchase[0]) !== purchaseOf(row)) {
      yield purchase;
      purchase = [];
    }
    purchase.push(row);
  }
  if (purchase.length > 0) yield purchase;
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

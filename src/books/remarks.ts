/** What the records of one purchase say by themselves: tips, exchange rates, refunds too many, records twice. */
import { effectOf, isChangingRecord, isPending, spentBy } from './effect.ts';
import type { SummedRow } from './rows.ts';
import type { Structure, StructureKind } from './structure.ts';

interface Surroundings {
  /** The record came or changed after the base. */
  readonly isNew: (row: SummedRow) => boolean;
  readonly terminated: ReadonlySet<string>;
}

/** Restaurants and bars, parking, hairdressers, taxis: where a settlement is higher by a tip. */
const TIPPED: ReadonlySet<string> = new Set(['5811', '5812', '5813', '5814', '7230', '7297', '4121']);
const LATE_MS = 30 * 86_400_000;

/** `rows` are the records of one purchase in the order of their time. */
export function remarksOn(rows: readonly SummedRow[], surroundings: Surroundings): readonly Structure[] {
  const authorization = rows.find(row => row.type === 'authorization' && row.authorization_id === null);
  const settlements = rows.filter(row => row.type === 'settlement');
  const refunds = rows.filter(row => row.type === 'refund' && !isChangingRecord(row));
  const found = [
    ...settledOtherwise(authorization, settlements, surroundings),
    ...lateRefunds(settlements, refunds, surroundings),
    ...notListed(authorization, settlements, surroundings),
    ...onOtherCard(authorization, [...settlements, ...refunds], surroundings),
  ];
  // What the sums of a first checkpoint cannot show either is said of all purchases, not of the new ones alone.
  found.push(...overRefunded(authorization, settlements, refunds));
  const doubled = rows.length < 2 ? [] : [...twice(settlements, surroundings), ...twice(refunds, surroundings)];
  // More is settled than authorized because a record stands there twice: one fault is said once.
  const isOver = ({ kind }: Structure) => kind === 'over_settled' || kind === 'tip';
  return [...(doubled.length > 0 ? found.filter(each => !isOver(each)) : found), ...doubled];
}

const sum = (rows: readonly SummedRow[]) => rows.reduce((total, row) => total + row.cents, 0);
const idsOf = (rows: readonly SummedRow[]) => rows.map(row => row.tx_id);

function structure(kind: StructureKind, row: SummedRow, cents: number, records: readonly SummedRow[]): Structure[] {
  return row.card_id === null ? [] : [{ kind, card_id: row.card_id, cents, records: idsOf(records) }];
}

function settledOtherwise(
  authorization: SummedRow | undefined,
  settlements: readonly SummedRow[],
  { isNew }: Surroundings,
): Structure[] {
  const [first] = settlements;
  const last = settlements.at(-1);
  if (first === undefined || last === undefined) return [];
  const isTouched = settlements.some(isNew) || (authorization !== undefined && isNew(authorization));
  if (!isTouched || isChangingRecord(first)) return [];
  if (authorization === undefined) return structure('force_post', first, -sum(settlements), settlements);
  const settled = sum(settlements);
  const { cents: amount, status } = authorization;
  const over = settled - amount;
  const records = [authorization, ...settlements];
  if (over === 0) return [];
  if (over < 0 && isPending(authorization)) return [];
  if (over < 0 && (status === 'expired' || status === 'reversed')) {
    return structure('force_post', last, -settled, records);
  }
  const kind = isForeign([authorization, ...settlements]) && Math.abs(over) * 100 <= amount * 6 ? 'fx' : undefined;
  return structure(kind ?? (over < 0 ? 'partial' : overKind(authorization, over)), last, -over, records);
}

function overKind({ mcc, cents }: SummedRow, over: number): 'tip' | 'over_settled' {
  return mcc !== null && TIPPED.has(mcc) && over * 100 <= cents * 30 ? 'tip' : 'over_settled';
}

function isForeign(rows: readonly SummedRow[]): boolean {
  return rows.some(row => row.merchant_country !== null && row.merchant_country.toUpperCase() !== 'US');
}

function lateRefunds(
  settlements: readonly SummedRow[],
  refunds: readonly SummedRow[],
  { isNew, terminated }: Surroundings,
): Structure[] {
  const settledAt = settlements.at(-1)?.at_ms;
  return refunds
    .filter(isNew)
    .filter(
      ({ at_ms, card_id }) =>
        (settledAt !== undefined && at_ms - settledAt > LATE_MS) || (card_id !== null && terminated.has(card_id)),
    )
    .flatMap(row => structure('late_refund', row, row.cents, [row]));
}

function notListed(
  authorization: SummedRow | undefined,
  settlements: readonly SummedRow[],
  { isNew }: Surroundings,
): Structure[] {
  if (authorization?.status !== 'settled' || settlements.length > 0 || !isNew(authorization)) return [];
  return structure('settlement_not_listed', authorization, -authorization.cents, [authorization]);
}

function onOtherCard(
  authorization: SummedRow | undefined,
  records: readonly SummedRow[],
  { isNew }: Surroundings,
): Structure[] {
  const card = authorization?.card_id ?? null;
  if (card === null) return [];
  return records
    .filter(row => row.card_id !== null && row.card_id !== card && isNew(row))
    .flatMap(row => structure('record_moved', row, -spentBy(row), [row]).map(each => ({ ...each, other_card: card })));
}

/** I9. Nothing is said of a purchase whose settlements are older than what the mirror keeps. */
function overRefunded(
  authorization: SummedRow | undefined,
  settlements: readonly SummedRow[],
  refunds: readonly SummedRow[],
): Structure[] {
  const [first] = refunds;
  if (first === undefined || (authorization === undefined && settlements.length === 0)) return [];
  const over = sum(refunds) - settlements.reduce((total, row) => total + effectOf(row).settled, 0);
  return over > 0 ? structure('over_refund', first, over, [...settlements, ...refunds]) : [];
}

/** Equal in card, authorization, amount and second. Purchases without an authorization share none. */
function twice(rows: readonly SummedRow[], { isNew }: Surroundings): Structure[] {
  const seen = new Map<string, SummedRow>();
  const found: Structure[] = [];
  for (const row of rows) {
    const key = `${row.card_id} ${row.cents} ${Math.floor(row.at_ms / 1000)}`;
    const first = seen.get(key);
    if (first !== undefined && (isNew(row) || isNew(first))) {
      found.push(...structure('duplicate', row, -spentBy(row), [first, row]));
    }
    seen.set(key, row);
  }
  return found;
}

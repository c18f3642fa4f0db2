/** Settlements and refunds of a card as they stood when a statement closes: what changed later belongs to no line yet. */
import { isChangingRecord, spentBy } from '../books/effect.ts';
import type { Period } from '../books/period.ts';
import { before } from '../books/purchases.ts';
import type { TxChangeRow, TxRow } from '../books/rows.ts';
import type { PostedRow, PostedStep, StatementRecords } from '../books/statement-lines.ts';
import type { MirrorDatabase } from './database.ts';
import type { KeptCheckpoint } from './kept-checkpoint.ts';
import { IS_IN_OTHER_CURRENCY } from './schema.ts';

/** What a statement closes by: the last sync of it, and the number of the last change that its checkpoint knew. */
export interface Closing {
  readonly sync: number;
  readonly changes: number;
}

/** What nobody can count in dollars is no line. */
export const IS_IN_DOLLARS = `(${IS_IN_OTHER_CURRENCY}) is not true`;

/** The records of a card in one text: a row that is handed over column by column costs more than all the rest of a line. */
const POSTED = `select json_group_array(json_array(r.tx_id, r.type, r.status, r.cents, r.merchant, r.mcc, r.merchant_country,
  r.authorization_id, r.at_ms)) as posted from record r where r.card_id = ? and r.type in ('settlement', 'refund') and r.at_ms >= ?
  and r.first_sync <= ? and r.gone_at is null and ${IS_IN_DOLLARS}`;

/** In the order of `POSTED`. */
type PostedValues = readonly [
  tx_id: PostedRow['tx_id'],
  type: PostedRow['type'],
  status: PostedRow['status'],
  cents: PostedRow['cents'],
  merchant: number | null,
  mcc: PostedRow['mcc'],
  merchant_country: PostedRow['merchant_country'],
  authorization_id: PostedRow['authorization_id'],
  at_ms: PostedRow['at_ms'],
];

/** Reads them card by card, so that those of one card at a time are in memory. */
export function postedRecords(
  db: MirrorDatabase,
  { from }: Pick<Period, 'from'>,
  closing: Closing,
): StatementRecords['of'] {
  const nameOf = merchantNames(db);
  const changed = changedRecords(db, from, closing);
  return card => {
    const read = db.get<{ posted: string }>(POSTED, card, from, closing.sync);
    const rows = (JSON.parse(read?.posted ?? '[]') as readonly PostedValues[]).map(
      ([tx_id, type, status, cents, merchant, mcc, merchant_country, authorization_id, at_ms]) => {
        const name = nameOf(merchant);
        return { tx_id, type, status, cents, merchant: name, mcc, merchant_country, authorization_id, at_ms };
      },
    );
    const others = changed.rows.get(card);
    const same = changed.ids.size === 0 ? rows : rows.filter(row => !changed.ids.has(row.tx_id));
    return others === undefined ? same : [...same, ...others];
  };
}

const MOST_NAMES = 10_000;

/** Names of merchants by their number: to join them costs a third of reading a record, and few have most of the records. */
function merchantNames(db: MirrorDatabase): (merchant: number | null) => string | null {
  const names = new Map<number, string | null>();
  return merchant => {
    if (merchant === null) return null;
    const known = names.get(merchant);
    if (known !== undefined) return known;
    const name = db.get<{ name: string }>('select name from merchant where id = ?', merchant)?.name ?? null;
    if (names.size >= MOST_NAMES) names.clear();
    names.set(merchant, name);
    return name;
  };
}

interface Changed {
  /** Those that are not as a plain reading gives them. */
  readonly ids: ReadonlySet<string>;
  readonly rows: ReadonlyMap<string, readonly PostedRow[]>;
}

type Change = TxChangeRow & { readonly number: number };

/** Changes that bear on a line; of the state of an authorization nothing does. */
const FIELDS = ['type', 'cents', 'card_id', 'authorization_id', 'currency', 'at_ms', 'gone_at'];

/**
 * Records that changed after the checkpoint, as they were before, and purchases in one changing record, which may have
 * changed within the period whenever they began.
 */
function changedRecords(db: MirrorDatabase, from: number, { sync, changes }: Closing): Changed {
  const isSingle = db.fact('single') !== undefined;
  const bearing = `select rowid as number, * from record_change where field in ('${FIELDS.join("', '")}')`;
  // What came after the checkpoint stands at the end of the table: of most services nothing else is read.
  const all = isSingle
    ? db.all<Change>(
        `${bearing} and tx_id in (select tx_id from record_change where rowid > ? or seen >= ?) order by rowid`,
        ...[changes, from],
      )
    : db.all<Change>(`${bearing} and rowid > ? order by rowid`, changes);
  const changesOf = new Map<string, Change[]>();
  for (const change of all) {
    const known = changesOf.get(change.tx_id);
    if (known === undefined) changesOf.set(change.tx_id, [change]);
    else known.push(change);
  }
  const checkpoints = db.all<Cut>('select at_ms, changes from checkpoint where exact = 1 order by sync, at_ms');
  const rows = new Map<string, PostedRow[]>();
  for (const [tx_id, each] of changesOf) {
    const now = db.get<TxRow>(
      'select * from tx where tx_id = ? and exists (select 1 from record r where r.tx_id = tx.tx_id and r.first_sync <= ?)',
      ...[tx_id, sync],
    );
    if (now === undefined) continue;
    const was = asOf(now, each, { changes, checkpoints });
    const isInPeriod = was.steps === undefined ? was.at_ms >= from : was.steps.some(({ at }) => at >= from);
    if (was.card_id === null || was.gone_at !== null || !isInPeriod) continue;
    const same = rows.get(was.card_id);
    if (same === undefined) rows.set(was.card_id, [was]);
    else same.push(was);
  }
  return { ids: new Set(changesOf.keys()), rows };
}

type Cut = Pick<KeptCheckpoint, 'at_ms' | 'changes'>;

interface Knowing {
  /** Number of the last change that is looked at. */
  readonly changes: number;
  /** Exact ones, oldest first. */
  readonly checkpoints: readonly Cut[];
}

/** The record as it was, and of a purchase in one changing record what it had spent since when. */
function asOf(now: TxRow, all: readonly Change[], { changes, checkpoints }: Knowing): TxRow & Pick<PostedRow, 'steps'> {
  const later = all.filter(({ number }) => number > changes);
  const was = before(now, later);
  if (!isChangingRecord(was)) return was;
  const known = all.filter(({ number }) => number <= changes);
  let spent = spentBy(before(now, all));
  const steps: PostedStep[] = spent === 0 ? [] : [{ at: was.at_ms, spent }];
  for (const [index, { seen, number }] of known.entries()) {
    const next = known[index + 1];
    const checkpoint = checkpoints.findLast(each => each.changes < number);
    // One reading shows several fields at once.
    if (next?.seen === seen && checkpoint === checkpoints.findLast(each => each.changes < next.number)) continue;
    const total = spentBy(before(now, all.slice(index + 1)));
    if (total === spent) continue;
    const since = Math.max(was.at_ms, checkpoint?.at_ms ?? 0);
    // What no exact checkpoint shows unsettled is of the day of the purchase, the only one that the service tells.
    const isOfPurchase = steps.length === 0 && since === was.at_ms;
    steps.push(isOfPurchase ? { at: was.at_ms, spent: total } : { at: Math.max(was.at_ms, seen), since, spent: total });
    spent = total;
  }
  return { ...was, steps };
}

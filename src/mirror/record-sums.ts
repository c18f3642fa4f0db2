/**
 * The records of a copy as the books add them up. What cards settled and refunded is summed by SQLite; record by record
 * are read the purchases that may hold money or that moved since the base.
 */
import { addUp, type ReadingOptions, type RecordSums } from '../books/records.ts';
import type { SummedRow } from '../books/rows.ts';
import type { KeptCheckpoint, MirrorDatabase } from './file.ts';
import { IS_IN_OTHER_CURRENCY, IS_PENDING, LAST_BY_SYNC } from './schema.ts';

/** Of all records as they are now, compared with a checkpoint, or with nothing. */
export function recordSums(
  db: MirrorDatabase,
  from: KeptCheckpoint | undefined,
  options: Pick<ReadingOptions, 'changes' | 'ended'> = {},
): RecordSums {
  const reading = { ...options, since: from?.at_ms };
  // A purchase that is one changing record (A-40) is settled and pending at once, so all of them are looked at.
  if (db.fact('single') !== undefined) {
    return addUp(allRows(db, from), reading);
  }
  return addUp(rowsOf(db, purchasesToLookAt(db, from), from), { ...reading, totals: sumsOf(db) });
}

/** Settled and refunded in dollars by all records of a card that are listed. */
function sumsOf(db: MirrorDatabase): NonNullable<ReadingOptions['totals']> {
  const summed = (sign: '' | '-', of: string) =>
    `select card_id, type, ${sign}sum(cents) as cents from record
      where ${of} card_id is not null and type in ('settlement', 'refund') group by card_id, type`;
  // An index holds what the first one reads; few records are gone or in another currency, and others hold those.
  const sums = db.each<{ card_id: string; settled: number; refunded: number }>(
    `select card_id, sum(case when type = 'settlement' then cents else 0 end) as settled,
      sum(case when type = 'refund' then cents else 0 end) as refunded from (
        ${summed('', '')} union all ${summed('-', 'gone_at is not null and')}
        union all ${summed('-', `${IS_IN_OTHER_CURRENCY} and gone_at is null and`)}
      ) group by card_id`,
  );
  return new Map([...sums].map(({ card_id, ...of }) => [card_id, of]));
}

const PURCHASE = 'coalesce(authorization_id, tx_id)';

/**
 * Purchases that are open, that came, changed or went since the checkpoint, or, for a first checkpoint, that have a refund: of all
 * others nothing is said.
 */
function purchasesToLookAt(db: MirrorDatabase, from: KeptCheckpoint | undefined): readonly string[] {
  const asked =
    from === undefined
      ? db.all<{ id: string }>(
          `select ${PURCHASE} as id from record where ${IS_PENDING}
            union select ${PURCHASE} from record where type = 'refund'`,
        )
      : db.all<{ id: string }>(
          `select ${PURCHASE} as id from record where ${IS_PENDING}
            union select ${PURCHASE} from record where id > ${LAST_BY_SYNC}
            union select ${PURCHASE} from record where gone_at >= ?
            union select ${PURCHASE} from record where tx_id in (select tx_id from record_change where rowid > ?)`,
          ...[from.sync, from.at_ms, from.changes],
        );
  return asked.map(({ id }) => id);
}

/** Read at once, so that few rows wait to be sorted. */
const PURCHASES_AT_ONCE = 500;

function* rowsOf(
  db: MirrorDatabase,
  purchases: readonly string[],
  from: KeptCheckpoint | undefined,
): Generator<SummedRow> {
  const [columns, values] = summedColumns(from);
  const of = `select ${columns} from (select value as purchase from json_each(?)) join record`;
  for (let at = 0; at < purchases.length; at += PURCHASES_AT_ONCE) {
    const ids = JSON.stringify(purchases.slice(at, at + PURCHASES_AT_ONCE));
    yield* db.all<SummedRow>(
      `select * from (
          ${of} on tx_id = purchase and ${PURCHASE} = tx_id where type <> 'decline'
          union all ${of} on authorization_id = purchase and tx_id <> purchase where type <> 'decline'
        ) order by ${PURCHASE}, at_ms, tx_id`,
      ...[...values, ids, ...values, ids],
    );
  }
}

/** All records purchase by purchase. */
export function allRows(db: MirrorDatabase, from: KeptCheckpoint | undefined): Iterable<SummedRow> {
  const [columns, values] = summedColumns(from);
  return db.each<SummedRow>(
    `select ${columns} from record where type <> 'decline' order by ${PURCHASE}, at_ms, tx_id`,
    ...values,
  );
}

/**
 * Several syncs may come in one second, so what was seen after the base is known by the number of its sync and not by the
 * time.
 */
function summedColumns(from: KeptCheckpoint | undefined): readonly [columns: string, values: readonly number[]] {
  const [sync, at] = [from?.sync ?? 0, from?.at_ms ?? 0];
  return [
    `tx_id, card_id, type, status, cents, currency, mcc, merchant_country, authorization_id, at_ms,
      case when first_sync > ? then ? + 1 else ? end as first_seen,
      case when gone_at >= ? then ? + 1 else gone_at end as gone_at`,
    [sync, at, at, at, at],
  ];
}

const IS_LEFT_OUT = `${IS_IN_OTHER_CURRENCY} and gone_at is null and type <> 'decline'`;

/**
 * Records in another currency than USD, and the currencies that the service names, in the order of the alphabet. The span is a
 * condition on `record` that no index of times answers, for few records are in another currency.
 */
export function leftOut(db: MirrorDatabase, span: string, ...values: readonly number[]) {
  const rows = db.all<{ currency: string; records: number }>(
    `select currency, count(*) as records from record where ${IS_LEFT_OUT} and ${span} group by currency order by currency`,
    ...values,
  );
  const records = rows.reduce((sum, row) => sum + row.records, 0);
  return { records, currencies: rows.map(({ currency }) => currency) };
}

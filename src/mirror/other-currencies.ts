/** Records in another currency than USD: nobody tells the rate, so no sum has them, and each reader says how many. */
import type { Period } from '../books/period.ts';
import type { MirrorDatabase } from './database.ts';
import type { KeptCheckpoint } from './kept-checkpoint.ts';
import { IS_IN_OTHER_CURRENCY } from './schema.ts';

export interface LeftOut {
  readonly records: number;
  /** As the service writes them, each once, in the order of the alphabet. */
  readonly currencies: readonly string[];
}

const IS_LEFT_OUT = `${IS_IN_OTHER_CURRENCY} and gone_at is null and type <> 'decline'`;

/** Those that came after one checkpoint, up to another: of all records without them. */
export function leftOutSince(db: MirrorDatabase, from: KeptCheckpoint | undefined, to?: KeptCheckpoint): LeftOut {
  return leftOut(db, 'first_sync > ? and first_sync <= ?', [from?.sync ?? -1, to?.sync ?? Number.MAX_SAFE_INTEGER]);
}

/** Those that carry a time of the period. */
export function leftOutOfPeriod(db: MirrorDatabase, { from, to }: Pick<Period, 'from' | 'to'>): LeftOut {
  return leftOut(db, 'at_ms >= ? and at_ms < ?', [from, to]);
}

function leftOut(db: MirrorDatabase, span: string, values: readonly number[]): LeftOut {
  const rows = db.all<{ currency: string; records: number }>(
    `select currency, count(*) as records from record where ${IS_LEFT_OUT} and ${span} group by currency order by currency`,
    ...values,
  );
  const records = rows.reduce((sum, row) => sum + row.records, 0);
  return { records, currencies: rows.map(({ currency }) => currency) };
}

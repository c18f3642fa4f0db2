/** END of an op whose only row shows its effect in its own answer. */
import type { EndRecord, PlanRecord, RowRecord } from '../wal/records.ts';
import { isResentOnCheck, type RowHistory } from '../wal/replay.ts';
import { isShown } from './row-index.ts';

interface OnlyRow {
  readonly plan: Pick<PlanRecord, 'bulk' | 'wallet'>;
  /** Before the record. */
  readonly row: RowHistory;
}

/**
 * The END that goes with an outcome in one write: nothing is left that a verification would compare. Undefined where the
 * end of the run is still to be found out.
 */
export function ownEnd(record: RowRecord, { plan, row }: OnlyRow): EndRecord | undefined {
  if (record.t !== 'DONE' || plan.bulk || plan.wallet !== undefined) return undefined;
  if (!isShown(record.via) || row.duplicate !== undefined || isResentOnCheck({ ...row, done: record }))
    return undefined;
  return { t: 'END', done: 1, refused: 0, not_sent: 0, cents: row.item.amount ?? 0, at: record.at };
}

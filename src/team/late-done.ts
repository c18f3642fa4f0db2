/**
 * Rows that were recorded as not done, and that the service has done: the answer came to a process that had lost the op. What it says
 * counts more than what somebody took for granted.
 */
import { spendingOf } from '../core/spending.ts';
import { plannedOf } from '../journal/runs/run.ts';
import type { JournalRecord, StoredRecord } from '../journal/wal/records.ts';
import { historyOf, type RowHistory } from '../journal/wal/replay.ts';
import type { Facts, LateDone } from './calls.ts';
import { factsOf } from './claims.ts';
import { intentsOf } from './import-op.ts';

interface Late {
  readonly late: LateDone;
  /** For the audit log. */
  readonly facts: Facts;
}

/** Undefined where the op has not ended, or its end knew of all that is brought. `left`: cents held for it that were not spent. */
export function lateDone(
  there: readonly StoredRecord[],
  brought: readonly JournalRecord[],
  left: () => Promise<number>,
): Promise<Late> | undefined {
  const history = historyOf(there);
  if (history?.end === undefined) return undefined;
  const done = new Map<number, { readonly row: RowHistory; readonly amount: number | undefined }>();
  for (const record of brought) {
    const row = record.t === 'DONE' ? history.rows.get(record.row) : undefined;
    if (record.t !== 'DONE' || row === undefined || !isDenied(row)) continue;
    done.set(record.row, { row, amount: record.amount });
  }
  return done.size === 0 ? undefined : toldOf(history.plan, [...done.values()], left);
}

async function toldOf(
  plan: Parameters<typeof factsOf>[0],
  done: readonly { readonly row: RowHistory; readonly amount: number | undefined }[],
  left: () => Promise<number>,
): Promise<Late> {
  const items = done.map(({ row }) => row.item);
  const moved = spentBy(done);
  const { given_key: key } = plan;
  return {
    late: {
      cents: Math.min(moved, await left()),
      intents: intentsOf(items, plan),
      ...(key !== undefined && { key: { value: key, digest: plan.digest } }),
    },
    facts: {
      ...factsOf(plan, 'outcome'),
      done: done.length,
      cents: moved,
      reason: 'answered after it was recorded as not done',
    },
  };
}

function isDenied({ state }: RowHistory): boolean {
  return state === 'not_sent' || state === 'refused';
}

/** What left the wallet; nothing of what comes back to it. */
function spentBy(done: readonly { readonly row: RowHistory; readonly amount: number | undefined }[]): number {
  return done.reduce((sum, { row, amount }) => {
    const reserved = spendingOf([plannedOf(row.item)]).total;
    return sum + Math.min(amount ?? reserved, reserved);
  }, 0);
}

/** Cents of rows of a finished op that an outcome brought later has turned from nothing into done. */
export function lateCents(inOrder: readonly StoredRecord[], all: readonly StoredRecord[]): number {
  const [before, after] = [historyOf(inOrder), historyOf(all)];
  if (before?.end === undefined || after === undefined) return 0;
  const late = [...after.rows.values()].filter(row => {
    const was = before.rows.get(row.item.row);
    return row.done !== undefined && row.state === 'done' && was !== undefined && isDenied(was);
  });
  return spentBy(late.map(row => ({ row, amount: row.done?.amount })));
}

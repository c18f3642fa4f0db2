/** Until when a row may have been sent by the process that wrote its last SENT, where another one works on the op now. */
import type { StoredRecord } from '../wal/records.ts';

/** ms UTC by the clock of this machine; 0 where SENT itself tells it. */
export type SentUntil = (row: number) => number;

/**
 * `written` ends with the RUN of this process; `formerLeaseEnd` is that of its tape. A process that stands still between SENT and
 * its request sends later than SENT says, and its clock may differ from ours.
 */
export function sentUntilBy(written: readonly StoredRecord[], formerLeaseEnd: number | undefined): SentUntil {
  if (formerLeaseEnd === undefined) return () => 0;
  const runs: { readonly by: string; readonly at: number }[] = [];
  const senders = new Map<number, string>();
  for (const { by, record } of written) {
    if (record.t === 'RUN') runs.push({ by, at: record.at });
    else if (record.t === 'SENT') senders.set(record.row, by);
  }
  return row => {
    const last = runs.findLastIndex(({ by }) => by === senders.get(row));
    const next = runs[last + 1];
    if (last < 0 || next === undefined) return 0;
    return last + 1 === runs.length - 1 ? formerLeaseEnd : next.at;
  };
}

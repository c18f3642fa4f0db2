/** Where the rows of an op stand by its lines, as they are written: what goes with each segment and with the end. */
import { decodeSigned } from '../journal/wal/codec.ts';
import type { EndRecord, JournalRecord, StoredRecord } from '../journal/wal/records.ts';
import type { OpenRows } from './calls.ts';

type RowStanding = 'open' | 'unknown' | 'done' | 'over';

export interface Standing {
  /** More bytes of the journal; they may end within a line. */
  read(bytes: Uint8Array): void;
  counts(): OpenRows;
  /** The plan is whole; without it nothing was sent. */
  planned(): boolean;
  end(): EndRecord | undefined;
  /** Whether the service kept nothing of any row: names and keys of these may be used again. */
  unusedIntents(): readonly string[];
  isUnused(): boolean;
  /** Writer of the latest whole line, and how many lines each writer has. */
  writer(): string | undefined;
  linesOf(by: string): number;
}

export function createStanding(): Standing {
  const rows = new Map<number, RowStanding>();
  const intents = new Map<number, string>();
  const lines = new Map<string, number>();
  const counts = { open: 0, unknown: 0, done: 0, over: 0 };
  let rest: Uint8Array = new Uint8Array();
  let [planned, bulk] = [false, false];
  let end: EndRecord | undefined;
  let writer: string | undefined;

  function set(row: number, standing: RowStanding): void {
    const before = rows.get(row);
    if (before !== undefined) counts[before] -= 1;
    counts[standing] += 1;
    rows.set(row, standing);
  }

  /** A request that came to nothing: nothing of it is ever sent. */
  function giveUp(): void {
    for (const [row, standing] of rows) if (standing === 'open') set(row, 'over');
  }

  function take({ by, record }: StoredRecord): void {
    writer = by;
    lines.set(by, (lines.get(by) ?? 0) + 1);
    if (record.t === 'PLAN') bulk = record.bulk;
    else if (record.t === 'PLANNED') planned = true;
    else if (record.t === 'END') end = record;
    else if (record.t === 'DENIED') giveUp();
    else if ('row' in record) {
      if (record.t === 'ITEM' && record.intent !== undefined) intents.set(record.row, record.intent);
      const standing = after(record, bulk);
      if (standing !== undefined) set(record.row, standing);
    }
  }

  return {
    read(bytes) {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const whole = all.lastIndexOf(0x0a) + 1;
      rest = all.slice(whole);
      for (let at = 0; at < whole; ) {
        const next = all.indexOf(0x0a, at) + 1;
        take(decodeSigned(all.subarray(at, next), 'this op'));
        at = next;
      }
    },
    counts: () => ({ unknown: counts.unknown, open: counts.open }),
    planned: () => planned,
    end: () => end,
    unusedIntents: () => [...intents].filter(([row]) => rows.get(row) === 'over').map(([, name]) => name),
    isUnused: () => counts.done === 0,
    writer: () => writer,
    linesOf: by => lines.get(by) ?? 0,
  };
}

/** As `afterRecord` has it; undefined where it says nothing about the row. A resume would send what is open. */
function after(record: Extract<JournalRecord, { readonly row: number }>, bulk: boolean): RowStanding | undefined {
  switch (record.t) {
    case 'ITEM':
      return 'open';
    case 'SENT':
    case 'ACK':
    case 'AMBIG':
      return 'unknown';
    case 'DONE':
    case 'DUPLICATE':
      return 'done';
    case 'FAILED':
      return bulk && record.kind === 'insufficient_funds' ? 'open' : 'over';
    case 'NOTSENT':
      return bulk ? 'open' : 'over';
    case 'RESOLVED':
      return record.as === 'done' ? 'done' : 'over';
    default:
      return undefined;
  }
}

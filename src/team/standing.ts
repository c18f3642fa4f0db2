/** Where the rows of an op stand by its lines, as they are written: what goes with each segment and with the end. */
import { decodeSigned } from '../journal/wal/codec.ts';
import type { EndRecord, JournalRecord, PlanRecord, StoredRecord } from '../journal/wal/records.ts';
import type { OpenRows, ShownRows } from './calls.ts';
import { createRecordedRows } from './recorded-rows.ts';

/** What a resume would do with a row: send it, settle it, or nothing. */
type RowStanding = 'open' | 'unknown' | 'done' | 'over';
type RowState = keyof ShownRows['counts'];

export interface Standing {
  /** More bytes of the journal; they may end within a line. */
  read(bytes: Uint8Array): void;
  counts(): OpenRows;
  /** As `stateOf` and `countsOf` say it of the whole history. */
  shown(): ShownRows;
  /** The plan is whole; without it nothing was sent. */
  planned(): boolean;
  end(): EndRecord | undefined;
  /** Whether the service kept nothing of any row: names and keys of these may be used again. */
  unusedIntents(): readonly string[];
  isUnused(): boolean;
  /** Writer of the latest whole line, and how many lines each writer has. */
  writer(): string | undefined;
  linesOf(by: string): number;
  /** What persons have recorded of its rows by hand, as a reason for the chain. */
  recordedByHand(): string | undefined;
}

export function createStanding(): Standing {
  const [rows, states] = [tally<RowStanding>(), tally<RowState>()];
  const intents = new Map<number, string>();
  const lines = new Map<string, number>();
  const recorded = createRecordedRows();
  let rest: Uint8Array = new Uint8Array();
  let plan: PlanRecord | undefined;
  let [planned, approved, latest] = [false, false, 0];
  let end: EndRecord | undefined;
  let [writer, holder]: (string | undefined)[] = [];

  /** A request that came to nothing: nothing of it is ever sent. */
  function giveUp(): void {
    for (const row of rows.in('open')) rows.set(row, 'over');
    for (const row of states.in('open')) states.set(row, 'not_sent');
  }

  function takeRow(by: string, record: OfRow): void {
    if (record.t === 'ITEM' && record.intent !== undefined) intents.set(record.row, record.intent);
    if (record.t === 'RESOLVED') recorded.note(record);
    const standing = after(record, plan?.bulk === true);
    if (standing !== undefined) rows.set(record.row, standing);
    // As for a history: what another process writes behind the RUN of the holder is void.
    const isVoid = (record.t === 'SENT' || record.t === 'NOTSENT') && by !== holder;
    const state = isVoid ? undefined : stateAfter(record);
    if (state !== undefined) states.set(record.row, state);
  }

  function take({ by, record }: StoredRecord): void {
    writer = by;
    lines.set(by, (lines.get(by) ?? 0) + 1);
    if ('at' in record) latest = Math.max(latest, record.at);
    if (record.t === 'PLAN') plan = record;
    else if (record.t === 'PLANNED') planned = true;
    else if (record.t === 'RUN') holder = by;
    else if (record.t === 'APPROVED') approved = true;
    else if (record.t === 'END') end = record;
    else if (record.t === 'DENIED') giveUp();
    else if ('row' in record) takeRow(by, record);
  }

  function stateNow(): ShownRows['state'] {
    if (end !== undefined || !planned) return 'finished';
    if (plan?.approval !== undefined && !approved) return 'pending';
    return states.count('unknown') > 0 ? 'unknown' : 'open';
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
    counts: () => ({ unknown: rows.count('unknown'), open: rows.count('open') }),
    shown: () => ({ state: stateNow(), at: latest, counts: countsOf(states) }),
    planned: () => planned,
    end: () => end,
    unusedIntents: () => [...intents].filter(([row]) => rows.of(row) === 'over').map(([, name]) => name),
    isUnused: () => rows.count('done') === 0,
    writer: () => writer,
    linesOf: by => lines.get(by) ?? 0,
    recordedByHand: recorded.text,
  };
}

/** Rows by where they stand, and how many stand there. */
function tally<Where extends string>() {
  const rows = new Map<number, Where>();
  const counts = new Map<Where, number>();
  const add = (where: Where, more: number) => counts.set(where, (counts.get(where) ?? 0) + more);
  return {
    set(row: number, where: Where): void {
      const before = rows.get(row);
      if (before !== undefined) add(before, -1);
      add(where, 1);
      rows.set(row, where);
    },
    of: (row: number) => rows.get(row),
    count: (where: Where) => counts.get(where) ?? 0,
    in: (where: Where) => [...rows].filter(([, there]) => there === where).map(([row]) => row),
  };
}

function countsOf({ count }: { count(where: RowState): number }): ShownRows['counts'] {
  return {
    done: count('done'),
    refused: count('refused'),
    unknown: count('unknown'),
    not_sent: count('not_sent'),
    open: count('open'),
  };
}

type OfRow = Extract<JournalRecord, { readonly row: number }>;

/** As `afterRecord` has it; undefined where it says nothing about the row. A resume would send what is open. */
function after(record: OfRow, bulk: boolean): RowStanding | undefined {
  switch (record.t) {
    case 'FAILED':
      return bulk && record.kind === 'insufficient_funds' ? 'open' : 'over';
    case 'NOTSENT':
      return bulk ? 'open' : 'over';
    case 'RESOLVED':
      return record.as === 'done' ? 'done' : 'over';
    default: {
      const state = stateAfter(record);
      return state === 'refused' || state === 'not_sent' ? 'over' : state;
    }
  }
}

/** What a list calls the row behind this record; undefined where it says nothing about it. */
function stateAfter(record: OfRow): RowState | undefined {
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
      return 'refused';
    case 'NOTSENT':
      return 'not_sent';
    case 'RESOLVED':
      return record.as === 'done' ? 'done' : 'not_sent';
    default:
      return undefined;
  }
}

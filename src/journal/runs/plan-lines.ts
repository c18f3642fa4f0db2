/** A plan as the lines of its journal, made as they are written: a plan may have 100,000 rows. */
import type { ItemPlaces } from '../execution/row-index.ts';
import { encodeLines } from '../wal/codec.ts';
import type { ItemRecord, JournalRecord, PlanRecord, RunRecord } from '../wal/records.ts';

export interface Planning {
  /** Who writes: eight hexadecimal digits of this process. */
  readonly by: string;
  readonly plan: PlanRecord;
  readonly items: Iterable<ItemRecord>;
  readonly run: RunRecord;
}

/** What was written, when the last line was taken. */
export interface PlanBytes {
  /** Bytes of all lines. */
  readonly size: number;
  readonly records: number;
  /** Where each item stands. */
  readonly places: ItemPlaces;
}

const RECORDS_A_WRITE = 1_000;
/** PLAN, PLANNED and RUN, around the items. */
const PLAN_RECORDS = 3;

/** Yields the bytes of a write each; returns what they amount to. To be gone through once. */
export function* planLines(planning: Planning): Generator<Uint8Array, PlanBytes, undefined> {
  const { by, plan } = planning;
  const [numbers, ends] = [new Uint32Array(plan.rows), new Float64Array(plan.rows)];
  const bins = new Set<string>();
  let [size, seq, items, begin] = [0, 0, 0, 0];
  for (const batch of batchesOf(recordsOf(planning))) {
    const lines: number[] = [];
    const bytes = encodeLines(by, seq, batch, lines);
    for (const [index, end] of lines.entries()) {
      const record = batch[index];
      if (record?.t === 'PLAN') begin = end;
      if (record?.t !== 'ITEM') continue;
      if (record.operation === 'cards.create') bins.add(String(record.input['bin_id']));
      numbers[items] = record.row;
      ends[items] = size + end;
      items += 1;
    }
    size += bytes.length;
    seq += batch.length;
    yield bytes;
  }
  return { size, records: items + PLAN_RECORDS, places: { size: items, numbers, ends, begin, bins } };
}

function* recordsOf({ plan, items, run }: Planning): Iterable<JournalRecord> {
  yield plan;
  yield* items;
  yield { t: 'PLANNED' };
  yield run;
}

function* batchesOf(records: Iterable<JournalRecord>): Iterable<readonly JournalRecord[]> {
  let batch: JournalRecord[] = [];
  for (const record of records) {
    batch.push(record);
    if (batch.length < RECORDS_A_WRITE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

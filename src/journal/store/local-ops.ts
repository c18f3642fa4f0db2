/** Journals as they lie on the disk of this machine, read without changing anything. */
import { stat } from 'node:fs/promises';
import { CliError } from '../../core/errors.ts';
import { systemCode } from '../../files/private-files.ts';
import { decodeLines, decodeWhole } from '../wal/codec.ts';
import { isOp } from '../wal/op-id.ts';
import type { EndRecord, PlanRecord } from '../wal/records.ts';
import type { JournalDisk, JournalFile } from '../wal/storage.ts';
import type { HeadFilter, OpHead } from './op-store.ts';
import type { Places } from './paths.ts';
import type { Reading } from './read-ops.ts';
import { lengthInMark } from './unfinished-mark.ts';

export interface LocalOps {
  readonly disk: JournalDisk;
  readonly places: Places;
}

/** See `OpStore.heads`. An op that is marked as unfinished may have no journal yet. */
export async function* localHeads(
  local: LocalOps,
  { unfinished = false, writtenSince }: HeadFilter = {},
): AsyncIterable<OpHead> {
  const { disk, places } = local;
  // Marks first: what is begun between the two looks counts as another that has no mark, and END is missing there.
  const marks = new Set((await disk.names(places.unfinished)).filter(isOp));
  const all = unfinished ? [] : (await disk.names(places.root)).filter(isOp);
  for (const op of new Set([...marks, ...all])) {
    // One that is marked and not there is one of which nobody knows when it was written.
    const written = writtenSince === undefined ? undefined : await lastWritten(places.journal(op));
    if (writtenSince !== undefined && (written ?? (marks.has(op) ? writtenSince : 0)) < writtenSince) continue;
    yield { op, unfinished: marks.has(op), plan: () => planOf(local, op), end: () => endOf(local, op) };
  }
}

/** All bytes of a journal; undefined when there is none. */
export function bytesOf(local: LocalOps, op: string): Promise<Uint8Array | undefined> {
  return reading(local, op, file => file.readAll());
}

/** What is read of ops, with the length that their marks tell. */
export function localReading(local: LocalOps): Reading {
  return { read: op => bytesOf(local, op), leastLength: op => lengthInMark(local, op) };
}

async function reading<T>(
  { disk, places }: LocalOps,
  op: string,
  read: (file: JournalFile) => Promise<T>,
): Promise<T | undefined> {
  const file = await disk.open(places.journal(op));
  if (file === undefined) return undefined;
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

/** Of the first line: it holds names, an address and a few numbers. */
const MOST_PLAN_BYTES = 1 << 16;

/** Of the first line; undefined where it cannot be read. */
function planOf(local: LocalOps, op: string): Promise<PlanRecord | undefined> {
  return reading(local, op, async file => planIn(file, op));
}

/** As `planOf`, of a journal that is open. */
export function planIn(file: JournalFile, op: string): PlanRecord | undefined {
  try {
    const bytes = file.readAt(0, MOST_PLAN_BYTES);
    const [first] = decodeLines(bytes.subarray(0, bytes.indexOf(0x0a) + 1), op).written;
    return first?.record.t === 'PLAN' ? first.record : undefined;
  } catch (thrown) {
    // The plan itself is damaged: then there is none that could be told apart.
    if (thrown instanceof CliError && thrown.kind === 'check_failed') return undefined;
    throw thrown;
  }
}

/** Of the last lines: END, and RUN of whoever looked at the op after it. */
const MOST_END_BYTES = 1 << 14;

function endOf(local: LocalOps, op: string): Promise<EndRecord | undefined> {
  return reading(local, op, async file => {
    const size = await file.size();
    const from = Math.max(0, size - MOST_END_BYTES);
    return decodeWhole(file.readAt(from, size - from)).findLast(record => record.t === 'END');
  });
}

/** ms by the clock of the file system; undefined when there is no such file. */
async function lastWritten(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

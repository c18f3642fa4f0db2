/** The one writer of a journal: records that wait together share one write and one sync. */
import { CliError } from '../../core/errors.ts';
import { encodeLines, type LineOffset } from './codec.ts';
import type { JournalRecord } from './records.ts';
import type { JournalFile } from './storage.ts';

export interface Log {
  /**
   * Appends a record; resolves to where it stands when it is durable and no other process has written since. Rejects
   * with `guarded` otherwise, from then on always: the end of the file is no longer ours to judge. Rejects with
   * `OutdatedFacts` where the record is not there and may be made anew.
   */
  append(record: JournalRecord): Promise<LineOffset>;
  close(): Promise<void>;
}

export interface LogSettings {
  readonly op: string;
  /** Who writes: eight hexadecimal digits of this process. */
  readonly by: string;
  /** Records of this writer that are there already. */
  readonly seq: number;
  /** Bytes of the file now. */
  readonly size: number;
}

/**
 * Thrown by a sync: the op is in hand, and the records are not there. They tell what was read before it was, and others may
 * have changed that meanwhile.
 */
export class OutdatedFacts extends Error {
  override readonly name = 'OutdatedFacts';
}

/** Appends that are not kept waiting for more of them. */
const TOGETHER = 64;

interface Waiting {
  readonly record: JournalRecord;
  readonly resolve: (place: LineOffset) => void;
  readonly reject: (error: unknown) => void;
}

export function openLog(file: JournalFile, settings: LogSettings): Log {
  const { op, by } = settings;
  let { seq, size } = settings;
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let broken: unknown;

  async function write(batch: readonly Waiting[]): Promise<void> {
    const begin = size;
    const ends: number[] = [];
    const records = batch.map(({ record }) => record);
    const bytes = encodeLines(by, seq, records, ends);
    await file.append(bytes);
    await file.sync();
    seq += records.length;
    size += bytes.length;
    // Whoever appends behind us has appended a RUN first. What we have written after it is void.
    if ((await file.size()) !== size) throw takenOver(op);
    let at = 0;
    for (const [index, end] of ends.entries()) {
      batch[index]?.resolve({ at: begin + at, length: end - at });
      at = end;
    }
  }

  /** Answers come a few in each turn of the event loop: a sync costs more than the turn it takes to have them on it. */
  async function gathering(): Promise<void> {
    for (let seen = 1; waiting.length > seen && waiting.length < TOGETHER; ) {
      seen = waiting.length;
      await new Promise(resolve => setImmediate(resolve));
    }
  }

  async function drain(): Promise<void> {
    // Everything that is asked for in this turn goes into the first write.
    await undefined;
    while (waiting.length > 0) {
      await gathering();
      const batch = waiting;
      waiting = [];
      try {
        if (broken !== undefined) throw broken;
        await write(batch);
      } catch (error) {
        if (!(error instanceof OutdatedFacts)) broken ??= error;
        for (const { reject } of batch) reject(error);
      }
    }
    writing = undefined;
  }

  return {
    append: record =>
      new Promise((resolve, reject) => {
        waiting.push({ record, resolve, reject });
        writing ??= drain();
      }),
    async close() {
      await writing;
      await file.close();
    },
  };
}

function takenOver(op: string): CliError {
  return new CliError('guarded', {
    message: `another process has taken over ${op}; this one stops and sends nothing more`,
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

/**
 * The mark of an op that is not finished. It tells how many bytes of its journal are durable, so that a journal that was
 * emptied, cut off or removed is not taken for one that was never written. A mark without a number stands before the plan:
 * nothing was sent for it.
 */
import { keepOpen } from '../../files/keep-open.ts';
import type { JournalDisk, JournalFile } from '../wal/storage.ts';
import type { Places } from './paths.ts';

interface Marks {
  readonly disk: JournalDisk;
  readonly places: Pick<Places, 'unfinished' | 'unfinishedMark'>;
}

/** A line is a length; each journal only grows, so the last whole line counts. */
const MOST_LINE_BYTES = 32;

/** Made before anything of the op is there. */
export async function createMark({ disk, places }: Marks, op: string): Promise<JournalFile> {
  const mark = await disk.create(places.unfinishedMark(op));
  await keepOpen(mark, () => disk.syncNames(places.unfinished));
  return mark;
}

/** Notes how long the journal is; it must be durable by now. The mark itself is durable after its own `sync`. */
export function noteLength(mark: JournalFile, length: number): Promise<void> {
  return mark.append(Buffer.from(`${length}\n`));
}

/** Bytes that the journal of an op must have at least; undefined where there is no mark, or none that tells it. */
export async function lengthInMark({ disk, places }: Marks, op: string): Promise<number | undefined> {
  const mark = await disk.open(places.unfinishedMark(op));
  if (mark === undefined) return undefined;
  try {
    const size = await mark.size();
    const from = Math.max(0, size - MOST_LINE_BYTES);
    const [, line] =
      /(?:^|\n)(\d+)\n[^\n]*$/.exec(Buffer.from(mark.readAt(from, size - from)).toString('latin1')) ?? [];
    return line === undefined ? undefined : Number(line);
  } finally {
    await mark.close();
  }
}

/** A journal whose mark is told of every sync. */
export function withLengths(file: JournalFile, mark: JournalFile | undefined, length: number): JournalFile {
  if (mark === undefined) return file;
  let size = length;
  return {
    ...file,
    async append(bytes) {
      await file.append(bytes);
      size += bytes.length;
    },
    async truncate(to) {
      await file.truncate(to);
      size = to;
    },
    async sync() {
      await file.sync();
      // What is not in the file was never durable, whatever was asked for.
      const there = Math.min(size, await file.size());
      // The records are durable: a mark that is behind them only tells less.
      await noteLength(mark, there).catch(() => undefined);
    },
    async close() {
      try {
        await mark.close();
      } finally {
        await file.close();
      }
    },
  };
}

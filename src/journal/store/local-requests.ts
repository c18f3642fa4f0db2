/** What other persons say to ops that are held, in the journals of this machine. */
import { randomName } from '../../core/random-name.ts';
import type { Randomness } from '../../platform/host.ts';
import { decodeLines, encodeLines, wholeLength } from '../wal/codec.ts';
import type { DeniedRecord, JournalRecord } from '../wal/records.ts';
import { type History, historyOf, isPending } from '../wal/replay.ts';
import { bytesOf, type LocalOps } from './local-ops.ts';
import type { PendingRequests, Tape } from './op-store.ts';
import { notPending } from './refusals.ts';

export interface LocalRequests extends LocalOps {
  readonly random: Randomness;
  take(op: string): Promise<Tape>;
}

export function localRequests(around: LocalRequests): PendingRequests {
  const { disk, places, random } = around;
  return {
    async journal() {
      const known = await disk.read(places.nameFile);
      if (known !== undefined) return known;
      await disk.prepareFolder(places.root);
      // Of two processes that come first at the same time both use the one that is there then.
      await disk.note(places.nameFile, `jrn_${randomName(random.bytes(16))}`);
      return (await disk.read(places.nameFile)) ?? '';
    },
    async approvals(op) {
      const bytes = await bytesOf(around, op);
      return bytes === undefined ? [] : (historyOf(decodeLines(bytes, op).written)?.approvals ?? []);
    },
    keep: (op, approval) => write(around, op, () => ({ records: [approval], finished: false })),
    deny: (op, denied) => write(around, op, history => ({ records: [denied, endOf(history, denied)], finished: true })),
  };
}

interface Written {
  readonly records: readonly JournalRecord[];
  readonly finished: boolean;
}

/** Behind what is there, under the lock of the op, and durable. */
async function write(around: LocalRequests, op: string, work: (history: History) => Written): Promise<void> {
  const tape = await around.take(op);
  const { file } = tape;
  let finished = false;
  try {
    const before = await file.readAll();
    const whole = wholeLength(before, op);
    if (whole < before.length) await file.truncate(whole);
    const history = historyOf(decodeLines(before.subarray(0, whole), op).written);
    if (history === undefined || !isPending(history)) throw notPending(op);
    const written = work(history);
    const by = Buffer.from(around.random.bytes(4)).toString('hex');
    await file.append(encodeLines(by, 0, written.records));
    await file.sync();
    finished = written.finished;
  } finally {
    await file.close();
    await tape.release(finished);
  }
}

function endOf({ rows }: History, { at }: DeniedRecord): JournalRecord {
  return { t: 'END', done: 0, refused: 0, not_sent: rows.size, cents: 0, at };
}

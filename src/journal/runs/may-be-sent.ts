/** Rows of which the records say nothing, and which a machine that is gone for good may have sent: they are looked for. */

import type { Tape } from '../store/op-store.ts';
import { decodeLines } from '../wal/codec.ts';
import { type History, historyOf, mayBePerformed } from '../wal/replay.ts';
import type { Log } from '../wal/writer.ts';

interface Taken {
  readonly history: History;
  readonly log: Log;
  readonly file: Pick<Tape['file'], 'readAll'>;
}

const WHY = 'a machine that is gone for good may have sent it';

/** Writes that they are unknown, and resolves to what the records say from then on. */
export async function asUnknown({ history, log, file }: Taken): Promise<History> {
  const { plan, rows } = history;
  const unsent = [...rows.values()].filter(row => row.state !== 'refused' && mayBePerformed(row, plan.bulk));
  if (unsent.length === 0) return history;
  // Nobody knows when: the earliest moment makes the key as old as it may be.
  const { at } = plan;
  await Promise.all(
    unsent.flatMap(({ item: { row, attempt } }) => [
      log.append({ t: 'SENT', row, attempt, at }),
      log.append({ t: 'AMBIG', row, reason: WHY, at }),
    ]),
  );
  return historyOf(decodeLines(await file.readAll(), plan.op).written) ?? history;
}

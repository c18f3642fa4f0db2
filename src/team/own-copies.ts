/** Ops of shared journals as this machine has them, for a time when the database cannot be asked. */
import type { OpHead, OpStore } from '../journal/store/op-store.ts';
import { decodeWhole } from '../journal/wal/codec.ts';
import type { JournalDisk } from '../journal/wal/storage.ts';
import { bytesAt, copiesOnDisk } from './spool.ts';

/** Of several copies of an op the longest counts. Nobody is seen to work on one. */
export async function ownCopies(
  disk: JournalDisk,
  stateFolder: string,
): Promise<Pick<OpStore, 'heads' | 'read' | 'isHeld'>> {
  const kept = new Map<string, { readonly bytes: Uint8Array; readonly finished: boolean }>();
  for (const { op, path, finished } of await copiesOnDisk(disk, stateFolder)) {
    const bytes = await bytesAt(disk, path);
    if (bytes.length > (kept.get(op)?.bytes.length ?? -1)) kept.set(op, { bytes, finished });
  }
  return {
    async *heads() {
      for (const [op, { bytes, finished }] of kept) yield headOf(op, bytes, finished);
    },
    read: async op => kept.get(op)?.bytes,
    isHeld: async () => false,
  };
}

function headOf(op: string, bytes: Uint8Array, finished: boolean): OpHead {
  const records = () => decodeWhole(bytes);
  return {
    op,
    unfinished: !finished,
    plan: async () => records().find(record => record.t === 'PLAN'),
    end: async () => records().findLast(record => record.t === 'END'),
  };
}

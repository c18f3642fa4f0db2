/** Ops of shared journals as this machine has them, for a time when the database cannot be asked. */
import { join } from 'node:path';
import type { OpHead, OpStore } from '../journal/store/op-store.ts';
import { decodeWhole } from '../journal/wal/codec.ts';
import type { JournalDisk } from '../journal/wal/storage.ts';
import { bytesAt, copiesOnDisk } from './local-copies.ts';

/** Of several copies of an op the longest counts. Nobody is seen to work on one. */
export async function ownCopies(
  disk: JournalDisk,
  stateFolder: string,
): Promise<Pick<OpStore, 'heads' | 'read' | 'isHeld'>> {
  const kept = new Map<string, Uint8Array>();
  for (const { op, path } of await copiesOnDisk(disk, stateFolder)) {
    const bytes = await bytesAt(disk, path);
    if (bytes.length > (kept.get(op)?.length ?? -1)) kept.set(op, bytes);
  }
  return {
    async *heads() {
      for (const [op, bytes] of kept) yield headOf(op, bytes);
    },
    read: async op => kept.get(op),
    isHeld: async () => false,
  };
}

function headOf(op: string, bytes: Uint8Array): OpHead {
  const records = () => decodeWhole(bytes);
  return {
    op,
    // A copy does not say whether its outcome was told.
    unfinished: false,
    plan: async () => records().find(record => record.t === 'PLAN'),
    end: async () => records().findLast(record => record.t === 'END'),
  };
}

/** Whether the folder has anything of a shared journal: a command has worked over one. */
export async function knowsShared(disk: JournalDisk, stateFolder: string): Promise<boolean> {
  return (await disk.folders(join(stateFolder, 'team'))).length > 0;
}

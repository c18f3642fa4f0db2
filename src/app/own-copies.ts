/** `ops list --local`: what this machine has of shared journals. Nothing is connected to. */
import { summaries } from '../journal/runs/queries.ts';
import type { OpSummary } from '../journal/shown-ops.ts';
import { createDisk } from '../journal/wal/storage.ts';
import { ownCopies } from '../team/own-copies.ts';
import type { AppHost } from './app-host.ts';

/** Newest first. */
export async function copiedOps({ platform, random, clock, pid, folders }: AppHost): Promise<readonly OpSummary[]> {
  const disk = createDisk({ platform, random, warn: () => undefined, lock: { pid, clock, random } });
  return summaries({ store: await ownCopies(disk, folders.state) });
}

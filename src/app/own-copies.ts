/** What this machine has of shared journals. */
import { summaries } from '../journal/runs/queries.ts';
import type { OpSummary } from '../journal/shown-ops.ts';
import { createDisk, type JournalDisk } from '../journal/wal/storage.ts';
import { type ComparedStatus, comparedStatus } from '../team/compared-status.ts';
import type { JournalConnection } from '../team/connect.ts';
import { ownCopies } from '../team/own-copies.ts';
import type { AppHost } from './app-host.ts';

/** `ops list --local`: newest first. Nothing is connected to. */
export async function copiedOps(host: AppHost): Promise<readonly OpSummary[]> {
  return summaries({ store: await ownCopies(diskOf(host), host.folders.state) });
}

/** Where a journal stands, beside what this machine has seen of it. Throws as `comparedStatus`. */
export function statusCompared(host: AppHost, connection: JournalConnection, account: string): Promise<ComparedStatus> {
  return comparedStatus({
    disk: diskOf(host),
    stateFolder: host.folders.state,
    connection,
    account,
    clock: host.clock,
  });
}

function diskOf({ platform, random, clock, pid }: AppHost): JournalDisk {
  return createDisk({ platform, random, warn: () => undefined, lock: { pid, clock, random } });
}

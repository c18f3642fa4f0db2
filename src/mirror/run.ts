/** What the steps of one sync share. */
import type { Clock } from '../platform/host.ts';
import type { MirrorDatabase } from './database.ts';
import type { PacedReader } from './paced-reader.ts';
import type { Writing } from './store-records.ts';

export interface SyncRun extends Writing {
  readonly db: MirrorDatabase;
  readonly ask: PacedReader;
  readonly clock: Clock;
  /** Everything before it was read in this sync from closed windows; ms of the service. */
  readonly end: number;
  readonly tally: SyncCounts;
  readonly warn: (text: string) => void;
  /** Rows read so far, for the progress. */
  readonly onRows: (rows: number) => void;
}

export interface SyncCounts {
  /** Windows read complete. */
  windows: number;
}

/** Whether less than `ms` has passed since then. A clock that went back says nothing of it: false. */
export function isWithin(ms: number, { since, now }: { readonly since: number | undefined; readonly now: number }) {
  return since !== undefined && now >= since && now - since < ms;
}

/** The service takes no notice of from and to. */
export class FiltersIgnored extends Error {
  override readonly name = 'FiltersIgnored';
}

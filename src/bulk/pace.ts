/** How many rows of a run are under way at once. */
import type { RowOutcome } from '../journal/types.ts';

/** Workers before the first row is done: a service that is not there must not be asked by all of them. */
const FIRST_WORKERS = 8;
/** A service that slowed us down is tried with one worker more after so many rows. */
const CLEAN_ROWS = 20;

/** `most` rows at once: halved when the service asks to slow down, one more after a while without. */
export function createPace(most: number) {
  let [limit, epoch, clean] = [most, 0, 0];
  let proved = false;
  return {
    workers: () => (proved ? limit : Math.min(limit, FIRST_WORKERS)),
    proved: () => proved,
    /** Rows of one epoch that are slowed down together halve it once. */
    epoch: () => epoch,
    learn({ outcome, throttled }: RowOutcome, begunIn: number): void {
      if (throttled === true) {
        clean = 0;
        if (begunIn !== epoch) return;
        epoch += 1;
        limit = Math.max(1, Math.floor(limit / 2));
      } else if (outcome === 'done') {
        proved = true;
        clean += 1;
        if (clean < CLEAN_ROWS) return;
        clean = 0;
        limit = Math.min(most, limit + 1);
      }
    },
  };
}

/** Seconds until something is possible, redrawn in place on a terminal. */
import type { Clock, OutputStream } from '../platform/host.ts';

export interface Countdown {
  readonly stderr: OutputStream;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** False: one line at the beginning, nothing redrawn. */
  readonly redraw: boolean;
}

/** Resolves when the time is over. `says` makes the line from the seconds left. Rejects with the signal's reason. */
export async function countDown(ms: number, says: (seconds: number) => string, around: Countdown): Promise<void> {
  const { stderr, clock, signal, redraw } = around;
  const until = clock.monotonic() + ms;
  if (!redraw) await stderr.write(`${says(Math.ceil(ms / 1000))}\n`);
  try {
    for (let left = ms; left > 0; left = until - clock.monotonic()) {
      if (redraw) await stderr.write(`\r\x1b[2K${says(Math.ceil(left / 1000))}`);
      await clock.sleep(redraw ? left % 1000 || 1000 : left, signal).catch(thrown => {
        throw signal.aborted ? signal.reason : thrown;
      });
    }
  } finally {
    if (redraw) await stderr.write('\r\x1b[2K');
  }
}

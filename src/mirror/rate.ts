/** What commands say about a sync before one is opened. Light, for help loads it. */

/** Requests a minute. */
export const DEFAULT_RATE = 300;

/** Requests a minute of a sync; undefined for no limit: nobody else waits for the sandbox of this user. */
export function rateFor(mode: string, wanted?: number): number | undefined {
  return wanted ?? (mode === 'sandbox' ? undefined : DEFAULT_RATE);
}

/** What commands say about a sync before one is opened, and of one that did not come to its end. Light, for help loads it. */
import { CliError } from '../core/errors.ts';

/** Requests a minute. */
export const DEFAULT_RATE = 300;

/** Requests a minute of a sync; undefined for no limit: nobody else waits for the sandbox of this user. */
export function rateFor(mode: string, wanted?: number): number | undefined {
  return wanted ?? (mode === 'sandbox' ? undefined : DEFAULT_RATE);
}

/** What a sync ends with when some of it could not be read complete. */
export function stillOpen(windows: number): CliError {
  const what = windows === 1 ? 'window of time' : 'windows of time';
  return new CliError('unreachable', {
    message: `${windows} ${what} could not be read complete: rows moved at each try`,
    notes: ['What was read is kept. The next sync tries again.'],
    hint: 'cardwright books sync',
  });
}

/** What the commands that wait have in common. */

import type { Context } from '../../cli/context.ts';
import { countOf } from '../../cli/listing.ts';
import { duration, option, takes } from '../../cli/parsing/flag.ts';
import { MINUTE } from '../../core/durations.ts';
import { asCliError, type CliError } from '../../core/errors.ts';
import type { LiveView, Waiting } from '../../events/poll.ts';
import { durationText } from '../../terminal/times.ts';
import type { Listing, Row } from '../../terminal/view.ts';

export const USUAL_WAIT = 2 * MINUTE;

export const WAIT_TIMEOUT = duration('How long to wait; 2m by default.');

/** Ends of a live view. */
export const LIVE_FLAGS = {
  count: option(takes.integer('End after this many.', { min: 1 })),
  waitTimeout: duration('End after this time; no limit by default.'),
} as const;

/** What `look` found, or undefined when time is over. */
export async function awaited<T>(
  ctx: Context,
  timeoutMs: number,
  look: (signal: AbortSignal) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { waitFor } = await import('../../events/poll.ts');
  return waitFor(waitingOf(ctx), { timeoutMs, look, onTrouble: onTroubleOf(ctx) });
}

/** What `events` needs of this run. */
export function waitingOf(ctx: Context): Waiting {
  return { clock: ctx.clock, random: ctx.random, signal: ctx.signal };
}

/** Says once that the service cannot be asked at the moment. */
export function onTroubleOf(ctx: Context): (error: CliError) => void {
  return error => ctx.ui.notice(`still waiting, although the service cannot be asked at the moment: ${error.message}`);
}

export const LIVE_EVERY_MS = 2_000;

/**
 * A view that goes on: a line for each row as it comes, and how many came in which time. `onRows` is told of them before they are
 * shown.
 */
export function liveView<T extends { readonly id: string }>(
  ctx: Context,
  noun: string,
  wish: Pick<LiveView<T>, 'forMs' | 'count' | 'look'>,
  onRows: (rows: readonly T[]) => void = () => undefined,
) {
  const began = ctx.clock.monotonic();
  async function* batches() {
    const { live } = await import('../../events/poll.ts');
    const view = { ...wish, everyMs: LIVE_EVERY_MS, onTrouble: onTroubleOf(ctx) };
    for await (const rows of live(waitingOf(ctx), view)) {
      onRows(rows);
      yield rows as readonly object[] as readonly Row[];
    }
  }
  const listing: Listing = {
    batches: batches(),
    page: () => ({}),
    isLive: true,
    footer: rows => `${countOf(rows, noun)} in ${durationText(ctx.clock.monotonic() - began)}.`,
  };
  // A view ended by Ctrl-C did what it was for, and still says that it was stopped.
  const exit = () => (ctx.signal.aborted ? asCliError(ctx.signal.reason).exitCode : 0);
  return { listing, exit };
}

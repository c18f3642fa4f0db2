/** What the commands that wait have in common. */
import type { Context } from '../../cli/context.ts';
import { option, takes } from '../../cli/parsing/flag.ts';
import { parseDuration } from '../../cli/parsing/globals.ts';

import { REQUEST_TOTAL_MS } from '../../core/durations.ts';
import { CliError, type ErrorFacts } from '../../core/errors.ts';
import type { Waiting } from '../../events/poll.ts';
import { durationText } from '../../terminal/times.ts';

export const DEFAULT_WAIT = '2m';

export const WAIT_TIMEOUT = option(takes.text(`How long to wait; ${DEFAULT_WAIT} by default.`), '<duration>');

/** Ends of a live view. */
export const LIVE_FLAGS = {
  count: option(takes.integer('End after this many.', { min: 1 })),
  waitTimeout: option(takes.text('End after this time; no limit by default.'), '<duration>'),
} as const;

/**
 * Milliseconds of `--wait-timeout`. Throws `usage`. Says which limit is which where somebody gave the one of a request
 * alone, which is easily taken for the whole.
 */
export function waitTimeout(ctx: Context, typed: string | undefined): number {
  const timeoutMs = parseDuration(typed ?? DEFAULT_WAIT, '--wait-timeout');
  const { requestTimeoutMs } = ctx;
  if (typed === undefined && requestTimeoutMs !== undefined) {
    const [whole, one] = [durationText(timeoutMs), durationText(requestTimeoutMs)];
    ctx.ui.notice(`waiting up to ${whole} (--wait-timeout); --timeout ${one} bounds one request`);
  }
  return timeoutMs;
}

/** What `look` found, or undefined when time is over. An error of the end names both limits. */
export async function awaited<T>(
  ctx: Context,
  timeoutMs: number,
  look: (signal: AbortSignal) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { waitFor } = await import('../../events/poll.ts');
  const began = ctx.clock.monotonic();
  try {
    return await waitFor(waitingOf(ctx), { timeoutMs, look, onTrouble: onTroubleOf(ctx) });
  } catch (thrown) {
    const isOver = ctx.clock.monotonic() - began >= timeoutMs;
    if (!(thrown instanceof CliError && ['unreachable', 'rate_limited'].includes(thrown.kind) && isOver)) throw thrown;
    throw thrown.with({
      message: `the wait is over, and the service could not be asked at its end: ${thrown.message}`,
      notes: [...(thrown.facts.notes ?? []), limitsText(ctx, timeoutMs)],
      evidence: { ...thrown.facts.evidence, ...limitsOf(ctx, timeoutMs) },
    });
  }
}

/** Both limits of a wait, for its error. */
function limitsText(ctx: Context, timeoutMs: number): string {
  const one = durationText(ctx.requestTimeoutMs ?? REQUEST_TOTAL_MS.read);
  return `Limits: --wait-timeout ${durationText(timeoutMs)} for the whole wait, --timeout ${one} for one request.`;
}

function limitsOf(ctx: Context, timeoutMs: number) {
  return { wait_timeout_ms: timeoutMs, timeout_ms: ctx.requestTimeoutMs ?? REQUEST_TOTAL_MS.read };
}

/** Milliseconds of the `--wait-timeout` of a live view; undefined for ever. Throws `usage`. */
export function liveFor(typed: string | undefined): number | undefined {
  return typed === undefined ? undefined : parseDuration(typed, '--wait-timeout');
}

/** What `events` needs of this run. */
export function waitingOf(ctx: Context): Waiting {
  return { clock: ctx.clock, random: ctx.random, signal: ctx.signal, serviceNow: () => ctx.api.serviceNow() };
}

/** Says once that the service cannot be asked at the moment. */
export function onTroubleOf(ctx: Context): (error: CliError) => void {
  return error => ctx.ui.notice(`still waiting, although the service cannot be asked at the moment: ${error.message}`);
}

/** The failure of a wait: exit 8, how it stood last, and, when its time is over, both limits. */
export function waitOver(
  ctx: Context,
  timeoutMs: number | undefined,
  over: Pick<ErrorFacts, 'message' | 'hint'> & Required<Pick<ErrorFacts, 'notes' | 'evidence'>>,
): CliError {
  const isOver = timeoutMs !== undefined;
  return new CliError('wait_expired', {
    message: over.message,
    notes: [...over.notes, ...(isOver ? [limitsText(ctx, timeoutMs)] : [])],
    evidence: { ...over.evidence, ...(isOver && limitsOf(ctx, timeoutMs)) },
    ...(over.hint !== undefined && { hint: over.hint }),
  });
}

/** A view ended by Ctrl-C did what it was for, and still says that it was stopped. */
export function exitOf(signal: AbortSignal): number {
  const reason: unknown = signal.aborted ? signal.reason : undefined;
  return typeof reason === 'object' && reason !== null && 'exitCode' in reason ? Number(reason.exitCode) : 0;
}

/** The error of a session that a signal ended. */
export function endedBy(signal: NodeJS.Signals): CliError {
  return signal === 'SIGINT'
    ? new CliError('interrupted', { message: 'stopped by Ctrl-C' })
    : new CliError('terminated', { message: 'stopped by a signal' });
}

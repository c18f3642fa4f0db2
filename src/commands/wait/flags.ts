/** What the commands that wait have in common. */
import type { Context } from '../../cli/context.ts';
import { alsoNamed, OURS, option } from '../../cli/flag.ts';
import { parseDuration } from '../../cli/globals.ts';
import { integer, text } from '../../contract/field.ts';
import { CliError } from '../../errors.ts';
import type { Waiting } from '../../events/poll.ts';

export const DEFAULT_WAIT = '2m';

export const WAIT_TIMEOUT = option(
  text({ doc: `How long to wait at most; ${DEFAULT_WAIT} when left out.`, basis: OURS }),
  '<duration>',
);

/** Ends of a live view. */
export const LIVE_FLAGS = {
  count: option(integer({ doc: 'End after this many.', basis: OURS, min: 1 })),
  waitTimeout: alsoNamed(
    option(text({ doc: 'End after this long; for ever when left out.', basis: OURS }), '<duration>'),
    'for',
  ),
} as const;

/** Milliseconds of `--wait-timeout`. Throws `usage`. */
export function waitTimeout(typed: string | undefined): number {
  return parseDuration(typed ?? DEFAULT_WAIT, '--wait-timeout');
}

/** Milliseconds of the `--wait-timeout` of a live view; undefined for ever. Throws `usage`. */
export function liveFor(typed: string | undefined): number | undefined {
  return typed === undefined ? undefined : parseDuration(typed, '--wait-timeout');
}

/** What `events` needs of this run. */
export function waitingOf(ctx: Context): Waiting {
  return { clock: ctx.clock, random: ctx.random, signal: ctx.signal, serviceNow: () => ctx.serviceNow() };
}

/** Says once that the service cannot be asked at the moment. */
export function onTroubleOf(ctx: Context): (error: CliError) => void {
  return error => ctx.notice(`still waiting, although the service cannot be asked at the moment: ${error.message}`);
}

/** The failure of a wait that is over: exit 8, and how it stood last. */
export function waitOver(what: string, last: { readonly says: string; readonly state: unknown }): CliError {
  return new CliError('wait_expired', {
    message: what,
    notes: [last.says],
    evidence: { last: last.state ?? null },
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

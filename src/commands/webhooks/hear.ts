/** Events of one session, from its opening to its end, whatever ends it: a signal, a time, a program, the source. */
import type { Context } from '../../cli/context.ts';
import { local, OURS, option } from '../../cli/parsing/flag.ts';
import { integer, list, text } from '../../contract/field.ts';
import { SECOND } from '../../core/durations.ts';
import { asCliError, type CliError } from '../../core/errors.ts';
import type { Arrived, Counts } from '../../events/listener.ts';
import { endedBy } from '../wait/flags.ts';
import { SECRET_FILES_IF_ANY } from './secrets.ts';
import { openSession, type SessionOptions } from './session.ts';
import { endAbandoned, sandboxHere } from './subscription.ts';

/** What may keep a session from beginning. */
export const SESSION_ENDS = { unreachable: 'The port is taken, or a subscription could not be made.' } as const;

/** What listening does, for the help of the commands that do it. */
export const SESSION_EFFECT =
  'with a sandbox on this machine, subscribes and takes the subscription away at the end; of another service it changes nothing';

export const SESSION_FLAGS = {
  port: option(integer({ doc: 'Port on 127.0.0.1; any free one by default.', basis: OURS, min: 0, max: 65_535 })),
  secretFile: SECRET_FILES_IF_ANY,
  signatureHeader: option(
    text({ doc: 'Name of the signature header; the usual names by default.', basis: OURS }),
    '<name>',
  ),
  readyFile: option(local('file', 'File for the address (one line) while it listens.'), '<file>'),
} as const;

export const EVENT_PATTERNS = option(
  list(text({ doc: 'Event, or a pattern such as card.*', basis: OURS }), {
    doc: 'Only these, such as card.*,3ds.challenge',
    basis: OURS,
  }),
  '<pattern>',
);

/** How long deliveries are waited for once the program has failed. */
const AFTER_FAILURE_MS = 2 * SECOND;

export interface ListenOptions {
  /** Ends after so long; with a program, so long after its end, and soon after one that failed. */
  readonly forMs: number | undefined;
  readonly program: readonly string[];
}

/** What is known when it is over. */
export interface Hearing {
  counts: Readonly<Counts> | undefined;
  /** Exit code of the program; 0 also while it runs. */
  exit: number;
  /** The signal that ended it. */
  stopped: CliError | undefined;
}

/** Opens a session, gives its events and takes it away again. */
export async function* hear(
  ctx: Context,
  options: SessionOptions,
  { forMs, program }: ListenOptions,
  hearing: Hearing,
): AsyncGenerator<Arrived> {
  const over = new AbortController();
  let finish = () => {};
  // From before there is anything to clean up. A second signal stops the cleaning too.
  const takeBack = ctx.takeSignals(name => {
    takeBack();
    hearing.stopped = endedBy(name);
    finish();
  });
  const session = await openSession(ctx, options).catch((error: unknown) => {
    takeBack();
    throw error;
  });
  hearing.counts = session.counts;
  finish = () => session.finish();
  if (hearing.stopped !== undefined) finish();
  // While a program has the terminal, signals are its own, and what it makes of them ends the session.
  else if (program.length > 0) takeBack();
  const finishLater = async (longestMs = Number.POSITIVE_INFINITY) => {
    if (forMs !== undefined) await ctx.clock.sleep(Math.min(forMs, longestMs), over.signal);
    finish();
  };
  const quietly = (work: Promise<void>) =>
    work.catch((error: unknown) => {
      if (!over.signal.aborted) session.fail(asCliError(error));
    });
  const work =
    program.length > 0 && hearing.stopped === undefined
      ? quietly(
          ctx.runProgram(program, { CARDWRIGHT_LISTENER_URL: session.address }).then(async code => {
            hearing.exit = code;
            await session.settle();
            // What a program that failed did not cause will not come; what it caused is on its way.
            await finishLater(code === 0 ? undefined : AFTER_FAILURE_MS);
          }),
        )
      : forMs === undefined
        ? Promise.resolve()
        : quietly(finishLater());
  try {
    yield* session.arrivals;
  } finally {
    // A program is waited for; the time after its end is not.
    over.abort();
    await work;
    await session.end();
    takeBack();
  }
}

/** Ends what crashed runs left in the sandbox of this machine. */
export async function reapListeners(ctx: Context): Promise<readonly string[]> {
  const identity = await sandboxHere(ctx);
  return identity === undefined ? [] : endAbandoned(ctx, identity);
}

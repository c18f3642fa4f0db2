/**
 * One session of listening, from its opening to its end, whatever ends it: a receiver, its subscription where the service
 * can reach it, and a signal, a time, a program or the source that ends it.
 */
import type { Context } from '../../cli/context.ts';
import { local, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { eventsMatching } from '../../contract/events.ts';
import { integer, list, text } from '../../contract/field.ts';
import { SECOND } from '../../core/durations.ts';
import { asCliError, type CliError } from '../../core/errors.ts';
import { randomName } from '../../core/random-name.ts';
import type { Arrived, Counts } from '../../events/listener.ts';
import { endedBy } from '../wait/flags.ts';
import { checkPatterns } from './events-flag.ts';
import { SECRET_FILES_IF_ANY, secretsFor } from './secrets.ts';
import { endAbandoned, sandboxHere, subscribe } from './subscription.ts';

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

export interface SessionOptions {
  readonly port: number | undefined;
  readonly events: readonly string[] | undefined;
  readonly secretFile: readonly string[] | undefined;
  readonly signatureHeader: string | undefined;
  readonly readyFile: string | undefined;
  /** Whose answer becomes ours to the sender. */
  readonly relay?: ((arrived: Arrived) => Promise<boolean>) | undefined;
}

interface Session {
  readonly address: string;
  readonly counts: Readonly<Counts>;
  readonly arrivals: AsyncGenerator<Arrived>;
  /** Takes what has arrived, and no more. */
  finish(): void;
  /** There is no use in listening any more. */
  fail(error: CliError): void;
  /** Lets the embedded sandbox send what is due. */
  settle(): Promise<void>;
  /** Takes the subscription away and frees the port; for every way out. */
  end(): Promise<void>;
}

/** How many refusals are told one by one. */
const MOST_TOLD = 5;
const SETTLE_MS = 2_000;

async function openSession(ctx: Context, options: SessionOptions): Promise<Session> {
  if (ctx.dryRun)
    throw usage('listening cannot be tried with --dry-run: it subscribes, and takes the subscription away');
  const { openListener } = await import('../../events/listener.ts');
  const patterns = checkPatterns(options.events ?? ['*']);
  const identity = await sandboxHere(ctx);
  const secrets = await secretsFor(ctx, options.secretFile, identity !== undefined);
  const ready = options.readyFile === undefined ? undefined : await ctx.readyFile(options.readyFile);
  let announced = 0;
  const hidden = new Set<string>();
  const listener = await openListener({
    port: options.port ?? 0,
    secrets,
    signatureHeader: options.signatureHeader ?? (await ctx.overrides()).headers['webhook_signature'],
    events: patterns,
    clock: ctx.clock,
    relay: options.relay,
    onHidden(what) {
      if (!hidden.has(what)) ctx.notice(`warning: ${what}`);
      hidden.add(what);
    },
    onRefused(why) {
      announced += 1;
      if (announced <= MOST_TOLD)
        ctx.notice(`refused a delivery with 401: ${why}${announced === MOST_TOLD ? '; more are counted only' : ''}`);
    },
  });
  const origin = `http://127.0.0.1:${listener.port}`;
  // A path of its own: the port may be another run's next time.
  const address = identity === undefined ? origin : `${origin}/${randomName(ctx.random.bytes(8))}`;
  const background = new AbortController();
  const running: Promise<void>[] = [];
  const until = (work: Promise<void>) => running.push(work.catch((error: unknown) => listener.fail(asCliError(error))));
  const undo: (() => Promise<unknown>)[] = [() => listener.close()];
  const end = async () => {
    listener.finish();
    background.abort();
    await Promise.all(running.splice(0));
    let failed: unknown;
    // Whatever one step meets, the port is freed: it would keep the process alive.
    for (const step of undo.splice(0).reverse()) {
      await step().catch((error: unknown) => {
        failed ??= error;
      });
    }
    if (failed !== undefined) throw failed;
  };
  const deliveries = identity === undefined ? undefined : await ctx.sandboxDeliveries();
  try {
    const [secret] = secrets;
    if (identity !== undefined && secret !== undefined) {
      const events = patterns.includes('*') ? ['*'] : [...new Set(patterns.flatMap(eventsMatching))];
      const subscription = await subscribe(ctx, { identity, url: address, events, secret });
      undo.push(() => subscription.end());
      until(subscription.watch(background.signal));
      if (deliveries !== undefined) until(deliveries.run(background.signal));
    }
    if (ready !== undefined) {
      await ready.write(address);
      undo.push(() => ready.remove(address));
    }
  } catch (error) {
    await end();
    throw error;
  }
  ctx.notice(`Listening on ${address}${identity === undefined ? '' : ', subscribed'}.`);
  if (identity === undefined)
    ctx.notice('A signature over the body alone cannot detect a replay; repeats are known by event id.');
  return {
    address,
    counts: listener.counts,
    arrivals: listener.arrivals,
    finish: () => listener.finish(),
    fail: error => listener.fail(error),
    async settle() {
      const [late, inTime] = [new AbortController(), new AbortController()];
      const timer = ctx.clock.sleep(SETTLE_MS, inTime.signal).then(
        () => late.abort(),
        () => undefined,
      );
      await deliveries?.settle(late.signal);
      inTime.abort();
      await timer;
    },
    end,
  };
}

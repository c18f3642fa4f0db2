/** One session of listening: a receiver, its subscription where the service can reach it, and an orderly end. */

import type { Context } from '../../cli/context.ts';
import { usage } from '../../cli/parsing/values.ts';
import { eventsMatching } from '../../contract/events.ts';
import { asCliError, type CliError } from '../../core/errors.ts';
import { randomName } from '../../core/random-name.ts';
import type { Arrived, Counts } from '../../events/listener.ts';
import { checkPatterns } from './events-flag.ts';
import { secretsFor } from './secrets.ts';
import { sandboxHere, subscribe } from './subscription.ts';

export interface SessionOptions {
  readonly port: number | undefined;
  readonly events: readonly string[] | undefined;
  readonly secretFile: readonly string[] | undefined;
  readonly signatureHeader: string | undefined;
  readonly readyFile: string | undefined;
  /** Whose answer becomes ours to the sender. */
  readonly relay?: ((arrived: Arrived) => Promise<boolean>) | undefined;
}

export interface Session {
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

export async function openSession(ctx: Context, options: SessionOptions): Promise<Session> {
  if (ctx.dryRun)
    throw usage('listening cannot be tried with --dry-run: it subscribes, and takes the subscription away');
  const { openListener } = await import('../../events/listener.ts');
  const patterns = checkPatterns(options.events ?? ['*']);
  const identity = await sandboxHere(ctx);
  const secrets = await secretsFor(ctx, options.secretFile, identity !== undefined);
  const ready = options.readyFile === undefined ? undefined : await ctx.readyFile(options.readyFile);
  let told = 0;
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
      told += 1;
      if (told <= MOST_TOLD)
        ctx.notice(`refused a delivery with 401: ${why}${told === MOST_TOLD ? '; more are counted only' : ''}`);
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

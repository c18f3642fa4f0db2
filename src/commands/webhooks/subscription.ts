/** A subscription of our own for the time of one run: made, watched, taken away, also by whoever comes after a crash. */
import type { Context } from '../../cli/context.ts';
import { CliError } from '../../core/errors.ts';
import type { Identity } from '../../core/identity.ts';
import type { Secret } from '../../core/secret.ts';
import type { Noted } from '../../events/cleanup-log.ts';
import { patient, pollTimes } from '../../events/poll.ts';
import { waitingOf } from '../wait/flags.ts';

export interface Subscription {
  readonly id: string;
  /** Rejects when it is gone, switched off, or the service no longer answers; resolves at the signal. */
  watch(signal: AbortSignal): Promise<void>;
  end(): Promise<void>;
}

const WATCH_EVERY_MS = 15_000;
/** So many looks without an answer, and nothing can be expected to come any more. */
const MOST_SILENT_LOOKS = 4;

/** Whether the service runs on this machine and so can reach a receiver here: a sandbox. */
export async function sandboxHere(ctx: Context): Promise<Identity | undefined> {
  const identity = await ctx.identity().catch((error: unknown) => {
    if (error instanceof CliError && error.kind === 'not_authenticated') return undefined;
    throw error;
  });
  const isHere =
    identity !== undefined && /^embedded$|^http:\/\/(?:127\.|localhost[:/]|\[::1\])/.test(identity.baseUrl);
  return isHere ? identity : undefined;
}

export interface NewSubscription {
  readonly identity: Identity;
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: Secret;
}

/** Subscribes; written down before, so that a crash leaves no subscription that nobody knows of. */
export async function subscribe(
  ctx: Context,
  { identity, url, events, secret }: NewSubscription,
): Promise<Subscription> {
  const cleanupLog = await ctx.cleanupLog();
  await endAbandoned(ctx, identity);
  const { profile, baseUrl } = identity;
  const noted = await cleanupLog.note({
    kind: 'listener',
    profile,
    base_url: baseUrl,
    made_at: ctx.clock.now(),
    facts: { url },
  });
  const body = { url, events, secret: secret.expose() };
  const { result } = await ctx.write('webhooks.create', body, { intent: `Subscribe ${url}` });
  await noted.add({ webhook_id: result.id });
  return {
    id: result.id,
    watch: signal => watched(ctx, result.id, signal),
    end: async () => void (await endOne(ctx, noted)),
  };
}

/** Takes away subscriptions of runs that crashed. Resolves to their ids. */
export async function endAbandoned(ctx: Context, { profile, baseUrl }: Identity): Promise<readonly string[]> {
  const cleanupLog = await ctx.cleanupLog();
  const ended: string[] = [];
  for (const noted of await cleanupLog.abandoned('listener')) {
    const { leftover } = noted;
    // Another service knows nothing of it; a run with its profile will see to it.
    if (leftover.profile !== profile || leftover.base_url !== baseUrl) continue;
    ended.push(...(await endOne(ctx, noted)));
  }
  return ended;
}

/** By its id, or by its address where the run did not live to learn the id. */
async function endOne(ctx: Context, noted: Noted): Promise<readonly string[]> {
  const { webhook_id: known, url } = noted.leftover.facts;
  const ids = known === undefined ? await idsOf(ctx, url) : [known];
  for (const id of ids) {
    const intent = `End subscription ${id}`;
    await ctx.write('webhooks.delete', { webhook_id: id }, { intent, confirmed: true }).catch((error: unknown) => {
      if (!(error instanceof CliError && error.kind === 'not_found')) throw error;
    });
  }
  await noted.forget();
  return ids;
}

async function idsOf(ctx: Context, url: string | undefined): Promise<readonly string[]> {
  const { data } = await ctx.read('webhooks.list', {});
  return data.filter(each => each.url === url).map(({ id }) => id);
}

async function watched(ctx: Context, id: string, signal: AbortSignal): Promise<void> {
  const asked = patient(() => ctx.read('webhooks.get', { webhook_id: id }));
  let silent = 0;
  try {
    for await (const _ of pollTimes(
      { ...waitingOf(ctx), signal },
      { firstMs: WATCH_EVERY_MS, longestMs: WATCH_EVERY_MS },
    )) {
      const found = await asked.look();
      silent = found === undefined ? silent + 1 : 0;
      if (found?.status === 'disabled') throw sourceGone(`the subscription ${id} was switched off`);
      if (silent >= MOST_SILENT_LOOKS) throw sourceGone(`the service no longer answers: ${asked.trouble?.message}`);
    }
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof CliError && error.kind === 'not_found') throw sourceGone(`the subscription ${id} is gone`);
    throw error;
  }
}

function sourceGone(why: string): CliError {
  return new CliError('unreachable', { message: `${why}; no further event arrives` });
}

/** `--offline`: a reading command answered by the mirror of the account. Nothing is sent. */

import { parseDuration } from '../app/globals.ts';
import { CliError } from '../core/errors.ts';
import type { Context, Shown } from './context.ts';
import { option, takes } from './parsing/flag.ts';

/** A command that declares it need not look at it: the context it gets reads the copy, and its answer says so. */
export const OFFLINE = option(takes.flag('From the mirror of the account; nothing is sent.'));

const DEFAULT_MAX_AGE = '15m';

/** Flags of a command that reads the copy. */
export const COPY_FLAGS = {
  offline: OFFLINE,
  maxAge: option(takes.text(`Sync first when the copy is older; ${DEFAULT_MAX_AGE} when left out.`), '<duration>'),
} as const;

/** The copy, brought up to date first where it is older than `--max-age`. Throws `usage`, and `unreachable` (12) where there is none. */
export async function openCopy(
  ctx: Context,
  {
    offline,
    maxAge = DEFAULT_MAX_AGE,
  }: { readonly offline?: boolean | undefined; readonly maxAge?: string | undefined },
) {
  const oldestMs = parseDuration(maxAge, '--max-age');
  const mirror = await ctx.api.mirror();
  const copy = offline ? await mirror.read() : await mirror.readFresh(oldestMs);
  ctx.ui.progress.clear();
  return copy;
}

/** Opens the copy. Throws `unreachable` (12) where there is none. */
export async function openOffline(context: Context) {
  const copy = await (await context.api.mirror()).read();
  const { reader, as_of } = copy;
  context.ui.notice(`offline · as of ${as_of}`);
  // The service may be ahead of this machine: it is never before what the copy shows.
  const now = () => Math.max(context.clock.now(), Date.parse(as_of));
  const api: Context['api'] = {
    ...context.api,
    reader: async () => reader,
    read: (operation, input) => reader.read(operation, input),
    write: () => Promise.reject(new CliError('internal', { message: 'a command that writes has no --offline' })),
    serviceNow: now,
    askServiceTime: async () => now(),
  };
  return {
    context: { ...context, api },
    /** Tells of which instant the answer is. */
    mark(shown: Shown): Shown {
      const { listing, data } = shown;
      if (listing !== undefined) {
        const page = () => ({ ...listing.page(), offline: true, as_of });
        return { ...shown, listing: { ...listing, page } };
      }
      const isObject = typeof data === 'object' && !Array.isArray(data);
      return isObject ? { ...shown, data: { ...data, as_of } } : shown;
    },
    [Symbol.dispose]: () => copy[Symbol.dispose](),
  };
}

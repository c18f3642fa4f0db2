/** Commands that the mirror of the account answers: with `--offline` nothing is sent, and a search is made in the copy alone. */

import { MINUTE } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { Copy } from '../mirror/mirror.ts';
import type { Found } from '../mirror/search.ts';
import type { Listing, Row } from '../terminal/view.ts';
import type { Context, Shown } from './context.ts';
import { countOf, cutTo, type ListOptions, PAGING_FLAGS, pagedListing } from './listing.ts';
import { duration, type FlagValues, option, takes } from './parsing/flag.ts';

/** A command that declares it need not look at it: the context it gets reads the copy, and its answer says so. */
export const OFFLINE = option(takes.flag('From the mirror of the account; nothing is sent.'));

const USUAL_MAX_AGE = 15 * MINUTE;

/** Flags of a command that reads the copy. */
export const COPY_FLAGS = {
  offline: OFFLINE,
  maxAge: duration('Sync first when the copy is older; 15m when left out.'),
} as const;
type CopyWishes = Partial<FlagValues<typeof COPY_FLAGS>>;

/** Flags of a search in the copy. */
export const SEARCH_FLAGS = {
  min: option(takes.money('At least this amount, USD.', { min: 0 })),
  max: option(takes.money('At most this amount, USD.', { min: 0 })),
  label: option(takes.text('Only of cards whose label contains this.')),
  ...PAGING_FLAGS,
  ...COPY_FLAGS,
} as const;

/** The copy, brought up to date first where it is older than `--max-age`. Throws `unreachable` (12) where there is none. */
export async function openCopy(ctx: Context, { offline, maxAge = USUAL_MAX_AGE }: CopyWishes) {
  const mirror = await ctx.api.mirror();
  const copy = offline ? await mirror.read() : await mirror.readFresh(maxAge);
  ctx.ui.progress.clear();
  return copy;
}

/** Rows where nothing else was asked for. */
const DEFAULT_LIMIT = 25;

/** What a search found, newest first. The copy is closed when the last row was read, or when the search fails. */
export async function searched(
  ctx: Context,
  { noun, all, limit, ...asked }: Pick<ListOptions, 'noun' | 'all' | 'limit'> & CopyWishes,
  search: (copy: Copy) => Found<object>,
): Promise<Listing> {
  const copy = await openCopy(ctx, asked);
  let found: Found<object>;
  try {
    found = search(copy);
  } catch (error) {
    copy[Symbol.dispose]();
    throw error;
  }
  const { total, pages } = found;
  const most = limit ?? (all ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT);
  const kept = Math.min(total, most);
  const { batches: rows } = pagedListing(pages, { noun, limit: most });
  async function* batches(): AsyncGenerator<readonly Row[]> {
    try {
      yield* rows;
    } finally {
      copy[Symbol.dispose]();
    }
  }
  const cut = kept < total ? `${countOf(kept, noun)} of ${total}; --all gives all of them` : undefined;
  return {
    batches: batches(),
    page: () => ({ total, as_of: copy.as_of, ...(kept < total && { limit: most }) }),
    footer: () =>
      cut === undefined ? `${cutTo(total, noun, undefined).slice(0, -1)}, as of ${copy.as_of}.` : `${cut}.`,
    cutShort: () => (limit === undefined ? cut : undefined),
  };
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

/** What the searches of the mirror have in common: their flags, and a listing of what was found. */
import { flag, money, text } from '../contract/field.ts';
import type { Copy, Found } from '../mirror/mirror.ts';
import type { Listing, Row } from '../terminal/view.ts';
import { PAGING_FLAGS } from './listing.ts';
import { OURS, option } from './parsing/flag.ts';

export const SEARCH_FLAGS = {
  min: option(money({ doc: 'At least this amount, USD.', basis: OURS, min: 0 })),
  max: option(money({ doc: 'At most this amount, USD.', basis: OURS, min: 0 })),
  label: option(text({ doc: 'Only of cards whose label contains this.', basis: OURS })),
  like: option(flag({ doc: 'Words may stand inside of other words.', basis: OURS })),
  ...PAGING_FLAGS,
} as const;

/** Rows where nothing else was asked for. */
const DEFAULT_LIMIT = 25;

interface SearchWish {
  readonly noun: string;
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** What a search found, newest first. The copy is closed when the last row was read, or when the search fails. */
export function searched(copy: Copy, search: (copy: Copy) => Found<object>, { noun, all, limit }: SearchWish): Listing {
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
  async function* batches(): AsyncGenerator<readonly Row[]> {
    try {
      let left = most;
      for await (const { data } of pages) {
        yield (data as readonly Row[]).slice(0, left);
        left -= data.length;
        if (left <= 0) return;
      }
    } finally {
      copy[Symbol.dispose]();
    }
  }
  const things = (count: number) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  const cut = kept < total ? `${things(kept)} of ${total}; --all gives all of them` : undefined;
  return {
    batches: batches(),
    page: () => ({ total, as_of: copy.as_of, ...(kept < total && { limit: most }) }),
    footer: () =>
      cut === undefined ? `${total === 0 ? `No ${noun}s` : things(total)}, as of ${copy.as_of}.` : `${cut}.`,
    cutShort: () => (limit === undefined ? cut : undefined),
  };
}

/** Ids in tables: as much as tells them apart on the page, with a sign that more follows, which commands take too. */

/** What a short id must save, in cells, to be worth it. */
const LEAST_SAVED = 4;

/** An id that can be cut: a plain word. Anything else is shown as it came. */
const PLAIN = /^[\x21-\x7e]+$/;

/**
 * The short form of each id that is to be shown shorter: at least `least` characters behind its prefix (`card_`), and
 * as many more as tell all of them apart.
 */
export function shortIds(ids: readonly string[], least: number, ellipsis: string): ReadonlyMap<string, string> {
  const all = [...new Set(ids)];
  let kept = least;
  while (new Set(all.map(id => beginning(id, kept))).size < all.length) kept += 1;
  const short = new Map<string, string>();
  for (const id of all) {
    const begin = beginning(id, kept);
    if (PLAIN.test(id) && id.length - begin.length - ellipsis.length >= LEAST_SAVED) short.set(id, begin + ellipsis);
  }
  return short;
}

/** The prefix up to the last `_` and so many characters behind it. */
function beginning(id: string, kept: number): string {
  return id.slice(0, id.lastIndexOf('_') + 1 + kept);
}

/** Rows that repeat as one: the newest of each, and how many there are. */
const SHORTEST = 3;
/** Rows of which the longest repeated block is made: a purchase is a record, an entry, an event and its deliveries. */
const LONGEST_BLOCK = 8;

export interface Fold<Item> {
  readonly item: Item;
  readonly times: number;
}

/** Blocks of rows of which `text` says the same, one behind the other; what repeats less often stays as it is. */
export function folded<Item>(items: readonly Item[], text: (item: Item) => string): readonly Fold<Item>[] {
  const texts = items.map(text);
  const folds: Fold<Item>[] = [];
  for (let from = 0; from < items.length; ) {
    const { length, times } = repeatedAt(texts, from);
    folds.push(...items.slice(from, from + length).map(item => ({ item, times })));
    from += length * times;
  }
  return folds;
}

/** The shortest block that repeats from here on; one row, once, where none does. */
function repeatedAt(texts: readonly string[], from: number): { readonly length: number; readonly times: number } {
  for (let length = 1; length <= LONGEST_BLOCK; length += 1) {
    let to = from + length;
    while (to < texts.length && texts[to] === texts[to - length]) to += 1;
    const times = Math.floor((to - from) / length);
    if (times >= SHORTEST) return { length, times };
  }
  return { length: 1, times: 1 };
}

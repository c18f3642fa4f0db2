/** Runs of equal rows as one: its newest, and how many there are. */
const SHORTEST = 3;

export interface Fold<Item> {
  readonly item: Item;
  readonly times: number;
}

/** Rows of which `text` says the same, one behind the other; short runs stay as they are. */
export function folded<Item>(items: readonly Item[], text: (item: Item) => string): readonly Fold<Item>[] {
  const folds: Fold<Item>[] = [];
  for (let from = 0; from < items.length; ) {
    const said = text(items[from] as Item);
    let to = from + 1;
    while (to < items.length && text(items[to] as Item) === said) to += 1;
    const run = items.slice(from, to);
    if (run.length >= SHORTEST) folds.push({ item: run[0] as Item, times: run.length });
    else folds.push(...run.map(item => ({ item, times: 1 })));
    from = to;
  }
  return folds;
}

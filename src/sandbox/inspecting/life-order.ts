/**
 * The order of what happened to a card. Each kind has an order of its own that is certain (entry, event and request are
 * numbered); between kinds there is the time, and where that is the same or went back, what led to what. Nothing is
 * sorted by time alone: the clock of a sandbox may stand.
 */
import type { TimelineKind } from '../../contract/sandbox/inspector.ts';

export interface LifeItem {
  readonly kind: TimelineKind;
  /** ms UTC on the clock of the sandbox. */
  readonly at: number;
  readonly id: string;
  /** Names under which others wait for it. */
  readonly marks: readonly string[];
  /** Names of what came before it, where that is in the list at all. */
  readonly behind: readonly string[];
}

/** At one time the end of a chain first: it waits for what led to it, and nothing else comes between. */
const KINDS: readonly TimelineKind[] = ['delivery', 'event', 'entry', 'request', 'transaction', 'challenge'];

/** Records and challenges have no number; what tells of them says when they came. */
const IS_NUMBERED: Readonly<Record<TimelineKind, boolean>> = {
  delivery: true,
  event: true,
  entry: true,
  request: true,
  transaction: false,
  challenge: false,
};

/** Oldest first. Each list must be in the order of its kind, oldest first. */
export function inOrder<Item extends LifeItem>(
  lists: Readonly<Record<TimelineKind, readonly Item[]>>,
): readonly Item[] {
  return new Merging(lists).all();
}

/** What waits under one name, oldest first. */
interface Waiting<Item> {
  readonly items: Item[];
  /** Those before it are told. */
  next: number;
}

class Merging<Item extends LifeItem> {
  readonly #lists: Readonly<Record<TimelineKind, readonly Item[]>>;
  readonly #places = new Map<Item, number>();
  readonly #next = new Map<TimelineKind, number>();
  readonly #waiting = new Map<string, Waiting<Item>>();
  readonly #told = new Set<Item>();
  readonly #order: Item[] = [];

  constructor(lists: Readonly<Record<TimelineKind, readonly Item[]>>) {
    this.#lists = lists;
    for (const list of Object.values(lists)) {
      for (const [place, item] of list.entries()) {
        this.#places.set(item, place);
        for (const mark of item.marks) this.#waitingFor(mark).items.push(item);
      }
    }
  }

  all(): readonly Item[] {
    for (let item = this.#choose(); item !== undefined; item = this.#choose()) this.#tell(item);
    return this.#order;
  }

  /** The earliest of what is next; at one time what nothing has to come before, the end of a chain first. */
  #choose(): Item | undefined {
    const heads = KINDS.map(kind => this.#head(kind)).filter(head => head !== undefined);
    const earliest = Math.min(...heads.map(({ at }) => at));
    const now = heads.filter(({ at }) => at === earliest);
    return now.find(item => this.#before(item).length === 0) ?? now[0];
  }

  #head(kind: TimelineKind): Item | undefined {
    const list = this.#lists[kind];
    let next = this.#next.get(kind) ?? 0;
    for (let item = list[next]; item !== undefined && this.#told.has(item); item = list[next]) next += 1;
    this.#next.set(kind, next);
    return list[next];
  }

  #waitingFor(mark: string): Waiting<Item> {
    const known = this.#waiting.get(mark) ?? { items: [], next: 0 };
    this.#waiting.set(mark, known);
    return known;
  }

  /** What has to be told before it and is not. */
  #before({ behind, at }: Item): readonly Item[] {
    return behind.flatMap(mark => {
      const waiting = this.#waitingFor(mark);
      let item = waiting.items[waiting.next];
      for (; item !== undefined && this.#told.has(item); item = waiting.items[waiting.next]) waiting.next += 1;
      return item !== undefined && item.at <= at ? [item] : [];
    });
  }

  /** What is before it in its own order goes first, then what led to it. */
  #tell(item: Item): void {
    if (this.#told.has(item)) return;
    this.#told.add(item);
    if (IS_NUMBERED[item.kind]) {
      const place = this.#places.get(item) ?? 0;
      for (let at = this.#next.get(item.kind) ?? 0; at < place; at += 1) this.#tell(this.#lists[item.kind][at] as Item);
    }
    for (const cause of this.#before(item)) this.#tell(cause);
    this.#order.push(item);
  }
}

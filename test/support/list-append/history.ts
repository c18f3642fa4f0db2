/**
 * What transactions on lists did, as their callers saw it. A transaction appends values to lists and reads whole lists.
 * Each value is appended to one list once, so that a list says who wrote it, and in which order.
 */

export type Step =
  | { readonly append: string; readonly value: number }
  | { readonly read: string; readonly list: readonly number[] };

export interface Transaction {
  readonly steps: readonly Step[];
  /** What the caller was told. Where it is unknown, appends may have happened, and what was read says nothing. */
  readonly outcome: 'committed' | 'undone' | 'unknown';
  /** Moments of the call and of its answer, on one clock that all callers share. */
  readonly began: number;
  readonly ended: number;
}

/** Transactions in any order; their places in it are their names. */
export type History = readonly Transaction[];

/** Something that a serial execution cannot show. */
export interface Anomaly {
  readonly name: string;
  /** What was seen, for a person. */
  readonly seen: string;
}

/** A list that a committed transaction read. */
export interface FoundList {
  readonly reader: number;
  readonly key: string;
  readonly whole: readonly number[];
  /** Without what the reader itself had appended before. */
  readonly others: readonly number[];
  /** What the reader had appended stands at the end, as it must. */
  readonly endsWithOwn: boolean;
}

export function foundLists(history: History): readonly FoundList[] {
  return history.flatMap(({ outcome, steps }, reader) => (outcome === 'committed' ? foundBy(reader, steps) : []));
}

function foundBy(reader: number, steps: readonly Step[]): readonly FoundList[] {
  const appended = new Map<string, number[]>();
  const found: FoundList[] = [];
  for (const step of steps) {
    if ('append' in step) {
      appended.set(step.append, [...(appended.get(step.append) ?? []), step.value]);
      continue;
    }
    const { read: key, list: whole } = step;
    const own = appended.get(key) ?? [];
    const length = whole.length - own.length;
    const endsWithOwn = own.every((value, at) => whole[length + at] === value);
    found.push({ reader, key, whole, others: endsWithOwn ? whole.slice(0, length) : whole, endsWithOwn });
  }
  return found;
}

/** Who appended a value to a list. Throws when a value was appended twice: then nothing can be told from it. */
export class Writers {
  readonly #writers = new Map<string, number>();
  /** Appends of a transaction to a list that are not its last one there. */
  readonly #intermediate = new Set<string>();

  constructor(history: History) {
    for (const [place, { steps }] of history.entries()) {
      const last = new Map<string, number>();
      for (const step of steps) {
        if (!('append' in step)) continue;
        const name = nameOf(step.append, step.value);
        if (this.#writers.has(name)) throw new Error(`${name} was appended twice`);
        this.#writers.set(name, place);
        const before = last.get(step.append);
        if (before !== undefined) this.#intermediate.add(nameOf(step.append, before));
        last.set(step.append, step.value);
      }
    }
  }

  of(key: string, value: number): number | undefined {
    return this.#writers.get(nameOf(key, value));
  }

  isIntermediate(key: string, value: number): boolean {
    return this.#intermediate.has(nameOf(key, value));
  }
}

const nameOf = (key: string, value: number) => `${value} in ${key}`;

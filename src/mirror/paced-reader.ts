/** Asks the service for a sync: counted, at most so many requests a minute, page by page. */
import type { Input, Item, ReadName, Result } from '../contract/calls.ts';
import type { PageFacts } from '../contract/operation.ts';
import type { Reader } from '../contract/service.ts';
import { MINUTE } from '../core/durations.ts';
import { undefinedOn } from '../core/errors.ts';
import type { Clock } from '../platform/host.ts';

/** Requests a minute. */
export const DEFAULT_RATE = 300;

export interface PacedReaderParts {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Requests a minute; no limit when left out. */
  readonly rate?: number | undefined;
  /** Told of each pause that the rate asks for, ms. */
  readonly onPause?: ((ms: number, rate: number) => void) | undefined;
}

type ListName = 'cards.list' | 'transactions.list';

/** A page of a list that is read from its first page on. */
export interface Page<Row> {
  /** From 1. */
  readonly number: number;
  readonly rows: readonly Row[];
  readonly facts: PageFacts;
  /** Rows of this page that had not come before. */
  readonly fresh: number;
  /** No page follows. */
  readonly isLast: boolean;
  /** Ids of all rows so far. */
  readonly seen: ReadonlySet<string>;
}

export class PacedReader {
  /** Requests so far. */
  requests = 0;
  readonly #parts: PacedReaderParts;
  /** Monotonic ms of the requests of the last minute, oldest first. */
  readonly #recent: number[] = [];

  constructor(parts: PacedReaderParts) {
    this.#parts = parts;
  }

  async read<N extends ReadName>(operation: N, input: Input<N>): Promise<Result<N>> {
    await this.#turn();
    return this.#parts.reader.read(operation, input, { signal: this.#parts.signal });
  }

  /** Undefined where the service says that it is not there. */
  async readIfThere<N extends ReadName>(operation: N, input: Input<N>): Promise<Result<N> | undefined> {
    return undefinedOn('not_found', this.read(operation, input));
  }

  /** Page after page, up to the last one as far as the service says; else up to an empty page or one of known rows. */
  async *pages<N extends ListName>(operation: N, filter: Input<N>): AsyncGenerator<Page<Item<N>>> {
    const seen = new Set<string>();
    for (let number = 1; ; number += 1) {
      const { data, page: facts } = await this.#page(operation, filter, number);
      const before = seen.size;
      for (const { id } of data) seen.add(id);
      const fresh = seen.size - before;
      const { has_more, total_pages, total } = facts;
      const isWhole = total_pages === undefined ? total !== undefined && seen.size >= total : number >= total_pages;
      const isLast = fresh === 0 || !(has_more ?? !isWhole);
      yield { number, rows: data, facts, fresh, isLast, seen };
      if (isLast) return;
    }
  }

  /** Past the end a page is empty. */
  async #page<N extends ListName>(operation: N, filter: Input<N>, number: number) {
    type Listed = { readonly data: readonly (Item<N> & { readonly id: string })[]; readonly page: PageFacts };
    const read = number > 1 ? this.readIfThere(operation, { ...filter, page: number }) : this.read(operation, filter);
    return ((await read) ?? { data: [], page: {} }) as unknown as Listed;
  }

  async #turn(): Promise<void> {
    const { clock, rate, signal, onPause } = this.#parts;
    signal.throwIfAborted();
    this.requests += 1;
    if (rate === undefined) return;
    const [oldest] = this.#recent;
    if (this.#recent.length >= rate && oldest !== undefined) {
      const wait = oldest + MINUTE - clock.monotonic();
      if (wait > 0) {
        onPause?.(wait, rate);
        await clock.sleep(wait, signal);
      }
      this.#recent.shift();
    }
    this.#recent.push(clock.monotonic());
  }
}

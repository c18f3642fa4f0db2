/** Asks the service for a sync: counted, at most so many requests a minute, page by page. */
import type { Input, ReadName, Result } from '../contract/calls.ts';
import type { PageFacts } from '../contract/operation.ts';
import type { Reader } from '../contract/service.ts';
import { MINUTE } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { Clock } from '../platform/host.ts';
import type { Transaction } from './store.ts';

export interface PacedReaderParts {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Requests a minute; no limit when left out. */
  readonly rate?: number | undefined;
  /** Told of each pause that the rate asks for, ms. */
  readonly onPause?: ((ms: number, rate: number) => void) | undefined;
}

/** Filters of the list of transactions; times are ms. */
export interface Filter {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly type?: 'authorization' | undefined;
}

export interface Page {
  readonly rows: readonly Transaction[];
  readonly facts: PageFacts;
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

  /** One page; past the end it is empty. */
  async transactions({ from, to, type }: Filter, page: number): Promise<Page> {
    const input = {
      ...(from !== undefined && { from: new Date(from).toISOString() }),
      ...(to !== undefined && { to: new Date(to).toISOString() }),
      ...(type !== undefined && { type }),
      ...(page > 1 && { page }),
    };
    try {
      const { data, page: facts } = await this.read('transactions.list', input);
      return { rows: data, facts };
    } catch (error) {
      if (page > 1 && error instanceof CliError && error.kind === 'not_found') return { rows: [], facts: {} };
      throw error;
    }
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

/** Where a reading of pages stands. */
export interface Standing {
  readonly number: number;
  readonly rows: number;
  /** Rows of this page that had not come before. */
  readonly fresh: number;
  /** Distinct rows so far. */
  readonly distinct: number;
}

/** Whether this page is the last one, as far as the service says; else an empty page or one of known rows is. */
export function isLastPage(facts: PageFacts, { number, rows, fresh, distinct }: Standing): boolean {
  if (rows === 0 || fresh === 0) return true;
  const { has_more, total_pages, total } = facts;
  if (has_more !== undefined) return !has_more;
  if (total_pages !== undefined) return number >= total_pages;
  return total !== undefined && distinct >= total;
}

/**
 * The service as the rest of the program sees it: typed calls derived from a table of operations. `client/`
 * implements it; commands, the journal and events use it and know nothing of HTTP.
 */

import { CliError } from '../core/errors.ts';
import type { Calls, NameIn, PagedName, ReadName, Table } from './calls.ts';
import type { Evidence } from './evidence.ts';
import type { InputOf, ItemOf, ListPage, ResultOf } from './operation.ts';
import type { RefusalName } from './refusals.ts';

export interface CallOptions {
  /** Idempotency key; a fresh one is made for every POST that brings none. */
  readonly key?: string | undefined;
  /** Exact text of the body, in place of the one that is made from the input; the input is checked all the same. */
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions {
  /** It reads a change back, also when the run is stopped: only `signal` cuts it off. `once`: it is not tried again. */
  readonly readBack?: 'retried' | 'once' | undefined;
  /** Cuts the request off, and the attempts after it; its reason is thrown when that is a `CliError`. */
  readonly signal?: AbortSignal | undefined;
  /** Of pages: told why the list may be incomplete, at most once, in place of a warning. */
  readonly onIncomplete?: ((why: string) => void) | undefined;
}

/** A request as it would be sent, for dry runs, debug lines and the journal. Bytes are final. */
export interface PlannedRequest {
  readonly operation: string;
  readonly method: string;
  /** Path and query below the base address. */
  readonly path: string;
  readonly body: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** An answer with what surrounds it. */
export interface Answered<Result> {
  readonly result: Result;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** False when the resource was in the wanted state already. */
  readonly changed: boolean;
  /** The answer lacked what it must hold and the resource was read again (A-31, reading rule 7). */
  readonly reread: boolean;
}

/** What may be said about one sending of a write. */
export interface AttemptOptions {
  /**
   * What the answer is judged by: balances, wallet or state from before, the mark of a create. Left out, any answer of 2xx
   * that holds what the contract wants counts as `done`.
   */
  readonly evidence?: Evidence | undefined;
  /** The idempotency key is the user's own choice, who may have used it before: "key reused" is then a possible refusal. */
  readonly keyOfCaller?: boolean | undefined;
  /** Cuts the request off while it is in the air: the attempt is `not_sent` or `ambiguous` then, by what has left. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What one sending of a write came to. The class says what the answer proves by itself:
 *
 * - `done`: 2xx, and it shows the effect as `contract/evidence.ts` judges it.
 * - `refused`: 4xx in the form of the service: a word of the contract for this operation, 401, 403, or (`plausible`) any
 *   other word with 400, 404 or 422.
 * - `not_sent`: no byte left this machine. Worth another try only where the error is `unreachable`: a missing key or a proxy
 *   variable that cannot be used stays as it is.
 * - `throttled`: 429. The effect may be there all the same: some services count behind the handler.
 * - `ambiguous`: anything else. Silence, 3xx, 5xx, 408, 409 in an unknown word, a 2xx that does not show the effect, 202,
 *   HTML, "already in that state", "this request was seen before", "this key is in progress", a 5xx in whatever words.
 *
 * Money is cents in `balances` and USD in `result`, as everywhere.
 */
export interface Attempt {
  readonly class: 'done' | 'refused' | 'not_sent' | 'throttled' | 'ambiguous';
  /** Of `done` the answer of the operation; of an ambiguous 2xx the members of it that could be read. */
  readonly result?: unknown;
  /** Of every class but `done`; its message and hint are for the user. */
  readonly error?: CliError | undefined;
  /** What is wrong with the answer or the way, in one clause; of every class but `done`. */
  readonly why?: string | undefined;
  /** HTTP status; undefined where no answer came. */
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** The word of the contract that the answer was read as. */
  readonly refusal?: RefusalName | undefined;
  /** Of `refused`: the word is not one of the contract. It is believed where a look does not find the effect. */
  readonly plausible?: true;
  /** Of `throttled` and of some 5xx: how long the service asks to wait, ms. */
  readonly retryAfterMs?: number | undefined;
  /** Id of the card or subscription that the answer of a create named, believed or not. */
  readonly made?: string | undefined;
  /** The evidence with its times by the clock of the service, where an answer told it. */
  readonly evidence?: Evidence | undefined;
}

export interface ServiceOf<T extends Table> {
  /**
   * Sends one operation, and a read again where that may help; a write once, and what its answer proves is all that is known.
   * Throws a `CliError` of the class the answer falls in (docs/design/reliability.md, section 2).
   */
  send<N extends NameIn<T>>(
    operation: N,
    input: InputOf<T[N]>,
    options?: CallOptions,
  ): Promise<Answered<ResultOf<T[N]>>>;
  /** The request `send` would make. Nothing is sent. */
  plan<N extends NameIn<T>>(operation: N, input: InputOf<T[N]>, options?: CallOptions): PlannedRequest;
  /**
   * Sends a planned write once. It is never sent again by itself, nothing is read, and no pause of the service is waited
   * for. Rejects only for a bug; whatever goes wrong on the way is an `Attempt`.
   */
  attempt(
    planned: PlannedRequest,
    input: Readonly<Record<string, unknown>>,
    options?: AttemptOptions,
  ): Promise<Attempt>;
  /**
   * Pages from the given one on, de-duplicated, until the list ends
   * (docs/design/contract-and-assumptions.md, section 3).
   */
  pages<N extends PagedName<T>>(
    operation: N,
    input: InputOf<T[N]>,
    options?: ReadOptions,
  ): AsyncIterable<ListPage<ItemOf<T[N]>>>;
  close(): Promise<void>;
}

/** The interface's operations, and requests in the caller's own words. */
export type Service = ServiceOf<Calls>;

/** What a command gets for looking: reading operations alone, so that no write can pass the guards by. */
export interface Reader extends Pick<Service, 'pages'> {
  read<N extends ReadName>(operation: N, input: InputOf<Calls[N]>, options?: ReadOptions): Promise<ResultOf<Calls[N]>>;
}

// Lists that a decision rests on: read again where rows moved, and refused where they may be incomplete.

/** A list that moves while it is read is read again. */
const READINGS = 3;

interface WholeList<N extends PagedName> {
  readonly reader: Reader;
  readonly operation: N;
  readonly input: InputOf<Calls[N]>;
  /** A sentence: why a part of the list will not do. */
  readonly because: string;
}

/**
 * What `take` makes of the pages, where they are the whole list. `take` is called anew for each reading. Throws
 * `contract_mismatch` where the third reading may still be incomplete, and what reading throws.
 */
export async function fromWholeList<N extends PagedName, T>(
  { reader, operation, input, because }: WholeList<N>,
  take: (pages: AsyncIterable<ListPage<ItemOf<Calls[N]>>>) => Promise<T>,
): Promise<T> {
  let doubt: string | undefined;
  for (let reading = 1; reading <= READINGS; reading += 1) {
    doubt = undefined;
    const onIncomplete = (why: string) => {
      doubt = why;
    };
    const taken = await take(reader.pages(operation, input, { onIncomplete }));
    if (doubt === undefined) return taken;
  }
  throw incompleteList(operation, `${doubt}. ${because}`);
}

/** `contract_mismatch`: a decision would rest on a list that may be incomplete. */
export function incompleteList(operation: string, why: string): CliError {
  return new CliError('contract_mismatch', {
    message: `the list of ${operation.split('.')[0]} may be incomplete: ${why}`,
    notes: ['Run the command again: a list that changes while it is read looks like this.'],
    operation,
    outcome: 'not_sent',
  });
}

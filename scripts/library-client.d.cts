/// <reference lib="esnext.disposable" />
/** `cardwright/client`: the service as typed calls, for programs. What stands below is made from the contract. */

export interface List<Item> {
  readonly data: readonly Item[];
  /** What the service tells about where the page stands. */
  readonly page: {
    readonly page?: number;
    readonly per_page?: number;
    readonly total?: number;
    readonly total_pages?: number;
    readonly has_more?: boolean;
  };
}

export interface ClientOptions {
  /** With the version: `https://api.example.com/v1`. https, or http to this machine. */
  readonly baseUrl: string;
  /** `sk_test_…`; a live key only with `live: true`. */
  readonly apiKey: string;
  /** Says that a live key is meant. Nothing is asked or limited here, as the command line would. */
  readonly live?: boolean;
  /** A Unix domain socket in place of host and port. */
  readonly socketPath?: string;
  /** Milliseconds of one attempt, from 1 to a day; 30,000 for reads and 75,000 for writes when left out. */
  readonly timeoutMs?: number;
  /** Told once about each oddity of the answers. */
  readonly onWarning?: (text: string) => void;
  /**
   * Where calls with an `intent` are kept. The absolute path of a folder of this machine, such as the state folder of the
   * command line, whose `ops list` and `ops resume` then know them; never on a network file system. Or the address of a
   * journal that several machines share, without a password: `postgres://role@host/database?sslmode=verify-full`.
   */
  readonly journal?: string;
  /** Absolute path of a password file in the form of `.pgpass`, in place of `PGPASSFILE`. */
  readonly journalPasswordFile?: string;
  /**
   * Absolute path of a folder of this machine where what a shared journal could not be told yet is kept. When left out, the
   * state folder of the command line for this user, whose `journal push` brings it; so does the next call.
   */
  readonly journalFolder?: string;
}

export interface CallOptions {
  /** Idempotency key; a fresh one is made for every POST that brings none. */
  readonly idempotencyKey?: string;
  /**
   * One purchase, one intent, also when repeated: your own name for a create, fund, withdraw or terminate. The same name with
   * the same input sends nothing twice and resolves to the resource as it is now, in any process that uses the same
   * `journal`; with another input it is `usage`. A card that is created carries the metadata key `cardwright`.
   * A client with a `journal` refuses these four without an intent (`usage`, `not_sent`).
   */
  readonly intent?: string;
  readonly signal?: AbortSignal;
}

/** What failed, and what is known about its effect. */
export declare class CardwrightError extends Error {
  /** As the command line's table of exit codes has it: `insufficient_funds`, `not_found`, `outcome_unknown`, … */
  readonly kind: string;
  /** `unknown`: it may or may not have happened; never repeat it blindly. */
  readonly outcome: 'not_sent' | 'refused' | 'unknown' | 'done' | undefined;
  readonly operation: string | undefined;
  readonly httpStatus: number | undefined;
  /** The service's own words (interface 2.7). */
  readonly service:
    | { readonly error?: string; readonly message?: string; readonly code?: number; readonly request_id?: string }
    | undefined;
  readonly idempotencyKey: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** Operation of the journal, of a call with an `intent`. */
  readonly op: string | undefined;
}

export interface Client extends AsyncDisposable {
  /**
   * Sends one operation. Reads and what was never sent are repeated; a write whose answer was lost is not, and throws
   * with the outcome `unknown`. A write that is answered 429 is repeated where reading shows that nothing has happened: card
   * and wallet of a fund or withdraw, the wallet of a create, all read before as well, so nothing else may move them
   * meanwhile. So the calls of one client that fund or withdraw from one card go one after the other; those of several
   * clients should not be made at once. Throws `CardwrightError`.
   */
  send<Name extends keyof Operations>(
    operation: Name,
    input: Operations[Name]['input'],
    options?: CallOptions,
  ): Promise<Operations[Name]['result']>;
  /** Pages from the asked one on, no row twice, until the list ends. Throws `CardwrightError`. */
  pages<Name extends 'cards.list' | 'transactions.list'>(
    operation: Name,
    input: Operations[Name]['input'],
  ): AsyncIterable<Operations[Name]['result']>;
  /**
   * Nothing is sent behind it: later calls, and the next page of a list, throw `usage`. Waits until all calls under way have
   * ended, however, and closes the connections. Again it gives the same.
   */
  close(): Promise<void>;
}

/**
 * Sends nothing. Throws `CardwrightError` (`usage`, `guarded`) for an address, a key or a journal that cannot be used, and for
 * an option that is not known or has a wrong form.
 */
export declare function createClient(options: ClientOptions): Client;

export interface WebhookDelivery {
  /** The bytes as they came, before any JSON parser. */
  readonly payload: Uint8Array | string;
  /** The signature header as the server hands it over; one that did not come is the mistake `no_signature`. */
  readonly signature: string | readonly string[] | null | undefined;
  /** Several while one is being replaced. */
  readonly secrets: readonly string[];
}

export type WebhookVerification =
  | {
      readonly verified: true;
      /** Place of the secret that matched. */
      readonly secret: number;
      /** How it differs from 64 lowercase hex digits; empty when it does not. */
      readonly deviations: readonly ('list' | 'prefix' | 'upper_case' | 'base64' | 'decoded_secret')[];
    }
  | {
      readonly verified: false;
      /** Usual mistakes that explain it, each proved by undoing it. */
      readonly mistakes: readonly { readonly mistake: string; readonly says: string }[];
    };

/**
 * Checks a delivery: HMAC-SHA256 over the exact bytes, compared in constant time (interface 6). It cannot tell a
 * repeated delivery from the first: keep the ids of events you have seen. Throws `CardwrightError` (`usage`) when payload
 * or secrets are missing; never for what was delivered.
 */
export declare function verifyWebhook(delivery: WebhookDelivery): WebhookVerification;

/** The sandbox of `cardwright/sandbox`. */
export { startSandbox } from './library-sandbox.cjs';

/// <reference lib="esnext.disposable" />
/**
 * `cardwright/sandbox`, the sandbox for test suites and other programs: its types, as the package ships them. At the end
 * of the shipped file stand the methods of the control surface, made from its rows.
 */

/** How the sandbox speaks; `default` keeps to the interface, the others answer as services of other habits do. */
export type SandboxDialect =
  | 'default'
  | 'minimal'
  | 'envelope-items'
  | 'envelope-more'
  | 'envelope-wrapped'
  | 'names-stripe'
  | 'names-increase'
  | 'strict-422'
  | 'noop-200'
  | 'tds-terminal'
  | 'auth-single'
  | 'ledger-balance'
  | 'strict-freeze'
  | 'sig-prefixed'
  | 'keys-ignored'
  | 'paths-other';

export interface SandboxOptions {
  /** `memory` (the default), or the path of a file that is kept, made with mode 0600. */
  store?: 'memory' | (string & {});
  /** A port of 127.0.0.1 (the default), or a private socket, for clients that can be given one. */
  listen?: 'tcp' | 'socket';
  /** For `tcp`; any free one when left out or 0. */
  port?: number;
  /** For `tcp`: listens on the same port of `::1` too, for programs that take `localhost` for it; false when left out. */
  ipv6?: boolean;
  /** Fixes ids, card numbers and codes; 1 when left out, so that two runs are alike. */
  seed?: number;
  /** `derived` (the default) gives `card_` and 24 characters as the service does, `counted` gives `card_1`, `req_2`. */
  ids?: 'derived' | 'counted';
  /** `empty` (the default) has eight BINs, `demo` also cards, transactions and a webhook. */
  data?: 'empty' | 'demo';
  /** USD in the wallet of data set `empty`, and of no other; 0 when left out. */
  wallet?: number;
  dialect?: SandboxDialect;
  /** `real` (the default), or frozen at an ISO 8601 time until `advance` moves it. */
  clock?: { mode: 'real' } | { mode: 'frozen'; at: string };
  /** 30 reads of card details and 600 other requests a minute, as the service limits them; true when left out. */
  rateLimits?: boolean;
  /** Expiries and confirmations happen by themselves (`live`, the default), or at the next request or `advance`. */
  timers?: 'live' | 'on-request';
  /** Webhooks are sent as they become due (`live`, the default), or when `deliver` is called. */
  deliveries?: 'live' | 'on-deliver';
  /** Webhooks may go to other machines, over https; false when left out. */
  allowRemoteWebhooks?: boolean;
  /** Signing secret of subscriptions that name none; generated when left out. */
  webhookSecret?: string;
  /** Told about errors nobody expected; their requests are answered 500. */
  onFault?: (error: unknown) => void;
}

/** One thing that happened while the clock was moved. */
export interface SandboxFired {
  due_at: string;
  kind: string;
  ref: string;
}

export interface SandboxAdmin {
  /** Base address of the control surface, without a slash at the end. */
  readonly url: string;
  /** Bearer token of the control surface; good for nothing else. */
  readonly token: string;
  /**
   * Asks the control surface by its routes: `request('POST', '/simulate/authorizations', { card_id, amount: 12.5 })` is
   * `simulate.authorize({ card_id, amount: 12.5 })`. Amounts are
   * USD, times ISO 8601. Rejects with `SandboxRefusal` for every answer that is no success.
   */
  request<Answer = unknown>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answer>;
}

/** The service, and how to steer it; the methods that steer it are declared at the end of the file. */
export interface RunningSandbox {
  /** Base address of the service, with `/v1`; `http://localhost/v1` when `socketPath` is there. */
  readonly url: string;
  /** Set with `listen: 'socket'`. */
  readonly socketPath?: string;
  /** API key, `sk_test_…`: `Authorization: Bearer <key>`. */
  readonly key: string;
  readonly admin: SandboxAdmin;
  /** Moves the clock forward (`7d`, `36h`, `1d12h`) and resolves to what happened on the way, in order. */
  advance(by: string): Promise<readonly SandboxFired[]>;
  /** Sends every webhook that is due, once, and waits for the receivers. */
  deliver(): Promise<void>;
  /** What does not hold of the ledger's invariants, a line each; empty when the books agree. */
  check(): Promise<readonly string[]>;
  /** Finishes running requests, closes the store and frees the port. May be called more than once. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A definite no of the control surface. */
export declare class SandboxRefusal extends Error {
  constructor(facts: { status: number; error: string; message: string; requestId: string });
  readonly name: 'SandboxRefusal';
  readonly status: number;
  /** Identifier of the error, `not_found`. */
  readonly error: string;
  readonly requestId: string;
}

/**
 * Starts a sandbox for a test suite or a program: the whole service, offline. Rejects with an `Error` whose `kind` is
 * `unreachable` for a taken port, `check_failed` for a store that cannot be used, `usage` for a time, amount or dialect
 * that is none.
 */
export declare function startSandbox(options?: SandboxOptions): Promise<RunningSandbox>;

declare global {
  /** For `await using` in programs whose library does not know it yet. */
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/// <reference lib="esnext.disposable" />
/**
 * `cardwright/sandbox`, the sandbox for test suites and other programs: its types, as the package ships them. At the end
 * of the shipped file stand the options and the methods of the control surface, made from the contract.
 */

/** The others are made from the contract, and stand at the end of the file. */
export interface SandboxOptions {
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

/** What the two SQLite engines have in common, as far as it is used here. */

/** What may be bound. Whole numbers only (money is cents, times are ms, flags 0 or 1); booleans and undefined throw. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** A value as the engine gets it. */
export type Bound = string | bigint | null | Uint8Array;

/** Columns come back as text, safe integers, null or bytes; rows are plain objects. */
export type SqlRow = Record<string, string | number | null | Uint8Array>;

export interface Connection {
  exec(statements: string): void;
  prepare(statement: string): Statement;
  readonly isTransaction: boolean;
  close(): void;
}

export interface Statement {
  run(...values: readonly Bound[]): { readonly changes: number | bigint };
  get(...values: readonly Bound[]): object | undefined;
  all(...values: readonly Bound[]): readonly object[];
  /** Rows one after the other; each is as `get` gives it. */
  iterate(...values: readonly Bound[]): IterableIterator<object>;
}

/** A connection for statements of somebody else. */
export interface GuardedConnection extends Omit<Connection, 'prepare'> {
  prepare(statement: string): GuardedStatement;
  /** Asked about each thing a statement would do, by SQLite's numbers of actions and answers. */
  setAuthorizer(ask: (action: number, first: string | null, second: string | null) => number): void;
  /** Against statements that write into the file by detours; Node's own engine may lack it. */
  enableDefensive?(on: boolean): void;
  /** Limits by name, or by number where the engine has no names. */
  readonly limits?: { length: number; sqlLength: number };
  setLimit?(limit: number, value: number): unknown;
}

export interface GuardedStatement {
  setReadBigInts(on: boolean): void;
  setReturnArrays(on: boolean): void;
  columns(): readonly { readonly name: string }[];
  iterate(): IterableIterator<readonly unknown[]>;
}

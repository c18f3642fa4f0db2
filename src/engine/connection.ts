/** What the two SQLite engines have in common, as far as it is used here. */

/** A value as the engine gets it. */
export type Bound = string | bigint | null | Uint8Array;

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
}

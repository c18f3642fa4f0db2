/** What the two SQLite engines have in common, as far as it is used here. */

/** What may be bound. Whole numbers only (money is cents, times are ms, flags 0 or 1); booleans and undefined throw. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** A value as the engine gets it. */
type Bound = string | bigint | null | Uint8Array;

/** Columns come back as text, safe integers, null or bytes; rows are plain objects. */
export type SqlRow = Record<string, string | number | null | Uint8Array>;

export interface Connection {
  exec(statements: string): void;
  prepare(statement: string): Statement;
  readonly isTransaction: boolean;
  close(): void;
}

export interface Statement {
  run(...values: readonly Bound[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...values: readonly Bound[]): object | undefined;
  all(...values: readonly Bound[]): readonly object[];
  /** Rows one after the other; each is as `get` gives it. */
  iterate(...values: readonly Bound[]): IterableIterator<object>;
}

// Values go into and come out of the engine here alone. The engines disagree about booleans, undefined, NaN, large numbers and
// NUL in text (docs/design/sandbox.md, section 11), so only what all take alike gets through.

/** A value as the engine gets it. Throws a `TypeError` for whatever the engines would change or refuse. */
export function bound(value: SqlValue): Bound {
  // A number would be bound as REAL, and then `?/2` differs from what an integer gives.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new TypeError('text with a NUL character cannot be stored');
    if (!value.isWellFormed()) throw new TypeError('text with half a character cannot be stored');
    return value;
  }
  if (value === null || typeof value === 'bigint' || value instanceof Uint8Array) return value;
  throw new TypeError(
    `a value of type ${typeof value} cannot be stored${typeof value === 'number' ? ' unrounded' : ''}`,
  );
}

/** An ordinary object of a row; rows of the engine have no prototype. Throws for numbers that are not whole. */
export function plainRow(row: object): SqlRow {
  const plain: Record<string, SqlRow[string]> = {};
  for (const column in row) {
    const value = (row as SqlRow)[column] as SqlRow[string];
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      throw new TypeError(`column ${column} holds ${value}, which is not a whole number`);
    }
    plain[column] = value;
  }
  return plain;
}

/** How many values a statement asks for; question marks inside quotes are text. */
export function placeholders(statement: string): number {
  return statement.replace(/'[^']*'/g, '').split('?').length - 1;
}

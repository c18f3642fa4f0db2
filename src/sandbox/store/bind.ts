/**
 * The one place where values go into and come out of the engine. The engines disagree about booleans, undefined,
 * NaN, large numbers and NUL in text (SANDBOX, section 11), so only what all take alike gets through.
 */
import type { Sql, SqlRow, SqlValue } from './sql.ts';

/** What both engines have in common, as far as it is used here. */
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

export type Bound = string | bigint | null | Uint8Array;

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

interface Prepared {
  readonly statement: Statement;
  readonly count: number;
  readonly writes: boolean;
}

const READS = /^\s*(?:select|with|values|pragma)\b/i;

const MOST_KNOWN = 100;

/** Prepared statements of one connection, kept for its life. */
export class Statements {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, Prepared>();
  /** Rows by statement and values, true of the version of the data they were read from. */
  readonly #known = new Map<string, SqlRow | undefined>();
  #version: unknown;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Statements for one transaction. `end()` makes them useless, so that none runs outside of it by mistake. */
  open(access: 'read' | 'write'): { readonly sql: Sql; end(): void } {
    let over = false;
    const ready = (text: string, values: readonly SqlValue[]) => {
      // After an error the engine may have ended the transaction; a statement now would commit on its own.
      if (over || !this.#connection.isTransaction) throw new Error('the transaction of this statement is over');
      const prepared = this.#prepare(text);
      if (prepared.writes && access === 'read') throw new Error('a reading transaction cannot write');
      if (prepared.count !== values.length) {
        throw new TypeError(`the statement asks for ${prepared.count} values and got ${values.length}`);
      }
      return { statement: prepared.statement, bounds: values.map(bound) };
    };
    const first = (text: string, values: readonly SqlValue[]) => {
      const { statement, bounds } = ready(text, values);
      const row = statement.get(...bounds);
      return row === undefined ? undefined : plainRow(row);
    };
    let isCurrent = false;
    const sql: Sql = {
      known: async <Row>(text: string, ...values: readonly SqlValue[]) => {
        if (access === 'write') return first(text, values) as Row | undefined;
        // What a reading transaction sees does not change while it lasts.
        if (!isCurrent) this.#forgetOld();
        isCurrent = true;
        const name = `${text} ${JSON.stringify(values)}`;
        if (!this.#known.has(name)) this.#known.set(name, first(text, values));
        return this.#known.get(name) as Row | undefined;
      },
      get: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) => first(text, values) as Row | undefined,
      all: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) => {
        const { statement, bounds } = ready(text, values);
        return statement.all(...bounds).map(plainRow) as Row[];
      },
      run: async (text, ...values) => {
        const { statement, bounds } = ready(text, values);
        return Number(statement.run(...bounds).changes);
      },
    };
    return {
      sql,
      end: () => {
        over = true;
      },
    };
  }

  /** To be called whenever something was written here: SQLite tells of the writes of others only. */
  forgetKnown(): void {
    this.#known.clear();
  }

  #forgetOld(): void {
    const { data_version: version } = this.#prepare('pragma data_version').statement.get() as { data_version: unknown };
    if (version !== this.#version || this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#version = version;
  }

  /** Lets go of all statements; the connection cannot close for good before. */
  clear(): void {
    this.#prepared.clear();
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(text);
    const fresh = { statement, count: placeholders(text), writes: !READS.test(text) };
    this.#prepared.set(text, fresh);
    return fresh;
  }
}

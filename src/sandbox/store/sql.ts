/** Statements of SQLite on one connection, and what they have in common: pages, conditions, counters. */
import {
  bound,
  type Connection,
  placeholders,
  plainRow,
  type SqlRow,
  type SqlValue,
  type Statement,
} from '../../engine/connection.ts';
import { engineCode, isBusy, losesAll } from '../../engine/open.ts';
import { LATE_INDEXES, type RowOf, type TableName } from './schema.ts';

export type { SqlRow, SqlValue };

interface Prepared {
  readonly statement: Statement;
  /** How many values it asks for. */
  readonly count: number;
  readonly writes: boolean;
}

const READS = /^\s*(?:select|with|values|pragma)\b/i;
/** Answers remembered; a page of cards may be 60 KB. */
const MOST_KNOWN = 64;

/** `?` marks a value; the number of values is checked. Every statement runs inside a transaction. */
export class Sql {
  readonly #connection: Connection;
  /** Kept for the life of the connection. */
  readonly #prepared = new Map<string, Prepared>();
  readonly #known = new Map<string, readonly SqlRow[]>();
  #othersVersion: unknown;
  /** Whether others wrote was asked in this transaction. */
  #isCurrent = false;
  #mayWrite = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** First row, or undefined. */
  get<Row = SqlRow>(text: string, ...values: readonly SqlValue[]): Row | undefined {
    const row = this.#ready(text, values).statement.get(...values.map(bound));
    return row && (plainRow(row) as Row);
  }

  /** The row of a statement that gives one always. */
  one<Row>(text: string, ...values: readonly SqlValue[]): Row {
    const row = this.get<Row>(text, ...values);
    if (row === undefined) throw new Error(`the store has no row for: ${text}`);
    return row;
  }

  all<Row = SqlRow>(text: string, ...values: readonly SqlValue[]): readonly Row[] {
    return this.#ready(text, values)
      .statement.all(...values.map(bound))
      .map(row => plainRow(row) as Row);
  }

  /** All rows, remembered until something is written, by another process too. They must not be changed. */
  known<Row>(text: string, ...values: readonly SqlValue[]): readonly Row[] {
    this.#forgetWhatOthersChanged();
    const name = `${text}\0${values.join('\0')}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known as unknown as readonly Row[];
    const rows = this.all(text, ...values);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(name, rows);
    return rows as unknown as readonly Row[];
  }

  /** Runs a writing statement; returns the number of rows it changed. */
  run(text: string, ...values: readonly SqlValue[]): number {
    return Number(this.#ready(text, values).statement.run(...values.map(bound)).changes);
  }

  /** The row that has these values; undefined when there is none. */
  row<Name extends TableName>(table: Name, key: Partial<RowOf<Name>>): RowOf<Name> | undefined {
    return this.get<RowOf<Name>>(`select * from ${table} where ${equal(key, ' and ')}`, ...valuesOf(key));
  }

  /** Adds a row: its members are its columns. Returns its number, in a table that numbers its rows. */
  insert<Name extends TableName>(table: Name, row: Partial<RowOf<Name>>): number {
    const values = valuesOf(row);
    const text = `insert into ${table} (${Object.keys(row).join()}) values (?${', ?'.repeat(values.length - 1)})`;
    const { statement } = this.#ready(text, values);
    return Number(statement.run(...values.map(bound)).lastInsertRowid);
  }

  /** Changes columns of the rows that `key` names; returns how many. */
  update<Name extends TableName>(table: Name, key: Partial<RowOf<Name>>, change: Partial<RowOf<Name>>): number {
    const text = `update ${table} set ${equal(change, ', ')} where ${equal(key, ' and ')}`;
    return this.run(text, ...valuesOf(change), ...valuesOf(key));
  }

  /** Changes columns of the row with this id, and gives it as it is then. */
  change<Name extends TableName, Row extends { readonly id: string }, Change extends Partial<RowOf<Name>>>(
    table: Name,
    row: Row,
    change: Change,
  ): Row & Change {
    this.update(table, { id: row.id } as unknown as Partial<RowOf<Name>>, change);
    return { ...row, ...change };
  }

  /** Runs a part of a work. What it wrote is undone where it throws; the rest of the transaction stays. */
  undoable<T>(part: () => T): T {
    if (!this.#mayWrite) return part();
    this.#exec('savepoint part');
    try {
      const value = part();
      this.#exec('release part');
      return value;
    } catch (error) {
      this.#known.clear();
      if (!endsTransaction(error) && this.#connection.isTransaction) {
        this.#exec('rollback to part');
        this.#exec('release part');
      }
      throw error;
    }
  }

  // For the store, which begins and ends transactions.

  /** `write` takes the lock of the file at once. */
  begin(access: 'read' | 'write'): void {
    this.#exec(access === 'read' ? 'begin' : 'begin immediate');
    this.#mayWrite = access === 'write';
    this.#isCurrent = false;
  }

  commit(): void {
    this.#connection.exec('commit');
  }

  /** Undoes what the open transaction wrote; without one it does nothing. */
  rollback(): void {
    if (this.#mayWrite) this.#known.clear();
    if (this.#connection.isTransaction) this.#exec('rollback');
  }

  /** Lets go of all statements; the connection cannot close for good before. */
  clear(): void {
    this.#known.clear();
    this.#prepared.clear();
  }

  #ready(text: string, values: readonly SqlValue[]): Prepared {
    // After an error the engine may have ended the transaction; a statement now would commit on its own.
    if (!this.#connection.isTransaction) throw new Error('the transaction of this statement is over');
    const prepared = this.#prepare(text);
    if (prepared.count !== values.length) {
      throw new TypeError(`the statement asks for ${prepared.count} values and got ${values.length}`);
    }
    if (prepared.writes) {
      if (!this.#mayWrite) throw new Error('a reading transaction cannot write');
      this.#known.clear();
    }
    return prepared;
  }

  /** What a transaction sees of others does not change while it lasts, so that it is asked once in each. */
  #forgetWhatOthersChanged(): void {
    if (this.#isCurrent) return;
    const { data_version: version } = this.#prepare('pragma data_version').statement.get() as { data_version: unknown };
    if (version !== this.#othersVersion) this.#known.clear();
    this.#othersVersion = version;
    this.#isCurrent = true;
  }

  #exec(text: string): void {
    this.#prepare(text).statement.get();
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(text);
    const prepared = { statement, count: placeholders(text), writes: !READS.test(text) };
    this.#prepared.set(text, prepared);
    return prepared;
  }
}

const equal = (columns: object, between: string) => `${Object.keys(columns).join(` = ?${between}`)} = ?`;
const valuesOf = (columns: object) => Object.values(columns) as SqlValue[];

/** The store could not take the write now; nothing of it happened. Answered 503 `service_unavailable`. */
export class StoreBusy extends Error {
  override readonly name: string = 'StoreBusy';
}

/** A commit failed in a way that leaves open whether it lasted: nothing may be answered any more. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken';
}

/** Nobody may go on in this transaction: it is lost, or must be tried again. */
export function endsTransaction(error: unknown): boolean {
  return losesAll(error) || isBusy(error);
}

/** The engine refused a statement for what it says or stores. */
export function isRefusedStatement(error: unknown): boolean {
  return engineCode(error) !== undefined && !endsTransaction(error);
}

// Lists that are asked for page by page, of those rows alone that fit.

/** Conditions by their text, with the values of their `?`; one without a value is not asked for. */
type Wanted = Readonly<Record<string, SqlValue | readonly SqlValue[] | undefined>>;

/** What a list is read from: `order` fixes its rows. */
export interface Query {
  readonly columns?: string;
  readonly from: string;
  readonly wanted?: Wanted;
  readonly order: string;
}

/** The rows of a page, remembered as `known` does, and how many rows there are in all. */
export function listed<Row>(
  sql: Sql,
  { columns = '*', from, wanted = {}, order }: Query,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const where = given.length === 0 ? '' : ` where ${given.map(([text]) => text).join(' and ')}`;
  const values = given.flatMap(([, value]) => value as SqlValue | SqlValue[]);
  const [count] = sql.known<{ total: number }>(`select count(*) as total from ${from}${where}`, ...values);
  const statement = `select ${columns} from ${from}${where} order by ${order} limit ? offset ?`;
  return { rows: sql.known<Row>(statement, ...values, limit, offset), total: count?.total ?? 0 };
}

/** A text as `like … escape '!'` looks for it. */
export const escaped = (text: string) => text.replace(/[!%_]/g, '!$&');

// Numbers that go up by one, rolled back with what used them.

/** The next number of `name`, from 1. */
export const nextCount = (sql: Sql, name: string) => takeCounts(sql, { name, count: 1 });

/** Takes the next `count` numbers of `name` at once; resolves to the last of them. */
export function takeCounts(sql: Sql, { name, count }: { readonly name: string; readonly count: number }): number {
  const statement = `insert into counters (name, value) values (?, ?)
    on conflict (name) do update set value = counters.value + excluded.value returning value`;
  return sql.one<{ value: number }>(statement, name, count).value;
}

/** Runs work that writes much, without the late indexes, which are made once it is done; all of it in the open transaction. */
export async function inBulk(sql: Sql, work: () => Promise<void>): Promise<void> {
  for (const index of LATE_INDEXES) sql.run(`drop index ${/ index (\w+) on /.exec(index)?.[1]}`);
  await work();
  for (const index of LATE_INDEXES) sql.run(index);
}

/**
 * The store's boundary: statements of SQLite, asynchronous, one transaction a work. Nothing but statements may be awaited
 * inside `read` or `write`: the connection is one, works queue on it.
 */
import type { SqlRow, SqlValue } from '../../engine/connection.ts';
import { engineCode, isBusy, losesAll } from '../../engine/open.ts';

export type { SqlRow, SqlValue };

export interface Sql {
  /** First row, or undefined. `?` marks a value; the number of values is checked. */
  get<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<Row | undefined>;
  all<Row = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** All rows, remembered until something is written, by another process too. They must not be changed. */
  known<Row>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Runs a writing statement; resolves to the number of rows it changed. */
  run(statement: string, ...values: readonly SqlValue[]): Promise<number>;
  /** Adds a row: its members are its columns. Resolves to its number, in a table that numbers its rows. */
  insert<Row extends Storable<Row>>(table: string, row: Row): Promise<number>;
  /** Changes columns of the rows that `key` names; resolves to how many. */
  update<Key extends Storable<Key>, Change extends Storable<Change>>(
    table: string,
    key: Key,
    change: Change,
  ): Promise<number>;
  /** How many statements wrote so far in this work. */
  written(): number;
  /** The transaction is this work's alone: a part of it may be undone by a savepoint. */
  readonly isAlone: boolean;
}

/** An object whose members can be stored. Names of tables and members come from the code, never from outside. */
type Storable<Row> = { readonly [Column in keyof Row]: SqlValue };

export interface Store {
  /** Runs `work` on one moment of the store. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in a transaction that takes the write lock at once (`BEGIN IMMEDIATE`); resolves after COMMIT. Works of one
   * turn of the event loop share one. When one of them throws after it wrote, all of them run once more, each in a transaction
   * of its own: a work touches nothing but the store. Throws `StoreBusy` when the lock was not to be had in time or the
   * disk is full: nothing was written. `large` work goes through everything the store holds: it has its transaction to
   * itself, and files for what the engine remembers and sorts meanwhile, so that memory has a bound.
   */
  write<T>(work: (sql: Sql) => Promise<T>, how?: 'large'): Promise<T>;
  /** Copies one moment of the store into a new file. Throws `StoreBusy` when it cannot be read in time. */
  copyTo(path: string): Promise<void>;
  /** Path of the file, or `memory`. */
  readonly path: string;
  close(): Promise<void>;
}

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

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Conditions by their text, with the values of their `?`; one without a value is not asked for. */
type Wanted = Readonly<Record<string, SqlValue | readonly SqlValue[] | undefined>>;

export function conditions(wanted: Wanted): { readonly where: string; readonly values: readonly SqlValue[] } {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const where = given.length === 0 ? '' : ` where ${given.map(([text]) => text).join(' and ')}`;
  return { where, values: given.flatMap(([, value]) => value as SqlValue | SqlValue[]) };
}

interface Query {
  readonly columns?: string;
  readonly from: string;
  readonly wanted?: Wanted;
  readonly order: string;
}

/** A page of a query, and how many rows it has. */
export async function listed<Row>(
  sql: Sql,
  { columns = '*', from, wanted = {}, order }: Query,
  { limit, offset }: Page,
): Promise<Listed<Row>> {
  const { where, values } = conditions(wanted);
  const [count] = await sql.known<{ total: number }>(`select count(*) as total from ${from}${where}`, ...values);
  const statement = `select ${columns} from ${from}${where} order by ${order} limit ? offset ?`;
  return { rows: await sql.all<Row>(statement, ...values, limit, offset), total: count?.total ?? 0 };
}

/** A text as `like … escape '!'` looks for it. */
export const escaped = (text: string) => text.replace(/[!%_]/g, '!$&');

// Numbers that go up by one, rolled back with what used them.

/** The next number of `name`, from 1. */
export const nextCount = (sql: Sql, name: string) => takeCounts(sql, { name, count: 1 });

/** Takes the next `count` numbers of `name` at once; resolves to the last of them. */
export async function takeCounts(
  sql: Sql,
  { name, count }: { readonly name: string; readonly count: number },
): Promise<number> {
  const row = await sql.get<{ value: number }>(
    `insert into counters (name, value) values (?, ?)
     on conflict (name) do update set value = counters.value + excluded.value returning value`,
    name,
    count,
  );
  if (row === undefined) throw new Error(`the counter ${name} gave no number`);
  return row.value;
}

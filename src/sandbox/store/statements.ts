/** Prepared statements of one connection, and the answers that hold until something is written. */
import { bound, type Connection, placeholders, plainRow, type Statement } from '../../engine/connection.ts';
import type { Columns, RowKey, Rows, Sql, SqlRow, SqlValue } from './sql.ts';

interface Prepared {
  readonly statement: Statement;
  /** How many values it asks for. */
  readonly count: number;
  readonly writes: boolean;
}

const READS = /^\s*(?:select|with|values|pragma|savepoint|release)\b/i;
/** Answers remembered; a page of cards may be 60 KB. */
const MOST_KNOWN = 64;
const OVER = 'the transaction of this statement is over';

/** Kept for the life of the connection. */
export class Statements {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, Prepared>();
  /** Text of a row that is added, by its table. */
  readonly #inserts = new Map<Columns, string>();
  readonly #known = new Map<string, readonly SqlRow[]>();
  #othersVersion: unknown;
  /** Whether others wrote was asked in this transaction. */
  #isCurrent = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Statements for one work. `end()` makes them useless, so that none runs outside of it by mistake. */
  open(access: 'read' | 'write'): { readonly sql: Sql; end(): void } {
    let over = false;
    let written = 0;
    const ready = (text: string, values: readonly SqlValue[]): Prepared => {
      // After an error the engine may have ended the transaction; a statement now would commit on its own.
      if (over || !this.#connection.isTransaction) throw new Error(OVER);
      const prepared = this.#prepare(text);
      if (prepared.count !== values.length) {
        throw new TypeError(`the statement asks for ${prepared.count} values and got ${values.length}`);
      }
      if (prepared.writes) {
        if (access === 'read') throw new Error('a reading transaction cannot write');
        written += 1;
        this.#known.clear();
      }
      return prepared;
    };
    const first = (text: string, values: readonly SqlValue[]): SqlRow | undefined => {
      const prepared = ready(text, values);
      const row = prepared.statement.get(...values.map(bound));
      if (row !== undefined) return plainRow(row);
      // It returns what it changed, and changed nothing.
      if (prepared.writes) written -= 1;
      return undefined;
    };
    const every = (text: string, values: readonly SqlValue[]): readonly SqlRow[] =>
      ready(text, values)
        .statement.all(...values.map(bound))
        .map(plainRow);
    const run = (text: string, values: readonly SqlValue[]): number =>
      Number(ready(text, values).statement.run(...values.map(bound)).changes);
    const remembered = (text: string, values: readonly SqlValue[]): readonly SqlRow[] => {
      if (over) throw new Error(OVER);
      this.#forgetWhatOthersChanged();
      const name = `${text}\0${values.join('\0')}`;
      const known = this.#known.get(name);
      if (known !== undefined) return known;
      const rows = every(text, values);
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(name, rows);
      return rows;
    };
    const sql: Sql = {
      get: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) => first(text, values) as Row | undefined,
      all: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) => every(text, values) as readonly Row[],
      known: async <Row>(text: string, ...values: readonly SqlValue[]) =>
        remembered(text, values) as unknown as readonly Row[],
      run: async (text, ...values) => run(text, values),
      append: async (table, ...row) => void run(this.#insertInto(table), row),
      row: async <Row extends object>({ table, columns, key }: Rows<Row>, ...values: RowKey) =>
        first(`select ${columns} from ${table} where ${equals(key)}`, values) as Row | undefined,
      change: async <Row extends object>({ table, columns, key }: Rows<Row>, change: Partial<Row>, ...values: RowKey) =>
        first(
          `update ${table} set ${Object.keys(change)
            .map(column => `${column} = ?`)
            .join(', ')} where ${equals(key)} returning ${columns}`,
          [...(Object.values(change) as SqlValue[]), ...values],
        ) as Row | undefined,
      next: async ({ table, number }, account) => {
        const last = first(
          `select ${number} as last from ${table} where account_id = ? order by ${number} desc limit 1`,
          [account],
        );
        return Number(last?.['last'] ?? 0) + 1;
      },
      written: () => written,
    };
    return {
      sql,
      end: () => {
        over = true;
      },
    };
  }

  /** To be called when a transaction begins. */
  begun(): void {
    this.#isCurrent = false;
  }

  /** To be called when something is undone: what was read meanwhile may have seen it. */
  undone(): void {
    this.#known.clear();
  }

  /** Runs a statement of the queue itself, such as a savepoint, that is run again and again. */
  exec(text: string): void {
    this.#prepare(text).statement.get();
  }

  /** Lets go of all statements; the connection cannot close for good before. */
  clear(): void {
    this.#known.clear();
    this.#prepared.clear();
  }

  /** What a transaction sees of others does not change while it lasts, so that it is asked once in each. */
  #forgetWhatOthersChanged(): void {
    if (this.#isCurrent) return;
    const { data_version: version } = this.#prepare('pragma data_version').statement.get() as { data_version: unknown };
    if (version !== this.#othersVersion) this.#known.clear();
    this.#othersVersion = version;
    this.#isCurrent = true;
  }

  #insertInto(table: Columns): string {
    const known = this.#inserts.get(table);
    if (known !== undefined) return known;
    const places = table.columns.map(() => '?').join(', ');
    const text = `insert into ${table.table} (${table.columns.join(', ')}) values (${places})`;
    this.#inserts.set(table, text);
    return text;
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const prepared = {
      statement: this.#connection.prepare(text),
      count: placeholders(text),
      writes: !READS.test(text),
    };
    this.#prepared.set(text, prepared);
    return prepared;
  }
}

const equals = (key: readonly string[]) => key.map(column => `${column} = ?`).join(' and ');

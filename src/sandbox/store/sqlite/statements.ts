/** Prepared statements of one connection, and what they are spared: answers remembered, rows gathered and written together. */

import { bound, plainRow } from '../../../engine/bind.ts';
import type { Connection, Statement } from '../../../engine/connection.ts';
import { rowText, type Write } from '../kept-rows.ts';
import type { RowKey, Rows, Sql, SqlRow, SqlValue } from '../sql.ts';
import { factsOf, nameOf, OVER, READ_ONLY, type StatementFacts } from '../statement-facts.ts';
import { type Add, addInPowers, lastText, Tails } from '../tails.ts';

interface Prepared extends StatementFacts {
  readonly statement: Statement;
  /** Answers it gave, by its values; they hold until one of its tables is written. */
  readonly known: Map<string, unknown>;
}

/** Answers remembered of one statement; a page of cards may be 60 KB. */
const MOST_KNOWN = 16;

/** Prepared statements of one connection, kept for its life. */
export class Statements {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, Prepared>();
  /** Those that remember something. */
  readonly #knowing = new Set<Prepared>();
  readonly #tails = new Tails();
  readonly #write: Write;
  readonly #add: Add;
  readonly #doneOnce = new Set<string>();
  #version: unknown;
  #isCurrent = false;
  #isSpoiled = false;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#write = (text, values) => void this.#prepare(text).statement.get(...values);
    this.#add = addInPowers(this.#write);
  }

  /** Statements for one work. `end()` makes them useless, so that none runs outside of it by mistake. */
  open(access: 'read' | 'write'): { readonly sql: Sql; end(): void } {
    let over = false;
    let written = 0;
    const ready = (text: string, values: readonly SqlValue[], waits = true): Prepared => {
      if (over) throw new Error(OVER);
      const prepared = this.#ready(text, values.length, waits);
      if (!prepared.writes) return prepared;
      if (access === 'read') throw new Error(READ_ONLY);
      written += 1;
      this.#forgetReadersOf(prepared.table);
      return prepared;
    };
    /** What is written later, in other statements. */
    const writing = (table: string) => {
      if (over || access === 'read') throw new Error(over ? OVER : READ_ONLY);
      this.#forgetReadersOf(table);
      written += 1;
    };
    const first = (text: string, values: readonly SqlValue[], waits = true) => {
      const prepared = ready(text, values, waits);
      const row = prepared.statement.get(...values.map(bound));
      if (row !== undefined) return plainRow(row);
      // It changed no row.
      if (prepared.writes && prepared.returns) written -= 1;
      return undefined;
    };
    const every = (text: string, values: readonly SqlValue[]) =>
      ready(text, values)
        .statement.all(...values.map(bound))
        .map(plainRow);
    const remembered = (text: string, values: readonly SqlValue[], read: typeof first | typeof every) => {
      if (over) throw new Error(OVER);
      // What a transaction sees of others does not change while it lasts.
      if (!this.#isCurrent) this.#forgetOld();
      const prepared = this.#prepare(text);
      const name = nameOf(values);
      if (!prepared.known.has(name)) {
        const answer = read(text, values);
        if (prepared.known.size >= MOST_KNOWN) prepared.known.clear();
        prepared.known.set(name, answer);
        this.#knowing.add(prepared);
      }
      return prepared.known.get(name);
    };
    const row = <Row extends object>(rows: Rows<Row>, key: RowKey): Row | undefined => {
      if (over) throw new Error(OVER);
      const kept = this.#tails.rows.kept(rows, key);
      if (kept !== undefined) return kept.row;
      if (this.#tails.waitsFor(rows.table, key)) this.flush();
      return this.#tails.rows.remember(rows, key, first(rowText(rows), key, false) as Row | undefined);
    };
    const sql: Sql = {
      engine: 'sqlite',
      generation: 0,
      known: async <Row>(text: string, ...values: readonly SqlValue[]) =>
        remembered(text, values, first) as Row | undefined,
      knownAll: async <Row>(text: string, ...values: readonly SqlValue[]) =>
        remembered(text, values, every) as readonly Row[],
      get: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) => first(text, values) as Row | undefined,
      all: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) => every(text, values) as Row[],
      once: what => {
        const isFirst = !this.#doneOnce.has(what);
        this.#doneOnce.add(what);
        return isFirst;
      },
      written: () => written,
      run: async (text, ...values) => Number(ready(text, values).statement.run(...values.map(bound)).changes),
      put: async (text, ...values) => void ready(text, values).statement.get(...values.map(bound)),
      append: async (tail, ...row) => {
        writing(tail.table);
        this.#tails.add(tail, row.map(bound));
      },
      row: async (rows, ...key) => row(rows, key),
      change: async (rows, change, ...key) => {
        if (row(rows, key) === undefined) return undefined;
        writing(rows.table);
        return this.#tails.rows.change(rows, key, change);
      },
      next: async (tail, account) =>
        this.#tails.next(tail.table, account) ??
        this.#tails.firstAfter(tail.table, account, Number(first(lastText(tail), [account])?.['last'] ?? 0)),
    };
    return {
      sql,
      end: () => {
        over = true;
      },
    };
  }

  /** A statement that may run now; rows that wait for a table it speaks of are written before, if it `waits` for them. */
  #ready(text: string, count: number, waits: boolean): Prepared {
    // After an error the engine may have ended the transaction; a statement now would commit on its own.
    if (!this.#connection.isTransaction) throw new Error(OVER);
    const prepared = this.#prepare(text);
    if (prepared.count !== count) {
      throw new TypeError(`the statement asks for ${prepared.count} values and got ${count}`);
    }
    if (waits && this.#tails.holds(prepared.tables)) this.flush();
    if (prepared.writes) this.#tails.forgetRead(prepared.table);
    return prepared;
  }

  /** Writes the rows that wait. When that fails they are lost, and so is the transaction. */
  flush(): void {
    try {
      this.#tails.flush(this.#add, this.#write);
    } catch (error) {
      this.#isSpoiled = true;
      throw error;
    }
  }

  /** Rows of this transaction were lost: it must not be committed. */
  get isSpoiled(): boolean {
    return this.#isSpoiled;
  }

  /** To be called when a transaction begins: whether others wrote since the last one is asked once in each. */
  begun(): void {
    this.#isCurrent = false;
    this.#isSpoiled = false;
    this.#forgetGathered();
  }

  /** To be called when something is undone: what was read meanwhile may have seen it, and what waits goes with it. */
  undone(): void {
    this.#forgetGathered();
    this.#forgetKnown();
  }

  #forgetGathered(): void {
    this.#tails.discard();
    this.#tails.forgetRead();
    this.#doneOnce.clear();
  }

  #forgetKnown(): void {
    for (const prepared of this.#knowing) prepared.known.clear();
    this.#knowing.clear();
  }

  /** Runs a statement of the queue itself, such as a savepoint, that is run again and again. */
  exec(text: string): void {
    this.flush();
    this.#prepare(text).statement.get();
  }

  /** SQLite tells of the writes of others; own ones are seen here. */
  #forgetOld(): void {
    const { data_version: version } = this.#prepare('pragma data_version').statement.get() as { data_version: unknown };
    if (version !== this.#version) this.#forgetKnown();
    this.#version = version;
    this.#isCurrent = true;
  }

  #forgetReadersOf(table: string | undefined): void {
    if (this.#knowing.size === 0) return;
    if (table === undefined) this.#forgetKnown();
    for (const prepared of this.#knowing) {
      if (table !== undefined && prepared.tables?.has(table) === false) continue;
      prepared.known.clear();
      this.#knowing.delete(prepared);
    }
  }

  /** Lets go of all statements; the connection cannot close for good before. */
  clear(): void {
    this.#forgetKnown();
    this.#prepared.clear();
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(text);
    const fresh: Prepared = { ...factsOf(text), statement, known: new Map() };
    this.#prepared.set(text, fresh);
    return fresh;
  }
}

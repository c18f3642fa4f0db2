/**
 * Statements of one transaction on PostgreSQL: sent one behind the other, waited for where somebody asks what came of
 * them. What a transaction has read it remembers until it writes there itself: nobody else changes the rows of an
 * account while its lock is held.
 */

import { bound } from '../../../engine/bind.ts';
import type { PostgresAnswer, PostgresPipeline } from '../../../postgres/client.ts';
import { rowText } from '../kept-rows.ts';
import type { RowKey, Rows, Sql, SqlRow, SqlValue, WantedRow } from '../sql.ts';
import { factsOf, nameOf, OVER, READ_ONLY, type StatementFacts } from '../statement-facts.ts';
import { lastText, Tails } from '../tails.ts';
import { addText, rowsAsJson } from './adding.ts';
import { failureOf, isAftermath } from './errors.ts';
import { FetchedRows } from './fetched-rows.ts';
import { type Asking, readTogether, rowsOfEach, writeTogether } from './together.ts';
import { numbered, rowsOf, sent } from './types.ts';

interface Translated extends StatementFacts {
  readonly text: string;
  /** For a connection that may keep it parsed. */
  readonly name: string;
}

/** Every statement of the program, translated once; those of data sets come in few sizes. */
const TRANSLATED = new Map<string, Translated>();

function translated(text: string): Translated {
  const known = TRANSLATED.get(text);
  if (known !== undefined) return known;
  const fresh = { ...factsOf(text), text: numbered(text), name: `s${TRANSLATED.size}` };
  TRANSLATED.set(text, fresh);
  return fresh;
}

/** Every statement of the store that was asked for in this process, as it was written. */
export const statementTexts = (): readonly string[] => [...TRANSLATED.keys()];

type Named = Pick<Translated, 'text'> & Partial<Pick<Translated, 'name'>>;

/** Statements that were put together, of which there are not many kinds. */
const TOGETHER = new Map<string, Named>();
const MOST_TOGETHER = 200;

/** More than so many kinds a connection does not keep parsed. */
function translatedTogether(text: string): Named {
  const known = TOGETHER.get(text);
  if (known !== undefined) return known;
  if (TOGETHER.size >= MOST_TOGETHER) return { text: numbered(text) };
  const fresh = { text: numbered(text), name: `t${TOGETHER.size}` };
  TOGETHER.set(text, fresh);
  return fresh;
}

/** A reading statement that the next transaction of the account will ask too: it is sent along with the lock. */
export interface Hint {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

const MOST_HINTS = 8;

/** What somebody will ask for. */
export interface Hints {
  readonly statements?: readonly Hint[];
  readonly rows?: readonly WantedRow[];
}

interface Remembered {
  readonly facts: Translated;
  readonly rows: Promise<readonly SqlRow[]>;
}

/** A reading statement that is not sent yet. */
interface Reading {
  readonly asking: Asking;
  readonly resolve: (rows: readonly SqlRow[]) => void;
  readonly reject: (error: unknown) => void;
}

/** One work on the way. */
interface OpenWork {
  isOver: boolean;
  /** Statements of it that wrote. */
  written: number;
}

function alive({ isOver }: OpenWork): void {
  if (isOver) throw new Error(OVER);
}

export interface TransactionParts {
  readonly connection: PostgresPipeline;
  readonly access: 'read' | 'write';
  /** Statements may be named. */
  readonly mayPrepare: boolean;
}

export class Transaction {
  readonly #parts: TransactionParts;
  readonly #tails = new Tails();
  readonly #doneOnce = new Set<string>();
  readonly #remembered = new Map<string, Remembered>();
  readonly #hints: Hint[] = [];
  /** Rows on their way. */
  readonly #fetched: FetchedRows;
  /** Rows of the account itself, which the next transaction will ask for too. */
  readonly #own = new Map<string, WantedRow>();
  /** Tables that were written; undefined stands for any. */
  readonly #written = new Set<string | undefined>();
  /** Reading statements that are to be sent as one. */
  #gathered: Reading[] | undefined;
  /** The first statement that failed and was not undone. */
  #failure: Error | undefined;
  generation = 0;

  constructor(parts: TransactionParts) {
    this.#parts = parts;
    this.#fetched = new FetchedRows(asking => this.#read(asking));
  }

  /** Set when a statement failed: nothing but an end is left to this transaction, or to its savepoint. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** What it asked that could have been asked at its beginning, and the next one will ask too. */
  get hints(): Hints {
    return { statements: this.#hints, rows: [...this.#own.values()] };
  }

  /** Sends a statement of the queue itself. */
  async send(text: string, ...values: readonly SqlValue[]): Promise<PostgresAnswer> {
    return this.#send(translated(text), values.map(bound));
  }

  /**
   * Asks already what somebody will ask, and `first`, all in one statement. To be called before anything is written.
   * Resolves to the rows of `first`.
   */
  async ask({ statements = [], rows = [] }: Hints, first?: Asking): Promise<readonly SqlRow[]> {
    const gathered: Reading[] = [];
    this.#gathered = gathered;
    const told = first === undefined ? [] : this.#read(first);
    for (const hint of statements) void this.#ask(hint).catch(() => undefined);
    this.#fetched.fetch(rows);
    this.#gathered = undefined;
    void this.#readTogether(gathered);
    return told;
  }

  /** Statements for one work. `end()` makes them useless, so that none runs outside of it by mistake. */
  open(): { readonly sql: Sql; end(): void } {
    const work: OpenWork = { isOver: false, written: 0 };
    const sql: Sql = {
      engine: 'postgres',
      generation: this.generation,
      known: async <Row>(text: string, ...values: readonly SqlValue[]) =>
        (await this.#recalled(work, { text, values }))[0] as Row | undefined,
      knownAll: async <Row>(text: string, ...values: readonly SqlValue[]) =>
        (await this.#recalled(work, { text, values })) as readonly Row[],
      get: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) =>
        (await this.#first(work, { text, values })) as Row | undefined,
      all: async <Row = SqlRow>(text: string, ...values: readonly SqlValue[]) =>
        rowsOf(await this.#answer(work, { text, values })) as readonly Row[],
      once: what => {
        const isFirst = !this.#doneOnce.has(what);
        this.#doneOnce.add(what);
        return isFirst;
      },
      written: () => work.written,
      run: async (text, ...values) => (await this.#answer(work, { text, values })).count,
      put: async (text, ...values) => unawaited(this.#answer(work, { text, values })),
      append: async (tail, ...row) => {
        this.#writing(work, tail.table);
        const values = row.map(bound);
        this.#tails.add(tail, values);
        if (tail.keys !== undefined) this.#fetched.forgetRow(tail.table, values.slice(0, tail.keys));
      },
      row: (rows, ...key) => this.#row(work, rows, key),
      change: async (rows, change, ...key) => {
        if ((await this.#row(work, rows, key)) === undefined) return undefined;
        this.#writing(work, rows.table);
        return this.#tails.rows.change(rows, key, change);
      },
      next: async (tail, account) => {
        const known = this.#tails.next(tail.table, account);
        if (known !== undefined) return known;
        const [row] = await this.#recalled(work, { text: lastText(tail), values: [account] });
        return this.#tails.firstAfter(tail.table, account, Number(row?.['last'] ?? 0));
      },
    };
    const end = () => {
      work.isOver = true;
    };
    return { sql, end };
  }

  /** Called before anything is written, now or later. */
  #writing(work: OpenWork, table: string | undefined): void {
    alive(work);
    if (this.#parts.access === 'read') throw new Error(READ_ONLY);
    work.written += 1;
    this.#written.add(table);
    this.#forgetReadersOf(table);
  }

  /** Sends it behind the rows that wait for a table it speaks of, if it `waits` for them. */
  #answer(work: OpenWork, { text, values }: Hint, waits = true): Promise<PostgresAnswer> {
    alive(work);
    const facts = translated(text);
    if (facts.count !== values.length) {
      throw new TypeError(`the statement asks for ${facts.count} values and got ${values.length}`);
    }
    const checked = values.map(bound);
    if (facts.writes) this.#writing(work, facts.table);
    if (waits && this.#tails.holds(facts.tables)) this.flush();
    if (facts.writes) {
      this.#tails.forgetRead(facts.table);
      this.#fetched.forget(facts.table);
    }
    return this.#send(facts, checked);
  }

  async #first(work: OpenWork, asked: Hint, waits = true): Promise<SqlRow | undefined> {
    const [row] = rowsOf(await this.#answer(work, asked, waits));
    const { writes, returns } = translated(asked.text);
    // It changed no row.
    if (row === undefined && writes && returns) work.written -= 1;
    return row;
  }

  async #row<Row extends object>(work: OpenWork, rows: Rows<Row>, key: RowKey): Promise<Row | undefined> {
    alive(work);
    const kept = this.#tails.rows.kept(rows, key);
    if (kept !== undefined) return kept.row;
    if (key.length === 1) this.#own.set(rows.table, { rows, key });
    if (this.#tails.waitsFor(rows.table, key)) this.flush();
    const row = this.#fetched.of(rows, key) ?? this.#first(work, { text: rowText(rows), values: key }, false);
    return this.#tails.rows.remember(rows, key, (await row) as Row | undefined);
  }

  async #recalled(work: OpenWork, asked: Hint): Promise<readonly SqlRow[]> {
    alive(work);
    const { tables } = translated(asked.text);
    if (this.#tails.holds(tables)) this.flush();
    const isEarly = [...this.#written].every(table => table !== undefined && tables?.has(table) === false);
    if (isEarly && this.#hints.length < MOST_HINTS) this.#keepHint(asked);
    return this.#ask(asked);
  }

  /** Sends the rows that wait; what becomes of them the end of the transaction tells. */
  flush(): void {
    const all: Asking[] = [];
    this.#tails.flush(
      (tail, values) => all.push({ text: addText(tail), values: [rowsAsJson(tail, values)] }),
      (text, values) => all.push({ text, values }),
    );
    if (all.length === 0) return;
    const { text, values } = writeTogether(all);
    unawaited(this.#send(translatedTogether(text), values));
  }

  /** To be called when something was undone: what was read meanwhile may have seen it, and what waits goes with it. */
  undone(): void {
    this.#failure = undefined;
    this.#tails.discard();
    this.#tails.forgetRead();
    this.#fetched.forget();
    this.#doneOnce.clear();
    this.#remembered.clear();
  }

  #keepHint(hint: Hint): void {
    const isSame = ({ text, values }: Hint) => text === hint.text && nameOf(values) === nameOf(hint.values);
    if (!this.#hints.some(isSame)) this.#hints.push(hint);
  }

  #ask({ text, values }: Hint): Promise<readonly SqlRow[]> {
    const key = `${text}\0${nameOf(values)}`;
    const known = this.#remembered.get(key);
    if (known !== undefined) return known.rows;
    const facts = translated(text);
    const rows = this.#read({ text, values: values.map(bound) });
    this.#remembered.set(key, { facts, rows });
    return rows;
  }

  #read(asking: Asking): Promise<readonly SqlRow[]> {
    const gathered = this.#gathered;
    if (gathered === undefined) return this.#send(translated(asking.text), asking.values).then(rowsOf);
    return new Promise((resolve, reject) => gathered.push({ asking, resolve, reject }));
  }

  async #readTogether(all: readonly Reading[]): Promise<void> {
    if (all.length === 0) return;
    const { text, values } = readTogether(all.map(({ asking }) => asking));
    try {
      const told = rowsOfEach(await this.#send(translatedTogether(text), values));
      for (const [nth, { resolve }] of all.entries()) resolve(told[nth] ?? []);
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  async #send(facts: Named, values: Asking['values']): Promise<PostgresAnswer> {
    const { connection, mayPrepare } = this.#parts;
    // The database would refuse it, and write that into its log.
    if (this.#failure !== undefined && !ENDS.test(facts.text)) throw this.#failure;
    try {
      const answer = await connection.send(facts.text, values.map(sent), mayPrepare ? facts.name : undefined);
      // Back before what failed.
      if (facts.text.startsWith('rollback to ')) this.#failure = undefined;
      return answer;
    } catch (error) {
      if (!isAftermath(error)) this.#failure ??= failureOf(error);
      throw this.#failure ?? failureOf(error);
    }
  }

  #forgetReadersOf(table: string | undefined): void {
    for (const [key, { facts }] of this.#remembered) {
      if (table === undefined || facts.tables?.has(table) !== false) this.#remembered.delete(key);
    }
  }
}

/** What a transaction that failed still takes. */
const ENDS = /^(?:rollback|commit)\b/;

/** Its failure comes out with the next statement that is waited for, or with the COMMIT. */
function unawaited(answer: Promise<unknown>): void {
  answer.catch(() => undefined);
}

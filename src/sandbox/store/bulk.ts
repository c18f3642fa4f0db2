/** Many rows at once: statements of a hundred rows each, for data sets and restored snapshots. */
import { nextTurn } from '../../platform/time.ts';
import type { Sql, SqlValue } from './sql.ts';

/** At most so many values in one statement; engines take more, but nothing is won by it. */
const MOST_VALUES = 1_000;

const BREATH_EVERY = 64;

/** Collects rows of one table and inserts them in full statements. */
export class BulkInsert {
  readonly #sql: Sql;
  readonly #table: string;
  readonly #columns: readonly string[];
  readonly #batch: number;
  #values: SqlValue[] = [];
  #statements = 0;

  /** Names come from the code, never from outside. */
  constructor(sql: Sql, table: string, columns: readonly string[]) {
    this.#sql = sql;
    this.#table = table;
    this.#columns = columns;
    this.#batch = Math.max(1, Math.floor(MOST_VALUES / columns.length));
  }

  /** Nothing is written yet; see `isFull`. A promise for each of millions of rows would cost more than the rows. */
  add(row: readonly SqlValue[]): void {
    this.#values.push(...row);
  }

  /** There is a statement's worth of rows. */
  get isFull(): boolean {
    return this.#values.length >= this.#batch * this.#columns.length;
  }

  /** Writes everything that was added: full statements, then halves of one, for each size is prepared and kept. */
  async flush(): Promise<void> {
    const values = this.#values;
    this.#values = [];
    const width = this.#columns.length;
    for (let at = 0; at < values.length; ) {
      const left = (values.length - at) / width;
      const rows = left >= this.#batch ? this.#batch : 2 ** Math.floor(Math.log2(left));
      this.#sql.run(this.#statement(rows), ...values.slice(at, at + rows * width));
      at += rows * width;
      this.#statements += 1;
      // Statements never let go of the event loop by themselves: signals and deadlines would wait for the last row.
      if (this.#statements % BREATH_EVERY === 0) await nextTurn();
    }
  }

  #statement(rows: number): string {
    const row = `(${this.#columns.map(() => '?').join(', ')})`;
    return `insert into ${this.#table} (${this.#columns.join(', ')}) values ${new Array(rows).fill(row).join(', ')}`;
  }
}

/** What is sorted takes as much once more. */
const KIB_FOR_BULK = 16_384;
/** Room of everything else: the pages that some thousand cards need again and again. */
export const KIB_ELSE = 8_000;

/** Runs work that goes through millions of rows with room for the pages it touches, which small work never takes. */
export function withLargeCache<T>(sql: Sql, work: () => T): T {
  sql.get(`pragma cache_size = -${KIB_FOR_BULK}`);
  const done = work();
  // Work that throws ends its transaction; then the room is given back by the next one of this kind.
  sql.get(`pragma cache_size = -${KIB_ELSE}`);
  return done;
}

/** Runs work that writes much, without the indexes, which are made once it is done; all of it in the open transaction. */
export async function inBulk(sql: Sql, indexes: readonly string[], work: () => Promise<void>): Promise<void> {
  sql.get(`pragma cache_size = -${KIB_FOR_BULK}`);
  for (const index of indexes) sql.run(`drop index ${nameOf(index)}`);
  await work();
  for (const index of indexes) sql.run(index);
  // Work that throws ends its transaction; then the room is given back by the next one of this kind.
  sql.get(`pragma cache_size = -${KIB_ELSE}`);
}

/** Of `create index <name> on …`. */
function nameOf(index: string): string {
  return / index (\w+) on /.exec(index)?.[1] ?? '';
}

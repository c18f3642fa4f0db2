/**
 * What differs between two snapshots: their files lie in the order of the keys, so both are read once, side by side, and
 * only one line of each is in memory.
 */
import { ARCHIVED, type ArchivedTable } from '../store/schema.ts';
import type { SqlValue } from '../store/sql.ts';
import { linesOf, type Manifest, rowOf, type TableFacts } from './save.ts';

export interface Side {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Values by the names of their columns, of the columns that both sides have. */
export type StoredRow = Readonly<Record<string, SqlValue>>;

/** One row that is not the same on both sides; undefined where it is not there. */
export interface RowChange {
  readonly table: string;
  readonly before: StoredRow | undefined;
  readonly after: StoredRow | undefined;
}

/** Every row that differs, table by table, in the order of the keys. Throws `Damaged` for a file that is not as written. */
export async function* changesBetween(before: Side, after: Side): AsyncGenerator<RowChange> {
  for (const table of ARCHIVED) {
    const [old, young] = [new Lines(before, table), new Lines(after, table)];
    try {
      yield* changesIn(table, old, young);
    } finally {
      await old.close();
      await young.close();
    }
  }
}

/** Lines that are the same text need not be read: most rows of two states of one sandbox are. */
async function* changesIn(table: ArchivedTable, old: Lines, young: Lines): AsyncGenerator<RowChange> {
  const shared = table.columns.filter(column => old.columns.includes(column) && young.columns.includes(column));
  const isSameForm = old.columns.join() === young.columns.join();
  for (;;) {
    if (old.line === undefined && !old.isOver) await old.refill();
    if (young.line === undefined && !young.isOver) await young.refill();
    if (old.line === undefined && young.line === undefined) return;
    if (isSameForm && old.line === young.line) {
      old.advance();
      young.advance();
      continue;
    }
    const [one, other] = [old.row(), young.row()];
    const order = one === undefined ? 1 : other === undefined ? -1 : compareKeys(table.key, one, other);
    if (order < 0) yield { table: table.name, before: one, after: undefined };
    else if (order > 0) yield { table: table.name, before: undefined, after: other };
    else if (shared.some(column => one?.[column] !== other?.[column])) {
      yield { table: table.name, before: one, after: other };
    }
    if (order <= 0) old.advance();
    if (order >= 0) young.advance();
  }
}

/** The lines of one table of a snapshot, one after the other; a table that came later has none in an older one. */
class Lines {
  readonly #table: TableFacts | undefined;
  readonly #pieces: AsyncIterator<readonly string[]> | undefined;
  #piece: readonly string[] = [];
  #at = 0;
  #isOver = false;

  constructor({ folder, manifest }: Side, { name }: ArchivedTable) {
    this.#table = manifest.tables.find(each => each.name === name);
    this.#pieces = this.#table && linesOf(folder, this.#table)[Symbol.asyncIterator]();
  }

  get columns(): readonly string[] {
    return this.#table?.columns ?? [];
  }

  /** Undefined at the end of what was read so far. */
  get line(): string | undefined {
    return this.#piece[this.#at];
  }

  /** There is nothing more to read on. */
  get isOver(): boolean {
    return this.#isOver;
  }

  advance(): void {
    this.#at += 1;
  }

  /** Reads on; without a line behind it the table is at its end. */
  async refill(): Promise<void> {
    const next = await this.#pieces?.next();
    this.#isOver = next?.done !== false;
    this.#piece = next?.done === false ? next.value : [];
    this.#at = 0;
  }

  /** Closes its file, where not all of it was read. */
  async close(): Promise<void> {
    await this.#pieces?.return?.();
  }

  row(): StoredRow | undefined {
    if (this.line === undefined || this.#table === undefined) return undefined;
    const values = rowOf(this.line, this.#table);
    return Object.fromEntries(this.columns.map((column, at) => [column, values[at] ?? null]));
  }
}

/** As SQLite has them: numbers by size, texts by their bytes. */
function compareKeys(key: readonly string[], one: StoredRow, other: StoredRow): number {
  for (const column of key) {
    const [a, b] = [one[column] ?? null, other[column] ?? null];
    if (a === b) continue;
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
  }
  return 0;
}

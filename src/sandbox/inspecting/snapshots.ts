/** snapshots.diff: what differs between two snapshots, or between one and now. */
import { rm } from 'node:fs/promises';
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import { type Cents, cents, toUsd } from '../../core/money.ts';
import { Damaged, linesOf, type Manifest, manifestOf, rowOf, saveInto, type TableFacts } from '../archive/save.ts';
import { isoTime } from '../rules/dates.ts';
import type { StoreMoment, TracelessHandlers } from '../service/service.ts';
import { ARCHIVED, type ArchivedTable } from '../store/schema.ts';
import type { SqlValue } from '../store/sql.ts';

type Told = ReplyOf<AdminOperations['snapshots.diff']>;

export const diffSnapshots: TracelessHandlers['snapshots.diff'] = async (inspection, names) => {
  try {
    return await compared(inspection, names);
  } catch (error) {
    if (error instanceof Damaged) return { problems: [error.message], tables: [], accounts: [], cards: [] };
    throw error;
  }
};

const compared: TracelessHandlers['snapshots.diff'] = async (inspection, { name, to }) => {
  const { archives } = inspection.parts;
  const before = await sideIn(await archives.folderOf(name), name);
  if (to !== undefined) {
    const after = await sideIn(await archives.folderOf(to), to);
    return difference(before, after, `one of the snapshots ${name} and ${to}`);
  }
  const folder = await archives.unfinished('export');
  try {
    const after = await inspection.read(moment => presentIn(folder, moment));
    return await difference(before, after, `the snapshot ${name}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

async function sideIn(folder: string, name: string): Promise<Side> {
  try {
    return { folder, manifest: await manifestOf(folder) };
  } catch (error) {
    throw damagedSide(error, `the snapshot ${name}`);
  }
}

/** What the sandbox holds at this moment, as a snapshot would. */
async function presentIn(folder: string, { sql, now, parts }: StoreMoment): Promise<Side> {
  return { folder, manifest: await saveInto(folder, sql, { now, platform: parts.platform }) };
}

/** `what` may be damaged: its files are read here for the first time. */
async function difference(before: Side, after: Side, what: string): Promise<Told> {
  const sums = new DifferenceSums();
  try {
    for await (const change of changesBetween(before, after)) sums.take(change);
  } catch (error) {
    throw damagedSide(error, what);
  }
  return sums.all();
}

function damagedSide(error: unknown, what: string): unknown {
  return error instanceof Damaged ? new Damaged(`${what} is damaged: ${error.message}`) : error;
}

/** Columns of a card that nobody is shown by the way, and its text as it is sent, which says the same once more. */
const NOT_TOLD = ['number', 'cvv', 'document'];
const MONEY = ['balance', 'hold', 'spending_limit', 'auto_freeze_at'];
const TIMES = ['created_at', 'expires_at'];

class DifferenceSums {
  readonly #tables = new Map<string, { added: number; removed: number; changed: number }>();
  readonly #accounts = new Map<string, number>();
  readonly #cards: Told['cards'][number][] = [];

  take({ table, before, after }: RowChange): void {
    const counts = this.#tables.get(table) ?? { added: 0, removed: 0, changed: 0 };
    this.#tables.set(table, counts);
    if (before === undefined) counts.added += 1;
    else if (after === undefined) counts.removed += 1;
    else counts.changed += 1;
    if (table === 'postings') this.#moved(before, after);
    if (table === 'cards') this.#changed(before, after);
  }

  #moved(before: StoredRow | undefined, after: StoredRow | undefined): void {
    const ledger = String((after ?? before)?.['ledger']);
    const delta = Number(after?.['amount'] ?? 0) - Number(before?.['amount'] ?? 0);
    this.#accounts.set(ledger, (this.#accounts.get(ledger) ?? 0) + delta);
  }

  #changed(before: StoredRow | undefined, after: StoredRow | undefined): void {
    const row = after ?? before ?? {};
    const fields = Object.keys(row)
      .filter(field => !NOT_TOLD.includes(field) && before?.[field] !== after?.[field])
      .map(field => ({ field, from: valueTold(before, field), to: valueTold(after, field) }));
    this.#cards.push({ card_id: String(row['id']), fields });
  }

  all(): Told {
    return {
      problems: [],
      tables: [...this.#tables].map(([table, counts]) => ({ table, ...counts })),
      accounts: [...this.#accounts]
        .filter(([, delta]) => delta !== 0)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([account, delta]) => ({ account, delta: toUsd(cents(delta)) })),
      cards: this.#cards,
    };
  }
}

/** JSON of the value; money in USD, times in ISO, lists and maps as they are stored. */
function valueTold(row: StoredRow | undefined, field: string): string | null {
  if (row === undefined) return null;
  const value = row[field] ?? null;
  if (typeof value === 'number' && MONEY.includes(field)) return JSON.stringify(toUsd(value as Cents));
  if (typeof value === 'string' && ['allowed_categories', 'metadata'].includes(field)) return value;
  if (typeof value === 'number' && TIMES.includes(field)) return JSON.stringify(isoTime(value));
  return JSON.stringify(value);
}

// Differences: the files of snapshots lie in the order of the keys. Both are read once, side by side, one line of each in memory.

interface Side {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Values by the names of their columns, of the columns that both sides have. */
type StoredRow = Readonly<Record<string, SqlValue>>;

/** One row that is not the same on both sides; undefined where it is not there. */
interface RowChange {
  readonly table: string;
  readonly before: StoredRow | undefined;
  readonly after: StoredRow | undefined;
}

/** Every row that differs, table by table, in the order of the keys. Throws `Damaged` for a file that is not as written. */
async function* changesBetween(before: Side, after: Side): AsyncGenerator<RowChange> {
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

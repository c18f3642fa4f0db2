/** What a snapshot says about itself: which store it was, and the sum of every file. One line of JSON, with its own sum. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SNAPSHOT_FILE, SNAPSHOT_MARK } from '../../contract/sandbox/snapshots.ts';
import { createPrivate, syncFolder, systemCode } from '../../files/private-files.ts';
import { type ClockRow, readClock } from '../clock/clock.ts';
import { isoTime } from '../rules/dates.ts';
import { walletOf } from '../store/account.ts';
import { BulkInsert, inBulk } from '../store/bulk.ts';
import { forgetCheck } from '../store/ledger.ts';
import { beginGeneration, type IdForm } from '../store/open.ts';
import { ARCHIVED, type ArchivedTable, emptyArchived, LATE_INDEXES, rowsOf, SCHEMA } from '../store/schema.ts';
import { isRefusedStatement, type Sql, type SqlValue } from '../store/sql.ts';

export interface TableFacts {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 of the file, hexadecimal. */
  readonly sha256: string;
}

export interface Manifest {
  readonly format: typeof SNAPSHOT_FILE.format;
  readonly version: 1;
  /** Number of the schema it was taken from. */
  readonly schema: number;
  /** When, on the clock of the sandbox; ISO 8601. */
  readonly made_at: string;
  readonly clock: ClockRow;
  readonly seed: number;
  readonly ids: IdForm;
  readonly data_set: string;
  readonly tables: readonly TableFacts[];
}

export const MANIFEST_FILE = 'manifest.json';

/** A snapshot that is not as it was written; the message says which part of it. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** The one line of a manifest, its line end included. */
export function manifestLine(manifest: Manifest): string {
  const text = JSON.stringify(manifest);
  return `${text.slice(0, -1)},"sha256":"${sha256(text)}"}\n`;
}

/** Throws `Damaged` unless the line is exactly one that `manifestLine` makes. */
export function readManifest(line: string): Manifest {
  if (!line.startsWith(SNAPSHOT_MARK)) throw new Damaged(`${MANIFEST_FILE} is not that of a snapshot`);
  try {
    const { sha256: _sum, ...manifest } = JSON.parse(line) as Manifest & { readonly sha256: string };
    // Written anew it must be the same text: no byte can have changed, in the sum neither.
    if (manifestLine(manifest) === line) return manifest;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Damaged(`${MANIFEST_FILE} is damaged`);
}

// Writes what a store holds into a folder: a file of lines a table, and last the manifest with all sums.

export interface Saving {
  /** Shown by the clock of the sandbox, ms. */
  readonly now: number;
  readonly platform: NodeJS.Platform;
}

export const tableFile = (name: string) => `${name}.ndjson`;

/**
 * Makes `folder` (0700) and fills it from an open reading transaction, which sees one moment of the store whatever is
 * written meanwhile. Files are awaited inside of it: only pages of rows are ever in memory. All of it is synced.
 */
export async function saveInto(folder: string, sql: Sql, { now, platform }: Saving): Promise<Manifest> {
  await mkdir(folder, { mode: 0o700 });
  const meta = await sql.get<{ seed: number; ids: IdForm }>('select seed, ids from meta where one = 1');
  if (meta === undefined) throw new Error('the store says nothing about itself');
  const tables: TableFacts[] = [];
  for (const table of ARCHIVED) tables.push(await saveTable(join(folder, tableFile(table.name)), sql, table));
  const manifest: Manifest = {
    format: SNAPSHOT_FILE.format,
    version: 1,
    schema: SCHEMA,
    made_at: isoTime(now),
    clock: await readClock(sql),
    ...meta,
    data_set: (await walletOf(sql))?.data_set ?? 'none',
    tables,
  };
  await createPrivate(join(folder, MANIFEST_FILE), manifestLine(manifest));
  await syncFolder(folder, platform);
  return manifest;
}

async function saveTable(path: string, sql: Sql, table: ArchivedTable): Promise<TableFacts> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const hash = createHash('sha256');
    let rows = 0;
    let bytes = 0;
    for await (const page of rowsOf(sql, table)) {
      const text = Buffer.from(page.map(row => `${JSON.stringify(row)}\n`).join(''));
      hash.update(text);
      rows += page.length;
      bytes += text.length;
      await writeAll(file, text);
    }
    await file.sync();
    return { name: table.name, columns: table.columns, rows, bytes, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

/** A write may take less than it was given. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

// Puts what a snapshot holds in place of what the store holds: every sum first, then all of it in one transaction.

/** The manifest of a folder. Throws `Damaged` when it is not as it was written, or there is none. */
export async function manifestOf(folder: string): Promise<Manifest> {
  const manifest = readManifest(textOf(await bytesOf(join(folder, MANIFEST_FILE)), MANIFEST_FILE));
  refuseUnknown(manifest);
  return manifest;
}

/** Reads every file and holds it against the manifest. Throws `Damaged` naming the first that is not as written. */
export async function checkSums(folder: string, { tables }: Manifest): Promise<void> {
  for (const table of tables) for await (const _lines of linesOf(folder, table));
}

/**
 * Replaces all rows of the account, in the open transaction; sums are checked once more as rows are read. Throws
 * `Damaged`, and then the transaction must be undone.
 */
export async function restoreFrom(folder: string, manifest: Manifest, sql: Sql): Promise<void> {
  try {
    await inBulk(sql, LATE_INDEXES, async () => {
      await emptyArchived(sql);
      for (const table of manifest.tables) await restoreTable(folder, table, sql);
    });
    await forgetCheck(sql);
    await sql.run('update meta set seed = ?, ids = ? where one = 1', manifest.seed, manifest.ids);
    await beginGeneration(sql);
  } catch (error) {
    if (!isRefusedStatement(error)) throw error;
    throw new Damaged(`a row cannot be stored: ${error instanceof Error ? error.message : 'no reason given'}`);
  }
}

async function restoreTable(folder: string, table: TableFacts, sql: Sql): Promise<void> {
  const bulk = new BulkInsert(sql, table.name, table.columns);
  for await (const lines of linesOf(folder, table)) {
    for (const line of lines) bulk.add(rowOf(line, table));
    await bulk.flush();
  }
}

export function rowOf(line: string, { name, columns }: TableFacts): readonly SqlValue[] {
  const isValue = (value: unknown) => value === null || typeof value === 'string' || Number.isSafeInteger(value);
  try {
    const row: unknown = JSON.parse(line);
    if (Array.isArray(row) && row.length === columns.length && row.every(isValue)) return row as SqlValue[];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Damaged(`${tableFile(name)} holds a line that is no row`);
}

/** The tables of this version of the program, all of them. */
function refuseUnknown({ version, schema, tables }: Manifest): void {
  if (version !== 1 || schema !== SCHEMA) throw new Damaged('it was made by another build of cardwright');
  const columns = (all: readonly { readonly name: string; readonly columns: readonly string[] }[]) =>
    all.map(table => `${table.name} ${table.columns.join()}`).join('\n');
  if (columns(tables) !== columns(ARCHIVED)) throw new Damaged('its tables are not those of a sandbox');
}

const PIECE = 256 * 1024;

/** Lines of a table's file, some at a time; throws `Damaged` at its end when bytes, lines or sum are others. */
export async function* linesOf(folder: string, table: TableFacts): AsyncGenerator<readonly string[]> {
  const name = tableFile(table.name);
  const file = await opened(join(folder, name), name);
  try {
    const hash = createHash('sha256');
    let rest = Buffer.alloc(0);
    let bytes = 0;
    let rows = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE), 0, PIECE, null);
      if (bytesRead === 0) break;
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      bytes += bytesRead;
      // More than it should be: not read to the end.
      if (bytes > table.bytes) break;
      const whole = Buffer.concat([rest, piece]);
      const end = whole.lastIndexOf(10) + 1;
      rest = Buffer.from(whole.subarray(end));
      const lines = end === 0 ? [] : textOf(whole.subarray(0, end - 1), name).split('\n');
      rows += lines.length;
      if (lines.length > 0) yield lines;
    }
    if (bytes !== table.bytes || rows !== table.rows || rest.length > 0 || hash.digest('hex') !== table.sha256) {
      throw new Damaged(`${name} is damaged`);
    }
  } finally {
    await file.close();
  }
}

async function opened(path: string, name: string) {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw systemCode(error) === undefined ? error : new Damaged(`${name} cannot be read: ${systemCode(error)}`);
  }
}

async function bytesOf(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw systemCode(error) === undefined
      ? error
      : new Damaged(`${MANIFEST_FILE} cannot be read: ${systemCode(error)}`);
  }
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new Damaged(`${name} is damaged`);
    throw error;
  }
}

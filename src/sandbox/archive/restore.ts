/** Puts what a snapshot holds in place of what the store holds: every sum first, then all of it in one transaction. */
import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { systemCode } from '../../files/private-files.ts';
import { ARCHIVED, ARCHIVED_ACCOUNT, emptyArchived } from '../store/archived.ts';
import { BulkInsert, inBulk } from '../store/bulk.ts';
import { forgetCheck } from '../store/ledger-checks.ts';
import { beginGeneration } from '../store/meta.ts';
import { LATE_INDEXES } from '../store/schema.ts';
import { isRefusedStatement, type Sql, type SqlValue } from '../store/sql.ts';
import { SCHEMA } from '../store/system-tables.ts';
import { Damaged, MANIFEST_FILE, type Manifest, readManifest, type TableFacts } from './manifest.ts';
import { tableFile } from './save.ts';

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
export async function restoreFrom(folder: string, manifest: Manifest, sql: Sql, account: string): Promise<void> {
  try {
    await inBulk(sql, LATE_INDEXES, async () => {
      await emptyArchived(sql, account);
      for (const table of manifest.tables) await restoreTable(folder, table, sql);
    });
    await forgetCheck(sql, account);
    await sql.run('update meta set seed = ?, ids = ? where one = 1', manifest.seed, manifest.ids);
    await beginGeneration(sql);
  } catch (error) {
    if (!isRefusedStatement(error)) throw error;
    throw new Damaged(`a row cannot be stored: ${error instanceof Error ? error.message : 'no reason given'}`);
  }
}

async function restoreTable(folder: string, table: TableFacts, sql: Sql): Promise<void> {
  const bulk = new BulkInsert(sql, table.name, table.columns);
  const place = table.columns.indexOf('account_id');
  for await (const lines of linesOf(folder, table)) {
    for (const line of lines) {
      const row = rowOf(line, table);
      if (row[place] !== ARCHIVED_ACCOUNT) throw new Damaged(`${tableFile(table.name)} holds a row of another account`);
      bulk.add(row);
    }
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

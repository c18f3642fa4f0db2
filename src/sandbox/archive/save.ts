/** Writes what a store holds into a folder: a file of lines a table, and last the manifest with all sums. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { SNAPSHOT_FILE } from '../../contract/sandbox/snapshots.ts';
import { createPrivate } from '../../files/private-files.ts';
import { syncFolder } from '../../files/replace-file.ts';
import { readClock } from '../clock/clock.ts';
import { isoTime } from '../rules/dates.ts';
import { ARCHIVED, type ArchivedTable, rowsOf } from '../store/archived.ts';
import type { IdForm } from '../store/meta.ts';
import type { Sql } from '../store/sql.ts';
import { SCHEMA } from '../store/system-tables.ts';
import { walletOf } from '../store/wallet.ts';
import { MANIFEST_FILE, type Manifest, manifestLine, type TableFacts } from './manifest.ts';

export interface Saving {
  readonly account: string;
  /** Shown by the clock of the sandbox, ms. */
  readonly now: number;
  readonly platform: NodeJS.Platform;
}

export const tableFile = (name: string) => `${name}.ndjson`;

/**
 * Makes `folder` (0700) and fills it from an open reading transaction, which sees one moment of the store whatever is
 * written meanwhile. Files are awaited inside of it: only pages of rows are ever in memory. All of it is synced.
 */
export async function saveInto(folder: string, sql: Sql, { account, now, platform }: Saving): Promise<Manifest> {
  await mkdir(folder, { mode: 0o700 });
  const meta = await sql.get<{ seed: number; ids: IdForm }>('select seed, ids from meta where one = 1');
  if (meta === undefined) throw new Error('the store says nothing about itself');
  const tables: TableFacts[] = [];
  for (const table of ARCHIVED) tables.push(await saveTable(join(folder, tableFile(table.name)), sql, account, table));
  const manifest: Manifest = {
    format: SNAPSHOT_FILE.format,
    version: 1,
    schema: SCHEMA,
    made_at: isoTime(now),
    clock: await readClock(sql, account),
    ...meta,
    data_set: (await walletOf(sql, account))?.data_set ?? 'none',
    tables,
  };
  await createPrivate(join(folder, MANIFEST_FILE), manifestLine(manifest));
  await syncFolder(folder, platform);
  return manifest;
}

async function saveTable(path: string, sql: Sql, account: string, table: ArchivedTable): Promise<TableFacts> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const hash = createHash('sha256');
    let rows = 0;
    let bytes = 0;
    for await (const page of rowsOf(sql, account, table)) {
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

/** Opening the file of a mirror: made where there is none, refused where it is another's, moved aside where it is damaged. */
import { existsSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliError } from '../core/errors.ts';
import type { Connection } from '../engine/connection.ts';
import { engineCode, isBusy, isDamage } from '../engine/faults.ts';
import { connectTo } from '../engine/open.ts';
import { privateFile, privateFolder } from '../files/private-at-once.ts';
import type { Clock } from '../platform/host.ts';
import { MirrorDatabase } from './database.ts';
import { APPLICATION_ID, SCHEMA, TABLES } from './schema.ts';
import { VIEWS } from './views.ts';

export const mirrorPath = (dataFolder: string, profile: string): string =>
  join(dataFolder, 'mirror', `${profile}.sqlite`);

/** The database and what SQLite keeps beside it. */
const PARTS = ['', '-wal', '-shm'] as const;

/** Whether there is a copy; nothing is opened. */
export const isMirrored = (dataFolder: string, profile: string): boolean => existsSync(mirrorPath(dataFolder, profile));

export interface Opening {
  readonly path: string;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
  /** Called before each commit; for tests. */
  readonly onCommit?: (() => void) | undefined;
}

const OPENING_PATIENCE_MS = 10_000;

/**
 * Opens the mirror for writing; a file that is not there is made, 0600 in a 0700 folder. Throws `Damaged` for one that
 * SQLite cannot read, `check_failed` for one of another build or program.
 */
export async function openForSync(opening: Opening): Promise<MirrorDatabase> {
  const { path, platform, clock, onCommit } = opening;
  privateFolder(dirname(path), platform);
  privateFile(path, platform);
  return opened(path, clock, connection => {
    connection.exec('pragma synchronous = full');
    connection.exec('pragma secure_delete = on');
    connection.exec('pragma temp_store = memory');
    // Indexes are written all over: a page that changes again and again stays in memory, and is written back once.
    connection.exec('pragma cache_size = -16000');
    connection.exec('pragma wal_autocheckpoint = 8000');
    if (isEmpty(connection)) make(connection);
    checkOurs(connection, path);
    connection.exec('pragma journal_mode = wal');
    return new MirrorDatabase(path, connection, { damaged, onCommit });
  });
}

/** Opens the mirror for reading; undefined where there is none, or none that a sync has made. */
export async function openForReading({ path, clock }: Opening): Promise<MirrorDatabase | undefined> {
  if (!existsSync(path)) return undefined;
  return opened(path, clock, connection => {
    if (isEmpty(connection)) return undefined;
    checkOurs(connection, path);
    connection.exec('pragma query_only = on');
    return new MirrorDatabase(path, connection, { damaged: cause => damagedCopy(path, cause) });
  });
}

/** SQLite cannot read the file. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

const damaged = (cause: unknown) => new Damaged('the mirror is damaged', { cause });

/** What whoever reads a damaged copy is told; a sync mends it. */
export function damagedCopy(path: string, cause: unknown): CliError {
  return new CliError('check_failed', {
    message: `the mirror ${path} is damaged`,
    notes: ['The hint moves it aside and reads everything again; nothing is deleted.'],
    hint: 'cardwright books sync',
    outcome: 'not_sent',
    cause,
  });
}

/** Renames the file with what belongs to it; resolves to the new name. A later one gets the next number. */
export function moveAway(path: string, why: 'damaged' | 'reset'): string {
  for (let number = 1; ; number += 1) {
    const target = `${path}.${why}-${number}`;
    if (PARTS.some(part => existsSync(target + part))) continue;
    // What is written in the log belongs to the file: it goes with it, and first.
    for (const part of PARTS.toReversed()) if (existsSync(path + part)) renameSync(path + part, target + part);
    return target;
  }
}

/** Removes the mirror for good. */
export async function removeMirror(path: string): Promise<void> {
  for (const part of PARTS) await rm(path + part, { force: true });
}

async function opened<T>(path: string, clock: Clock, prepare: (connection: Connection) => T): Promise<T> {
  const deadline = clock.monotonic() + OPENING_PATIENCE_MS;
  for (;;) {
    let connection: Connection | undefined;
    let kept = false;
    try {
      connection = connectTo(path);
      const value = prepare(connection);
      kept = value !== undefined;
      return value;
    } catch (error) {
      if (isDamage(error)) throw new Damaged(`${path} is damaged or no database`, { cause: error });
      if (!isBusy(error) || clock.monotonic() >= deadline) throw inWords(path, error);
    } finally {
      if (!kept) connection?.close();
    }
    await clock.sleep(10);
  }
}

function inWords(path: string, error: unknown): unknown {
  if (engineCode(error) === undefined) return error;
  return new CliError('check_failed', {
    message: `the mirror ${path} cannot be opened: ${(error as Error).message}`,
    hint: 'cardwright books reset',
    outcome: 'not_sent',
    cause: error,
  });
}

function isEmpty(connection: Connection): boolean {
  return connection.prepare('select 1 from sqlite_master limit 1').get() === undefined;
}

function make(connection: Connection): void {
  connection.exec('begin immediate');
  try {
    // Another process may have been quicker.
    if (isEmpty(connection)) {
      for (const table of TABLES) connection.exec(table);
      for (const { name, select } of VIEWS) connection.exec(`create view ${name} as ${select}`);
      connection.exec(`pragma application_id = ${APPLICATION_ID}`);
      connection.exec(`pragma user_version = ${SCHEMA}`);
    }
    connection.exec('commit');
  } catch (error) {
    if (connection.isTransaction) connection.exec('rollback');
    throw error;
  }
}

function headerNumber(connection: Connection, pragma: 'application_id' | 'user_version'): number {
  return Number(Object.values(connection.prepare(`pragma ${pragma}`).get() ?? {})[0]);
}

function checkOurs(connection: Connection, path: string): void {
  const isOurs = headerNumber(connection, 'application_id') === APPLICATION_ID;
  if (isOurs && headerNumber(connection, 'user_version') === SCHEMA) return;
  throw unusable(path, 'was not made by this build of cardwright');
}

function unusable(path: string, what: string): CliError {
  return new CliError('check_failed', {
    message: `the mirror ${path} ${what}`,
    notes: ['It was not changed. The hint moves it aside; nothing is deleted.'],
    hint: 'cardwright books reset',
    outcome: 'not_sent',
  });
}

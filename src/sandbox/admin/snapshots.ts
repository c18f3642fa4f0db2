/** snapshots, .save, .restore, .remove: everything the sandbox holds, kept and put back. */

import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { RESTORED, SNAPSHOT_FILE, SNAPSHOT_MARK, TRANSFERS, type Transfer } from '../../contract/sandbox/snapshots.ts';
import type { Snapshot } from '../archive/archives.ts';
import {
  checkSums,
  Damaged,
  MANIFEST_FILE,
  type Manifest,
  manifestLine,
  manifestOf,
  readManifest,
  restoreFrom,
  saveInto,
  tableFile,
  writeAll,
} from '../archive/save.ts';
import { impossible, Refused, wireObject } from '../calls/handler.ts';
import { sandboxNow } from '../clock/clock.ts';
import { Gone } from '../http/request.ts';
import type { ServiceParts, TracelessHandlers } from '../service/service.ts';
import { forgetAdvance, isAdvanceRunning } from '../store/counters.ts';
import { countActiveSubscriptions } from '../store/deliveries.ts';
import { keepCheck } from '../store/ledger.ts';
import type { Sql } from '../store/sql.ts';
import { checkNow, foundIn, stateOf } from './state.ts';

interface Named {
  readonly name: string;
}

type Saved = ReplyOf<AdminOperations['snapshots.save']>;

export const listSnapshots: TracelessHandlers['snapshots'] = async ({ parts }) => ({
  data: (await parts.archives.list()).map(shown),
  page: {},
});

export async function saveSnapshot(parts: ServiceParts, { name }: Named): Promise<Saved> {
  const { archives } = parts;
  const manifest = await readingAll(parts, (sql, now) => archives.save(name, sql, { now }));
  return shown({ name, manifest, isComplete: true });
}

export async function removeSnapshot({ archives }: ServiceParts, { name }: Named): Promise<object> {
  await archives.remove(name);
  return {};
}

export async function restoreSnapshot(parts: ServiceParts, { name }: Named) {
  return replaceStore(parts, await parts.archives.folderOf(name));
}

/** Work on everything the store holds at one moment, what this process has not written yet included. */
async function readingAll<T>(parts: ServiceParts, work: (sql: Sql, now: number) => Promise<T>): Promise<T> {
  const { store, clock, requestLog } = parts;
  await requestLog.flush(parts);
  return store.read(async sql => work(sql, await sandboxNow(sql, clock.now())));
}

/**
 * Puts the content of a folder in place of everything the store holds, once every sum is right. What is damaged is
 * told, and nothing has changed then. Throws `invalid_request` (409) while the clock is being moved.
 */
async function replaceStore(parts: ServiceParts, folder: string) {
  try {
    const manifest = await manifestOf(folder);
    await checkSums(folder, manifest);
    const state = await replaceAll(parts, folder, manifest);
    return { restored: true, problems: [], made_at: manifest.made_at, ...known(state) };
  } catch (error) {
    if (error instanceof Damaged) return { restored: false, problems: [error.message] };
    throw error;
  }
}

/** Of what the store says of itself, what belongs to the answer. */
function known(state: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(state).filter(([name]) => Object.hasOwn(RESTORED, name)));
}

/** What the sandbox then says of itself is asked in the same transaction: behind it an answer could fail for a change that lasts. */
async function replaceAll(parts: ServiceParts, folder: string, manifest: Manifest) {
  const { store, clock, isGone, dispatcher, requestLog, requestNumbers } = parts;
  const goOn = dispatcher?.hold();
  try {
    const state = await store.write(async sql => {
      if (await isAdvanceRunning(sql, isGone)) {
        throw impossible('the clock is being moved: wait for that to end');
      }
      await forgetAdvance(sql);
      await restoreFrom(folder, manifest, sql);
      // Sums say that it is what was written, and not that it was right: asked before any of it is kept.
      const looking = { sql, now: await sandboxNow(sql, clock.now()) };
      const found = await checkNow(looking);
      if (found.faults.length > 0) throw new Damaged(brokenBooks(found.faults));
      await keepCheck(sql, found);
      const webhooks_active = await countActiveSubscriptions(sql);
      return { ...(await stateOf(looking)), webhooks_active, ...foundIn(found) };
    }, 'large');
    requestLog.forget();
    requestNumbers.forget();
    return state;
  } finally {
    goOn?.();
  }
}

const MOST_TOLD_FAULTS = 3;

function brokenBooks(faults: readonly string[]): string {
  const rest = faults.length - MOST_TOLD_FAULTS;
  const more = rest > 0 ? `; and ${rest} more` : '';
  return `its books do not agree: ${faults.slice(0, MOST_TOLD_FAULTS).join('; ')}${more}`;
}

function shown({ name, manifest, isComplete }: Snapshot): Saved {
  const rows = (table: string) => manifest?.tables.find(each => each.name === table)?.rows ?? null;
  return {
    name,
    whole: isComplete,
    made_at: manifest?.made_at ?? null,
    data_set: manifest?.data_set ?? null,
    seed: manifest?.seed ?? null,
    clock: manifest?.clock.mode ?? null,
    cards: rows('cards'),
    transactions: rows('transactions'),
    bytes: manifest?.tables.reduce((sum, { bytes }) => sum + bytes, 0) ?? null,
  };
}

// A snapshot as one file over HTTP: the line of its manifest, then the files of its tables as they are, in the order of the manifest, which says how long each is. Streamed through files, so that its size is nobody's memory.

/** Which of the two a request asks for; any other method is none of them. */
export function transferOf({ method, url = '' }: IncomingMessage): Transfer | undefined {
  const [path] = url.split('?', 1);
  return NAMES.find(name => method === TRANSFERS[name].method && path === ADMIN_PATH + TRANSFERS[name].path);
}
const NAMES = Object.keys(TRANSFERS) as readonly Transfer[];

/** An export that lies ready to be sent. */
export interface Export extends AsyncDisposable {
  /** Answers with the file. `headers` are those of every answer. */
  sendTo(response: ServerResponse, headers: Readonly<Record<string, string>>): Promise<void>;
}

/** Reads the whole store. Throws `StoreBusy` when it cannot be read; nothing is kept then. */
export async function makeExport(parts: ServiceParts): Promise<Export> {
  const folder = await parts.archives.unfinished('export');
  const remove = () => rm(folder, { recursive: true, force: true });
  const { platform } = parts;
  const reading = readingAll(parts, (sql, now) => saveInto(folder, sql, { now, platform }));
  const manifest = await reading.catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const line = manifestLine(manifest);
  const length = manifest.tables.reduce((sum, { bytes }) => sum + bytes, Buffer.byteLength(line));
  return {
    async sendTo(response, headers) {
      response.writeHead(200, {
        ...headers,
        'Content-Type': SNAPSHOT_FILE.contentType,
        'Content-Length': String(length),
      });
      await pipeline(wholeFile(folder, line, manifest), response).catch((error: unknown) => {
        // A client may close the connection with the last byte, before the response has ended.
        throw isOfTheClient(error) ? new Gone('the client went away') : error;
      });
    },
    [Symbol.asyncDispose]: remove,
  };
}

function isOfTheClient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && LEFT.has(error.code);
}

/** Codes of a response whose connection was closed by the other side. */
const LEFT: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

async function* wholeFile(folder: string, line: string, { tables }: Manifest): AsyncGenerator<Uint8Array> {
  yield Buffer.from(line);
  for (const { name } of tables) yield* createReadStream(join(folder, tableFile(name)));
}

/** Takes a file in and puts it in place of what is there; resolves to the JSON of the answer. */
export async function takeImport(parts: ServiceParts, request: IncomingMessage): Promise<string> {
  if (request.headers['content-type'] !== SNAPSHOT_FILE.contentType) {
    throw new Refused('unsupported_media_type', `Send the file as ${SNAPSHOT_FILE.contentType}.`);
  }
  const folder = await parts.archives.unfinished('import');
  try {
    await mkdir(folder, { mode: 0o700 });
    await apart(request, folder);
    return restoredText(await replaceStore(parts, folder));
  } catch (error) {
    // What is left of it need not be read.
    request.resume();
    if (error instanceof Damaged) return restoredText({ restored: false, problems: [error.message] });
    throw request.errored ? new Gone('the client went away') : error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const restoredText = (outcome: object) =>
  JSON.stringify(wireObject(RESTORED, outcome as Readonly<Record<string, unknown>>));

const LONGEST_MANIFEST = 65_536;

/** Takes the one file apart into a folder as it was saved. Sums are checked later, lengths here. */
async function apart(pieces: AsyncIterable<Uint8Array>, folder: string): Promise<void> {
  const reader = new Pieces(pieces);
  const line = await reader.line(LONGEST_MANIFEST);
  if (!line.startsWith(SNAPSHOT_MARK)) throw new Damaged('it is no export of a sandbox');
  const manifest = readManifest(line);
  await written(join(folder, MANIFEST_FILE), file => writeAll(file, Buffer.from(line)));
  for (const table of safely(manifest)) {
    await written(join(folder, tableFile(table.name)), file => reader.copy(table.bytes, file));
  }
  if (!(await reader.isAtEnd())) throw new Damaged('there is more in the file than was written');
}

/** Names become names of files here: whatever a manifest says, they stay in their folder. */
function safely({ tables }: Manifest): Manifest['tables'] {
  const isSafe = tables.every(({ name, bytes }) => /^[a-z_]{1,64}$/.test(name) && Number.isSafeInteger(bytes));
  if (isSafe && new Set(tables.map(({ name }) => name)).size === tables.length) return tables;
  throw new Damaged('its tables are not those of a sandbox');
}

async function written(path: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

/** Bytes as they come, read by line and by length. */
class Pieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#source = pieces[Symbol.asyncIterator]();
  }

  /** The next line, its end included. */
  async line(longest: number): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf(10) + 1;
      if (end > 0) return new TextDecoder().decode(this.#taken(end));
      if (this.#held.length > longest || !(await this.#more())) throw new Damaged('it is no export of a sandbox');
    }
  }

  async copy(length: number, file: FileHandle): Promise<void> {
    for (let left = length; left > 0; ) {
      if (this.#held.length === 0 && !(await this.#more())) throw new Damaged('the file ends too early');
      const part = this.#taken(Math.min(left, this.#held.length));
      left -= part.length;
      await writeAll(file, part);
    }
  }

  async isAtEnd(): Promise<boolean> {
    return this.#held.length === 0 && !(await this.#more());
  }

  #taken(length: number): Uint8Array {
    const part = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    return part;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done === true) return false;
    this.#held = this.#held.length === 0 ? value : Buffer.concat([this.#held, value]);
    return true;
  }
}

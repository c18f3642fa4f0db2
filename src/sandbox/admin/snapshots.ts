/** snapshots, .save, .restore, .remove, export, import: everything the sandbox holds, kept and put back. */
import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { RESTORED, SNAPSHOT_FILE, TRANSFERS, type Transfer } from '../../contract/sandbox/snapshots.ts';
import type { Connection } from '../../engine/connection.ts';
import { connectTo } from '../../engine/open.ts';
import {
  checkTables,
  Damaged,
  type Manifest,
  manifestLine,
  type Snapshot,
  writeSnapshot,
} from '../archive/archives.ts';
import { impossible, Refused, wireObject } from '../calls/handler.ts';
import { sandboxNow } from '../clock/clock.ts';
import { Gone } from '../http/request.ts';
import type { ServiceParts, TracelessHandlers } from '../service/service.ts';
import { BulkInsert, inBulk } from '../store/bulk.ts';
import { forgetAdvance, isAdvanceRunning } from '../store/counters.ts';
import { countActiveSubscriptions } from '../store/deliveries.ts';
import { forgetCheck, keepCheck } from '../store/ledger.ts';
import { beginGeneration } from '../store/open.ts';
import { ARCHIVED, LATE_INDEXES } from '../store/schema.ts';
import { isRefusedStatement, type Sql, type SqlValue } from '../store/sql.ts';
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
  // What this process has not written yet is part of it.
  await parts.requestLog.flush(parts);
  return shown({ name, manifest: await parts.archives.save(name, parts.store), isComplete: true });
}

export async function removeSnapshot({ archives }: ServiceParts, { name }: Named): Promise<object> {
  await archives.remove(name);
  return {};
}

export async function restoreSnapshot(parts: ServiceParts, { name }: Named) {
  return replaceStore(parts, createReadStream(await parts.archives.fileOf(name)));
}

/**
 * Puts a snapshot in place of everything the store holds, once every sum is right. What is damaged is told, and nothing has changed
 * then. Throws `invalid_request` (409) while the clock is being moved.
 */
async function replaceStore(parts: ServiceParts, pieces: AsyncIterable<Uint8Array>) {
  try {
    return await parts.archives.within(pieces, async (path, manifest) => {
      const copy = connectTo(path);
      try {
        await checkTables(copy, parts.store);
        const state = await replaceAll(parts, copy, manifest);
        return { restored: true, problems: [], made_at: manifest.made_at, ...known(state) };
      } finally {
        copy.close();
      }
    });
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
async function replaceAll(parts: ServiceParts, copy: Connection, { seed, ids }: Manifest) {
  const { store, clock, isGone, dispatcher, requestLog, requestNumbers } = parts;
  const goOn = dispatcher?.hold();
  try {
    const state = await store.write(async sql => {
      if (await isAdvanceRunning(sql, isGone)) throw impossible('the clock is being moved: wait for that to end');
      await forgetAdvance(sql);
      await replaceRows(sql, copy);
      await sql.update('meta', { one: 1 }, { seed, ids });
      await beginGeneration(sql);
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

async function replaceRows(sql: Sql, copy: Connection): Promise<void> {
  try {
    await inBulk(sql, LATE_INDEXES, async () => {
      for (const table of [...ARCHIVED].reverse()) await sql.run(`delete from ${table}`);
      for (const table of ARCHIVED) {
        let bulk: BulkInsert | undefined;
        for (const row of copy.prepare(`select * from ${table}`).iterate()) {
          bulk ??= new BulkInsert(sql, table, Object.keys(row));
          bulk.add(Object.values(row) as SqlValue[]);
          if (bulk.isFull) await bulk.flush();
        }
        await bulk?.flush();
      }
    });
    await forgetCheck(sql);
  } catch (error) {
    if (!isRefusedStatement(error)) throw error;
    throw new Damaged(`a row cannot be stored: ${error instanceof Error ? error.message : 'no reason given'}`);
  }
}

const MOST_TOLD_FAULTS = 3;

function brokenBooks(faults: readonly string[]): string {
  const rest = faults.length - MOST_TOLD_FAULTS;
  const more = rest > 0 ? `; and ${rest} more` : '';
  return `its books do not agree: ${faults.slice(0, MOST_TOLD_FAULTS).join('; ')}${more}`;
}

function shown({ name, manifest, isComplete }: Snapshot): Saved {
  return {
    name,
    whole: isComplete,
    made_at: manifest?.made_at ?? null,
    data_set: manifest?.data_set ?? null,
    seed: manifest?.seed ?? null,
    clock: manifest?.clock ?? null,
    cards: manifest?.cards ?? null,
    transactions: manifest?.transactions ?? null,
    bytes: manifest === undefined ? null : manifest.bytes + Buffer.byteLength(manifestLine(manifest)),
  };
}

// A snapshot over HTTP. Streamed through files, so that its size is nobody's memory.

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
export async function makeExport({ archives, store, clock, requestLog }: ServiceParts): Promise<Export> {
  await requestLog.flush({ store });
  const file = await archives.unfinished();
  const remove = () => rm(file, { force: true });
  try {
    await writeSnapshot(store, file, clock.now());
  } catch (error) {
    await remove();
    throw error;
  }
  const length = String((await stat(file)).size);
  return {
    async sendTo(response, headers) {
      const type = SNAPSHOT_FILE.contentType;
      response.writeHead(200, { ...headers, 'Content-Type': type, 'Content-Length': length });
      await pipeline(createReadStream(file), response).catch((error: unknown) => {
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

/** Takes a file in and puts it in place of what is there; resolves to the JSON of the answer. */
export async function takeImport(parts: ServiceParts, request: IncomingMessage): Promise<string> {
  if (request.headers['content-type'] !== SNAPSHOT_FILE.contentType) {
    throw new Refused('unsupported_media_type', `Send the file as ${SNAPSHOT_FILE.contentType}.`);
  }
  try {
    // What is left of a file that is refused stays where it is: it need not be read.
    const outcome = await replaceStore(parts, request.iterator({ destroyOnReturn: false }));
    return JSON.stringify(wireObject(RESTORED, outcome));
  } catch (error) {
    throw request.errored ? new Gone('the client went away') : error;
  } finally {
    request.resume();
  }
}

/** snapshots, .save, .restore, .remove, export, import: everything the sandbox holds, kept and put back. */
import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { RESTORED, SNAPSHOT, SNAPSHOT_FILE, TRANSFERS } from '../../contract/sandbox/snapshots.ts';
import { isDamage } from '../../engine/open.ts';
import { nextTurn } from '../../platform/time.ts';
import { Damaged, type Manifest, manifestLine, type Snapshot, unpack, writeSnapshot } from '../archive/archives.ts';
import { impossible, Refused } from '../calls/handler.ts';
import { checkInvariants } from '../checks/invariants.ts';
import { isAdvanceRunning, sandboxNow } from '../clock/clock.ts';
import { type Answer, replyAnswer } from '../http/answer.ts';
import { Gone } from '../http/request.ts';
import type { ServiceHandlers, ServiceParts } from '../service/service.ts';
import { emptyStore } from '../store/open.ts';
import { activeWebhooks } from '../store/rows.ts';
import { ARCHIVED } from '../store/schema.ts';
import { inBulk, isRefusedStatement, type Sql } from '../store/sql.ts';
import { stateOf } from './state.ts';

export const SNAPSHOTS = {
  snapshots: async ({ archives }) => ({ data: (await archives.list()).map(wireSnapshot), page: {} }),

  'snapshots.save': async (parts, { name }) => {
    // What this process has not written yet is part of it.
    await parts.requestLog.flush(parts);
    return wireSnapshot({ name, manifest: await parts.archives.save(name, parts.store), isComplete: true });
  },

  'snapshots.restore': async (parts, { name }) =>
    replaceStore(parts, createReadStream(await parts.archives.fileOf(name))),

  'snapshots.remove': async ({ archives }, { name }) => {
    await archives.remove(name);
    return {};
  },
} satisfies Partial<ServiceHandlers>;

/**
 * Puts a snapshot in place of everything the store holds, once every sum is right. What is damaged is told, and nothing has changed
 * then. Throws `invalid_request` (409) while the clock is being moved.
 */
async function replaceStore(parts: ServiceParts, pieces: AsyncIterable<Uint8Array>) {
  try {
    return await parts.archives.temporarily(async path => {
      const manifest = await unpack(pieces, path);
      const state = Object.entries(await replaceAll(parts, path, manifest));
      const known = Object.fromEntries(state.filter(([name]) => Object.hasOwn(RESTORED, name)));
      return { restored: true, problems: [], made_at: manifest.made_at, ...known };
    });
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    return { restored: false, problems: [problem] };
  }
}

/** What is wrong with a snapshot that cannot be put back; undefined where it is not the snapshot. */
function problemOf(error: unknown): string | undefined {
  if (error instanceof Damaged) return error.message;
  if (isDamage(error)) return 'its store is damaged';
  return isRefusedStatement(error) ? `a row cannot be stored: ${(error as Error).message}` : undefined;
}

/** What the sandbox then says of itself is asked in the same transaction: behind it an answer could fail for a change that lasts. */
async function replaceAll(parts: ServiceParts, path: string, { seed, ids }: Manifest) {
  const { store, clock, isGone, dispatcher, requestLog } = parts;
  const goOn = dispatcher?.hold();
  try {
    const state = await store.writeLarge(async sql => {
      if (isAdvanceRunning(sql, isGone)) throw impossible('the clock is being moved: wait for that to end');
      checkTables(sql);
      await inBulk(sql, async () => {
        emptyStore(sql, seed, ids);
        for (const table of ARCHIVED) {
          sql.run(`insert into main.${table} select * from beside.${table}`);
          await nextTurn();
        }
      });
      // Sums say that it is what was written, and not that it was right: asked before any of it is kept.
      const looking = { sql, now: sandboxNow(sql, clock.now()) };
      const faults = checkInvariants(sql);
      if (faults.length > 0) throw new Damaged(`its books do not agree: ${faults.join('; ')}`);
      return { ...stateOf(looking), webhooks_active: activeWebhooks(sql).length };
    }, path);
    requestLog.forget();
    return state;
  } finally {
    goOn?.();
  }
}

/** Throws `Damaged` for a file that is no store of this build: it may come from anywhere, and its sums fit. */
function checkTables(sql: Sql): void {
  const tablesOf = (store: string) =>
    JSON.stringify(sql.all(`select type, name, sql from ${store}.sqlite_master order by type, name`));
  if (tablesOf('beside') !== tablesOf('main')) throw new Damaged('its tables are not those of a sandbox');
  const found = sql.get<{ quick_check: string }>('pragma beside.quick_check(1)')?.quick_check;
  if (found !== 'ok') throw new Damaged(`its store is damaged: ${found}`);
}

function wireSnapshot({ name, manifest, isComplete }: Snapshot): ReplyOf<AdminOperations['snapshots.save']> {
  const bytes = manifest && manifest.bytes + Buffer.byteLength(manifestLine(manifest));
  const summary: Readonly<Record<string, unknown>> = { ...manifest, name, whole: isComplete, bytes };
  const fields = Object.keys(SNAPSHOT).map(field => [field, summary[field] ?? null]);
  return Object.fromEntries(fields) as ReplyOf<AdminOperations['snapshots.save']>;
}

// A snapshot over HTTP. Streamed through files, so that its size is nobody's memory.

/** Reads the whole store into a file, which lies ready to be sent. Throws `StoreBusy` when it cannot be read. */
export async function makeExport({ archives, store, clock, requestLog }: ServiceParts): Promise<Answer> {
  await requestLog.flush({ store });
  const path = await archives.unfinished();
  try {
    await writeSnapshot(store, path, clock.now());
    const headers = { 'Content-Type': SNAPSHOT_FILE.contentType, 'Content-Length': String((await stat(path)).size) };
    return { status: 200, headers, body: '', file: path };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Takes a file in and puts it in place of what is there. */
export async function takeImport(parts: ServiceParts, request: IncomingMessage): Promise<Answer> {
  if (request.headers['content-type'] !== SNAPSHOT_FILE.contentType) {
    throw new Refused('unsupported_media_type', `Send the file as ${SNAPSHOT_FILE.contentType}.`);
  }
  try {
    // What is left of a file that is refused stays where it is: it need not be read.
    const outcome = await replaceStore(parts, request.iterator({ destroyOnReturn: false }));
    return replyAnswer(TRANSFERS.import, outcome);
  } catch (error) {
    throw request.errored ? new Gone('the client went away') : error;
  } finally {
    request.resume();
  }
}

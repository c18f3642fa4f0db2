/** snapshots, .save, .restore, .remove, export, import: everything the sandbox holds, kept and put back. */
import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { CARD } from '../../contract/card.ts';
import type { Shape } from '../../contract/field.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { RESTORED, SNAPSHOT, SNAPSHOT_FILE, TRANSFERS } from '../../contract/sandbox/snapshots.ts';
import { cents, toUsd } from '../../core/money.ts';
import type { Connection } from '../../engine/connection.ts';
import { wired } from '../account/wire.ts';
import {
  checkTables,
  copyStore,
  Damaged,
  type Manifest,
  manifestLine,
  onStore,
  type Snapshot,
  writeSnapshot,
} from '../archive/archives.ts';
import { impossible, Refused } from '../calls/handler.ts';
import { forgetAdvance, isAdvanceRunning, sandboxNow } from '../clock/clock.ts';
import { type Answer, replyAnswer } from '../http/answer.ts';
import { Gone } from '../http/request.ts';
import type { ServiceHandlers, ServiceParts } from '../service/service.ts';
import { beginGeneration } from '../store/open.ts';
import { countActiveSubscriptions, forgetCheck, keepCheck } from '../store/rows.ts';
import { ARCHIVED, LATE_INDEXES } from '../store/schema.ts';
import { BulkInsert, inBulk, isRefusedStatement, type Sql, type SqlRow, type SqlValue } from '../store/sql.ts';
import { checkNow, foundIn, stateOf } from './state.ts';

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
    return await parts.archives.within(pieces, (path, manifest) =>
      onStore(path, async copy => {
        await checkTables(copy, parts.store);
        const state = await replaceAll(parts, copy, manifest);
        return { restored: true, problems: [], made_at: manifest.made_at, ...known(state) };
      }),
    );
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
    const state = await store.writeLarge(async sql => {
      if (isAdvanceRunning(sql, isGone)) throw impossible('the clock is being moved: wait for that to end');
      forgetAdvance(sql);
      await replaceRows(sql, copy);
      sql.update('meta', { one: 1 }, { seed, ids });
      beginGeneration(sql);
      // Sums say that it is what was written, and not that it was right: asked before any of it is kept.
      const looking = { sql, now: sandboxNow(sql, clock.now()) };
      const found = checkNow(looking);
      if (found.faults.length > 0) throw new Damaged(brokenBooks(found.faults));
      keepCheck(sql, found);
      const webhooks_active = countActiveSubscriptions(sql);
      return { ...stateOf(looking), webhooks_active, ...foundIn(found) };
    });
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
      for (const table of [...ARCHIVED].reverse()) sql.run(`delete from ${table}`);
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
    forgetCheck(sql);
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
  const remove = () => rm(path, { force: true });
  try {
    await writeSnapshot(store, path, clock.now());
    const headers = { 'Content-Type': SNAPSHOT_FILE.contentType, 'Content-Length': String((await stat(path)).size) };
    return { status: 200, headers, body: '', file: { path, remove } };
  } catch (error) {
    await remove();
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

// snapshots.diff: what differs between two snapshots, or between one and now. Two copies of stores beside each other, asked by SQL.

type Difference = ReplyOf<AdminOperations['snapshots.diff']>;

export const DIFFERENCES = {
  'snapshots.diff': async (parts, { name, to }) => {
    try {
      return await inSnapshot(parts, name, before => {
        if (to !== undefined) return inSnapshot(parts, to, after => differences(before, after));
        return parts.archives.temporarily(async now => {
          await copyStore(parts.store, now);
          return differences(before, now);
        });
      });
    } catch (error) {
      if (error instanceof Damaged) return { problems: [error.message], tables: [], accounts: [], cards: [] };
      throw error;
    }
  },
} satisfies Partial<ServiceHandlers>;

async function inSnapshot<T>({ archives, store }: ServiceParts, name: string, work: (copy: string) => Promise<T>) {
  const file = await archives.fileOf(name);
  let isSound = false;
  try {
    return await archives.within(createReadStream(file), async path => {
      await onStore(path, copy => checkTables(copy, store));
      isSound = true;
      return work(path);
    });
  } catch (error) {
    if (isSound || !(error instanceof Damaged)) throw error;
    throw new Damaged(`the snapshot ${name} is damaged: ${error.message}`);
  }
}

const differences = (before: string, after: string): Promise<Difference> =>
  onStore('memory', sides => {
    sides.prepare('attach ? as a').get(before);
    sides.prepare('attach ? as b').get(after);
    const tables = ARCHIVED.map(table => ({ table, ...countsOf(sides, table) }));
    return {
      problems: [],
      tables: tables.filter(({ added, removed, changed }) => added + removed + changed > 0),
      accounts: accountsMoved(sides),
      cards: cardsChanged(sides),
    };
  });

function countsOf(sides: Connection, table: string) {
  const columns = sides.prepare(`select name, pk from pragma_table_info('${table}')`).all() as {
    name: string;
    pk: number;
  }[];
  const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
  // The key of transactions is an index apart.
  const isSame = (keys.length > 0 ? keys : ['id']).map(key => `x.${key} = y.${key}`).join(' and ');
  const alone = (side: string, other: string) =>
    `(select count(*) from ${side}.${table} x where not exists (select 1 from ${other}.${table} y where ${isSame}))`;
  return sides
    .prepare(`select ${alone('b', 'a')} as added, ${alone('a', 'b')} as removed,
      (select count(*) from (select * from a.${table} except select * from b.${table}) x
        where exists (select 1 from b.${table} y where ${isSame})) as changed`)
    .get() as { readonly added: number; readonly removed: number; readonly changed: number };
}

function accountsMoved(sides: Connection): Difference['accounts'] {
  const rows = sides
    .prepare(`select ledger, sum(amount) as delta from (select ledger, amount from b.postings
      union all select ledger, -amount from a.postings) group by ledger having delta <> 0 order by ledger`)
    .all() as { readonly ledger: string; readonly delta: number }[];
  return rows.map(({ ledger, delta }) => ({ account: ledger, delta: toUsd(cents(delta)) }));
}

/** Columns of a card that nobody is shown by the way, and its text as it is sent, which says the same once more. */
const NOT_TOLD = ['number', 'cvv', 'document'];

function cardsChanged(sides: Connection): Difference['cards'] {
  const ids = sides
    .prepare(`select id from (select * from a.cards except select * from b.cards)
      union select id from (select * from b.cards except select * from a.cards) order by id`)
    .all() as { readonly id: string }[];
  const [old, young] = ['a', 'b'].map(side => sides.prepare(`select * from ${side}.cards where id = ?`));
  return ids.map(({ id }) => {
    const [before, after] = [old?.get(id) as SqlRow | undefined, young?.get(id) as SqlRow | undefined];
    const fields = Object.keys(after ?? before ?? {})
      .filter(field => !NOT_TOLD.includes(field) && before?.[field] !== after?.[field])
      .map(field => ({ field, from: shownValue(before, field), to: shownValue(after, field) }));
    return { card_id: id, fields };
  });
}

/** JSON of the value as it is sent; the hold is no field of a card. */
function shownValue(row: SqlRow | undefined, field: string): string | null {
  if (row === undefined) return null;
  const { [field]: described = CARD.id }: Shape = { ...CARD, hold: CARD.balance };
  return JSON.stringify(wired({ [field]: described }, row)[field] ?? null);
}

/** snapshots, .save, .restore, .remove: everything the sandbox holds, kept and put back. */

import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import { RESTORED } from '../../contract/sandbox/snapshots.ts';
import type { Snapshot } from '../archive/archives.ts';
import { Damaged, type Manifest } from '../archive/manifest.ts';
import { checkSums, manifestOf, restoreFrom } from '../archive/restore.ts';
import { impossible } from '../calls/handler.ts';
import { sandboxNow } from '../clock/clock.ts';
import type { ServiceParts, TracelessHandlers } from '../service/service.ts';
import { forgetAdvance, isAdvanceRunning } from '../store/advances.ts';
import { keepCheck } from '../store/ledger-checks.ts';
import type { Sql } from '../store/sql.ts';
import { countActiveSubscriptions } from '../store/subscriptions.ts';
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
  const manifest = await readingAll(parts, (sql, now) => archives.save(name, sql, { account: parts.account, now }));
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
export async function readingAll<T>(parts: ServiceParts, work: (sql: Sql, now: number) => Promise<T>): Promise<T> {
  const { store, account, clock, requestLog } = parts;
  await requestLog.flush(parts);
  return store.read(async sql => work(sql, await sandboxNow(sql, account, clock.now())));
}

/**
 * Puts the content of a folder in place of everything the store holds, once every sum is right. What is damaged is
 * told, and nothing has changed then. Throws `invalid_request` (409) while the clock is being moved.
 */
export async function replaceStore(parts: ServiceParts, folder: string) {
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
  const { store, account, clock, isGone, dispatcher, requestLog, requestNumbers } = parts;
  const goOn = dispatcher?.hold();
  try {
    const state = await store.write(async sql => {
      if (await isAdvanceRunning(sql, account, isGone)) {
        throw impossible('the clock is being moved: wait for that to end');
      }
      await forgetAdvance(sql, account);
      await restoreFrom(folder, manifest, sql, account);
      // Sums say that it is what was written, and not that it was right: asked before any of it is kept.
      const looking = { sql, account, now: await sandboxNow(sql, account, clock.now()) };
      const found = await checkNow(looking);
      if (found.faults.length > 0) throw new Damaged(brokenBooks(found.faults));
      await keepCheck(sql, account, found);
      const webhooks_active = await countActiveSubscriptions(sql, account);
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

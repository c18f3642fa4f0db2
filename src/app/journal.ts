import { keyPrint } from '../core/key-print.ts';
import type { ClaimRules } from '../journal/claim.ts';
import type { Database } from '../journal/database.ts';
import { type Self, selfOf } from '../journal/holder.ts';
import { createJournal, type Journal } from '../journal/journal.ts';
import { noteKnownState } from '../journal/known-states.ts';
import { newestOps } from '../journal/ops.ts';
import type { Op } from '../journal/records.ts';
import type { AfterAnswer } from '../journal/run.ts';
import { hasJournal, openSqlite } from '../journal/sqlite.ts';
import type { AppHost } from './process-host.ts';
import type { Run } from './run.ts';
import type { JournalPlace } from './shared-journal.ts';

/** The file of this machine. */
async function localPlace({ host, files, opened, local }: Run): Promise<JournalPlace> {
  const { folders, machine } = host;
  const { open, existing } = await local();
  const stateFolders = { configFolder: folders.config, stateFolder: folders.state, machine };
  let noted: Promise<void> | undefined;
  return {
    async open() {
      const opening = await open();
      if ((await opened.identity()).mode === 'sandbox') return opening;
      const { refuseBesideShared } = await import('../journal/shared-place.ts');
      // Where this machine keeps the account of this run in a shared journal.
      await refuseBesideShared(folders.state, files, opened.key);
      noted ??= noteKnownState(opening, stateFolders, files);
      await noted;
      return opening;
    },
    existing,
    keyPrint: async salt => keyPrint(await opened.key(), salt),
  };
}

/** The journal that is named by `--journal`, the environment or the profile; the file of this machine else, and for a sandbox. */
export async function placeFor(run: Run): Promise<JournalPlace> {
  const address = await sharedAddress(run);
  if (address === undefined || (await run.opened.identity()).mode === 'sandbox') return localPlace(run);
  const { sharedPlace } = await import('./shared-journal.ts');
  return sharedPlace(run, address);
}

/** Undefined where operations are kept on this machine. */
export async function sharedAddress({ host: { env }, globals, opened }: Run): Promise<string | undefined> {
  const named =
    globals.journal ?? env['CARDWRIGHT_JOURNAL_URL'] ?? (await opened.settings().catch(() => undefined))?.journal;
  return named === undefined || named === 'local' ? undefined : named;
}

/** This process, as the journal of a run names it. */
export function selfFor(host: AppHost, { user = host.user }: Pick<JournalPlace, 'user'>): Self {
  const { machine, pid } = host;
  return selfOf({ holder: `${user}@${machine}`, pid, isRunning: other => host.isRunning(other) });
}

/** The total of one write when `--timeout` does not say otherwise; the client's own. */
const WRITE_TOTAL_MS = 75_000;

interface JournalSettings {
  readonly rules: ClaimRules;
  readonly afterAnswer: (work: AfterAnswer) => void;
}

export function journalFor(
  { host, globals, opened, notice }: Run,
  place: JournalPlace,
  { rules, afterAnswer }: JournalSettings,
): Journal {
  const { random, clock } = host;
  return createJournal({
    database: place.open,
    existing: place.existing,
    account: place.account,
    keyPrint: place.keyPrint,
    rules,
    self: selfFor(host, place),
    clock,
    random,
    service: opened.service,
    acting: opened.acting,
    sandboxHonoursKeys: opened.sandboxHonoursKeys,
    serviceNow: opened.serviceNow,
    writeTotalMs: globals.timeoutMs ?? WRITE_TOTAL_MS,
    stop: host.signal,
    cut: host.cut,
    hold: () => host.holdCut(),
    notice,
    afterAnswer,
  });
}

/** Path of the journal of this machine, for `doctor`; undefined where there is none. Throws what keeps it from use. */
export async function journalPath(host: AppHost): Promise<string | undefined> {
  if (!hasJournal(host.folders.state)) return undefined;
  const database = await openQuietly(host);
  await database.close();
  return database.shown;
}

/** Operations of this machine, newest first, for completion; none where the journal cannot be read. */
export async function recentOps(
  host: AppHost,
  wish: { readonly unfinished: boolean; readonly most: number },
): Promise<readonly Op[]> {
  if (!hasJournal(host.folders.state)) return [];
  const database = await openQuietly(host).catch(() => undefined);
  const found = await (database && newestOps(database, wish))?.catch(() => []);
  await database?.close();
  return found ?? [];
}

function openQuietly({ platform, noise: random, clock, folders }: AppHost): Promise<Database> {
  return openSqlite({ stateFolder: folders.state, files: { platform, random, warn: () => undefined }, clock });
}

/** Where the operations of a run are kept: the file of this machine, or the journal that several people share. */
import { readApprovers } from '../approvals/request.ts';
import { REQUEST_TOTAL_MS } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { Database, Transaction } from '../journal/database.ts';
import { type Self, selfOf } from '../journal/holder.ts';
import { createJournal, type Journal } from '../journal/journal.ts';
import { noteKnownState } from '../journal/known-states.ts';
import { newestOps } from '../journal/ops.ts';
import type { PostgresSettings } from '../journal/postgres.ts';
import type { Op } from '../journal/records.ts';
import { claimRules, journalLimits, type RulesSettings } from '../journal/rules.ts';
import type { AfterAnswer } from '../journal/run.ts';
import type { SharedPlace } from '../journal/shared-place.ts';
import { hasJournal, openSqlite } from '../journal/sqlite.ts';
import type { AppHost } from './process-host.ts';
import type { Run } from './run.ts';

/** Where the operations of a run are kept. */
export interface JournalPlace {
  /** Opens it, and makes it where there is none. */
  open(): Promise<Database>;
  /** Opens it to read; undefined where there is none. */
  existing(): Promise<Database | undefined>;
  /** Of a shared journal: the role that this run works as. */
  readonly user?: string | undefined;
  /** Of a shared journal: the account of this run. */
  readonly account?: ((tx: Pick<Transaction, 'all'>) => Promise<string>) | undefined;
}

/** The journal that is named by `--journal`, the environment or the profile; the file of this machine else, and for a sandbox. */
export async function placeFor(run: Run): Promise<JournalPlace> {
  const { host, files, opened, local } = run;
  const { folders, machine } = host;
  const isSandbox = async () => (await opened.identity()).mode === 'sandbox';
  const address = await sharedAddress(run);
  if (address !== undefined && !(await isSandbox())) return sharedPlace(run, address);
  const { open, existing } = await local();
  const stateFolders = { configFolder: folders.config, stateFolder: folders.state, machine };
  let noted: Promise<void> | undefined;
  return {
    async open() {
      const opening = await open();
      if (await isSandbox()) return opening;
      const { refuseBesideShared } = await import('../journal/seen-journals.ts');
      // Where this machine keeps the account of this run in a shared journal.
      await refuseBesideShared(folders.state, files, opened.key);
      noted ??= noteKnownState(opening, stateFolders, files);
      await noted;
      return opening;
    },
    existing,
  };
}

/** Undefined where operations are kept on this machine. */
export async function sharedAddress({ host: { env }, globals, opened }: Run): Promise<string | undefined> {
  const named =
    globals.journal ?? env['CARDWRIGHT_JOURNAL_URL'] ?? (await opened.settings().catch(() => undefined))?.journal;
  return named === undefined || named === 'local' ? undefined : named;
}

/** How a database is reached from this machine. Throws `usage` for an address that cannot be used, `guarded` for an unsafe one. */
export async function postgresSettings({ host, keys, terminal }: Run, text: string): Promise<PostgresSettings> {
  const { postgresAddress } = await import('../journal/postgres.ts');
  const { env, clock, random, signal } = host;
  const address = postgresAddress(text, env, host.user);
  if (address.password !== undefined) keys.add(address.password);
  return { address, env, clock, random, signal, onPassword: word => void keys.add(word), ...terminal.waiting };
}

/** Nothing is connected to yet. */
export async function sharedPlace(run: Run, text: string): Promise<SharedPlace> {
  const { host, files, opened, terminal } = run;
  const { sharedPlace: placeOf } = await import('../journal/shared-place.ts');
  const place = placeOf({
    postgres: await postgresSettings(run, text),
    acting: opened.acting,
    key: opened.key,
    stateFolder: host.folders.state,
    files,
    local: async () => (await run.local()).existing(),
    confirm: async question =>
      terminal.canAsk && terminal.prompts.confirm(question, { flag: 'cardwright journal init --key' }),
  });
  opened.onCloseOfJournal(place.close);
  return place;
}

/** This process, as the journal of a run names it. */
export function selfFor(host: AppHost, { user = host.user }: Pick<JournalPlace, 'user'>): Self {
  const { machine, pid, isRunning } = host;
  return selfOf({ holder: `${user}@${machine}`, pid, isRunning });
}

/** What a claim asks of limits and approvals. */
export function rulesSettings({ host, opened, limits }: Run, { user }: JournalPlace): RulesSettings {
  return {
    isShared: user !== undefined,
    sources: limits.sources,
    async approvers() {
      const { approvers: lines, path } = await limits.managed();
      if (lines !== undefined) return readApprovers(lines.join('\n'), path);
      // In a shared journal an admin of the database says who may approve.
      const { approvers_file: file } = await opened.settings();
      return user !== undefined || file === undefined ? undefined : readApprovers(await host.readFile(file), file);
    },
    requester: `${host.user}@${host.machine}`,
  };
}

/** Each limit that counts for a run. `unread` says why those of its shared journal are not among them. */
export async function shownLimits({ limits }: Run, placeOfRun: () => Promise<JournalPlace>) {
  let unread: string | undefined;
  const ofJournal = async () => {
    const { account, existing } = await placeOfRun();
    if (account === undefined) return [];
    return (await existing())?.read(async tx => [await journalLimits(tx, await account(tx))]) ?? [];
  };
  const sources = await ofJournal().catch((thrown: unknown) => {
    if (!(thrown instanceof CliError) || !['guarded', 'check_failed', 'usage'].includes(thrown.kind)) throw thrown;
    unread = `limits of the shared journal cannot be read: ${thrown.message}`;
    return [];
  });
  return { known: await limits.shown(sources), unread };
}

/** Takes what is to be done once the answer was given. */
export function journalFor(run: Run, place: JournalPlace, afterAnswer: (work: AfterAnswer) => void): Journal {
  const { host, globals, opened, notice } = run;
  const { random, clock, signal: stop, cut } = host;
  const { service, acting, sandboxHonoursKeys, serviceNow } = opened;
  return createJournal({
    database: place.open,
    existing: place.existing,
    account: place.account,
    key: opened.key,
    rules: claimRules(rulesSettings(run, place)),
    self: selfFor(host, place),
    afterAnswer,
    ...{ clock, random, service, acting, sandboxHonoursKeys, serviceNow, stop, cut, notice },
    writeTotalMs: globals.timeoutMs ?? REQUEST_TOTAL_MS.write,
    hold: () => host.holdCut(),
  });
}

/** Operations of this machine, newest first, for completion; none where the journal cannot be read. */
export async function recentOps(host: AppHost, wish: Parameters<typeof newestOps>[1]): Promise<readonly Op[]> {
  const { platform, noise: random, clock, folders } = host;
  if (!hasJournal(folders.state)) return [];
  const files = { platform, random, warn: () => undefined };
  const database = await openSqlite({ stateFolder: folders.state, files, clock }).catch(() => undefined);
  const found = await (database && newestOps(database, wish))?.catch(() => []);
  await database?.close();
  return found ?? [];
}

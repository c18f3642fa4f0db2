/** The journal of this user, on the real disk, for the profile of this run. */
import type { Globals } from '../cli/parsing/globals.ts';
import type { Reader } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { accountPrint, keyPrint } from '../core/key-print.ts';
import type { Cents } from '../core/money.ts';
import { capabilitiesIn } from '../journal/idempotency-support.ts';
import { knownStatesIn } from '../journal/known-states.ts';
import type { AfterAnswer } from '../journal/runs/dependencies.ts';
import { createJournal } from '../journal/runs/journal.ts';
import { type SpentSince, spentByOp } from '../journal/runs/spent.ts';
import { type StateStanding, stateStanding } from '../journal/store/key-print.ts';
import { type LocalStoreSettings, localStore } from '../journal/store/local-store.ts';
import type { OpStore } from '../journal/store/op-store.ts';
import { placesIn } from '../journal/store/paths.ts';
import type { Journal } from '../journal/types.ts';
import { createDisk } from '../journal/wal/storage.ts';
import type { SharedJournalSettings } from '../team/open-shared.ts';
import type { AppHost } from './app-host.ts';
import { approvalGate } from './approval-gate.ts';
import type { Connections } from './connections.ts';
import type { Waiting } from './team-journal.ts';

export interface JournalDependencies {
  readonly host: AppHost;
  readonly globals: Globals;
  readonly opened: Connections;
  readonly store: () => Promise<OpStore>;
  readonly reader: () => Promise<Reader>;
  /** When this command began, ms UTC. */
  readonly begunAt: number;
  readonly notice: (text: string) => void;
  readonly afterAnswer: (work: AfterAnswer) => void;
}

/** The total of one write when `--timeout` does not say otherwise; the client's own. */
const WRITE_TOTAL_MS = 75_000;

export async function journalFor(surroundings: JournalDependencies): Promise<Journal> {
  const { host, globals, opened, begunAt, notice, afterAnswer } = surroundings;
  const { platform, random, clock, pid } = host;
  const files = { platform, random, warn: (text: string) => notice(`warning: ${text}`) };
  return createJournal({
    store: await surroundings.store(),
    clock,
    random,
    pid,
    begunAt,
    service: opened.service,
    async acting() {
      const { profile, mode, baseUrl } = await opened.identity();
      return { profile, mode, origin: baseUrl };
    },
    overrides: opened.overrides,
    sandboxHonoursKeys: opened.sandboxHonoursKeys,
    statedForKey: opened.statedForKey,
    serviceNow: opened.serviceNow,
    capabilities: capabilitiesIn(host.folders.state, files),
    writeTotalMs: globals.timeoutMs ?? WRITE_TOTAL_MS,
    stop: host.signal,
    cut: host.cut,
    hold: () => host.holdCut(),
    notice,
    afterAnswer,
    approvals: approvalGate(surroundings),
  });
}

export interface Around extends Pick<JournalDependencies, 'host' | 'globals' | 'opened' | 'notice'> {
  /** Filled with what must be taken out of all output. */
  readonly keys: Set<string>;
  /** How long a shared journal is waited for, and who is told. */
  readonly waiting: Waiting;
}

/** A journal that several people share where one is named; the files of this machine otherwise, and for a sandbox. */
export async function storeFor(around: Around): Promise<OpStore> {
  const { opened } = around;
  if (!(await isShared(around))) return localStoreFor(around);
  if ((await opened.identity()).mode === 'sandbox') return localStoreFor(around);
  const settings = await sharedSettings(around);
  if (settings === undefined) return localStoreFor(around);
  const { sharedStoreFor } = await import('./shared-journal.ts');
  return sharedStoreFor(settings, opened);
}

/** Whether a shared journal is named for this run, by an option, a variable or a setting of the profile. */
export async function isShared(around: Pick<Around, 'host' | 'globals' | 'opened'>): Promise<boolean> {
  if (isSharedNamed(around)) return true;
  const kept = await around.opened.settings().catch(() => undefined);
  return kept?.journal !== undefined || kept?.journal_url_file !== undefined;
}

/** The same for whoever answers requests: in a shared journal that is named here he needs neither an API key nor a profile. */
export async function reviewStoreFor(around: Around): Promise<OpStore> {
  const { host, globals } = around;
  const isChosen = globals.sandbox || globals.profile !== undefined || Boolean(host.env['CARDWRIGHT_PROFILE']);
  const settings = isSharedNamed(around) && !isChosen ? await sharedSettings(around) : undefined;
  if (settings === undefined) return storeFor(around);
  const { sharedStoreFor } = await import('./shared-journal.ts');
  return sharedStoreFor({ ...settings, actsAs: undefined }, around.opened);
}

/** Undefined where ops are kept on this machine. Nothing is connected to. Throws `usage` where no account is named. */
export async function sharedSettings(around: Around): Promise<SharedJournalSettings | undefined> {
  const { host, globals, opened, keys, notice, waiting } = around;
  const [{ namedJournal }, { machineOf }] = await Promise.all([
    import('./team-journal.ts'),
    import('./shared-journal.ts'),
  ]);
  const connection = await namedJournal({ host, keys, flag: globals.journal, settings: opened.settings, waiting });
  if (connection === undefined) return undefined;
  const account =
    host.env['CARDWRIGHT_JOURNAL_ACCOUNT'] ?? (await opened.settings().catch(nobodyChosen))?.journal_account;
  if (account === undefined) throw accountNotNamed(connection.shown);
  const actsAs = opened.identity;
  const writeTotalMs = globals.timeoutMs ?? WRITE_TOTAL_MS;
  const stepsToLocal = async () => (await import('./still-named.ts')).stepsToLocal(around);
  return { connection, account, actsAs, notice, writeTotalMs, machine: machineOf(host), stepsToLocal };
}

/** Whoever answers requests may have no profile. */
function nobodyChosen(thrown: unknown): undefined {
  if (!(thrown instanceof CliError) || thrown.kind !== 'not_authenticated') throw thrown;
}

function isSharedNamed({ host: { env }, globals }: Pick<Around, 'host' | 'globals'>): boolean {
  return [globals.journal, env['CARDWRIGHT_JOURNAL_URL'], env['CARDWRIGHT_JOURNAL_URL_FILE']].some(Boolean);
}

function accountNotNamed(shown: string): CliError {
  return new CliError('usage', {
    message: `the shared journal ${shown} is named, and not the account in it`,
    notes: ['A profile keeps it: cardwright profiles set <name> journal_account <account>'],
    hint: 'export CARDWRIGHT_JOURNAL_ACCOUNT=main',
    outcome: 'not_sent',
  });
}

/** The files of this machine. */
function localStoreFor(around: Around): OpStore {
  return localStore(localSettings(around));
}

export function localSettings(around: Around): LocalStoreSettings {
  const { host, opened, notice } = around;
  const { platform, random, clock, pid, folders, machine } = host;
  const files = { platform, random, warn: (text: string) => notice(`warning: ${text}`) };
  const isRunning = (other: number) => host.isRunning(other);
  return {
    stateFolder: folders.state,
    disk: createDisk({ ...files, lock: { pid, clock, random, isRunning }, noise: host.noise }),
    random,
    pid,
    keyPrint: async salt => keyPrint(await opened.key(), salt),
    accountPrint: async account => accountPrint(await opened.key(), account),
    async overShared(note, command) {
      const { commandOverShared } = await import('./over-shared.ts');
      return commandOverShared(around, note, command);
    },
    knownStates: knownStatesIn({ configFolder: folders.config, stateFolder: folders.state, machine }, files),
  };
}

/** How the state folder stands by its journal and by the configuration. Nothing is changed. Throws as `stateStanding`. */
export async function standingOfState({
  platform,
  random,
  clock,
  pid,
  folders,
  machine,
}: AppHost): Promise<StateStanding> {
  const files = { platform, random, warn: () => undefined };
  const disk = createDisk({ ...files, lock: { pid, clock, random } });
  const knownStates = knownStatesIn({ configFolder: folders.config, stateFolder: folders.state, machine }, files);
  const standing = await stateStanding({
    disk,
    places: placesIn(folders.state),
    stateFolder: folders.state,
    knownStates,
  });
  const { knowsShared } = await import('../team/own-copies.ts');
  return { ...standing, used: standing.used || (await knowsShared(disk, folders.state)) };
}

/** What a profile has spent, as the journal has it. Nothing is changed. */
export async function spentByProfile(store: OpStore, asked: SpentSince): Promise<ReadonlyMap<string, Cents>> {
  return spentByOp(store, asked);
}

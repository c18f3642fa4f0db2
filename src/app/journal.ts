/** The journal of this user, on the real disk, for the profile of this run. */
import type { Globals } from '../cli/parsing/globals.ts';
import type { Cents } from '../core/money.ts';
import { capabilitiesIn } from '../journal/idempotency-support.ts';
import { knownStatesIn } from '../journal/known-states.ts';
import type { AfterAnswer } from '../journal/runs/dependencies.ts';
import { createJournal } from '../journal/runs/journal.ts';
import { type SpentSince, spentByOp } from '../journal/runs/spent.ts';
import { type StateStanding, stateStanding } from '../journal/store/key-print.ts';
import { localStore } from '../journal/store/local-store.ts';
import type { OpStore } from '../journal/store/op-store.ts';
import { placesIn } from '../journal/store/paths.ts';
import type { Journal } from '../journal/types.ts';
import { createDisk } from '../journal/wal/storage.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';
import { keyPrint } from './key-print.ts';

export interface JournalDependencies {
  readonly host: AppHost;
  readonly globals: Globals;
  readonly opened: Connections;
  /** When this command began, ms UTC. */
  readonly begunAt: number;
  readonly notice: (text: string) => void;
  readonly afterAnswer: (work: AfterAnswer) => void;
}

/** The total of one write when `--timeout` does not say otherwise; the client's own. */
const WRITE_TOTAL_MS = 75_000;

export function journalFor(surroundings: JournalDependencies): Journal {
  const { host, globals, opened, begunAt, notice, afterAnswer } = surroundings;
  const { platform, random, clock, pid } = host;
  const files = { platform, random, warn: (text: string) => notice(`warning: ${text}`) };
  return createJournal({
    store: storeFor(surroundings),
    clock,
    random,
    pid,
    begunAt,
    service: opened.service,
    async acting() {
      const { profile, mode, baseUrl } = await opened.identity();
      return { profile, mode, origin: baseUrl };
    },
    sandboxHonoursKeys: opened.sandboxHonoursKeys,
    serviceNow: opened.serviceNow,
    capabilities: capabilitiesIn(host.folders.state, files),
    writeTotalMs: globals.timeoutMs ?? WRITE_TOTAL_MS,
    stop: host.signal,
    cut: host.cut,
    hold: () => host.holdCut(),
    notice,
    afterAnswer,
  });
}

/** The files of this machine. */
function storeFor({ host, opened, notice }: Pick<JournalDependencies, 'host' | 'opened' | 'notice'>): OpStore {
  const { platform, random, clock, pid, folders, machine } = host;
  const files = { platform, random, warn: (text: string) => notice(`warning: ${text}`) };
  const isRunning = (other: number) => host.isRunning(other);
  return localStore({
    stateFolder: folders.state,
    disk: createDisk({ ...files, lock: { pid, clock, random, isRunning }, noise: host.noise }),
    random,
    pid,
    keyPrint: salt => keyPrint(opened, salt),
    knownStates: knownStatesIn({ configFolder: folders.config, stateFolder: folders.state, machine }, files),
  });
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
  return stateStanding({ disk, places: placesIn(folders.state), stateFolder: folders.state, knownStates });
}

/** What a profile has spent, as the journal has it. Nothing is changed. */
export async function spentByProfile(
  around: Pick<JournalDependencies, 'host' | 'opened'>,
  asked: SpentSince,
): Promise<ReadonlyMap<string, Cents>> {
  return spentByOp(storeFor({ ...around, notice: () => undefined }), asked);
}

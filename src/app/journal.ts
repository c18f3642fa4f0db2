/** The journal of this user, on the real disk, for the profile of this run. */
import type { Globals } from '../cli/parsing/globals.ts';
import type { Cents } from '../core/money.ts';
import { capabilitiesIn } from '../journal/idempotency-support.ts';
import { knownStatesIn } from '../journal/known-states.ts';
import type { AfterAnswer } from '../journal/runs/dependencies.ts';
import { createJournal } from '../journal/runs/journal.ts';
import { type StateStanding, stateStanding } from '../journal/runs/key-print.ts';
import { type SpentSince, spentByOp } from '../journal/runs/spent.ts';
import type { Journal } from '../journal/types.ts';
import { placesIn } from '../journal/wal/paths.ts';
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
  const isRunning = (other: number) => host.isRunning(other);
  return createJournal({
    stateFolder: host.folders.state,
    disk: createDisk({ ...files, lock: { pid, clock, random, isRunning }, noise: host.noise }),
    clock,
    random,
    pid,
    begunAt,
    service: opened.service,
    async acting() {
      const { profile, mode, baseUrl } = await opened.identity();
      return { profile, mode, origin: baseUrl };
    },
    keyPrint: salt => keyPrint(opened, salt),
    sandboxHonoursKeys: opened.sandboxHonoursKeys,
    serviceNow: opened.serviceNow,
    capabilities: capabilitiesIn(host.folders.state, files),
    knownStates: knownStatesIn(
      { configFolder: host.folders.config, stateFolder: host.folders.state, machine: host.machine },
      files,
    ),
    writeTotalMs: globals.timeoutMs ?? WRITE_TOTAL_MS,
    stop: host.signal,
    cut: host.cut,
    hold: () => host.holdCut(),
    notice,
    afterAnswer,
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
export async function spentByProfile(host: AppHost, asked: SpentSince): Promise<ReadonlyMap<string, Cents>> {
  const { platform, random, clock, pid, folders } = host;
  const disk = createDisk({ platform, random, warn: () => undefined, lock: { pid, clock, random } });
  return spentByOp({ disk, places: placesIn(folders.state) }, asked);
}

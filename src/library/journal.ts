/** `intent` of `cardwright/client`: one change of a program through a journal. Loaded when one is sent. */
import { hostname, userInfo } from 'node:os';
import { readApprovers } from '../approvals/request.ts';
import { type Input, isJournaled, type WriteName } from '../contract/calls.ts';
import type { Service } from '../contract/service.ts';
import { notSent, usage } from '../core/errors.ts';
import { intentFault } from '../core/names.ts';
import type { Secret } from '../core/secret.ts';
import type { Database } from '../journal/database.ts';
import { selfOf } from '../journal/holder.ts';
import type { Journal } from '../journal/journal.ts';
import { createJournal } from '../journal/journal.ts';
import { claimRules } from '../journal/rules.ts';
import type { SharedPlace } from '../journal/shared-place.ts';
import { hasJournal, openSqlite } from '../journal/sqlite.ts';
import { readerOf } from '../journal/work.ts';
import { managedFilePath, readManagedLimits } from '../limits/managed-file.ts';
import type { Environment, Host } from '../platform/host.ts';
import { rest } from '../platform/time.ts';
import { executeOnly, planOfOne, resultBefore } from '../writes/journaled-write.ts';

/** A journal of this machine, or a shared one. */
export interface ChosenJournal {
  /** State folder of `cardwright`: what is known of the service's idempotency keys lies there. */
  readonly stateFolder: string;
  /** `postgres://…`; what the address leaves out comes from the variables of PostgreSQL. */
  readonly database?: { readonly url: string; readonly env: Environment };
}

/** The process of the program and its account. */
interface NamedCalls extends Pick<Host, 'clock' | 'random' | 'platform' | 'pid'> {
  readonly service: Service;
  readonly baseUrl: string;
  readonly mode: 'test' | 'live';
  readonly key: Secret;
  /** Longest life of one write, ms. */
  readonly writeTotalMs: number;
  readonly notice: (text: string) => void;
}

interface NamedCall {
  readonly operation: WriteName;
  /** Money in cents. */
  readonly input: Input<WriteName>;
  readonly intent: string;
  readonly key: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Where the ops of a client are kept; a shared journal has accounts, and a role that this program works as. */
type Place = ReturnType<typeof folderPlace> & Partial<Pick<SharedPlace, 'account' | 'user'>>;

/** A connection to a database that nobody uses is closed after this, ms: the program may end. */
const IDLE_MS = 5_000;

/** Calls with an `intent`, through the journal that the options of the client name. */
export async function openNamedCalls(around: NamedCalls, { stateFolder, database }: ChosenJournal) {
  const isShared = database !== undefined;
  const place = isShared ? await databasePlace(around, stateFolder, database) : folderPlace(around, stateFolder);
  let underWay = 0;
  let idle = new AbortController();

  async function closeWhenIdle(): Promise<void> {
    idle = new AbortController();
    if (await rest(IDLE_MS, around.clock, idle.signal)) await place.close();
  }

  async function using<T>(work: () => Promise<T>): Promise<T> {
    idle.abort();
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
      if (underWay === 0 && isShared) void closeWhenIdle();
    }
  }

  return {
    /**
     * Makes the change, or tells what an earlier call with the same name has done. Throws as `executeOnly`, and `usage` for a name
     * or an operation that no journal keeps, before anything is opened.
     */
    async send(call: NamedCall): Promise<unknown> {
      const { intent, operation } = call;
      const fault = intentFault(intent);
      if (fault !== undefined) throw usage(`intent ${fault}`);
      const message = `an intent is for operations that move money, and ${operation} does not`;
      if (!isJournaled(operation)) throw notSent('usage', message, { operation });
      return using(async () => {
        const input = call.input as Readonly<Record<string, unknown>>;
        const wanted = { ...call, input, marker: true, intentName: intent };
        const plan = planOfOne(wanted);
        const journal = journalOf(around, place, call.signal);
        const reader = readerOf(around.service);
        const earlier = (await journal.earlierUses(plan)).get(1);
        if (earlier?.settled !== undefined) {
          const { result } = await resultBefore(wanted, { ...earlier, settled: earlier.settled }, reader);
          const objected = await journal.shown([earlier]);
          if (objected !== undefined) throw objected;
          return result;
        }
        await using run = await journal.begin(plan);
        return (await executeOnly(run, wanted, reader)).result;
      });
    },
    /** Throws `guarded` where limits, or a shared journal that is away, keep a change back that no journal keeps. */
    admitUnkept: (signal: AbortSignal | undefined) => using(() => journalOf(around, place, signal).admitUnkept()),
    async close(): Promise<void> {
      idle.abort();
      await place.close();
    },
  };
}

/** The journal of a folder of this machine: `ops list` of a command line with the same state folder shows its operations. */
function folderPlace({ clock, random, platform, notice }: NamedCalls, stateFolder: string) {
  let database: Promise<Database> | undefined;
  const open = () => {
    database ??= openSqlite({ stateFolder, files: { platform, random, warn: notice }, clock }).catch(
      (thrown: unknown) => {
        database = undefined;
        throw thrown;
      },
    );
    return database;
  };
  return {
    open,
    existing: async (): Promise<Database | undefined> => (hasJournal(stateFolder) ? open() : undefined),
    close: async () => (await database?.catch(() => undefined))?.close(),
  };
}

/** A journal that several people share. Its connection is closed when nobody has used it for a while. */
async function databasePlace(
  around: NamedCalls,
  stateFolder: string,
  { url, env }: NonNullable<ChosenJournal['database']>,
): Promise<Place> {
  const { key, clock, random, platform, mode, baseUrl, notice } = around;
  const [{ postgresAddress }, { sharedPlace }] = await Promise.all([
    import('../journal/postgres.ts'),
    import('../journal/shared-place.ts'),
  ]);
  const { signal } = new AbortController();
  const files = { platform, random, warn: notice };
  return sharedPlace({
    postgres: { address: postgresAddress(url, env, userName()), env, clock, random, signal },
    acting: async () => ({ profile: 'client', mode, origin: baseUrl }),
    key: async () => key,
    stateFolder,
    files,
    local: async () => (hasJournal(stateFolder) ? openSqlite({ stateFolder, files, clock }) : undefined),
    confirm: async () => false,
  });
}

function journalOf(around: NamedCalls, place: Place, signal = new AbortController().signal): Journal {
  const { service, platform, pid, baseUrl, mode, key } = around;
  const managed = async () =>
    readManagedLimits({ path: managedFilePath(platform), administrator: 0, platform }, new URL(baseUrl).origin);
  return createJournal({
    ...around,
    rules: claimRules({
      isShared: place.user !== undefined,
      sources: async () => (await managed()).sources,
      async approvers() {
        const { approvers, path } = await managed();
        return approvers && readApprovers(approvers.join('\n'), path);
      },
      requester: `${userName()}@${hostname()}`,
    }),
    database: place.open,
    existing: place.existing,
    account: place.account,
    key: async () => key,
    self: selfOf({ holder: `${place.user ?? userName()}@${hostname()}`, pid }),
    service: async () => service,
    acting: async () => ({ profile: 'client', mode, origin: baseUrl }),
    stop: signal,
    cut: signal,
    hold: () => () => undefined,
  });
}

/** A container may run a program under an id without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'program';
  }
}

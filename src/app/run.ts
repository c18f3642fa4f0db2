/** One run as the parts of the program have it: what is opened for it when it is first asked for. */
import { join } from 'node:path';
import type { AuditLog } from '../audit/log.ts';
import type { ReadName } from '../contract/calls.ts';
import type { Reader, ReadOptions, Service } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import type { Database } from '../journal/database.ts';
import {
  LIMIT_NAMES,
  limitWords,
  readLimits,
  type SourcedLimits,
  type StrictestLimits,
  sourceWords,
  strictest,
} from '../limits/limits.ts';
import { readManagedLimits } from '../limits/managed-file.ts';
import { type Connections, connections, once } from './connections.ts';
import type { AppHost } from './process-host.ts';
import type { BegunRun } from './terminal.ts';

/** One run, for whatever is put together for it. What is a function is opened once, when it is first asked for. */
export interface Run extends BegunRun {
  readonly opened: Connections;
  readonly reader: () => Promise<Reader>;
  readonly limits: RunLimits;
  /** The journal of this machine, which holds its audit log too. */
  readonly local: () => Promise<LocalDatabase>;
  readonly audit: () => Promise<AuditLog>;
}

/** Nothing is opened yet. */
export function openRun(begun: BegunRun): Run {
  const { host } = begun;
  const opened = connections(begun);
  const local = once(async () => localDatabase(begun, opened));
  return {
    ...begun,
    opened,
    reader: once(async () => readerOf(host, await opened.service(), opened.noteShown)),
    limits: runLimits(host, opened),
    local,
    audit: once(async () => {
      const { auditLog } = await import('../audit/log.ts');
      const { path, open, existing } = await local();
      const { clock, pid, user, machine } = host;
      return auditLog({ path, database: open, existing, clock, pid, user, host: machine });
    }),
  };
}

/** Pages from which on a list is a long one, and its rows much garbage. */
const MANY_PAGES = 60;

/** Reading operations alone, the bare results. */
type Values = Readonly<Record<string, unknown>>;

function readerOf(host: AppHost, service: Service, noteShown: Connections['noteShown']): Reader {
  async function* noted<Page>(pages: AsyncIterable<Page>, operation: string, input: Values) {
    let count = 0;
    for await (const page of pages) {
      count += 1;
      if (count === MANY_PAGES) await host.keepSmallAtOnce();
      noteShown(operation, input, page);
      yield page;
    }
  }
  return {
    read: async <N extends ReadName>(operation: N, input: Parameters<Reader['read']>[1], options?: ReadOptions) => {
      const { result } = await service.send(operation, input as never, options);
      noteShown(operation, input as Values, result);
      return result as never;
    },
    pages: (operation, input, options) => noted(service.pages(operation, input, options), operation, input as Values),
  };
}

/** A limit for people. */
interface ShownLimit {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

type RunLimits = ReturnType<typeof runLimits>;

function runLimits(host: AppHost, opened: Connections) {
  const managed = once(async () => {
    const { mode, baseUrl } = await opened.identity();
    return readManagedLimits(host.limitsFile, mode === 'sandbox' ? undefined : new URL(baseUrl).origin);
  });
  const sources = once(async (): Promise<readonly SourcedLimits[]> => {
    const [{ profile }, settings] = [await opened.identity(), await opened.settings()];
    const read = readLimits(settings);
    if ('wrong' in read)
      throw new CliError('internal', { message: `${read.wrong} of profile ${profile} cannot be read` });
    const own: SourcedLimits = { source: { kind: 'profile', name: profile }, limits: read.limits };
    return [...(await managed()).sources, own];
  });
  return {
    /** Throws `guarded` for a managed file that does not count. */
    managed,
    sources,
    strictest: async (): Promise<StrictestLimits> => strictest(await sources()),
    /** Each limit that is set, and by whom. */
    async shown(): Promise<readonly ShownLimit[]> {
      const limits = strictest(await sources());
      const { reveal, path } = await managed();
      const shown = LIMIT_NAMES.flatMap(name => {
        const set = limits[name];
        return set === undefined ? [] : [{ name, value: limitWords(name, set.value), source: sourceWords(set.source) }];
      });
      return reveal === undefined ? shown : [...shown, { name: 'reveal', value: reveal, source: path }];
    },
  };
}

type LocalDatabase = Awaited<ReturnType<typeof localDatabase>>;

/** The journal of this machine, which holds its audit log too. Opened once. */
async function localDatabase({ host, files }: BegunRun, opened: Connections) {
  const { hasJournal, JOURNAL_FILE, openSqlite } = await import('../journal/sqlite.ts');
  const { clock, folders } = host;
  let database: Promise<Database> | undefined;
  const open = () => {
    if (database === undefined) {
      database = openSqlite({ stateFolder: folders.state, files, clock });
      opened.onClose(async () => (await database?.catch(() => undefined))?.close());
    }
    return database;
  };
  return {
    path: join(folders.state, JOURNAL_FILE),
    /** Makes it where there is none. */
    open,
    /** Undefined where there is none. */
    existing: async () => (database !== undefined || hasJournal(folders.state) ? open() : undefined),
  };
}

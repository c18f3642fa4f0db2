/** The sandbox as a server for other programs. */
import { resolve } from 'node:path';
import type { SandboxServers, ServerRow, StartedServer } from '../cli/context.ts';
import type { AccountsServerOptions, ServerOptions } from '../contract/sandbox/admin.ts';
import { notSent } from '../core/errors.ts';
import type { PageFiles } from '../sandbox/page/inspector-sessions.ts';
import { findServer, type Serving, startServer, stopServer } from '../sandbox/serving/started.ts';
import type { AppHost } from './process-host.ts';
import type { Run } from './run.ts';

export function sandboxServersFor(run: Run): SandboxServers {
  const { host, opened, files } = run;
  const find = () => findServer(host.folders.data, files);
  const running = async () => {
    const found = await find();
    return found && rowOf(host, found, found.keyFile);
  };
  return {
    start: options => start(run, options),
    startAccounts: options => startAccounts(run, options),
    running,
    async control() {
      if ((await opened.sandboxElsewhere()) !== undefined) return undefined;
      await opened.checkSandboxIsMeant();
      const found = await find();
      return found && opened.adminAt(found.origin, found.adminToken);
    },
    async detach(options) {
      const { startDaemon } = await import('./sandbox-started.ts');
      return startDaemon(run, options, running);
    },
    async openPrivate(options) {
      const { openPrivate } = await import('./sandbox-started.ts');
      const made = await openPrivate(run, options);
      opened.onClose(() => made.close());
      return made;
    },
    async stop() {
      const found = await find();
      if (found === undefined)
        throw notSent('unreachable', 'no sandbox is started for this store', 'cardwright sandbox start');
      await stopServer(found, host);
      return rowOf(host, found, found.keyFile);
    },
  };
}

/** What a server that is started here takes of the machine. */
async function surroundings(run: Run) {
  const { host, version, warn } = run;
  const { folders, clock, random, noise, pid, platform } = host;
  const { scenarioPlayer } = await import('./sandbox-started.ts');
  host.keepSmall();
  return {
    ...{ folders, clock, random, noise, pid, platform, version, pageFiles, warn },
    scenarios: scenarioPlayer(run),
    isRunning: (other: number) => host.isRunning(other),
    onFault: (error: unknown) => warn(error instanceof Error ? error.message : String(error)),
  };
}

async function start(run: Run, options: ServerOptions): Promise<StartedServer> {
  const { host } = run;
  const { removeAbandonedFolders } = await import('./sandbox-started.ts');
  await removeAbandonedFolders(host);
  const { readyFile } = options;
  const ready = readyFile === undefined ? undefined : resolve(host.cwd, readyFile);
  const started = await startServer(await surroundings(run), { ...options, readyFile: ready });
  return served(run, rowOf(host, started.facts, started.keyFile), started);
}

async function startAccounts(run: Run, options: AccountsServerOptions): Promise<StartedServer> {
  const { cwd, clock, pid } = run.host;
  const { startAccounts: begin } = await import('../sandbox/serving/accounts.ts');
  const accounts = resolve(cwd, options.accounts);
  const started = await begin(await surroundings(run), { ...options, accounts });
  const row = { url: started.url, pid, started_at: new Date(clock.now()).toISOString(), store: accounts };
  return served(run, row, started);
}

/** What was started serves until a signal comes, and is ended with this run. */
function served({ host, opened }: Run, row: ServerRow, started: Serving): StartedServer {
  opened.onClose(async () => {
    started.stop();
    // Whoever serves was told how it ended.
    await started.ended.catch(() => undefined);
  });
  return {
    row,
    async serve() {
      const { signal } = host;
      if (signal.aborted) started.stop();
      signal.addEventListener('abort', () => started.stop(), { once: true });
      await started.ended;
    },
  };
}

type Found = Pick<ServerRow, 'url' | 'pid' | 'started_at'>;

function rowOf({ folders }: AppHost, { url, pid, started_at }: Found, keyFile: string): ServerRow {
  return { url, pid, started_at, store: resolve(folders.data, 'sandbox', 'store.db'), api_key_file: keyFile };
}

declare const BUNDLED_FILE: ((name: string) => Uint8Array) | undefined;

const FILE = 'inspector.json';

/** Read when it is asked for. Of a program that was not built there is a page that says so. */
function pageFiles(): PageFiles {
  if (typeof BUNDLED_FILE === 'undefined') return NOT_BUILT;
  return JSON.parse(Buffer.from(BUNDLED_FILE(FILE)).toString('utf8')) as PageFiles;
}

const NOT_BUILT: PageFiles = {
  'index.html': { type: 'text/html; charset=utf-8', text: '<!doctype html><title>cardwright</title>Not built.' },
};

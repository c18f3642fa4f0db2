/** The sandbox as a server of its own on this machine: started here, in a process beside, looked for, stopped. */
import { resolve } from 'node:path';
import type { SandboxServers, ServerOptions, ServerRow, StartedServer } from '../cli/sandbox-servers.ts';
import { CliError } from '../core/errors.ts';
import type { AppHost } from './app-host.ts';
import type { ServerFacts } from './ephemeral-sandbox.ts';

export interface ServersHere extends SandboxServers {
  /** Ends what was started in this process and never got to serve. */
  close(): Promise<void>;
}

export function sandboxServersFor(facts: ServerFacts): ServersHere {
  const here: (() => Promise<void>)[] = [];
  const { host, notice } = facts;
  const files = { platform: host.platform, random: host.noise, warn: (text: string) => notice(`warning: ${text}`) };
  const find = async () => {
    const { findServer } = await import('../sandbox/serving/find-server.ts');
    return findServer(host.folders.data, files);
  };
  const running = async () => {
    const found = await find();
    return found && rowOf(host, found, found.keyFile);
  };
  return {
    start: options => start(facts, options, here),
    async startShared(options) {
      const { startShared } = await import('./sandbox-accounts.ts');
      return startShared(facts, options, here);
    },
    async withAccounts(store, work) {
      const { withAccounts } = await import('./sandbox-accounts.ts');
      return withAccounts(facts, store, work);
    },
    async close() {
      for (const end of here.splice(0)) await end();
    },
    running,
    async control() {
      const isElsewhere = (await facts.sandboxElsewhere()) !== undefined;
      if (isElsewhere) return undefined;
      await facts.checkSandboxIsMeant();
      const found = await find();
      return found && facts.adminAt(found.origin, found.adminToken);
    },
    async detach(options) {
      const { startDaemon } = await import('./sandbox-daemon.ts');
      return startDaemon({ host, options, running, notice });
    },
    async checkExport(path) {
      const { checkTarget } = await import('./sandbox-transfer.ts');
      await checkTarget(host, path);
    },
    async openPrivate(options) {
      const { openPrivate } = await import('./ephemeral-sandbox.ts');
      const made = await openPrivate(facts, options);
      here.push(() => made.close({ keep: false }));
      return made;
    },
    async stop() {
      const found = await find();
      if (found === undefined) throw nothingRuns();
      const { stopServer } = await import('../sandbox/serving/find-server.ts');
      await stopServer(found, host);
      return rowOf(host, found, found.keyFile);
    },
  };
}

async function start(
  { host, version, notice }: ServerFacts,
  options: ServerOptions,
  here: (() => Promise<void>)[],
): Promise<StartedServer> {
  const { pageFiles } = await import('./page-files.ts');
  const { scenarioPlayer } = await import('./scenario-player.ts');
  const { removeAbandonedFolders } = await import('./ephemeral-sandbox.ts');
  await removeAbandonedFolders(host);
  const { startServer } = await import('../sandbox/serving/started.ts');
  host.keepSmall();
  const { folders, clock, random, noise, pid, platform, signal } = host;
  const { readyFile } = options;
  const warn = (text: string) => notice(`warning: ${text}`);
  const started = await startServer(
    {
      folders,
      clock,
      random,
      noise,
      pid,
      platform,
      version,
      pageFiles,
      scenarios: scenarioPlayer(host),
      warn,
      notice,
      isRunning: other => host.isRunning(other),
      onFault: error => warn(error instanceof Error ? error.message : String(error)),
    },
    { ...options, readyFile: readyFile === undefined ? undefined : resolve(host.cwd, readyFile) },
  );
  const { facts, keyFile } = started;
  here.push(async () => {
    started.stop();
    // Whoever serves was told how it ended.
    await started.ended.catch(() => undefined);
  });
  return {
    row: rowOf(host, facts, keyFile),
    async serve() {
      const stop = () => started.stop();
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      await started.ended.finally(() => signal.removeEventListener('abort', stop));
    },
  };
}

type Found = Pick<ServerRow, 'url' | 'pid' | 'started_at'>;

function rowOf({ folders }: AppHost, { url, pid, started_at }: Found, keyFile: string): ServerRow {
  return { url, pid, started_at, store: resolve(folders.data, 'sandbox', 'store.db'), api_key_file: keyFile };
}

function nothingRuns(): CliError {
  return new CliError('unreachable', {
    message: 'no sandbox is started for this store',
    hint: 'cardwright sandbox start',
    outcome: 'not_sent',
  });
}

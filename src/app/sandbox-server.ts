/** The sandbox as a server for other programs. */
import { resolve } from 'node:path';
import type { SandboxServers, ServerRow, StartedServer } from '../cli/context.ts';
import type { AccountsServerOptions, ServerOptions } from '../contract/sandbox/admin.ts';
import { type ErrorKind, notSent } from '../core/errors.ts';
import { jsonOrUndefined } from '../core/objects.ts';
import type { PageFiles } from '../sandbox/page/inspector-sessions.ts';
import type { Serving } from '../sandbox/serving/started.ts';
import type { AppHost } from './process-host.ts';
import type { ServerFacts } from './sandbox-started.ts';

interface ServersHere extends SandboxServers {
  /** Ends what was started in this process and never got to serve. */
  close(): Promise<void>;
}

export function sandboxServersFor(facts: ServerFacts): ServersHere {
  const here: (() => Promise<void>)[] = [];
  const { host, notice } = facts;
  const files = { platform: host.platform, random: host.noise, warn: (text: string) => notice(`warning: ${text}`) };
  const find = async () => {
    const { findServer } = await import('../sandbox/serving/started.ts');
    return findServer(host.folders.data, files);
  };
  const running = async () => {
    const found = await find();
    return found && rowOf(host, found, found.keyFile);
  };
  return {
    start: options => start(facts, options, here),
    startAccounts: options => startAccounts(facts, options, here),
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
      const { startDaemon } = await import('./sandbox-started.ts');
      return startDaemon({ host, options, running, notice });
    },
    async openPrivate(options) {
      const { openPrivate } = await import('./sandbox-started.ts');
      const made = await openPrivate(facts, options);
      here.push(() => made.close());
      return made;
    },
    async stop() {
      const found = await find();
      if (found === undefined)
        throw notSent('unreachable', 'no sandbox is started for this store', 'cardwright sandbox start');
      const { stopServer } = await import('../sandbox/serving/started.ts');
      await stopServer(found, host);
      return rowOf(host, found, found.keyFile);
    },
  };
}

/** What a server that is started here takes of the machine. */
async function surroundings({ host, version, notice }: ServerFacts) {
  const { folders, clock, random, noise, pid, platform } = host;
  const { scenarioPlayer } = await import('./sandbox-started.ts');
  host.keepSmall();
  const warn = (text: string) => notice(`warning: ${text}`);
  return {
    ...{ folders, clock, random, noise, pid, platform, version, pageFiles, warn, notice },
    scenarios: scenarioPlayer(host),
    isRunning: (other: number) => host.isRunning(other),
    onFault: (error: unknown) => warn(error instanceof Error ? error.message : String(error)),
  };
}

/** Settles when a signal comes. */
async function untilSignal(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
}

async function start(
  facts: ServerFacts,
  options: ServerOptions,
  here: (() => Promise<void>)[],
): Promise<StartedServer> {
  const { host } = facts;
  const { removeAbandonedFolders } = await import('./sandbox-started.ts');
  await removeAbandonedFolders(host);
  const { startServer } = await import('../sandbox/serving/started.ts');
  const { readyFile } = options;
  const ready = readyFile === undefined ? undefined : resolve(host.cwd, readyFile);
  const started = await startServer(await surroundings(facts), { ...options, readyFile: ready });
  return served(facts, rowOf(host, started.facts, started.keyFile), { started, here });
}

/** What was started serves until a signal comes, and is ended with this process. */
function served(
  { host: { signal } }: ServerFacts,
  row: ServerRow,
  { started, here }: { readonly started: Serving; readonly here: (() => Promise<void>)[] },
): StartedServer {
  here.push(async () => {
    started.stop();
    // Whoever serves was told how it ended.
    await started.ended.catch(() => undefined);
  });
  return {
    row,
    async serve() {
      await Promise.race([untilSignal(signal), started.ended]);
      started.stop();
      await started.ended;
    },
  };
}

async function startAccounts(
  facts: ServerFacts,
  options: AccountsServerOptions,
  here: (() => Promise<void>)[],
): Promise<StartedServer> {
  const { cwd, clock, pid } = facts.host;
  const { startAccounts: begin } = await import('../sandbox/serving/accounts.ts');
  const accounts = resolve(cwd, options.accounts);
  const started = await begin(await surroundings(facts), { ...options, accounts });
  const row = { url: started.url, pid, started_at: new Date(clock.now()).toISOString(), store: accounts };
  return served(facts, row, { started, here });
}

type Found = Pick<ServerRow, 'url' | 'pid' | 'started_at'>;

function rowOf({ folders }: AppHost, { url, pid, started_at }: Found, keyFile: string): ServerRow {
  return { url, pid, started_at, store: resolve(folders.data, 'sandbox', 'store.db'), api_key_file: keyFile };
}

/** Another version may leave out every member but the message. */
interface ChildError {
  readonly message: string;
  readonly kind?: ErrorKind;
  readonly notes?: readonly string[];
  readonly hint?: string;
  readonly faults?: readonly { readonly text: string }[];
}

/** Undefined for output that ends otherwise. */
export function errorInLastLine(output: string): ChildError | undefined {
  const { error } = (jsonOrUndefined(lastLine(output)) ?? {}) as { readonly error?: ChildError };
  return typeof error?.message === 'string' ? error : undefined;
}

export function lastLine(output: string): string {
  return output.trimEnd().split('\n').at(-1) ?? '';
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

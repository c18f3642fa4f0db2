/** The sandbox of `sandbox exec`: on a port of its own, with a store in a temporary folder, for one program. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrivateSandbox, PrivateSandboxOptions } from '../cli/sandbox-servers.ts';
import { CliError } from '../core/errors.ts';
import { systemCode } from '../files/private-files.ts';
import { markUsed, removeAbandoned } from '../files/used-by.ts';
import { foldersFor } from '../platform/folders.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';

/** What a server of this program is made from. */
export interface ServerFacts {
  readonly host: AppHost;
  readonly version: string;
  readonly notice: (text: string) => void;
  readonly adminAt: Connections['adminAt'];
  readonly sandboxElsewhere: Connections['sandboxElsewhere'];
  readonly checkSandboxIsMeant: Connections['checkSandboxIsMeant'];
  /** Filled with what must be taken out of all output. */
  readonly keys: Set<string>;
}

const FOLDER = 'cardwright-exec-';

/** Takes away what `sandbox exec` left when it was killed, unless its program still goes on. */
export async function removeAbandonedFolders({ pid, isRunning }: AppHost): Promise<void> {
  await removeAbandoned(tmpdir(), FOLDER, { pid, isRunning: other => isRunning(other) });
}

export async function openPrivate(facts: ServerFacts, options: PrivateSandboxOptions): Promise<PrivateSandbox> {
  const { host } = facts;
  await removeAbandonedFolders(host);
  const folder = await mkdtemp(join(tmpdir(), FOLDER)).catch((error: unknown) => {
    throw notStarted(error);
  });
  // Not named by anybody it is never taken away.
  const used = async (pid: number) => (options.keepsFolder ? undefined : markUsed(folder, pid));
  const opened = await used(host.pid)
    .then(() => serve(facts, options, folder))
    .catch(async (error: unknown) => {
      await rm(folder, { recursive: true, force: true });
      throw notStarted(error);
    });
  const { origin, adminToken, deliver, stop } = opened;
  let closed: Promise<void> | undefined;
  return {
    folder,
    admin: await facts.adminAt(origin, adminToken),
    async run(program) {
      const { runProgram } = await import('../cli/child.ts');
      const { cwd, platform, streams } = host;
      return runProgram(program, {
        env: { ...withoutOurs(host), ...variablesOf(opened, folder) },
        cwd,
        platform,
        handOver: onSignal => host.handOver(onSignal),
        sharesTerminal: streams.stdin.isTerminal,
        secondKills: true,
        onStarted: used,
      });
    },
    async drain(ms) {
      const over = new AbortController();
      const timer = new AbortController();
      // Cut short when there is nothing left to send.
      const limit = host.clock.sleep(ms, timer.signal).then(
        () => over.abort(),
        () => undefined,
      );
      await deliver({ kind: 'idle', signal: over.signal });
      timer.abort();
      await limit;
    },
    async exportTo(path) {
      const { exportFrom } = await import('./sandbox-transfer.ts');
      const { ADMIN_PATH } = await import('../contract/sandbox/basis.ts');
      return exportFrom(host, { baseUrl: `${origin}${ADMIN_PATH}`, token: adminToken }, path);
    },
    close({ keep }) {
      closed ??= stop().then(() => (keep ? undefined : rm(folder, { recursive: true, force: true })));
      return closed;
    },
  };
}

type Served = Awaited<ReturnType<typeof serve>>;

async function serve({ host, version, notice }: ServerFacts, options: PrivateSandboxOptions, folder: string) {
  const { assemble, randomSeed } = await import('../sandbox/serving/assemble.ts');
  const { privateFolder } = await import('../files/private-at-once.ts');
  const { storeFile, storeFolder } = await import('../sandbox/serving/embedded.ts');
  const { Secret } = await import('../core/secret.ts');
  const { clock, pid, platform, random } = host;
  // Where `--sandbox` looks under CARDWRIGHT_CONFIG_DIR: in the program it is this very store.
  const { data } = foldersFor({ env: { CARDWRIGHT_CONFIG_DIR: folder }, platform, home: folder, temporary: folder });
  privateFolder(storeFolder(data), platform);
  const webhookSecret = new Secret(`whsec_${Buffer.from(random.bytes(32)).toString('base64url')}`);
  const made = await assemble({
    host: { clock, pid, platform, random, isRunning: other => host.isRunning(other) },
    path: storeFile(data),
    place: { port: 0 },
    seed: options.seed ?? randomSeed(host),
    ids: 'derived',
    data: options.data ?? 'demo',
    size: options.size,
    rateLimits: options.rateLimits ? 'all' : 'none',
    liveTimers: true,
    dialect: options.dialect,
    deliveries: { live: true },
    webhookSecret,
    version,
    onFault: error => notice(`warning: ${error instanceof Error ? error.message : String(error)}`),
  });
  const { server, key, adminToken, deliver, stop } = made;
  return { origin: server.origin, key, adminToken, webhookSecret, deliver, stop };
}

function variablesOf({ origin, key, adminToken, webhookSecret }: Served, folder: string) {
  return {
    CARDWRIGHT_BASE_URL: `${origin}/v1`,
    CARDWRIGHT_API_KEY: key.expose(),
    CARDWRIGHT_SANDBOX_URL: origin,
    CARDWRIGHT_SANDBOX_TOKEN: adminToken.expose(),
    CARDWRIGHT_WEBHOOK_SECRET: webhookSecret.expose(),
    CARDWRIGHT_CONFIG_DIR: folder,
    CARDWRIGHT_TEST_ONLY: '1',
  };
}

/** Profiles, keys and dialects of the user are not the program's. */
function withoutOurs({ env }: AppHost): AppHost['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('CARDWRIGHT_')));
}

function notStarted(error: unknown): unknown {
  const isOurs = error instanceof CliError;
  if (isOurs ? error.kind === 'usage' : systemCode(error) === undefined) return error;
  const { message } = error as Error;
  return new CliError('unreachable', {
    ...(isOurs && error.facts),
    message: `the sandbox did not start, and the program was not run: ${message}`,
    outcome: 'not_sent',
    cause: error,
  });
}

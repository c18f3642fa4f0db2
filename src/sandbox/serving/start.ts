/** A sandbox for test suites and programs: in memory by default, on a loopback port or a socket. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import type { InputFields } from '../../contract/field.ts';
import type { START_OPTIONS } from '../../contract/sandbox/admin.ts';
import { bytesWithin } from '../../core/input-limits.ts';
import { toCents } from '../../core/money.ts';
import { Secret } from '../../core/secret.ts';
import { atOnceInOurWords, makeFolders, privateFolder } from '../../files/private-files.ts';
import type { Host } from '../../platform/host.ts';
import { isRunning } from '../../platform/signals.ts';
import { SYSTEM_CLOCK } from '../../platform/time.ts';
import { type ClockRow, REAL_CLOCK } from '../clock/clock.ts';
import type { DeliveryOptions } from '../delivery/dispatcher.ts';
import { dialectNamed } from '../dialects/table.ts';
import { type Assembled, assemble, type SandboxHost } from './assemble.ts';
import type * as Public from './library-types.ts';

type PublicOptions = Public.SandboxOptions & Omit<InputFields<typeof START_OPTIONS>, 'wallet' | 'clock' | 'dialect'>;

/** Those of the library, of which timers and `version` have other values where nothing is said, and what only our own tests say. */
export interface SandboxOptions extends PublicOptions {
  /** USD. */
  readonly wallet?: number | undefined;
  readonly clock?: { readonly mode: 'real' } | { readonly mode: 'frozen'; readonly at: string } | undefined;
  readonly dialect?: string | undefined;
  readonly deliveryLimits?: DeliveryOptions['limits'];
  readonly version?: string;
  readonly host?: SandboxHost;
}

export type RunningSandbox = Assembled;

/**
 * Throws `check_failed` for a store that cannot be used, `guarded` for a place that cannot have one, `unreachable` for a
 * taken port, `usage` for a bad dialect.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
  const { store = 'memory', wallet, webhookSecret, onFault = () => undefined } = options;
  const dialect = options.dialect === undefined ? undefined : dialectNamed(options.dialect);
  if (store !== 'memory') atOnceInOurWords(store, () => makeFolders(dirname(store), 0o700));
  return assemble({
    host: options.host ?? libraryHost(),
    path: store,
    place: options.listen === 'socket' ? 'socket' : { port: options.port ?? 0 },
    seed: options.seed ?? 1,
    ids: options.ids,
    data: options.data ?? 'empty',
    wallet: wallet === undefined ? undefined : toCents(wallet),
    clock: clockOf(options.clock),
    rateLimits: options.rateLimits === false ? 'none' : 'all',
    virtualLimits: true,
    liveTimers: options.timers === 'live',
    dialect,
    deliveries: {
      live: options.deliveries !== 'on-deliver',
      allowRemote: options.allowRemoteWebhooks,
      limits: options.deliveryLimits,
    },
    webhookSecret: webhookSecret === undefined ? undefined : new Secret(webhookSecret),
    version: options.version ?? 'library',
    onFault,
  });
}

function clockOf(clock: SandboxOptions['clock']): ClockRow | undefined {
  if (clock === undefined) return undefined;
  if (clock.mode === 'real') return REAL_CLOCK;
  return { ...REAL_CLOCK, mode: clock.mode, at: Date.parse(clock.at) };
}

/** Real time, randomness and process, for other programs, which call without our `main.ts`. */
export function libraryHost(): SandboxHost {
  return {
    clock: SYSTEM_CLOCK,
    random: {
      bytes: count => randomBytes(count),
      fraction: () => Math.random(),
    },
    pid: process.pid,
    platform: process.platform,
    isRunning,
  };
}

interface LocalRequest {
  readonly url: string;
  readonly method?: string;
  readonly token?: Secret | undefined;
  readonly socketPath?: string | undefined;
  /** JSON text of the body. */
  readonly body?: string | undefined;
  /** ms until the whole answer must be there, and its most bytes. */
  readonly limit?: { readonly ms: number; readonly bytes: number };
}

/** Asks a sandbox of this machine, on a connection of its own. Rejects where no whole answer comes. */
export function askLocally({ url, method = 'GET', token, socketPath, body, limit }: LocalRequest) {
  const headers = {
    ...(token !== undefined && { Authorization: `Bearer ${token.expose()}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
  };
  const way = {
    ...(socketPath !== undefined && { socketPath }),
    ...(limit && { signal: AbortSignal.timeout(limit.ms) }),
  };
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, ...way });
    sent.on('error', reject).on('response', response => {
      const whole = async () => {
        const bytes = await bytesWithin(response as AsyncIterable<Buffer>, limit?.bytes ?? Number.MAX_SAFE_INTEGER);
        if (bytes === undefined) throw new Error(`too long an answer from ${new URL(url).host}`);
        return { status: response.statusCode ?? 0, text: bytes.toString('utf8') };
      };
      whole().then(resolve, reject);
    });
    sent.end(body);
  });
}

// The sandbox inside a command: the store of the data folder, served in this process over a private socket.

export const storeFile = (data: string) => join(data, 'sandbox', 'store.db');
export const storeFolder = (data: string) => dirname(storeFile(data));

/** Key and admin token are random and in memory only; nothing but `deliver` sends deliveries. */
export type EmbeddedSandbox = Pick<Assembled, 'origin' | 'key' | 'adminToken' | 'deliver' | 'honoursKeys' | 'stop'> & {
  readonly socketPath: string;
};

/**
 * Opens the store in the data folder, made and filled with `demo` on first use, and serves it. Any number of processes
 * may do so at once. Throws `check_failed` for a store that cannot be used, `guarded` for unsafe folders, `usage` for
 * a dialect that is none.
 */
export async function openEmbedded(
  { folders, clock, random, pid, platform }: Pick<Host, 'folders' | 'clock' | 'random' | 'pid' | 'platform'>,
  { version, dialect }: { readonly version: string; readonly dialect?: string | undefined },
): Promise<EmbeddedSandbox> {
  privateFolder(storeFolder(folders.data), platform);
  // One by one: a host has more, and asked for standard input Node opens it.
  const host = { clock, random, pid, platform };
  return (await assemble({
    host,
    path: storeFile(folders.data),
    place: 'socket',
    // Who walks through a large store on their own machine waits for nobody (docs/decisions/0019-embedded-limits.md).
    rateLimits: 'stated',
    dialect: dialect ? dialectNamed(dialect) : undefined,
    deliveries: { live: false },
    version,
    onFault: () => undefined,
  })) as EmbeddedSandbox;
}

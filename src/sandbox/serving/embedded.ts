/** The sandbox inside a command: the store of the data folder, served in this process over a private socket. */

import type { Secret } from '../../core/secret.ts';
import { privateFolder } from '../../files/private-at-once.ts';
import type { IsRunning } from '../../files/process-identity.ts';
import type { Host } from '../../platform/host.ts';
import { dialectNamed } from '../dialects/active-dialect.ts';
import { type Assembled, assemble, randomSeed } from './assemble.ts';
import { privateSocket, socketFolder, storeFile, storeFolder } from './private-socket.ts';

export interface EmbeddedSandbox {
  readonly socketPath: string;
  /** `http://localhost`; the service is below `/v1`. */
  readonly origin: string;
  /** Random and in memory only, as is the admin token. */
  readonly key: Secret;
  readonly adminToken: Secret;
  /** Sends deliveries that are due, until idle or until a signal; nothing else sends them here. */
  readonly deliver: Assembled['deliver'];
  /** False when it speaks a dialect that ignores idempotency keys. */
  readonly honoursKeys: boolean;
  /** Finishes running requests, closes the store, removes the socket. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Version of cardwright, for `sandbox status`. */
  readonly version: string;
  /** Told about errors nobody expected; their requests were answered 500. */
  readonly onFault?: (error: unknown) => void;
  /** Tells whether a pid is taken, for systems without /proc. */
  readonly isRunning?: IsRunning;
  /** Name of the dialect it speaks; the usual one when left out or empty. */
  readonly dialect?: string | undefined;
}

/**
 * Opens the store in the data folder, made and filled with `demo` on first use, and serves it. Any number of processes
 * may do so at once. Throws `check_failed` for a store that cannot be used, `guarded` for unsafe folders, `usage` for
 * a dialect that is none.
 */
export async function openEmbedded(
  host: Pick<Host, 'folders' | 'clock' | 'random' | 'pid' | 'platform'>,
  { version, isRunning, dialect, onFault = () => undefined }: EmbeddedOptions,
): Promise<EmbeddedSandbox> {
  const { clock, random, pid, platform } = host;
  const spoken = dialect ? dialectNamed(dialect) : undefined;
  privateFolder(storeFolder(host.folders.data), host.platform);
  const place = await privateSocket(host, socketFolder(host.folders.runtime));
  const { server, key, adminToken, deliver, activeDialect, stop } = await assemble({
    // One by one: a host has more, and asked for standard input Node opens it.
    host: { clock, random, pid, platform, isRunning },
    path: storeFile(host.folders.data),
    place,
    seed: randomSeed(host),
    ids: 'derived',
    data: 'demo',
    // Who walks through a large store on their own machine waits for nobody (docs/decisions/0019-embedded-limits.md).
    rateLimits: 'stated',
    dialect: spoken,
    deliveries: { live: false },
    version,
    onFault,
  }).catch(async (error: unknown) => {
    await place.remove();
    throw error;
  });
  const tidied = place.tidy().catch(onFault);
  return {
    socketPath: place.socketPath,
    origin: server.origin,
    key,
    adminToken,
    deliver,
    get honoursKeys() {
      return activeDialect.facts.honours_keys;
    },
    stop: async () => {
      await tidied;
      await stop();
      await place.remove();
    },
  };
}

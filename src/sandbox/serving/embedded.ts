/** The sandbox inside a command: the store of the data folder, served in this process over a private socket. */
import { dirname, join } from 'node:path';
import type { IsRunning } from '../../files/lock.ts';
import { privateFolder } from '../../files/private-files.ts';
import type { Host } from '../../platform/host.ts';
import { dialectNamed } from '../dialects/table.ts';
import { type Assembled, assemble, randomSeed } from './assemble.ts';

export const storeFile = (data: string) => join(data, 'sandbox', 'store.db');
export const storeFolder = (data: string) => dirname(storeFile(data));

/** Key and admin token are random and in memory only; nothing but `deliver` sends deliveries. */
export type EmbeddedSandbox = Omit<Assembled, 'instance' | 'dialect'> & { readonly socketPath: string };

interface EmbeddedOptions {
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
  { folders, clock, random, pid, platform }: Pick<Host, 'folders' | 'clock' | 'random' | 'pid' | 'platform'>,
  { version, isRunning, dialect, onFault = () => undefined }: EmbeddedOptions,
): Promise<EmbeddedSandbox> {
  const spoken = dialect ? dialectNamed(dialect) : undefined;
  privateFolder(storeFolder(folders.data), platform);
  // One by one: a host has more, and asked for standard input Node opens it.
  const host = { clock, random, pid, platform, isRunning };
  return (await assemble({
    host,
    path: storeFile(folders.data),
    place: { socketIn: join(folders.runtime, 'sandbox') },
    seed: randomSeed(host),
    ids: 'derived',
    data: 'demo',
    // Who walks through a large store on their own machine waits for nobody (docs/decisions/0019-embedded-limits.md).
    rateLimits: 'stated',
    dialect: spoken,
    deliveries: { live: false },
    version,
    onFault,
  })) as EmbeddedSandbox;
}

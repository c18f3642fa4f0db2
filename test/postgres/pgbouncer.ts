/** pgbouncer in transaction mode before a server: each statement may reach another connection. */
import { spawn } from 'node:child_process';
import { chownSync, mkdirSync, openSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { NOBODY, type Server } from './server.ts';

/** Where clients find it; a new process takes the same place. */
export interface Bouncer {
  readonly socket: string;
  readonly port: number;
  /** Ends it as a crash does, and starts the next one. */
  again(): Promise<void>;
  stop(): Promise<void>;
}

const PORT = 6432;

/** Two connections to the server for each role: fewer than there are clients. */
export async function startBouncer(server: Server, roles: readonly string[]): Promise<Bouncer> {
  const folder = join(server.folder, 'bouncer');
  mkdirSync(folder, { mode: 0o700 });
  const config = join(folder, 'pgbouncer.ini');
  const log = openSync(join(folder, 'log'), 'a', 0o600);
  const settings = [
    '[databases]',
    `* = host=${server.socket} port=${server.port}`,
    '[pgbouncer]',
    'pool_mode = transaction',
    'default_pool_size = 2',
    'listen_addr =',
    `listen_port = ${PORT}`,
    `unix_socket_dir = ${folder}`,
    'auth_type = trust',
    `auth_file = ${join(folder, 'users')}`,
    'server_login_retry = 1',
  ];
  await writeFile(config, `${settings.join('\n')}\n`);
  await writeFile(join(folder, 'users'), roles.map(role => `"${role}" ""\n`).join(''));
  if (NOBODY !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);

  let child = start();
  function start() {
    return spawn('pgbouncer', ['-q', config], { stdio: ['ignore', log, log], ...NOBODY });
  }
  async function ended(): Promise<void> {
    child.kill('SIGKILL');
    while (child.exitCode === null && child.signalCode === null) await rest(5);
  }
  async function listening(): Promise<void> {
    const { connect } = await import('node:net');
    for (;;) {
      const there = await new Promise<boolean>(resolve => {
        const probe = connect(join(folder, `.s.PGSQL.${PORT}`), () => resolve(true)).on('error', () => resolve(false));
        probe.on('connect', () => probe.destroy());
      });
      if (there) return;
      if (child.exitCode !== null) throw new Error(await readFile(join(folder, 'log'), 'utf8'));
      await rest(10);
    }
  }
  await listening();
  return {
    socket: folder,
    port: PORT,
    async again() {
      await ended();
      child = start();
      await listening();
    },
    stop: ended,
  };
}

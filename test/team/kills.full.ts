/**
 * Six operators on one account while the server, and pgbouncer in transaction mode before it, are ended by kill -9: what was
 * told is there once, no cap is exceeded, and the chain is whole. The database commits without waiting for its disk, unless
 * a function asks for more.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SCHEMA_SQL } from '../../src/team/schema/print.ts';
import { type Bouncer, startBouncer } from '../postgres/pgbouncer.ts';
import { missing, startAgain, startServer, stopServer } from '../postgres/server.ts';
import { connect, statementsOf } from '../postgres/shared.ts';
import { requires } from '../support/programs.ts';
import { check, operate, type Told } from './crowd.ts';
import { KEY_PRINT } from './test-account.ts';

const CAP = 8_000;
const ROUNDS = 20;
/** Answers between two kills, and a part of the next ones that is cut off at any moment. */
const ANSWERS = 60;
const OPERATORS = ['ana', 'ben', 'cid'];

describe.skipIf(missing())('kill -9', () => {
  it('of the server loses nothing that was told', () => story({ bounced: false }));
  it.skipIf(requires('pgbouncer'))('of the server and of pgbouncer loses nothing that was told', () =>
    story({ bounced: true }),
  );
});

async function story({ bounced }: { bounced: boolean }): Promise<void> {
  const folder = await mkdtemp(join(dirname(process.env['TEST_POSTGRES_FOLDER'] ?? tmpdir()), 'cwpg-'));
  let server = await startServer(folder, { conf: ['synchronous_commit = off'] });
  let bouncer: Bouncer | undefined;
  try {
    await withAccount(server);
    bouncer = bounced ? await startBouncer(server, OPERATORS) : undefined;
    const told: Told = { claimed: new Map(), ended: new Map(), capped: 0, failed: [] };
    const stop = new AbortController();
    const place = {
      socket: (bouncer ?? server).socket,
      port: (bouncer ?? server).port,
      database: 'postgres',
      account: 'main',
    };
    const crowd = [...OPERATORS, ...OPERATORS].map(role => operate(role, place, told, stop.signal));
    for (let round = 0; round < ROUNDS; round += 1) {
      await answered(told);
      if (bouncer !== undefined && round % 2 === 1) await bouncer.again();
      else {
        // All of its processes are left to find out for themselves.
        await stopServer(server, 'SIGKILL');
        server = await restarted(folder);
      }
    }
    await answered(told);
    stop.abort();
    await Promise.all(crowd);
    expect(told.failed).toEqual([]);
    expect(told.claimed.size).toBeGreaterThan(ROUNDS);
    const root = await connect(server, 'postgres', 'postgres');
    const ops = await check(root, 'main', { told, cap: CAP });
    await root.end();
    expect(await readFile(join(folder, 'log'), 'utf8')).not.toMatch(/deadlock detected|could not serialize/);
    process.stdout.write(
      `${told.claimed.size} claims told, ${ops} there, ${told.ended.size} ended, ${told.capped} over the cap\n`,
    );
  } finally {
    await bouncer?.stop();
    await stopServer(server);
    await rm(folder, { recursive: true, force: true });
  }
}

async function answered(told: Told): Promise<void> {
  const count = () => told.claimed.size + told.capped;
  const before = count();
  while (count() < before + ANSWERS + Math.random() * ANSWERS) await rest(1);
}

/** The memory that a killed server has shared is in use until the last of its children is gone. */
async function restarted(folder: string) {
  for (;;) {
    const server = await startAgain(folder).catch((thrown: unknown) => {
      if (!/pre-existing shared memory|lock file/.test(String(thrown))) throw thrown;
    });
    if (server !== undefined) return server;
    await rest(20);
  }
}

async function withAccount(server: Awaited<ReturnType<typeof startServer>>): Promise<void> {
  const root = await connect(server, 'postgres', 'postgres');
  for (const statement of statementsOf(SCHEMA_SQL)) await root.call(statement, []);
  for (const name of OPERATORS) await root.call(`create role ${name} login in role cardwright_operator`, []);
  await root.call('commit', []);
  await root.call(`select cardwright.add_account('main', 'https://api.example.com', 'test', 'postgres')`, []);
  for (const name of OPERATORS) await root.call(`select cardwright.add_member('main', $1, '{operate}')`, [name]);
  await root.call(`select cardwright.add_key('main', $1)`, [KEY_PRINT]);
  await root.call(`select cardwright.set_cap('main', 'max_per_day', $1)`, [CAP]);
  await root.end();
}

/**
 * Real commands while the database goes away under them: killed, its pool killed, or the line cut. Whatever a command ends
 * with, after a takeover and the same command again every row is done once, every cent is accounted for, and nothing is locked.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bouncer, startBouncer } from '../postgres/pgbouncer.ts';
import { missing } from '../postgres/server.ts';
import { requires } from '../support/programs.ts';
import type { World } from '../support/world.ts';
import { type OwnServer, ownServer } from './own-server.ts';
import { cableTo, team } from './team.ts';

const ROWS = 30;
const CENTS = 200;

export type Away = 'server' | 'pgbouncer' | 'cable';

export interface Story {
  readonly away: Away;
  /** Posts after which it goes away, each time for a new command. */
  readonly after: readonly number[];
}

export function cutOff(stories: readonly Story[]): void {
  describe.skipIf(missing())('the database goes away under a command', () => {
    for (const { away, after } of stories) {
      const lacks = away === 'pgbouncer' ? requires('pgbouncer') : false;
      it.skipIf(lacks)(`${away}, after ${after.join(', ')} requests`, { timeout: 240_000 }, () =>
        play({ away, after }),
      );
    }
  });
}

interface Way extends AsyncDisposable {
  readonly socket: string;
  readonly port: number;
  /** It is gone for a moment, in the middle of whatever it does. */
  strike(): Promise<void>;
}

async function wayTo(server: OwnServer, away: Away): Promise<Way> {
  const { socket, port } = server.server;
  if (away === 'server') {
    const strike = async () => {
      await server.stop('SIGKILL');
      await server.start();
    };
    return { socket, port, strike, [Symbol.asyncDispose]: async () => undefined };
  }
  if (away === 'cable') {
    const cable = await cableTo(server.server);
    const strike = async () => {
      await cable.cut();
      await cable.mend();
    };
    return {
      socket: cable.folder,
      port: cable.port,
      strike,
      [Symbol.asyncDispose]: () => cable[Symbol.asyncDispose](),
    };
  }
  const bouncer: Bouncer = await startBouncer(server.server, ['ana', 'ben', 'postgres']);
  return { ...bouncer, strike: () => bouncer.again(), [Symbol.asyncDispose]: () => bouncer.stop() };
}

async function play({ away, after }: Story): Promise<void> {
  await using server = await ownServer();
  await using way = await wayTo(server, away);
  await using t = await team(server, { wallet: 1000, delayMs: 20 });
  const url = `postgres://ana@${encodeURIComponent(way.socket)}:${way.port}/${server.name}`;
  const ana = await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: url });
  const ben = await t.machine('ben', { CARDWRIGHT_JOURNAL_URL: url.replace('ana@', 'ben@') });
  const told: number[] = [];
  for (const [index, posts] of after.entries()) {
    const rows = Array.from({ length: ROWS }, (_, row) => `bin_1,${CENTS / 100},po-${index}-${row}`);
    for (const { folder } of [ana, ben])
      await writeFile(join(folder, 'team.csv'), `bin_id,amount,intent\n${rows.join('\n')}\n`);
    const struck = t.proxy.posted(t.proxy.posts().length + posts).then(() => way.strike());
    const { code } = await ana.run('cards create --file team.csv --yes --concurrency 4');
    await struck;
    told.push(code);
    expect([0, 11, 14, 15], `after ${posts}`).toContain(code);
    // Its lease is over, and a colleague goes on.
    await endLeases(server);
    await finished(ben);
    expect((await t.cards()).length, `after ${posts}: ${code}`).toBe(Math.min(100, ROWS * (index + 1)));
    expect(await t.balance()).toBe(1000 - (ROWS * (index + 1) * CENTS) / 100);
    const checked = await ben.run('journal check --json');
    expect({ code: checked.code, flaws: JSON.parse(checked.out).flaws }).toEqual({ code: 0, flaws: [] });
    expect((await ben.run('ops locks --json --jq .page.total')).out).toBe('0\n');
    expect(await locksIn(server)).toEqual([]);
  }
  process.stdout.write(`${away} away: commands ended with ${told.join(', ')}\n`);
}

/** Takes over what is not finished, and runs the file again where it has not been begun. */
async function finished(ben: World): Promise<void> {
  const open = await ben.run('ops list --json --jq \'.data[] | select(.state != "finished") | .op\'');
  for (const op of open.out.split('\n').filter(Boolean)) {
    const taken = await ben.run(
      `ops takeover ${op.replaceAll('"', '')} --reason "the database was away" --resend-absent --yes`,
      {
        onPause: () => undefined,
        longestPause: Number.MAX_SAFE_INTEGER,
      },
    );
    expect([0, 2], taken.err).toContain(taken.code);
  }
  const again = await ben.run('cards create --file team.csv --yes');
  expect([0, 14], again.err).toContain(again.code);
}

const root = async (server: OwnServer, text: string) => (await server.as('postgres')).call(text, []);

async function endLeases(server: OwnServer): Promise<void> {
  await root(
    server,
    `update cardwright.op set lease_until = clock_timestamp() - interval '5 seconds' where state = 'running'`,
  );
}

/** Locks that sessions hold on rows or tables of the journal, other than the one that asks. */
async function locksIn(server: OwnServer): Promise<unknown> {
  return root(
    server,
    `select l.mode, c.relname from pg_locks l join pg_class c on c.oid = l.relation
      where c.relnamespace = 'cardwright'::regnamespace and l.pid <> pg_backend_pid()`,
  );
}

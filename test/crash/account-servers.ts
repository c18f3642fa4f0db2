/**
 * Servers of one sandbox on PostgreSQL that are killed with kill -9 while money moves, and the database with them. Every
 * change is repeated with its key until an answer comes, so the sum at the end is known to the cent; every event must
 * reach its receiver, and the database must never have seen two transactions in each other's way.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { type Home, home } from '../package/built.ts';
import { startBouncer } from '../postgres/pgbouncer.ts';
import { storeOf } from '../support/served-accounts.ts';
import { type OwnServer, ownServer } from '../team/own-server.ts';

export interface Killing {
  readonly servers: number;
  readonly changes: number;
  /** After so many answered changes a server is killed, and after each third of these the database. */
  readonly every: number;
  /** The servers reach the database through pgbouncer in transaction mode, which is killed in its turn too. */
  readonly isPooled?: boolean;
}

export interface Running {
  readonly child: ChildProcess;
  readonly url: string;
}

const CLIENTS = 8;

export async function startOn(place: Home, store: string, more: readonly string[] = []): Promise<Running> {
  const words = ['sandbox', 'start', '--store', store, '--no-rate-limits', '--admin', '--json', ...more];
  const child = place.start(words);
  const [said] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  return { child, url: (JSON.parse(String(said)) as { url: string }).url };
}

export async function killed({ child }: Running): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function receiver() {
  const got = new Set<string>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    got.add((JSON.parse(text) as { id: string }).id);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { got, url, [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() };
}

/** Looks now and then how late the timer is that is due first, and keeps the worst. In ms. */
function watchTimers(database: OwnServer) {
  const over = new AbortController();
  const late = `select coalesce(max(extract(epoch from clock_timestamp()) * 1000 - due_at), 0)::bigint
    from cardwright_sandbox.timers`;
  const watching = (async () => {
    let worst = 0;
    while (!over.signal.aborted) {
      const rows = await database
        .as('postgres')
        .then(session => session.call(late, []))
        .catch(() => []);
      worst = Math.max(worst, Number(rows[0]?.[0] ?? 0));
      await rest(100);
    }
    return worst;
  })();
  return async () => {
    over.abort();
    return watching;
  };
}

/** A delivery that nobody has given up is taken over after its lease; everything else sooner. */
const LATEST_MS = 30_000 + 1_000;
const DEPOSITS = 4;

/** Resolves to how often something was killed. */
export async function killAccountServers({
  servers: many,
  changes,
  every,
  isPooled = false,
}: Killing): Promise<number> {
  await using database = await ownServer();
  await using place = await home();
  await using hook = await receiver();
  const bouncer = isPooled ? await startBouncer(database.server, ['postgres']) : undefined;
  const store = storeOf({ server: { ...database.server, ...bouncer }, name: database.name });
  const servers = [await startOn(place, store, ['--migrate'])];
  for (let at = 1; at < many; at += 1) servers.push(await startOn(place, store));
  const made = await place.run(['sandbox', 'accounts', 'create', 'bank', '--store', store, '--json']);
  expect([made.code, made.err]).toEqual([0, '']);
  const keys = JSON.parse(made.out) as { api_key: string; admin_token: string };

  let [answered, kills, turn] = [0, 0, 0];
  /** Asks one server after the other until one answers. */
  const ask = async (path: string, post?: { readonly key: string; readonly body: object }) => {
    for (let tries = 0; tries < 500; tries += 1) {
      turn += 1;
      const { url } = servers[turn % servers.length] as Running;
      const isAdmin = path.startsWith('/_sandbox');
      const headers = {
        authorization: `Bearer ${isAdmin ? keys.admin_token : keys.api_key}`,
        'content-type': 'application/json',
        ...(post && { 'x-idempotency-key': post.key }),
      };
      const asked = post && { method: 'POST', body: JSON.stringify(post.body) };
      try {
        const answer = await fetch((isAdmin ? new URL(url).origin : url) + path, { headers, ...asked });
        const json = (await answer.json()) as Record<string, never>;
        if (answer.status < 300) return json;
        if (answer.status !== 503) throw new TypeError(`${path} ${answer.status} ${JSON.stringify(json)}`);
      } catch (error) {
        // A server that is gone, or gave no answer.
        if (error instanceof TypeError && !/fetch failed|terminated/.test(error.message)) throw error;
      }
    }
    throw new Error(`nobody answers ${path}`);
  };
  const bin_id = ((await ask('/bins'))['data'] as unknown as { id: string }[])[0]?.id;
  const card = (await ask('/cards', { key: 'card', body: { bin_id, amount: 1 } }))['id'];
  await ask('/webhooks', { key: 'hook', body: { url: hook.url, events: ['card.funded'] } });
  // Their confirmations fall due every three seconds, whoever is there.
  for (let at = 0; at < DEPOSITS; at += 1) {
    const body = { currency: 'usdt', amount: 10 };
    await ask('/_sandbox/v1/simulate/deposits', { key: `deposit ${at}`, body });
  }
  const worstTimer = watchTimers(database);
  const before = await balances();
  async function balances() {
    return [
      (await ask('/wallet'))['balance'],
      (await ask(`/cards/${card}`))['balance'],
    ] as unknown as readonly number[];
  }

  const kill = async () => {
    kills += 1;
    if (bouncer !== undefined && kills % 4 === 0) return bouncer.again();
    if (kills % 3 === 0) {
      await database.stop('SIGKILL');
      await database.start();
      return;
    }
    const at = kills % servers.length;
    await killed(servers[at] as Running);
    servers[at] = await startOn(place, store);
  };
  let killing: Promise<void> = Promise.resolve();
  const client = async (from: number) => {
    for (let at = from; at < changes; at += CLIENTS) {
      await ask(`/cards/${card}/fund`, { key: `fund ${at}`, body: { amount: 5 } });
      if (at % 3 === 0) await ask(`/cards/${card}/withdraw`, { key: `back ${at}`, body: { amount: 2 } });
      answered += 1;
      if (answered % every === 0) killing = killing.then(kill);
    }
  };
  try {
    await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at)));
    await killing;
    expect(await worstTimer()).toBeLessThan(LATEST_MS);
    await ask('/_sandbox/v1/clock/advance', { key: 'advance', body: { by: '1h' } });
    const moved = 5 * changes - 2 * Math.ceil(changes / 3);
    const deposited = 10 * DEPOSITS;
    expect(await balances()).toEqual([(before[0] ?? 0) + deposited - moved, (before[1] ?? 0) + moved]);
    expect((await ask('/_sandbox/v1/status'))['ledger_ok']).toBe(true);
    // A lease and a look at most.
    await vi.waitFor(() => expect(hook.got.size).toBe(changes), { timeout: 45_000, interval: 100 });
    expect(await readFile(join(database.server.folder, 'log'), 'utf8')).not.toMatch(/deadlock|could not serialize/i);
  } finally {
    await worstTimer();
    for (const running of servers) await killed(running);
    await bouncer?.stop();
  }
  return kills;
}

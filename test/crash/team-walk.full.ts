/**
 * Two servers of one database, three accounts with a receiver each. One server is killed with kill -9 while it sends webhooks
 * and while it moves a clock; the other goes on, and what an account holds goes to a sandbox of this machine and back.
 */
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { type Home, home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { database } from '../postgres/shared.ts';
import { storeOf } from '../support/served-accounts.ts';
import { killed, type Running, startOn } from './account-servers.ts';

/** A lease and a look at most. */
const LATEST = { timeout: 45_000, interval: 100 };
const CARDS = 6;
/** Each expires in a step of its own while the clock moves. */
const HOLDS = 40;

it.skipIf(missing() !== undefined)(
  'one of two servers is killed while it delivers and while it moves a clock, and the other goes on',
  async () => {
    const here = await database();
    await using place = await home();
    const store = storeOf(here);
    const one = await startOn(place, store, ['--migrate']);
    const two = await startOn(place, store);
    const people = await Promise.all(['ana', 'ben', 'cy'].map(name => person(place, store, name)));
    try {
      for (const each of people) {
        await each.asks(one, `webhooks create --url ${each.hook.url} --events card.created`);
        for (let at = 1; at < CARDS; at += 1) await each.asks(one, 'cards create --bin bin_1 --amount 5 -q');
      }
      const cards = await Promise.all(people.map(each => each.asks(two, 'cards create --bin bin_1 --amount 5 -q')));
      const card = cards[0]?.trim();
      // Nobody has answered a delivery yet: they are on their way when their server goes.
      await vi.waitFor(() => expect(people.every(({ hook }) => hook.waiting() > 0)).toBe(true), LATEST);
      const [ana] = people as [Person, ...Person[]];
      for (let at = 0; at < HOLDS; at += 1)
        await ana.posts(two, '/simulate/authorizations', { card_id: card, amount: 0.1 });
      const moving = ana.says(one, 'sandbox clock advance --by 30d');
      const admin = await here.as('postgres');
      const isMoving = () => admin.call('select 1 from cardwright_sandbox.advances', []);
      while ((await isMoving()).length === 0) await rest(1);
      await killed(one);
      for (const { hook } of people) hook.answerAll();
      expect([11, 12]).toContain((await moving).code);

      for (const { hook } of people) await vi.waitFor(() => expect(hook.got.size).toBe(CARDS), LATEST);
      // Another move is refused until the lease of the first is over; then every hold has expired.
      await vi.waitFor(() => ana.asks(two, 'sandbox clock advance --by 30d'), LATEST);
      expect(JSON.parse(await ana.asks(two, `cards get ${card} --json`)).balance).toBe(5);
      for (const each of people) await each.asks(two, 'sandbox check');
      for (const each of people) expect(await each.roundTrip(two)).toBe('equal');
    } finally {
      await killed(two);
      for (const { hook } of people) await hook[Symbol.asyncDispose]();
      await here.close();
    }
  },
  300_000,
);

interface Person {
  readonly hook: Receiver;
  says(
    server: Running,
    line: string,
  ): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  /** To the control surface of the account. */
  posts(server: Running, path: string, body: object): Promise<void>;
  /** The output of a command that ends well. */
  asks(server: Running, line: string): Promise<string>;
  /** An export into a sandbox of this machine, out of it, and back. */
  roundTrip(server: Running): Promise<string>;
}

async function person(place: Home, store: string, name: string): Promise<Person> {
  const folder = join(place.folder, name);
  await mkdir(folder);
  const words = `sandbox accounts create ${name} --store ${store} --ids counted --seed 7 --keys-in ${folder}/keys`;
  const made = await place.run(words.split(' '));
  expect([made.code, made.err]).toEqual([0, '']);
  const hook = await receiver();
  const envFor = ({ url }: Running) => ({
    CARDWRIGHT_CONFIG_DIR: folder,
    CARDWRIGHT_BASE_URL: url,
    CARDWRIGHT_API_KEY_FILE: join(folder, 'keys', 'api-key'),
    CARDWRIGHT_SANDBOX_URL: new URL(url).origin,
    CARDWRIGHT_SANDBOX_TOKEN_FILE: join(folder, 'keys', 'admin-token'),
  });
  const says: Person['says'] = (server, line) => place.run(line.split(' '), { env: envFor(server) });
  const asks: Person['asks'] = async (server, line) => {
    const { code, out, err } = await says(server, line);
    expect(`${line}: ${code}${code === 0 ? '' : err}`).toBe(`${line}: 0`);
    return out;
  };
  const own = async (line: string) => {
    const ran = await place.run(line.split(' '), {
      env: { CARDWRIGHT_CONFIG_DIR: folder, CARDWRIGHT_PROFILE: 'sandbox' },
    });
    expect(`${line}: ${ran.code}${ran.err}`).toBe(`${line}: 0`);
  };
  return {
    hook,
    says,
    asks,
    async posts({ url }, path, body) {
      const token = (await readFile(join(folder, 'keys', 'admin-token'), 'utf8')).trim();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const address = `${new URL(url).origin}/_sandbox/v1${path}`;
      const { status } = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(status).toBe(201);
    },
    async roundTrip(server) {
      const [there, here, back] = ['there', 'here', 'back'].map(file => join(folder, `${file}.ndjson`)) as [
        string,
        string,
        string,
      ];
      await asks(server, 'sandbox clock set frozen');
      await asks(server, `sandbox export ${there}`);
      await own(`sandbox import ${there} --yes`);
      await own(`sandbox export ${here}`);
      await asks(server, 'sandbox reset --data empty --yes');
      await asks(server, `sandbox import ${here} --yes`);
      await asks(server, `sandbox export ${back}`);
      const [first, second, third] = await Promise.all([there, here, back].map(file => readFile(file, 'utf8')));
      return first === second && second === third ? 'equal' : 'different';
    },
  };
}

interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Ids of events that were answered. */
  readonly got: ReadonlySet<string>;
  waiting(): number;
  /** From now on; until then every delivery waits. */
  answerAll(): void;
}

async function receiver(): Promise<Receiver> {
  const got = new Set<string>();
  let held: (() => void)[] | undefined = [];
  const server = createServer(async (request, response: ServerResponse) => {
    let text = '';
    for await (const part of request) text += part;
    const answer = () => {
      got.add((JSON.parse(text) as { id: string }).id);
      response.end();
    };
    if (held === undefined) answer();
    else held.push(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    got,
    waiting: () => held?.length ?? 0,
    answerAll() {
      const leaving = held ?? [];
      held = undefined;
      for (const leave of leaving) leave();
    },
    [Symbol.asyncDispose]: async () => void server.close().closeAllConnections(),
  };
}

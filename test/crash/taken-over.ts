/**
 * What a server of a database was doing when it was killed or stopped, another one goes on with: a delivery on its way,
 * a clock that is moved. One that is killed on the same machine is known to be gone; one that only stands still, or
 * whose machine is away, is believed in until its lease is over.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { expect } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { home } from '../package/built.ts';
import { database } from '../postgres/shared.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { storeOf } from '../support/served-accounts.ts';
import { killed, type Running, startOn } from './account-servers.ts';

export type Ending = 'killed' | 'stopped';

const ADMIN = '/_sandbox/v1';
/** Real ms that others believe in a server of which nothing is heard, and one look. */
const PATIENCE = { delivery: { killed: 10_000, stopped: 31_000 }, advance: { killed: 10_000, stopped: 11_000 } };

async function ground() {
  const here = await database();
  const place = await home();
  const store = storeOf(here);
  const running = [await startOn(place, store, ['--migrate'])];
  const account = async (name: string) => {
    const words = [
      'sandbox',
      'accounts',
      'create',
      name,
      '--store',
      store,
      '--seed',
      '5',
      '--ids',
      'counted',
      '--json',
    ];
    const made = await place.run([...words, '--data', 'empty']);
    expect([made.code, made.err]).toEqual([0, '']);
    const { api_key, admin_token } = JSON.parse(made.out) as { api_key: string; admin_token: string };
    const secrets = { key: new Secret(api_key), adminToken: new Secret(admin_token) };
    return ({ url }: Running): Served => ({ url, ...secrets });
  };
  return {
    here,
    account,
    first: running[0] as Running,
    async another(): Promise<Running> {
      const next = await startOn(place, store);
      running.push(next);
      return next;
    },
    async [Symbol.asyncDispose]() {
      for (const each of running) {
        if (each.child.exitCode === null && each.child.signalCode === null) await killed(each);
      }
      await place[Symbol.asyncDispose]();
      await here.close();
    },
  };
}

const post = (served: Served, path: string, body: unknown) => ask(served, { method: 'POST', path, body });

async function end(server: Running, ending: Ending): Promise<void> {
  if (ending === 'killed') await killed(server);
  else server.child.kill('SIGSTOP');
}

/** A receiver that leaves the first delivery without an answer, and takes the others. */
async function slowReceiver() {
  const came: { readonly at: number; readonly event: string }[] = [];
  const held: ServerResponse[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    came.push({ at: performance.now(), event: (JSON.parse(text) as { id: string }).id });
    if (came.length === 1) held.push(response);
    else response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { came, url, [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() };
}

async function until(isSo: () => boolean | Promise<boolean>, within: number): Promise<void> {
  const begun = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begun > within) expect.unreachable(`not within ${within} ms`);
    await rest(20);
  }
}

/** A delivery is on its way from a server that ends: another one sends it, and what the first says later changes nothing. */
export async function deliveryTakenOver(ending: Ending): Promise<void> {
  await using stage = await ground();
  await using hook = await slowReceiver();
  const account = await stage.account('hooked');
  const { first } = stage;
  expect((await post(account(first), '/webhooks', { url: hook.url, events: ['*'] })).status).toBe(201);
  const bin_id = (await ask(account(first), { path: '/bins' })).json.data[0].id;
  await post(account(first), `${ADMIN}/simulate/deposits`, { currency: 'usdt', amount: 5 });
  expect(bin_id).toBeTruthy();
  await until(() => hook.came.length === 1, 30_000);
  const second = await stage.another();
  await end(first, ending);
  await until(() => hook.came.length > 1, PATIENCE.delivery[ending]);
  expect(hook.came[1]?.event).toBe(hook.came[0]?.event);
  const sent = () => ask(account(second), { path: `${ADMIN}/deliveries` }).then(({ json }) => json.data);
  const settled = async () => (await sent()).filter(({ event_id }: Sent) => event_id === hook.came[0]?.event);
  await until(async () => (await settled())[0]?.state === 'delivered', 10_000);
  if (ending === 'stopped') {
    first.child.kill('SIGCONT');
    expect((await ask(account(first), { path: '/wallet' })).status).toBe(200);
    // What it has to say of its attempt it says before it ends.
    first.child.kill('SIGTERM');
    await once(first.child, 'exit');
  }
  expect(await settled()).toMatchObject([{ state: 'delivered', attempt: 2 }]);
}

interface Sent {
  readonly event_id: string;
}

const DEPOSITS = 10;

/** The clock is being moved by a server that ends: another one goes on, and nothing happens twice. */
export async function clockTakenOver(ending: Ending): Promise<void> {
  await using stage = await ground();
  const { first } = stage;
  const [moved, usual] = [await stage.account('moved'), await stage.account('usual')];
  const to = '2026-11-20T15:00:00Z';
  for (const account of [moved, usual]) {
    const at = '2026-11-20T14:00:00Z';
    expect(
      (await ask(account(first), { method: 'PUT', path: `${ADMIN}/clock`, body: { mode: 'frozen', at } })).status,
    ).toBe(200);
    for (let each = 0; each < DEPOSITS; each += 1)
      expect((await post(account(first), `${ADMIN}/simulate/deposits`, { currency: 'usdt', amount: 5 })).status).toBe(
        201,
      );
  }
  const second = await stage.another();
  expect((await post(usual(second), `${ADMIN}/clock/advance`, { to })).status).toBe(200);

  const began = post(moved(first), `${ADMIN}/clock/advance`, { to }).catch((error: unknown) => error);
  const session = await stage.here.as('postgres');
  const left = `select count(*) from cardwright_sandbox.timers join cardwright_sandbox.accounts using (account_id)
    where name = 'moved'`;
  const deposits = `select count(*) from cardwright_sandbox.clock join cardwright_sandbox.accounts using (account_id)
    where name = 'moved' and at > ${Date.parse('2026-11-20T14:00:06Z')}`;
  await until(async () => (await session.call(deposits, []))[0]?.[0] === '1', 30_000);
  await end(first, ending);
  expect((await session.call(left, []))[0]?.[0]).not.toBe('0');

  const shown = async () => (await ask(moved(second), { path: `${ADMIN}/clock` })).json;
  expect(await shown()).toMatchObject({ moving_to: to });
  // Who stands still within a transaction keeps the account locked until the database ends that.
  const answers = ending === 'stopped' ? [200, 409, 503] : [200, 409];
  expect(answers).toContain((await post(moved(second), `${ADMIN}/clock/advance`, { to })).status);
  // Nobody asks for it: the other server looks.
  await until(async () => (await shown()).moving_to === null, PATIENCE.advance[ending] + 20_000);
  expect(await shown()).toMatchObject({ now: to });
  if (ending === 'stopped') {
    first.child.kill('SIGCONT');
    // Within a transaction it has lost its connection meanwhile.
    const { status, json } = (await began) as Awaited<ReturnType<typeof post>>;
    expect([
      [409, 'invalid_request'],
      [503, 'service_unavailable'],
    ]).toContainEqual([status, json.error]);
  }
  for (const path of ['/wallet', `${ADMIN}/clock`, `${ADMIN}/timers`, `${ADMIN}/events`, `${ADMIN}/deposits`])
    expect([path, (await ask(moved(second), { path })).json]).toEqual([
      path,
      (await ask(usual(second), { path })).json,
    ]);
  expect((await ask(moved(second), { path: `${ADMIN}/status` })).json).toMatchObject({ ledger_ok: true });
}

/** The sandbox of a team: two servers over one database, and accounts that know nothing of each other. */
import { EventEmitter, once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { type Account, type AccountServer, accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { type World, world } from '../support/world.ts';

const LONG = { timeout: 30_000, interval: 20 };
const ADMIN = '/_sandbox/v1';
const post = (served: Served, path: string, body: unknown, idempotencyKey?: string) =>
  ask(served, { method: 'POST', path, body, ...(idempotencyKey !== undefined && { idempotencyKey }) });

/** `isWhole` adds deliveries and timers that wait. */
export function twoServers({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing() !== undefined)('two servers', () => {
    let here: Database;
    let store: string;
    let place: World;
    let one: AccountServer;
    let two: AccountServer;
    let ana: Account;
    let ben: Account;

    beforeAll(async () => {
      here = await database();
      store = storeOf(here);
      place = await world();
      const early = await place.run(`sandbox start --store ${store}`);
      expect([early.code, early.err]).toEqual([15, expect.stringContaining('has no tables of a sandbox yet')]);
      expect(early.err).toContain('--migrate');
      one = await accountServer(place, store, '--migrate --admin --no-rate-limits');
      two = await accountServer(place, store, '--admin --no-rate-limits');
      ana = await accountOf(place, store, 'ana', '--data demo --seed 7 --ids counted');
      ben = await accountOf(place, store, 'ben', '--data demo --seed 7 --ids counted');
    });
    afterAll(async () => {
      for (const server of [one, two]) {
        const { code, err } = await server.stop();
        expect([code, err]).toEqual([0, '']);
      }
      await place[Symbol.asyncDispose]();
      await here.close();
    });

    it('what one did the other shows, and a repeated request is answered by either', async () => {
      const bin_id = (await ask(ana.at(one), { path: '/bins' })).json.data[0].id;
      const made = await post(ana.at(one), '/cards', { bin_id, amount: 25 }, 'once');
      expect(made.status).toBe(201);
      const again = await post(ana.at(two), '/cards', { bin_id, amount: 25 }, 'once');
      expect([again.status, again.text]).toEqual([201, made.text]);
      expect((await ask(ana.at(two), { path: `/cards/${made.json.id}` })).json.balance).toBe(25);
      expect((await ask(ben.at(two), { path: `/cards/${made.json.id}` })).status).toBe(404);
    });

    it('nobody comes in with a key of nobody, or of another surface', async () => {
      const wrong = { ...ana.at(one), key: new Secret('sk_test_nobody'), adminToken: ana.at(one).key };
      expect((await ask(wrong, { path: '/wallet' })).status).toBe(401);
      expect((await ask(wrong, { path: `${ADMIN}/status` })).status).toBe(401);
      expect((await ask(ana.at(two), { path: `${ADMIN}/status` })).json).toMatchObject({
        data_set: 'demo',
        ledger_ok: true,
      });
      const live = await ask({ ...wrong, key: new Secret('sk_live_x') }, { path: '/wallet' });
      expect([live.status, live.json.error]).toEqual([403, 'environment_mismatch']);
      await using closed = await accountServer(place, store);
      expect((await ask(ana.at(closed), { path: `${ADMIN}/status` })).status).toBe(404);
      expect((await ask(ana.at(closed), { path: '/wallet' })).status).toBe(200);
    });

    it('a reset through one is one for the other, numbers of requests too', async () => {
      const ids = async (server: AccountServer) =>
        String((await ask(ben.at(server), { path: '/wallet' })).headers['x-request-id']);
      await ids(one);
      await ids(two);
      expect((await post(ben.at(two), `${ADMIN}/reset`, { data: 'empty', seed: 3 })).status).toBe(200);
      const told = [await ids(one), await ids(two), await ids(one), await ids(two)];
      expect(new Set(told).size).toBe(4);
      expect((await ask(ben.at(one), { path: '/cards' })).json.data).toEqual([]);
      expect((await ask(ana.at(one), { path: '/cards' })).json.data).not.toEqual([]);
    });

    it('tells a receiver every event, and moves the clock past what falls due', async () => {
      const got: string[] = [];
      await using receiver = await listening(got);
      const { bins } = { bins: (await ask(ana.at(one), { path: '/bins' })).json.data };
      const hook = await post(ana.at(one), '/webhooks', { url: receiver.url, events: ['*'] });
      expect(hook.status).toBe(201);
      const card = (await post(ana.at(two), '/cards', { bin_id: bins[0].id, amount: 30 })).json.id;
      await post(ana.at(one), `/cards/${card}/fund`, { amount: 5 });
      await vi.waitFor(() => expect(got.slice(0, 2)).toEqual(['card.created', 'card.funded']), LONG);
      const bought = await post(ana.at(two), `${ADMIN}/simulate/authorizations`, { card_id: card, amount: 4 });
      expect(bought.status).toBe(201);
      const moved = await post(ana.at(one), `${ADMIN}/clock/advance`, { by: '8d' });
      expect(moved.status).toBe(200);
      expect((await ask(ana.at(two), { path: `/cards/${card}` })).json.balance).toBe(35);
      expect((await ask(ana.at(two), { method: 'DELETE', path: `/webhooks/${hook.json.id}` })).status).toBe(204);
      expect((await ask(ana.at(two), { path: `${ADMIN}/status` })).json.ledger_ok).toBe(true);
    });

    it.runIf(isWhole)('shows how many deliveries a move of the clock waits for', async () => {
      const account = await accountOf(place, store, 'waits', '--data demo');
      const gate = new EventEmitter();
      const isLetGo = once(gate, 'open');
      let held = 0;
      const receiver = createServer(async (request, response) => {
        request.resume();
        held += 1;
        await isLetGo;
        response.end();
      });
      await once(receiver.listen(0, '127.0.0.1'), 'listening');
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      expect((await post(account.at(one), '/webhooks', { url, events: ['*'] })).status).toBe(201);
      const bin_id = (await ask(account.at(one), { path: '/bins' })).json.data[0].id;
      expect((await post(account.at(one), '/cards', { bin_id, amount: 30 })).status).toBe(201);
      await vi.waitFor(() => expect(held).toBe(1), LONG);
      const moved = post(account.at(one), `${ADMIN}/clock/advance`, { by: '8d' });
      const shown = async () => (await ask(account.at(two), { path: `${ADMIN}/clock` })).json;
      await vi.waitFor(
        async () => expect(await shown()).toMatchObject({ moving_to: expect.any(String), awaited_deliveries: 1 }),
        LONG,
      );
      const { adminToken, url: address } = account.at(two);
      const env = { CARDWRIGHT_SANDBOX_URL: new URL(address).origin, CARDWRIGHT_SANDBOX_TOKEN: adminToken.expose() };
      const said = await place.run('sandbox clock show', { env, terminal: 100 });
      expect([said.code, said.out]).toEqual([0, expect.stringMatching(/Waits for +1 delivery\n/)]);
      gate.emit('open');
      expect((await moved).status).toBe(200);
      expect(await shown()).toMatchObject({ moving_to: null, awaited_deliveries: 0 });
      expect((await place.run(`sandbox accounts remove waits --store ${store} --yes`)).code).toBe(0);
      await once(receiver.close(), 'close');
    });

    it('a whole account goes to a sandbox of this machine and back', async () => {
      const headers = { 'content-type': 'application/x-ndjson' };
      const exported = async (served: Served) => {
        const authorization = `Bearer ${served.adminToken.expose()}`;
        return (await fetch(`${new URL(served.url).origin}${ADMIN}/export`, { headers: { authorization } })).text();
      };
      const take = (into: Served, body: string) =>
        ask(into, { method: 'POST', path: `${ADMIN}/import`, body, headers });
      await ask(ana.at(one), { method: 'PUT', path: `${ADMIN}/clock`, body: { mode: 'frozen' } });
      const text = await exported(ana.at(one));
      await using light = await startSandbox({ deliveries: 'queued' });
      expect((await take(light, text)).json).toMatchObject({ restored: true, ledger_ok: true });
      expect(await exported(light)).toBe(text);
      expect((await take(ben.at(two), text)).json).toMatchObject({ restored: true, ledger_ok: true });
      expect(await exported(ben.at(one))).toBe(text);
    });

    it('finds a request that the other one has only just answered', async () => {
      const last = String((await ask(ana.at(one), { path: '/wallet' })).headers['x-request-id']);
      const match = { operation: 'wallet.get', since: '2020-01-01T00:00:00Z' };
      const asked = async () => (await post(ana.at(two), `${ADMIN}/requests/verify`, { match, times: 999 })).json;
      expect((await asked()).request_ids).toContain(last);
    });

    it.runIf(isWhole)(
      'does for others what falls due, and answers them, while an account is locked for long',
      async () => {
        const admin = await here.as('postgres', 'another');
        const names = ['held1', 'held2', 'held3', 'held4', 'free'];
        const accounts: Account[] = [];
        for (const name of names) {
          const account = await accountOf(place, store, name);
          accounts.push(account);
          await post(account.at(one), `${ADMIN}/simulate/deposits`, { currency: 'usdt', amount: 50 });
        }
        const hold = "select 1 from cardwright_sandbox.accounts where name like 'held%' for update";
        await admin.call('begin', []);
        expect(await admin.call(hold, [])).toHaveLength(4);
        const waiting = accounts
          .slice(0, 4)
          .flatMap(account =>
            [one, two].map(server =>
              post(account.at(server), `${ADMIN}/simulate/deposits`, { currency: 'usdt', amount: 1 }),
            ),
          );
        const free = accounts[4] as Account;
        const shown = (await ask(free.at(one), { path: `${ADMIN}/clock` })).json.now as string;
        const later = new Date(Date.parse(shown) + 86_400_000).toISOString();
        expect(
          (await ask(free.at(two), { method: 'PUT', path: `${ADMIN}/clock`, body: { mode: 'offset', at: later } }))
            .status,
        ).toBe(200);
        const timers = `select 1 from cardwright_sandbox.timers t join cardwright_sandbox.accounts a using (account_id) where a.name = 'free'`;
        const watcher = await here.as('postgres');
        await vi.waitFor(async () => expect(await watcher.call(timers, [])).toEqual([]), {
          timeout: 20_000,
          interval: 50,
        });
        await admin.call('rollback', []);
        expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(8).fill(201));
        for (const name of names) {
          expect((await place.run(`sandbox accounts remove ${name} --store ${store} --yes`)).code).toBe(0);
        }
      },
    );

    it('refuses what is no name before anything happens, and names it', async () => {
      const names = [
        'Ana',
        'añna',
        '\u202eana',
        "'two words'",
        'a'.repeat(200),
        '..',
        'a/../b',
        'a_b',
        'a-',
        'https://x.y',
      ];
      for (const name of names)
        for (const verb of ['create', 'remove', 'extend']) {
          const more = { create: '', remove: '--yes', extend: '--expires 1h' }[verb];
          const { code, out, err } = await place.run(`sandbox accounts ${verb} ${name} --store ${store} ${more}`);
          expect([verb, name, code, out]).toEqual([verb, name, 2, '']);
          expect(err).toContain('is no name of an account: up to 63 lower-case letters, digits and dashes');
          expect(err).not.toContain('\u202e');
        }
      for (const name of ['-x', '--yes', "''"])
        expect((await place.run(`sandbox accounts create ${name} --store ${store}`)).code).toBe(2);
    });

    it('gives a name to one of two who ask for it at once, and removes it for one of two', async () => {
      const name = 'a'.repeat(63);
      const both = async (line: string) => {
        const ran = await Promise.all([line, line].map(each => place.run(`sandbox accounts ${each} --store ${store}`)));
        return ran.map(({ code }) => code).sort();
      };
      expect(await both(`create ${name}`)).toEqual([0, 2]);
      expect(await both(`remove ${name} --yes`)).toEqual([0, 5]);
      expect(await both(`create ${name}`)).toEqual([0, 2]);
      expect(await both(`remove ${name} --yes`)).toEqual([0, 5]);
    });

    it('lists and removes accounts, and a name is given once', async () => {
      const list = await place.run(`sandbox accounts list --store ${store} --json`);
      expect(list.code).toBe(0);
      const { data } = JSON.parse(list.out) as { data: { name: string }[] };
      expect(data.map(({ name }) => name)).toEqual(['ana', 'ben']);
      expect((await place.run(`sandbox accounts create ana --store ${store}`)).code).toBe(2);
      const gone = await accountOf(place, store, 'gone');
      expect((await ask(gone.at(one), { path: '/wallet' })).status).toBe(200);
      expect((await place.run(`sandbox accounts remove gone --store ${store} --yes`)).code).toBe(0);
      expect((await place.run(`sandbox accounts remove gone --store ${store} --yes`)).code).toBe(5);
      await vi.waitFor(async () => expect((await ask(gone.at(one), { path: '/wallet' })).status).toBe(401), LONG);
    });

    it.each([
      ['sandbox start --store postgres://ana:secret@localhost/x', 2],
      ['sandbox start --store postgres://ana@db.example.com/x?sslmode=require', 14],
      ['sandbox start --store postgres://ana@localhost/x --seed 4', 2],
      ['sandbox start --store postgres://ana@localhost/x --bind 0.0.0.0', 2],
      ['sandbox start --migrate', 2],
    ])('%s ends with %i', async (line, code) => {
      const ended = await place.run(line);
      expect([ended.code, ended.err]).toEqual([code, expect.not.stringContaining('secret')]);
    });
  });

  async function listening(got: string[]): Promise<{ readonly url: string } & AsyncDisposable> {
    const server: HttpServer = createServer(async (request, response) => {
      let text = '';
      for await (const part of request) text += part;
      got.push((JSON.parse(text) as { type: string }).type);
      response.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      [Symbol.asyncDispose]: async () => void (await once(server.close(), 'close')),
    };
  }
}

/** What `sandbox start --store` and `sandbox accounts` refuse, and what one account sees of changes by others. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { ask } from '../support/sandbox-http.ts';
import { type AccountServer, accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { type World, world } from '../support/world.ts';

const LONG = { timeout: 20_000, interval: 20 };
const ADMIN = '/_sandbox/v1';

describe('an address', () => {
  it.each([
    ['start --store postgres://ana:secret@localhost/x', 2, 'set CARDWRIGHT_STORE_PASSWORD_FILE'],
    ['start --store postgres://ana@db.example.com/x?sslmode=require', 14, 'sslmode=verify-full only'],
    ['start --store postgres://ana@127.0.0.1:1/x', 14, 'cannot be reached: connect ECONNREFUSED 127.0.0.1:1'],
    ['start --store /home/ana/store.db', 2, 'it is served without --store'],
    ['start --store mysql://ana@localhost/x', 2, 'is the address of a PostgreSQL database'],
    ['start --store postgres://ana@127.0.0.1:1/run_4242424242424242', 14, 'cannot be reached'],
    [
      'start --store postgres://ana@%2Frun%2Fpostgresql/x?port=5499',
      2,
      'port is no parameter of it; over a Unix socket it is postgres://role@%2Frun%2Fpostgresql:5432/database',
    ],
    ['start --store postgres://ana@/x?host=/run/postgresql', 2, 'over a Unix socket it is postgres://role@%2F'],
    ['start --migrate', 2, '--migrate is for a server with --store'],
    ['start --store postgres://ana@localhost/x --detach', 2, 'kept running by systemd or a container'],
    ['start --store postgres://ana@localhost/x --open', 2, 'shows no page'],
    ['start --store postgres://ana@localhost/x --seed 4', 2, 'cardwright sandbox accounts create'],
    ['start --store postgres://ana@localhost/x --data load', 2, 'cardwright sandbox accounts create'],
    ['start --store postgres://ana@localhost/x --bind 0.0.0.0', 2, '--bind and --behind-proxy come together'],
    ['accounts list --store store.db', 2, 'is the address of a PostgreSQL database'],
    ['accounts create Ana_B --store postgres://ana@localhost/x', 2, 'is no name of an account'],
  ])('sandbox %s ends with %i', async (line, code, words) => {
    await using place = await world();
    const ended = await place.run(`sandbox ${line}`);
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(words)]);
    expect(ended.err).not.toContain('secret@');
  });
});

describe.skipIf(missing() !== undefined)('accounts', () => {
  let here: Database;
  let place: World;
  let store: string;
  let server: AccountServer;
  beforeAll(async () => {
    here = await database();
    place = await world();
    store = storeOf(here);
    server = await accountServer(place, store, '--migrate --admin --no-rate-limits');
  });
  afterAll(async () => {
    await server.stop();
    await place[Symbol.asyncDispose]();
    await here.close();
  });
  const refused = async (line: string, code: number, words: string) => {
    const ended = await place.run(`sandbox ${line} --store ${store}`);
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(words)]);
  };

  it('are kept in no database that cannot hold every text', async () => {
    const name = `${here.name}_latin`;
    const root = await here.as('postgres');
    await root.call(`create database ${name} encoding 'LATIN1' template template0 lc_collate 'C' lc_ctype 'C'`, []);
    const latin = store.replace(here.name, name);
    for (const line of ['start --migrate', 'accounts create ana', 'accounts list']) {
      const ended = await place.run(`sandbox ${line} --store ${latin}`);
      expect([ended.code, ended.err]).toEqual([14, expect.stringContaining('is encoded in LATIN1')]);
    }
  });

  it('have one name each, and only those that are there are removed', async () => {
    await accountOf(place, store, 'ana');
    await refused('accounts create ana', 2, 'has an account ana already');
    await refused('accounts remove nobody --yes', 5, 'has no account nobody');
    await refused('accounts remove ana', 3, `sandbox accounts remove ana --store ${store} --yes`);
    const { port } = new URL(server.row.url);
    await refused(`start --port ${port}`, 12, `cardwright sandbox start --store ${store} --port 0`);
    await accountOf(place, store, 'job-4242424242424242-1');
    const list = await place.run(`sandbox accounts list --store ${store}`, { terminal: 80 });
    for (const line of list.out.split('\n')) expect(line.replace(/\x1b\[\d+m/g, '').length).toBeLessThan(80);
    expect(list.out).toContain('job-4242424242424242-1');
  });

  it('are reset by two at once, one after the other', async () => {
    const ben = (await accountOf(place, store, 'ben')).at(server);
    const reset = (seed: number) => ask(ben, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'empty', seed } });
    const cards = ask(ben, { path: '/cards' });
    const answers = await Promise.all([reset(1), reset(2), reset(3), cards]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await ask(ben, { path: `${ADMIN}/status` })).json.ledger_ok).toBe(true);
  });

  it('end for a client that works, with a refused key, and nobody else notices', async () => {
    const gone = (await accountOf(place, store, 'gone', '--data demo')).at(server);
    const stays = (await accountOf(place, store, 'stays', '--data demo')).at(server);
    const statuses = new Set<number>();
    let isOver = false;
    const working = (async () => {
      while (!isOver) {
        const bin_id = (await ask(stays, { path: '/bins' })).json.data[0].id;
        const body = { bin_id, amount: 5 };
        statuses.add((await ask(gone, { method: 'POST', path: '/cards', body })).status);
        expect((await ask(stays, { method: 'POST', path: '/cards', body })).status).toBe(201);
      }
    })();
    expect((await place.run(`sandbox accounts remove gone --store ${store} --yes`)).code).toBe(0);
    await vi.waitFor(async () => expect((await ask(gone, { path: '/wallet' })).status).toBe(401), LONG);
    isOver = true;
    await working;
    expect((await ask(gone, { path: `${ADMIN}/status` })).status).toBe(401);
    // For a second the key is believed while the account is gone already: its BINs are, and 503 says that nothing happened.
    for (const status of statuses) expect([201, 401, 404, 503]).toContain(status);
  });

  it('of tables of a newer program are left alone', async () => {
    const admin = await here.as('postgres');
    await admin.call('update cardwright_sandbox.store_schema set schema_number = schema_number + 90', []);
    await refused('start --migrate', 15, 'was made by a newer cardwright');
    await refused('accounts list', 15, 'Install that version and repeat the command');
    await admin.call('update cardwright_sandbox.store_schema set schema_number = schema_number - 90', []);
  });
});

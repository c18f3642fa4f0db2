/** The database of a team's sandbox: verified, logged in, behind a pooler. What cannot be used is refused, and nothing is served. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startBouncer } from '../postgres/pgbouncer.ts';
import { missing } from '../postgres/server.ts';
import { certificateOf, type Database, database, PASSWORD } from '../postgres/shared.ts';
import { requires } from '../support/programs.ts';
import { ask } from '../support/sandbox-http.ts';
import { accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { type World, world } from '../support/world.ts';
import { ownServer } from '../team/own-server.ts';

describe.skipIf(missing() !== undefined)('a database', () => {
  let here: Database;
  let place: World;
  /** Answers that it has no TLS. */
  const server = createServer(socket => socket.once('data', () => socket.end('N')).on('error', () => undefined));
  let bare: number;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    bare = (server.address() as AddressInfo).port;
    here = await database();
    place = await world();
    await (await here.as('postgres')).call(`grant create on database ${here.name} to ana`, []);
    await writeFile(join(place.folder, 'password'), `${PASSWORD}\n`, { mode: 0o600 });
    await writeFile(join(place.folder, 'wrong'), 'not the password\n', { mode: 0o600 });
    const made = await accountServer(place, storeOf(here, 'ana'), '--migrate');
    expect((await made.stop()).code).toBe(0);
  });
  afterAll(async () => {
    server.close();
    await place[Symbol.asyncDispose]();
    await here.close();
  });

  const secured = () =>
    `postgres://ana@127.0.0.1:${here.server.port}/${here.name}?sslmode=verify-full&sslrootcert=${certificateOf(here.server)}`;
  const file = (name: string) => ({ CARDWRIGHT_STORE_PASSWORD_FILE: join(place.folder, name) });
  const refused = async (
    store: string,
    { code, says, next = '', env = {} }: { code: number; says: string; next?: string; env?: object },
  ) => {
    for (const line of [`sandbox start --store '${store}'`, `sandbox accounts list --store '${store}'`]) {
      const ran = await place.run(line, { env: env as Readonly<Record<string, string>> });
      expect([line, ran.code, ran.out]).toEqual([line, code, '']);
      expect(ran.err).toContain(says);
      expect(ran.err).toContain(next);
      expect(ran.all).not.toMatch(/pässword|not the password/);
    }
  };

  it('is verified and shown the password by SCRAM', async () => {
    await using _server = await accountServer(place, `'${secured()}'`, '--admin', file('password'));
    const used = 'select count(*) from pg_stat_ssl s join pg_stat_activity a using (pid) where ssl and usename = $1';
    const [row] = await (await here.as('postgres')).call(used, ['ana']);
    expect(Number(row?.[0])).toBeGreaterThan(0);
  });

  it.each([
    ['without its password', () => secured(), { code: 14, says: 'export CARDWRIGHT_STORE_PASSWORD_FILE=' }, ''],
    [
      'with a wrong password',
      () => secured(),
      {
        code: 14,
        says: 'password authentication failed',
        next: 'try: export CARDWRIGHT_STORE_PASSWORD_FILE=/absolute/path',
      },
      'wrong',
    ],
    [
      'whose certificate nobody trusts',
      () => secured().replace(/&sslrootcert.*/, ''),
      { code: 14, says: 'self-signed certificate', next: '&sslrootcert=/absolute/path' },
      'password',
    ],
    [
      'that is not there',
      () => 'postgres://ana@127.0.0.1:1/x',
      { code: 14, says: 'cannot be reached', next: 'No server listens at 127.0.0.1, port 1.' },
      '',
    ],
    [
      'of an unknown host',
      () => 'postgres://ana@no.invalid/x?sslmode=verify-full',
      { code: 14, says: 'cannot be reached', next: 'try: getent hosts no.invalid' },
      '',
    ],
    [
      'without TLS',
      () => `postgres://ana@127.0.0.1:${bare}/x?sslmode=verify-full`,
      { code: 14, says: 'cannot be reached', next: 'set ssl = on' },
      '',
    ],
    [
      'of a role that is not there',
      () => storeOf(here, 'nobody' as 'out'),
      { code: 14, says: 'does not exist', next: 'create role nobody login;' },
      '',
    ],
    [
      'that has another name',
      () => storeOf({ ...here, name: 'nowhere' }, 'ana'),
      { code: 14, says: 'does not exist', next: 'create database nowhere owner ana;' },
      '',
    ],
    [
      'of which a role may see nothing',
      () => storeOf(here, 'out'),
      { code: 14, says: 'permission denied', next: 'grant <that role> to out;' },
      '',
    ],
  ])('%s is refused', async (_what, store, what, password) => {
    await refused(store(), { ...what, env: password === '' ? {} : file(password) });
  });

  it('whose tables are of a newer version is refused, and not changed', async () => {
    const root = await here.as('postgres');
    const number = async () =>
      (await root.call('select schema_number from cardwright_sandbox.store_schema', []))[0]?.[0];
    const before = (await number()) ?? '';
    await root.call('update cardwright_sandbox.store_schema set schema_number = 99', []);
    await refused(storeOf(here, 'ana'), { code: 15, says: 'made by a newer cardwright' });
    expect((await place.run(`sandbox start --store ${storeOf(here, 'ana')} --migrate`)).code).toBe(15);
    expect(await number()).toBe('99');
    await root.call('update cardwright_sandbox.store_schema set schema_number = $1', [before]);
  });

  it('that only reads is refused; one that becomes such while it is served changes nothing, and answers 503', async () => {
    const root = await here.as('postgres');
    const store = storeOf(here, 'ana');
    await using server = await accountServer(place, store, '--admin --no-rate-limits');
    const account = (await accountOf(place, store, 'reader')).at(server);
    const deposit = () =>
      ask(account, { method: 'POST', path: '/_sandbox/v1/simulate/deposits', body: { currency: 'usdt', amount: 5 } });
    expect((await deposit()).status).toBe(201);
    await root.call(`alter role ana in database ${here.name} set default_transaction_read_only = on`, []);
    await root.call(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ana' and datname = current_database()`,
      [],
    );
    await refused(store, { code: 14, says: 'only reads' });
    await vi.waitFor(async () => expect((await deposit()).json).toMatchObject({ error: 'service_unavailable' }), {
      timeout: 20_000,
    });
    await root.call(`alter role ana in database ${here.name} reset default_transaction_read_only`, []);
    await root.call(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ana' and datname = current_database()`,
      [],
    );
    await vi.waitFor(async () => expect((await deposit()).status).toBe(201), { timeout: 20_000 });
  });
});

it.skipIf(missing() ?? requires('pgbouncer'))(
  'a pooler in transaction mode stands between servers and database, and is ended once',
  async () => {
    await using own = await ownServer();
    const bouncer = await startBouncer(own.server, ['postgres']);
    await using place = await world();
    try {
      const store = storeOf({ server: { ...own.server, ...bouncer }, name: own.name });
      await using one = await accountServer(place, store, '--migrate --admin --no-rate-limits');
      await using two = await accountServer(place, store, '--admin --no-rate-limits');
      const account = await accountOf(place, store, 'pooled', '--data demo');
      const bin_id = (await ask(account.at(one), { path: '/bins' })).json.data[0].id;
      const card = await ask(account.at(one), { method: 'POST', path: '/cards', body: { bin_id, amount: 1 } });
      expect(card.status).toBe(201);
      const fund = async (nth: number) => {
        for (;;) {
          const asked = {
            method: 'POST',
            path: `/cards/${card.json.id}/fund`,
            body: { amount: 1 },
            idempotencyKey: `fund ${nth}`,
          };
          const status = await ask(account.at(nth % 2 === 0 ? one : two), asked).then(
            answer => answer.status,
            () => 0,
          );
          if (status === 200) return;
          expect([0, 503]).toContain(status);
        }
      };
      const funds = Array.from({ length: 40 }, (_, nth) => fund(nth));
      await bouncer.again();
      await Promise.all(funds);
      for (const server of [one, two])
        expect((await ask(account.at(server), { path: `/cards/${card.json.id}` })).json.balance).toBe(41);
    } finally {
      await bouncer.stop();
    }
  },
);

it.skipIf(missing())(
  'that goes away is told to whoever asks, and once to whoever runs the server',
  { timeout: 60_000 },
  async () => {
    await using own = await ownServer();
    await using place = await world();
    const store = storeOf(own);
    const server = await accountServer(place, store, '--migrate --admin --no-rate-limits');
    const account = (await accountOf(place, store, 'ana')).at(server);
    const wallet = () => ask(account, { path: '/wallet' });
    expect((await wallet()).status).toBe(200);
    await own.stop();
    const away = await wallet();
    expect([away.status, away.json.message]).toEqual([
      503,
      'This server of the sandbox cannot use its database now; nothing of the request happened. Try again later. The log of the server has the reason.',
    ]);
    const asked = await place.run('wallet', {
      env: { CARDWRIGHT_PROFILE: 'env', CARDWRIGHT_BASE_URL: server.row.url, CARDWRIGHT_API_KEY: account.key.expose() },
      onPause: () => undefined,
    });
    expect([asked.code, asked.err]).toEqual([12, expect.stringContaining('cannot use its database now')]);
    expect(asked.err).not.toContain('doctor');
    await own.start();
    await vi.waitFor(async () => expect((await wallet()).status).toBe(200), { timeout: 20_000 });
    await vi.waitFor(() => expect(server.said()).toContain('can be used again'), { timeout: 20_000 });
    const { code, err } = await server.stop();
    expect(code).toBe(0);
    expect(
      err.match(/warning: the sandbox store \S+ cannot be used: .*; requests are answered 503 until it can\n/g),
    ).toHaveLength(1);
    expect(err.match(/warning: the sandbox store \S+ can be used again\n/g)).toHaveLength(1);
  },
);

it.skipIf(missing())(
  'a hint to start a server again is the command as it was typed, with what is missing',
  async () => {
    await using own = await ownServer();
    await using place = await world();
    const line = `sandbox start --store ${storeOf(own)} --admin --no-rate-limits --port`;
    const early = await place.run(`${line} 0`);
    expect([early.code, early.err]).toEqual([15, expect.stringContaining(`try: cardwright ${line} 0 --migrate\n`)]);
    await using first = await accountServer(place, storeOf(own), '--migrate');
    const { port } = new URL(first.row.url);
    const taken = await place.run(`${line} ${port}`);
    expect([taken.code, taken.err]).toEqual([12, expect.stringContaining(`try: cardwright ${line} 0\n`)]);
    const other = await place.run(`sandbox accounts list --store ${storeOf({ ...own, name: 'template1' })}`);
    expect([other.code, other.err]).toEqual([
      15,
      expect.stringMatching(/try: cardwright sandbox start --store \S+ --migrate\n/),
    ]);
  },
);

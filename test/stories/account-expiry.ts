/** Accounts with an end: a job that was killed leaves nothing behind in the sandbox of a team. */
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { ask } from '../support/sandbox-http.ts';
import { type AccountServer, accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { type World, world } from '../support/world.ts';

const ADMIN = '/_sandbox/v1';
const SOON = { timeout: 20_000, interval: 50 };
const SCHEMA = 'cardwright_sandbox';

/** `isWhole` adds snapshots, and ends that are moved. */
export function accountExpiry({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing() !== undefined)('an account with an end', () => {
    let here: Database;
    let store: string;
    let place: World;
    let one: AccountServer;
    let two: AccountServer;
    let root: Awaited<ReturnType<Database['as']>>;

    beforeAll(async () => {
      here = await database();
      store = storeOf(here);
      place = await world();
      root = await here.as('postgres');
      one = await accountServer(place, store, '--migrate --admin --no-rate-limits');
      two = await accountServer(place, store, '--admin --no-rate-limits');
    });
    afterAll(async () => {
      for (const server of [one, two]) {
        const { code, err } = await server.stop();
        expect([code, err]).toEqual([0, '']);
      }
      await place[Symbol.asyncDispose]();
      await here.close();
    });

    const run = async (line: string) => {
      const ran = await place.run(`sandbox accounts ${line} --store ${store}`);
      return { ...ran, json: ran.out.startsWith('{') ? JSON.parse(ran.out) : undefined };
    };
    const named = async (name: string) =>
      (await run('list --json')).json.data.find((row: { name: string }) => row.name === name);
    /** Its end has come, on the clock of the database. */
    const over = (name: string) =>
      root.call(`update ${SCHEMA}.accounts set expires_at = created_at + 1 where name = '${name}'`, []);
    /** Tables that hold rows of it. */
    const tablesWith = async (account: string) => {
      const tables = await root.call(
        `select table_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
       where table_schema = '${SCHEMA}' and column_name = 'account_id' and table_type = 'BASE TABLE'`,
        [],
      );
      expect(tables.length).toBeGreaterThan(20);
      const held: unknown[] = [];
      for (const [table] of tables) {
        const [row] = await root.call(`select count(*) from ${SCHEMA}.${table} where account_id = $1`, [account]);
        if (row?.[0] !== '0') held.push(table);
      }
      return held;
    };

    it('shows its end, counted on the clock of the database and not on its own', async () => {
      const made = await run('create lasting --expires 2h --json');
      expect(made.code).toBe(0);
      const { created_at, expires_at } = made.json;
      // The clock of the database is read for each of the two.
      expect(Date.parse(expires_at) - Date.parse(created_at) - 7_200_000).toBeLessThan(1000);
      const [row] = await root.call('select floor(extract(epoch from clock_timestamp()) * 1000)', []);
      expect(Math.abs(Number(row?.[0]) - Date.parse(created_at))).toBeLessThan(60_000);
      expect(await named('lasting')).toMatchObject({ created_at, expires_at });
      const endless = await run('create endless --json');
      expect([endless.code, endless.json.expires_at]).toEqual([0, null]);
    });

    it('lives on when its own clock goes past the end', async () => {
      const account = await accountOf(place, store, 'ahead', '--expires 1h');
      const moved = await ask(account.at(one), { method: 'POST', path: `${ADMIN}/clock/advance`, body: { by: '2d' } });
      expect(moved.status).toBe(200);
      expect((await ask(account.at(two), { path: '/wallet' })).status).toBe(200);
    });

    it('is removed where whoever began it lost the database before it had keys, and its name is free again', async () => {
      const begun = (ago: number) =>
        root.call(
          `insert into ${SCHEMA}.accounts (account_id, name, instance, seed, ids, generation, dialect, created_at)
         select 'acct_begun', 'begun', '0a', 1, ids, 1, dialect, created_at - ${ago} from ${SCHEMA}.accounts limit 1`,
          [],
        );
      await begun(0);
      const early = await run('create begun');
      expect([early.code, early.err]).toEqual([2, expect.stringContaining('has an account begun already')]);
      await root.call(`delete from ${SCHEMA}.accounts where name = 'begun'`, []);
      await begun(61_000);
      await vi.waitFor(async () => expect(await named('begun')).toBeUndefined(), SOON);
      expect((await run('create begun')).code).toBe(0);
    });

    it('is removed once its end has come, with timers and deliveries, by two servers at once', async () => {
      const account = await accountOf(place, store, 'killed', '--data demo --expires 2h');
      const id = (await named('killed')).account as string;
      const post = (path: string, body: unknown) => ask(account.at(one), { method: 'POST', path, body });
      const made = (await post(`${ADMIN}/keys`, {})).json.key as string;
      expect((await post('/webhooks', { url: 'http://127.0.0.1:1/', events: ['*'] })).status).toBe(201);
      expect((await post(`${ADMIN}/simulate/deposits`, { currency: 'usdt', amount: 50 })).status).toBe(201);
      const [key, adminToken] = [account.at(one).key.expose(), account.at(one).adminToken.expose()];
      expect(await tablesWith(id)).toEqual(expect.arrayContaining(['timers', 'deliveries', 'cards', 'api_keys']));
      await over('killed');
      await vi.waitFor(async () => expect(await named('killed')).toBeUndefined(), SOON);
      expect(await tablesWith(id)).toEqual([]);
      for (const server of [one, two]) {
        for (const given of [key, adminToken, made]) {
          const path = given === adminToken ? `${ADMIN}/status` : '/wallet';
          const headers = { authorization: `Bearer ${given}` };
          const asked = async () => ask(account.at(server), { path, headers });
          await vi.waitFor(async () => expect((await asked()).status).toBe(401), SOON);
          const says =
            /^The sandbox account killed ended at \S+Z: it expired or was removed\. Who runs the sandbox makes a new one: cardwright sandbox accounts create NAME --store ADDRESS$/;
          // A server believes for a second what it knows of a key.
          await vi.waitFor(async () => expect((await asked()).json.message).toMatch(says), SOON);
        }
      }
      const digests = await root.call(`select count(*) from ${SCHEMA}.expired_keys where name = 'killed'`, []);
      expect(digests[0]?.[0]).toBe('3');
      expect([one.said(), two.said()]).toEqual(['', '']);
    });

    it.runIf(isWhole).each(['expires', 'is removed by hand'])(
      'takes its snapshots along from the disk of each server that served it, when it %s',
      async how => {
        const name = how.replaceAll(' ', '-');
        await using elsewhere = await world();
        const other = await accountServer(elsewhere, store, '--admin --no-rate-limits');
        const account = await accountOf(place, store, name, '--expires 2h --data empty');
        const id = (await named(name)).account as string;
        const save = { method: 'POST', path: `${ADMIN}/snapshots`, body: { name: 'before' } } as const;
        for (const server of [one, other]) expect((await ask(account.at(server), save)).status).toBe(201);
        const kept = async () =>
          (await Promise.all([place, elsewhere].map(each => readdir(each.folder, { recursive: true }))))
            .flat()
            .filter(path => path.includes(id) && path.includes('before')).length;
        expect(await kept()).toBeGreaterThanOrEqual(2);
        if (how === 'expires') await over(name);
        else expect((await run(`remove ${name} --yes`)).code).toBe(0);
        await vi.waitFor(async () => expect(await kept()).toBe(0), SOON);
        const ended = await other.stop();
        expect([ended.code, ended.err]).toEqual([0, '']);
      },
    );

    it('leads whoever used it on, and its name is free again', async () => {
      await using user = await world();
      const folder = `${user.folder}/keys`;
      const create = (more: string) =>
        user.run(`sandbox accounts create job-17 --expires 1h --store ${store} --keys-in ${more}`);
      const made = await create(folder);
      expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^expires_at\t\S+Z$/m)]);
      const env = { CARDWRIGHT_BASE_URL: one.row.url, CARDWRIGHT_API_KEY_FILE: `${folder}/api-key` };
      expect((await user.run('wallet', { env })).code).toBe(0);
      const steered = { ...env, CARDWRIGHT_SANDBOX_URL: new URL(one.row.url).origin };
      const status = await user.run('sandbox status --json', {
        env: { ...steered, CARDWRIGHT_SANDBOX_TOKEN_FILE: `${folder}/admin-token` },
      });
      expect([status.code, JSON.parse(status.out).expires_at]).toEqual([0, (await named('job-17')).expires_at]);
      await over('job-17');
      await vi.waitFor(async () => {
        const { code, err } = await user.run('wallet', { env });
        expect([code, err]).toEqual([4, expect.stringContaining('The sandbox account job-17 ended at ')]);
        expect(err).toContain('cardwright sandbox accounts create');
      }, SOON);
      expect((await create(`${folder}-2`)).code).toBe(0);
      const again = { ...env, CARDWRIGHT_API_KEY_FILE: `${folder}-2/api-key` };
      expect((await user.run('wallet', { env: again })).code).toBe(0);
    });

    it.runIf(isWhole)('ends later when that is asked for, and never earlier', async () => {
      const account = await accountOf(place, store, 'longer', '--expires 1h');
      const extended = await run('extend longer --expires 3h --json');
      expect(extended.code).toBe(0);
      const left = Date.parse(extended.json.expires_at) - Date.parse(extended.json.created_at);
      expect(left).toBeGreaterThanOrEqual(3 * 3_600_000);
      const sooner = await run('extend longer --expires 1m --json');
      expect([sooner.code, sooner.json.expires_at]).toEqual([0, extended.json.expires_at]);
      expect((await ask(account.at(two), { path: '/wallet' })).status).toBe(200);
      expect((await run('extend endless --expires 1h')).code).toBe(2);
      expect((await run('extend nobody --expires 1h')).code).toBe(5);
      for (const span of ['0s', 'soon', '366d', '999999999d'])
        for (const line of [`extend longer --expires ${span}`, `create shortly --expires ${span}`])
          expect([line, (await run(line)).code]).toEqual([line, 2]);
    });
  });

  it.skipIf(missing() !== undefined)(
    'an account that ended while nothing was served gives its name to the next',
    async () => {
      const here = await database();
      await using place = await world();
      const store = storeOf(here);
      await (await accountServer(place, store, '--migrate')).stop();
      await accountOf(place, store, 'job', '--expires 1s');
      const create = `sandbox accounts create job --store ${store} --data empty`;
      await vi.waitFor(async () => expect((await place.run(create)).code).toBe(0), SOON);
      expect((await place.run(create)).code).toBe(2);
      await here.close();
    },
  );

  it.skipIf(missing() !== undefined)(
    'tables from before there were ends are brought up when that is asked for',
    async () => {
      const here = await database();
      await using place = await world();
      const store = storeOf(here);
      await (await accountServer(place, store, '--migrate')).stop();
      const account = await accountOf(place, store, 'former');
      const root = await here.as('postgres');
      await root.call(`alter table ${SCHEMA}.accounts drop column expires_at`, []);
      await root.call(`drop table ${SCHEMA}.expired_keys`, []);
      await root.call(`update ${SCHEMA}.store_schema set schema_number = 9`, []);
      const refused = await place.run(`sandbox start --store ${store}`);
      expect([refused.code, refused.err]).toEqual([15, expect.stringContaining('has schema 9')]);
      await using server = await accountServer(place, store, '--migrate');
      expect((await ask(account.at(server), { path: '/wallet' })).status).toBe(200);
      const listed = await place.run(`sandbox accounts list --store ${store} --json`);
      expect([listed.code, JSON.parse(listed.out).data]).toEqual([0, [expect.objectContaining({ expires_at: null })]]);
      expect((await place.run(`sandbox accounts create job --store ${store} --expires 1h`)).code).toBe(0);
      expect((await server.stop()).code).toBe(0);
      await here.close();
    },
  );
}

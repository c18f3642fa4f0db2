/** An account of a team's sandbox that is removed while somebody works with it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { missing } from '../postgres/server.ts';
import { connect, type Database, database } from '../postgres/shared.ts';
import { ask } from '../support/sandbox-http.ts';
import { type AccountServer, accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { type World, world } from '../support/world.ts';

const SOON = { timeout: 20_000, interval: 50 };
const SCHEMA = 'cardwright_sandbox';

describe.skipIf(missing() !== undefined)('an account', () => {
  let here: Database;
  let store: string;
  let place: World;
  let one: AccountServer;

  beforeAll(async () => {
    here = await database();
    store = storeOf(here);
    place = await world();
    one = await accountServer(place, store, '--migrate --admin --no-rate-limits');
  });
  afterAll(async () => {
    const { code, err } = await one.stop();
    expect([code, err]).toEqual([0, '']);
    await place[Symbol.asyncDispose]();
    await here.close();
  });

  /** Locks the row of an account, as a long piece of work does. */
  async function locked(name: string) {
    const session = await connect(here.server, 'postgres', here.name);
    await session.call('begin', []);
    await session.call(`select 1 from ${SCHEMA}.accounts where name = $1 for update`, [name]);
    return session;
  }

  /** Until somebody has waited for that row. */
  const waitedFor = async () => {
    const root = await here.as('postgres');
    const waits = `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await vi.waitFor(async () => expect(Number((await root.call(waits, []))[0]?.[0])).toBeGreaterThan(0), SOON);
  };

  const paths = (name: string) => ({
    key: join(place.folder, name, 'api-key'),
    token: join(place.folder, name, 'admin-token'),
  });
  const envOf = (name: string) => ({
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_BASE_URL: one.row.url,
    CARDWRIGHT_API_KEY_FILE: paths(name).key,
    CARDWRIGHT_SANDBOX_URL: new URL(one.row.url).origin,
    CARDWRIGHT_SANDBOX_TOKEN_FILE: paths(name).token,
  });
  const keyed = async (name: string) => {
    const made = await place.run(`sandbox accounts create ${name} --store ${store} --keys-in ${name}`);
    expect([made.code, made.err]).toEqual([0, '']);
    return envOf(name);
  };

  it('that was removed by hand says so to whoever used it', async () => {
    const account = (await accountOf(place, store, 'left')).at(one);
    expect((await ask(account, { path: '/wallet' })).status).toBe(200);
    expect((await place.run(`sandbox accounts remove left --store ${store} --yes`)).code).toBe(0);
    for (const path of ['/wallet', '/_sandbox/v1/status', '/bins']) {
      const said = await ask(account, { path });
      expect([path, said.status, said.json.message]).toEqual([
        path,
        401,
        expect.stringMatching(
          /^The sandbox account .*ended.*: it expired or was removed\. Who runs the sandbox makes a new one: /,
        ),
      ]);
    }
  });

  it('that is removed under a job refuses its rows, and leaves none unknown', async () => {
    const env = await keyed('job');
    await writeFile(join(place.folder, 'rows.csv'), 'bin_id,amount\n,5\n,6\n,7\n'.replaceAll('\n,', '\nauto,'));
    const holder = await locked('job');
    const job = place.run('cards create --file rows.csv --yes --json', { env });
    await waitedFor();
    await holder.call(`delete from ${SCHEMA}.accounts where name = 'job'`, []);
    await holder.call('commit', []);
    await holder.end();
    const { code, all } = await job;
    expect([code, all]).toEqual([4, expect.stringContaining('it expired or was removed')]);
    expect(all).not.toMatch(/unknown|may or may not/);
  });
});

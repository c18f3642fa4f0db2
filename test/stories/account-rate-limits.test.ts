/** An account has one limit, whichever servers are asked, and another account has its own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/contract/limits.ts';
import { READ_LAG } from '../../src/contract/spans.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { ask } from '../support/sandbox-http.ts';
import { type Account, type AccountServer, accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { type World, world } from '../support/world.ts';

const ADMIN = '/_sandbox/v1';

describe.skipIf(missing() !== undefined)('the rate limit of an account of two servers', () => {
  let here: Database;
  let place: World;
  let servers: readonly [AccountServer, AccountServer];
  let ana: Account;
  let ben: Account;

  beforeAll(async () => {
    here = await database();
    place = await world();
    const store = storeOf(here);
    // By the clock of the account, which stands: no place comes free while the test runs.
    const first = await accountServer(place, store, '--migrate --admin --virtual-limits');
    servers = [first, await accountServer(place, store, '--admin --virtual-limits')];
    [ana, ben] = [await accountOf(place, store, 'ana', '--data demo'), await accountOf(place, store, 'ben')];
    for (const account of [ana, ben]) {
      const frozen = await ask(account.at(first), { method: 'PUT', path: `${ADMIN}/clock`, body: { mode: 'frozen' } });
      expect(frozen.status).toBe(200);
    }
  });
  afterAll(async () => {
    for (const server of servers) {
      const { code, err } = await server.stop();
      expect([code, err]).toEqual([0, '']);
    }
    await place[Symbol.asyncDispose]();
    await here.close();
  });

  /** Statuses of so many requests, half of them to each server, all at once. */
  const statuses = async (path: string, count: number) => {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, nth) => ask(ana.at(servers[nth % 2 === 0 ? 0 : 1]), { path })),
    );
    return answers.map(({ status }) => status);
  };
  const counted = (all: readonly number[], wanted: number) => all.filter(status => status === wanted).length;

  it('lets through 30 details of cards a minute in all', async () => {
    const { json } = await ask(ana.at(servers[0]), { path: '/cards' });
    const seen = await statuses(`/cards/${json.data[0].id}/details`, 40);
    expect([counted(seen, 200), counted(seen, 429)]).toEqual([LIMITS.detailsRate.max, 10]);
  });

  it('lets through 600 others in all, and then turns commands away at both', async () => {
    await ask(ana.at(servers[0]), { path: '/wallet' });
    // As if most of them had been asked already.
    const asked = `update cardwright_sandbox.rate_hits set hits = hits + 540 where bucket = 'general'`;
    await (await here.as('postgres')).call(asked, []);
    const before = await ask(ana.at(servers[1]), { path: '/wallet' });
    const left = Number(before.headers['x-ratelimit-remaining']);
    expect(left).toBeGreaterThan(40);
    const seen = await statuses('/wallet', left + 6);
    expect([counted(seen, 200), counted(seen, 429)]).toEqual([left, 6]);
    for (const { row } of servers) {
      const ran = await place.run('wallet', {
        env: { CARDWRIGHT_BASE_URL: row.url, CARDWRIGHT_API_KEY: ana.at({ row }).key.expose() },
        onPause: () => undefined,
        longestPause: READ_LAG,
      });
      expect([ran.code, ran.err]).toEqual([7, expect.stringContaining('At most 600 such requests a minute.')]);
      expect((await ask(ben.at({ row }), { path: '/wallet' })).status).toBe(200);
    }
  });
});

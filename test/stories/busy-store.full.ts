/** Commands on accounts whose store somebody else keeps busy for longer than they wait. */
import { expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { connect, database } from '../postgres/shared.ts';
import { accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { world } from '../support/world.ts';

it.skipIf(missing() !== undefined)(
  'an account whose row is locked is not extended or removed, and the command may be repeated',
  { timeout: 90_000 },
  async () => {
    const here = await database();
    await using place = await world();
    const store = storeOf(here);
    await (await accountServer(place, store, '--migrate')).stop();
    await accountOf(place, store, 'held', '--expires 1h');
    const holder = await connect(here.server, 'postgres', here.name);
    await holder.call('begin', []);
    await holder.call(`select 1 from cardwright_sandbox.accounts where name = 'held' for update`, []);
    const lines = ['extend held --expires 2h', 'remove held --yes'];
    const ran = await Promise.all(lines.map(line => place.run(`sandbox accounts ${line} --store ${store}`)));
    await holder.call('rollback', []);
    await holder.end();
    for (const { code, err } of ran)
      expect([code, err]).toEqual([12, expect.stringContaining('Nothing happened. Repeat the command in a moment.')]);
    for (const line of lines) expect((await place.run(`sandbox accounts ${line} --store ${store}`)).code).toBe(0);
    await here.close();
  },
);

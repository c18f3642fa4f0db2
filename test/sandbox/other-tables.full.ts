/** The tables of a team's store are to be changed while a server works in them for long. */
import { expect, it } from 'vitest';
import { SCHEMA } from '../../src/sandbox/store/system-tables.ts';
import { missing } from '../postgres/server.ts';
import { database } from '../postgres/shared.ts';
import { accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { world } from '../support/world.ts';

it.skipIf(missing() !== undefined)(
  'they are left alone after 10 s, and what to do is said',
  { timeout: 60_000 },
  async () => {
    const here = await database();
    await using place = await world();
    const store = storeOf(here);
    const server = await accountServer(place, store, '--migrate --admin');
    await accountOf(place, store, 'ana');
    expect((await server.stop()).code).toBe(0);
    const root = await here.as('postgres');
    await root.call('update cardwright_sandbox.store_schema set schema_number = $1', [SCHEMA - 1]);
    const writer = await here.as('postgres', 'another');
    await writer.call('begin', []);
    await writer.call('select * from cardwright_sandbox.accounts for update', []);
    const { code, err } = await place.run(`sandbox start --store ${store} --migrate`);
    await writer.call('rollback', []);
    expect([code, err]).toEqual([
      14,
      expect.stringContaining('for longer than 10 s, so its tables cannot be changed now'),
    ]);
    const [row] = await root.call('select schema_number::text from cardwright_sandbox.store_schema', []);
    expect(row?.[0]).toBe(String(SCHEMA - 1));
    await here.close();
  },
);

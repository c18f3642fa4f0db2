/** A standby is refused by a server that starts; once it is the primary it is served, with everything that was written. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { expect, it, vi } from 'vitest';
import { missingStandby, startStandby, stopServer } from '../postgres/server.ts';
import { connect } from '../postgres/shared.ts';
import { ask } from '../support/sandbox-http.ts';
import { accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { world } from '../support/world.ts';
import { ownServer } from '../team/own-server.ts';

const PRIMARY = ['wal_level = replica', 'max_wal_senders = 4'];
const HBA = ['local all all trust', 'local replication all trust'];

it.skipIf(missingStandby() !== undefined)('a standby is served only once it is the primary', async () => {
  await using own = await ownServer({ conf: PRIMARY, hba: HBA });
  await using place = await world();
  const first = await accountServer(place, storeOf(own), '--migrate --admin --no-rate-limits');
  const account = await accountOf(place, storeOf(own), 'ana', '--data demo');
  const folder = await mkdtemp(join(dirname(process.env['TEST_POSTGRES_FOLDER'] ?? tmpdir()), 'cwpg-'));
  const standby = await startStandby(own.server, folder);
  try {
    const store = storeOf({ server: standby, name: own.name });
    const bin_id = (await ask(account.at(first), { path: '/bins' })).json.data[0].id;
    const made = await ask(account.at(first), { method: 'POST', path: '/cards', body: { bin_id, amount: 25 } });
    expect(made.status).toBe(201);
    for (const migrate of ['', ' --migrate']) {
      const refused = await place.run(`sandbox start --store ${store}${migrate}`);
      expect([refused.code, refused.out, refused.err]).toEqual([14, '', expect.stringContaining('only reads')]);
    }
    const session = await connect(standby, 'postgres', own.name);
    const count = 'select count(*) from cardwright_sandbox.cards where id = $1';
    // It takes what the primary wrote, a moment later.
    await vi.waitFor(async () => expect((await session.call(count, [made.json.id]))[0]).toEqual(['1']), {
      timeout: 20_000,
    });
    expect((await first.stop()).code).toBe(0);
    await own.stop('SIGKILL');
    await session.call('select pg_promote()', []);
    await session.end();
    await using second = await accountServer(place, store, '--admin --no-rate-limits');
    expect((await ask(account.at(second), { path: `/cards/${made.json.id}` })).json.balance).toBe(25);
    const more = await ask(account.at(second), { method: 'POST', path: '/cards', body: { bin_id, amount: 5 } });
    expect(more.status).toBe(201);
  } finally {
    await stopServer(standby, 'SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});

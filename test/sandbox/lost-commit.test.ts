/** A connection to the database that is lost as a COMMIT is on its way: nobody is told what is not known. */
import { expect, it } from 'vitest';
import { CommitUnknown } from '../../src/sandbox/store/faults.ts';
import { missing } from '../postgres/server.ts';
import { database } from '../postgres/shared.ts';
import { cuttingWay } from '../support/cutting-way.ts';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';
import { accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { openAccount } from '../support/test-store.ts';
import { world } from '../support/world.ts';

it.skipIf(missing() !== undefined)('gives no answer, goes on, and repeats what was done or does it', async () => {
  await using cutting = await cuttingWay();
  // A COMMIT is seen on its way by its text.
  const reaching = { way: cutting.to, mayPrepare: false };
  await using service = await fakeService({ open: (request, account) => openAccount(request, account, reaching) });
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  const create = (idempotencyKey: string) =>
    ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 10 }, idempotencyKey });
  for (const cut of ['before', 'after'] as const) {
    cutting.way.cut = cut;
    await expect(create(cut)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(service.faults.splice(0)).toEqual([expect.any(CommitUnknown)]);
    const { status, headers } = await create(cut);
    expect([cut, status, headers['idempotent-replayed'] ?? 'done now']).toEqual([
      cut,
      201,
      cut === 'before' ? 'done now' : 'true',
    ]);
  }
  expect((await ask(service, { path: '/cards' })).json.data).toHaveLength(2);
  expect((await ask(service, { path: '/wallet' })).json.balance).toBe(980);
});

it.skipIf(missing() !== undefined)(
  'is told in the log of the server with the account, the time and what to do',
  async () => {
    const here = await database();
    await using place = await world();
    await using cutting = await cuttingWay();
    const store = storeOf({ ...here, server: { ...here.server, ...(await cutting.to(here.server)) } });
    const server = await accountServer(place, store, '--migrate --no-rate-limits');
    const account = (await accountOf(place, store, 'ana', '--data demo')).at(server);
    const bin_id = (await ask(account, { path: '/bins' })).json.data[0].id;
    // It may also cut off a look for what is due, which nobody notices.
    const outcomes: string[] = [];
    while (outcomes.at(-1) !== 'no answer' && outcomes.length < 50) {
      cutting.way.cut = 'after';
      const asked = { method: 'POST', path: '/cards', body: { bin_id, amount: 1 } };
      outcomes.push(
        await ask(account, asked).then(
          ({ status }) => `${status}`,
          () => 'no answer',
        ),
      );
    }
    expect(outcomes.at(-1)).toBe('no answer');
    const { code, err } = await server.stop();
    expect(code).toBe(0);
    expect(err).toMatch(
      /^warning: account ana, \d{4}-\d\d-\d\dT[\d:.]+Z: the connection to the database was lost during a commit, .* repeat it with the same X-Idempotency-Key\./m,
    );
    expect(err.match(/during a commit/g)).toHaveLength(1);
    await here.close();
  },
);

/** `status` is quick: the books of a large store are looked through by `ledger/check` alone. */
import { expect, it } from 'vitest';
import { fakeService, NOON } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';

const ADMIN = '/_sandbox/v1';

it('tells whether the books are whole, and of a large store nothing of them', async () => {
  await using service = await fakeService();
  const status = async () => (await ask(service, { path: `${ADMIN}/status` })).json;
  await service.store.write(sql => sql.run('update wallets set balance = balance + 1'));
  const { ledger_ok, ledger_faults } = await status();
  expect([ledger_ok, ledger_faults.join('\n')]).toEqual([false, expect.stringMatching(/^I2 /m)]);
  // More records than are looked through at each question; they are of an event nobody caused.
  await service.store.write(sql =>
    sql.run(`insert into events (seq, id, type, created_at, body)
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 10001)
      select 1000000 + i, 'evt_' || i, 'card.created', ${NOON}, '{}' from n`),
  );
  expect(await status()).toMatchObject({ ledger_ok: null, ledger_faults: [] });
  const { faults } = (await ask(service, { method: 'POST', path: `${ADMIN}/ledger/check`, body: {} })).json;
  expect(faults.join('\n')).toMatch(/^I2 /m);
});

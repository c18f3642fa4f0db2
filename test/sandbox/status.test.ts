/** `status` is quick: of a large store it tells when the books were last looked through, and what was found then. */
import { expect, it } from 'vitest';
import { HOUR } from '../../src/core/durations.ts';
import { type FakeService, fakeService, NOON } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';

const ADMIN = '/_sandbox/v1';

const status = async (service: FakeService) => (await ask(service, { path: `${ADMIN}/status` })).json;
const check = async (service: FakeService) =>
  (await ask(service, { method: 'POST', path: `${ADMIN}/ledger/check`, body: {} })).json;
const damage = (service: FakeService) =>
  service.store.write(sql => sql.run('update wallets set balance = balance + 1'));

const mend = (service: FakeService) => service.store.write(sql => sql.run('update wallets set balance = balance - 1'));

/** More records than are looked through at each question; they are of an event nobody caused. */
const grow = (service: FakeService) =>
  service.store.write(sql =>
    sql.run(`insert into events (seq, id, type, created_at, body)
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 10001)
      select 1000000 + i, 'evt_' || i, 'card.created', ${NOON}, '{}' from n`),
  );

it('tells of a large one what was found last, until somebody looks again', async () => {
  await using service = await fakeService();
  await grow(service);
  await damage(service);
  // Nobody knows anything yet, and nobody is kept waiting to find out.
  const never = { ledger_ok: null, ledger_faults: [], ledger_checked_at: null };
  expect([await status(service), await status(service)]).toMatchObject([never, never]);
  await mend(service);
  await check(service);
  const first = await status(service);
  expect(first).toHaveProperty('ledger_checked_at', '2026-11-20T12:00:00Z');
  expect(first.ledger_faults.join('\n')).not.toMatch(/I2 |I10 /);
  service.clock.set(NOON + HOUR);
  await damage(service);
  expect(await status(service)).toMatchObject({
    ledger_checked_at: first.ledger_checked_at,
    ledger_faults: first.ledger_faults,
  });
  const { faults } = await check(service);
  expect(faults.join('\n')).toMatch(/^I2 /m);
  expect(await status(service)).toMatchObject({
    ledger_ok: false,
    ledger_checked_at: '2026-11-20T13:00:00Z',
    ledger_faults: faults,
  });
});

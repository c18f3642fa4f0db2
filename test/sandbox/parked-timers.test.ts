/** A timer whose action throws is parked with what it said; requests, and the timers behind it, go on. */
import { expect, test } from 'vitest';
import { connectTo } from '../../src/engine/open.ts';
import { TIMER_ACTIONS } from '../../src/sandbox/account/timed.ts';
import { schedule } from '../../src/sandbox/clock/timers.ts';
import { TABLES } from '../../src/sandbox/store/schema.ts';
import { openStore } from '../../src/sandbox/store/sqlite/open.ts';
import { SCHEMA } from '../../src/sandbox/store/system-tables.ts';
import { fakeService, NOON } from '../support/fake-service.ts';
import { ask, idSource, type Served, setClock } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ADMIN = '/_sandbox/v1';
const HOUR = 3_600_000;

const broken = {
  ...TIMER_ACTIONS,
  'of a bug': async ({ sql, account }: { sql: Parameters<typeof schedule>[0]; account: string }) => {
    await sql.run('update wallets set balance = balance + 1 where account_id = ?', account);
    throw new Error('the action does not work');
  },
};

async function holding(served: Served): Promise<string> {
  const bin_id = (await ask(served, { path: '/bins' })).json.data[0].id;
  const { json: card } = await ask(served, { method: 'POST', path: '/cards', body: { bin_id, amount: 50 } });
  const body = { card_id: card.id, amount: 20 };
  await ask(served, { method: 'POST', path: `${ADMIN}/simulate/authorizations`, body });
  return card.id;
}

const setBroken = (service: Awaited<ReturnType<typeof fakeService>>, dueAt = NOON + HOUR) =>
  service.store.write(sql => schedule(sql, { account: 'acct_sandbox', kind: 'of a bug', ref: 'thing_1', dueAt }));

test('requests go on, what it did is undone, and the timers behind it go off', async () => {
  await using service = await fakeService({ timerActions: broken });
  const card = await holding(service);
  await setBroken(service);
  service.clock.set(NOON + 8 * 24 * HOUR);
  const got = await ask(service, { path: `/cards/${card}` });
  expect([got.status, got.json.balance]).toEqual([200, 50]);
  expect(service.faults).toMatchObject([{ message: 'the action does not work' }]);
  const { json: status } = await ask(service, { path: `${ADMIN}/status` });
  expect(status).toMatchObject({
    ledger_ok: true,
    timers_parked: [
      { kind: 'of a bug', ref: 'thing_1', due_at: '2026-11-20T13:00:00Z', error: 'the action does not work' },
    ],
  });
  expect((await ask(service, { path: '/wallet' })).json.balance).toBe(950);
  // Told once: it is out of the way.
  expect(service.faults).toHaveLength(1);
});

test('clock advance says which one failed, and a reset forgets it', async () => {
  await using service = await fakeService({ timerActions: broken });
  await setBroken(service);
  const { json } = await ask(service, { method: 'POST', path: `${ADMIN}/clock/advance`, body: { by: '2h' } });
  expect(json.fired).toEqual([
    { due_at: '2026-11-20T13:00:00Z', kind: 'of a bug', ref: 'thing_1', error: 'the action does not work' },
  ]);
  const { json: status } = await ask(service, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'empty' } });
  expect(status.timers_parked).toEqual([]);
});

test('one of a kind nobody knows is parked too, and one that is set again gets another chance', async () => {
  await using service = await fakeService();
  await setBroken(service);
  service.clock.set(NOON + 2 * HOUR);
  expect((await ask(service, { path: '/wallet' })).status).toBe(200);
  const parked = async () => (await ask(service, { path: `${ADMIN}/status` })).json.timers_parked;
  expect(await parked()).toMatchObject([{ error: 'a timer of the unknown kind of a bug is due' }]);
  await setBroken(service, NOON + 9 * HOUR);
  expect(await parked()).toEqual([]);
});

/** Takes away what schemas 7 to 9 added, so that a store looks as one of before. */
const UNDO_SCHEMAS = `alter table advances drop column moves_to;
    alter table requests drop column query; alter table requests drop column body_bytes; alter table requests drop column not_kept;
    drop table decline_facts; alter table requests drop column answer; alter table requests drop column request_headers;
    alter table requests drop column key_last4; alter table requests drop column took;
    alter table deliveries drop column edited; alter table deliveries drop column sign;`;

test('a store from before they were parked is brought up when it is opened', async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/store.db`;
  const request = {
    ...{ path, tables: TABLES, seed: 1, ids: 'derived' as const, fill: async () => undefined },
    ...{ clock: setClock(NOON), random: idSource, platform: process.platform },
  } as const;
  await (await openStore(request)).store.close();
  const connection = connectTo(path);
  connection.exec(`${UNDO_SCHEMAS}
    drop table parked_timers; drop table api_keys; drop table ledger_checks; update meta set schema_number = 1`);
  connection.close();
  const { store, meta } = await openStore(request);
  expect(meta.schema).toBe(SCHEMA);
  expect(await store.read(sql => sql.all('select kind from parked_timers'))).toEqual([]);
  expect(await store.read(sql => sql.get('select schema_number from meta'))).toEqual({ schema_number: SCHEMA });
  await store.close();
});

test('a store from before records were kept with their effect keeps answers, and forgets what was unfinished', async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/store.db`;
  const request = {
    ...{ path, tables: TABLES, seed: 1, ids: 'derived' as const, fill: async () => undefined },
    ...{ clock: setClock(NOON), random: idSource, platform: process.platform },
  } as const;
  await (await openStore(request)).store.close();
  const connection = connectTo(path);
  connection.exec(`drop table idempotency;
    create table idempotency (account_id text not null, scope text not null, fingerprint text not null,
      state text not null, generation integer not null, owner text not null, lease_token text not null,
      lease_until integer not null, status integer, headers text, body text, expires_at integer,
      primary key (account_id, scope)) strict;
    insert into idempotency values ('a', 'kept', 'f', 'done', 2, 'o', 't', 1, 201, '{}', 'body', 9),
      ('a', 'unfinished', 'f', 'running', 0, 'o', 't', 1, null, null, null, null);
    insert into events values ('a', 1, 'evt_1', 'card.created', 5, '{}');
    drop table ledger_checks; ${UNDO_SCHEMAS}
    update meta set schema_number = 3`);
  connection.close();
  const { store } = await openStore(request);
  expect(await store.read(sql => sql.all('select * from idempotency'))).toEqual([
    {
      ...{ account_id: 'a', scope: 'kept', fingerprint: 'f', state: 'done', generation: 2 },
      ...{ status: 201, headers: '{}', body: 'body', expires_at: 9 },
    },
  ]);
  expect(await store.read(sql => sql.all('select seq, id from events'))).toEqual([{ seq: 1, id: 'evt_1' }]);
  const indexes = await store.read(sql => sql.all("select name from sqlite_master where name = 'idempotency_expiry'"));
  expect(indexes).toHaveLength(1);
  await store.close();
});

/**
 * Each invariant of docs/design/sandbox.md, section 8, finds the damage that breaks it, and nothing where there is
 * none.
 */

import { expect, test } from 'vitest';
import { checkInvariants } from '../../src/sandbox/checks/invariants.ts';
import type { Sql } from '../../src/sandbox/store/sql.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { tellLongHistory } from '../support/long-history.ts';
import { ask } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { ignoreChecks } from '../support/test-store.ts';

const ADMIN = '/_sandbox/v1';

const check = async (service: Parameters<typeof ask>[0]) =>
  (await ask(service, { method: 'POST', path: `${ADMIN}/ledger/check` })).json;

async function withHistory(): Promise<FakeService> {
  const service = await fakeService();
  await ask(service, { method: 'PUT', path: `${ADMIN}/clock`, body: { mode: 'frozen' } });
  await tellLongHistory(service);
  return service;
}

type Damage = (sql: Sql) => void;

const one = (table: string, where: string) => `(select id from ${table} where ${where} order by id limit 1)`;
const run =
  (...statements: readonly string[]): Damage =>
  sql => {
    for (const statement of statements) sql.run(statement);
  };

/** An entry that is balanced, and about the wrong thing. */
const entry = (kind: string, ref: string, sides: readonly (readonly [account: string, amount: number])[]): Damage =>
  run(
    `insert into entries (id, kind, ref, created_at) values (100000, '${kind}', ${ref}, 1)`,
    ...sides.map(
      ([account, amount]) => `insert into postings (entry_id, ledger, amount) values (100000, ${account}, ${amount})`,
    ),
  );

const ACTIVE = one('cards', "status = 'active'");
const ENDED = one('cards', "status = 'terminated'");
const SETTLED = one('transactions', "type = 'settlement'");
const DECLINED = one('transactions', "type = 'decline'");

const DAMAGES: readonly (readonly [id: string, what: string, damage: Damage])[] = [
  ['I1', 'an entry without postings', entry('fund', ACTIVE, [])],
  [
    'I1',
    'an entry that does not sum to 0',
    run('update postings set amount = amount + 1 where entry_id = 2 and amount > 0'),
  ],
  ['I2', 'a wallet with a cent more', run('update wallets set balance = balance + 1')],
  ['I2', 'a card with a cent more', run(`update cards set balance = balance + 1 where id = ${ACTIVE}`)],
  ['I3', 'money from nowhere', entry('fund', ACTIVE, [["'ext:adjust'", 5]])],
  ['I4', 'a hold nobody asked for', run("update transactions set held = held + 1 where status = 'pending'")],
  ['I5', 'a card below 0', run("update cards set balance = -1 where label = 'first'")],
  ['I5', 'a wallet below 0', run('update wallets set balance = -1', 'delete from transactions')],
  ['I6', 'money on a terminated card', run(`update cards set balance = 1 where id = ${ENDED}`)],
  [
    'I7',
    'more released than held',
    run("update transactions set released = released + 1 where type = 'authorization'"),
  ],
  ['I8', 'a hold of a settled authorization', run("update transactions set held = 1 where status = 'settled'")],
  ['I9', 'a refund without a record', run("update transactions set refunded = settled where type = 'authorization'")],
  ['I10', 'a deposit that never came', run('update wallets set deposited = deposited + 100')],
  ['I11', 'an approval above the BIN', run('update bins set max_transaction = 1')],
  ['I11', 'approvals above the month', run('update cards set spending_limit = 1')],
  [
    'I11',
    'an approval of more than there was',
    entry('authorize', "'txn_x'", [
      [`'card:' || ${ACTIVE}`, -900_000],
      [`'hold:' || ${ACTIVE}`, 900_000],
    ]),
  ],
  [
    'I12',
    'a decline that moved money',
    entry('authorize', DECLINED, [
      [`'card:' || ${ACTIVE}`, -1],
      [`'hold:' || ${ACTIVE}`, 1],
    ]),
  ],
  [
    'I12',
    'a settlement that moved money twice',
    entry('settle', SETTLED, [
      [`'card:' || ${ACTIVE}`, -1],
      ["'ext:network'", 1],
    ]),
  ],
  [
    'I12',
    'a release of what was never authorized',
    entry('release', SETTLED, [
      [`'card:' || ${ACTIVE}`, 1],
      [`'hold:' || ${ACTIVE}`, -1],
    ]),
  ],
  [
    'I12',
    'money for a card that is none',
    entry('fund', "'card_none'", [
      ["'card:card_none'", 1],
      ["'wallet:acct_sandbox'", -1],
    ]),
  ],
  ['I12', 'a settlement that moved no money', run(`update entries set ref = 'txn_x' where ref = ${SETTLED}`)],
  [
    'I12',
    'a deposit that is credited and not confirmed',
    entry('deposit', one('deposits', "status <> 'confirmed'"), [
      ["'wallet:acct_sandbox'", 1],
      ["'ext:crypto'", -1],
    ]),
  ],
  [
    'I13',
    'two keys with one effect',
    run(
      `insert into idempotency (scope, fingerprint, state, generation, status, headers, body, expires_at)
       select scope || ' again', fingerprint, state, generation, status, headers, body, expires_at
       from idempotency where scope like '%/fund fund'`,
    ),
  ],
  ['I14', 'a gap in the events', run('delete from events where seq = 3')],
  ['I14', 'a lost last event', run('delete from events where seq = (select max(seq) from events)')],
  [
    'I14',
    'an event told twice',
    run(
      `insert into events (seq, id, type, created_at, body)
     select (select max(seq) from events) + 1, 'evt_again', type, created_at, body from events where seq = 1`,
    ),
  ],
  ['I14', 'an event whose text was cut', run('update events set body = substr(body, 1, 20) where seq = 3')],
  ['I14', 'an event about nothing', run("update events set body = '{}' where seq = 3")],
  ['I14', 'a freeze nobody told', run(`update cards set status = 'frozen' where id = ${ACTIVE}`)],
  [
    'I15',
    'a card below its line that is active',
    run("update cards set auto_freeze_at = 900000 where status = 'active'"),
  ],
  ['I16', 'a card that came back', run(`update cards set status = 'active', cvv = '123' where id = ${ENDED}`)],
  [
    'I16',
    'money that moved on an ended card',
    entry('fund', ENDED, [
      [`'card:' || ${ENDED}`, 5],
      ["'wallet:acct_sandbox'", -5],
    ]),
  ],
];

test('a long history breaks nothing, before and after its timers, and demo data neither', async () => {
  await using service = await withHistory();
  expect(await check(service)).toMatchObject({ ok: true, faults: [] });
  await ask(service, { method: 'POST', path: `${ADMIN}/clock/advance`, body: { by: '60d' } });
  expect(await check(service)).toMatchObject({ ok: true, faults: [] });
  await using demo = await startSandbox({ data: 'demo', listen: 'socket' });
  expect(await check(demo)).toMatchObject({ ok: true, faults: [] });
});

test('each of them finds its damage', async () => {
  await using service = await withHistory();
  const undone = new Error('undone');
  for (const [id, what, damage] of DAMAGES) {
    let faults: readonly string[] = [];
    const damaged = service.store.write(sql => {
      // What the tables themselves would not let through; an error of a rule may still be there.
      ignoreChecks(sql);
      damage(sql);
      faults = checkInvariants(sql);
      throw undone;
    });
    await expect(damaged, what).rejects.toBe(undone);
    expect(
      faults.filter(fault => fault.startsWith(`${id} `)),
      `${what}: ${faults.join('\n')}`,
    ).not.toEqual([]);
  }
  expect(await check(service)).toMatchObject({ ok: true, faults: [] });
});

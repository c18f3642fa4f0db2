/** Transactions of two processes on one account, judged from what they read; and the judge, by histories that are wrong. */
import { expect, it } from 'vitest';
import { openPostgresStores } from '../../src/sandbox/store/postgres/open.ts';
import type { Sql, Store } from '../../src/sandbox/store/sql.ts';
import { missing } from '../postgres/server.ts';
import { database } from '../postgres/shared.ts';
import { type Anomaly, anomaliesOf, type Step, type Txn } from '../support/list-append.ts';
import { idSource, setClock } from '../support/sandbox-http.ts';

const a = (key: string, value: number): Step => ({ append: [key, value] });
const r = (key: string, ...values: number[]): Step => ({ read: [key, values] });
const txns = (...all: readonly (readonly Step[])[]): Txn[] =>
  all.map((steps, at) => ({ id: at + 1, end: 'done', steps }));

const WRONG: readonly [Anomaly, readonly Txn[]][] = [
  ['G0', txns([a('x', 1), a('y', 1)], [a('x', 2), a('y', 2)], [r('x', 1, 2), r('y', 2, 1)])],
  ['G1a', [...txns([r('x', 7)]), { id: 9, end: 'failed', steps: [a('x', 7)] }]],
  ['G1b', txns([a('x', 1), a('x', 2)], [r('x', 1)])],
  ['G1c', txns([a('x', 1), r('y', 1)], [a('y', 1), r('x', 1)])],
  ['G-single', txns([a('x', 1), a('y', 1)], [r('x', 1), r('y')], [r('y', 1)])],
  ['G2', txns([r('x'), a('y', 1)], [r('y'), a('x', 1)], [r('x', 1), r('y', 1)])],
  ['lost-update', txns([r('x'), a('x', 1)], [r('x'), a('x', 2)])],
  ['lost-append', txns([a('x', 1)], [a('x', 2)], [r('x', 2)])],
  ['incompatible-order', txns([a('x', 1)], [a('x', 2)], [r('x', 1, 2)], [r('x', 2)])],
  ['duplicate', txns([a('x', 1)], [r('x', 1, 1)])],
  ['internal', txns([a('x', 1), r('x')])],
  ['unwritten', txns([r('x', 4)])],
];

it.each(WRONG)('the judge finds %s', (kind, history) => {
  expect(anomaliesOf(history, { isComplete: kind === 'lost-append' })).toContain(kind);
});

it('the judge is content with what a serial order explains', () => {
  const history = txns(
    [r('x'), a('x', 1)],
    [r('x', 1), a('x', 2), r('x', 1, 2)],
    [a('y', 1)],
    [r('x', 1, 2), r('y', 1)],
  );
  expect(anomaliesOf(history, { isComplete: true })).toEqual([]);
});

const KEYS = ['x', 'y', 'z'];
const CLIENTS = 8;
const EACH = 40;

/** A list as JSON text in a table of the account. */
async function listOf(sql: Sql, key: string): Promise<number[]> {
  const text = "select facts from decline_facts where account_id = 'bank' and transaction_id = ?";
  const row = await sql.get<{ facts: string }>(text, key);
  return JSON.parse(row?.facts ?? '[]') as number[];
}

async function carriedOut(sql: Sql, steps: readonly Step[]): Promise<Step[]> {
  const told: Step[] = [];
  for (const step of steps) {
    const key = 'read' in step ? step.read[0] : step.append[0];
    const list = await listOf(sql, key);
    if ('read' in step) told.push(r(key, ...list));
    else {
      await sql.put(
        `insert into decline_facts (account_id, transaction_id, facts) values ('bank', ?, ?)
         on conflict (account_id, transaction_id) do update set facts = excluded.facts`,
        ...[key, JSON.stringify([...list, step.append[1]])],
      );
      told.push(step);
    }
  }
  return told;
}

it.skipIf(missing() !== undefined)(
  'transactions of two processes on one account are as if one came after the other',
  async () => {
    const here = await database();
    const open = (mayMigrate: boolean) =>
      openPostgresStores({
        address: { host: here.server.socket, port: here.server.port, user: 'postgres', database: here.name },
        password: () => Promise.reject(new Error('the socket asks for no password')),
        ...{ shown: 'postgres://test', schema: 'appends', mayPrepare: true, mayMigrate, onServerTime: () => undefined },
        ...{ clock: setClock(0), random: idSource },
      });
    const both = [await open(true), await open(false)];
    const facts = {
      account_id: 'bank',
      name: 'bank',
      instance: 'here',
      seed: 1,
      ids: 'derived',
      dialect: 'default',
    } as const;
    await both[0]?.accounts.insert({ ...facts, generation: 1, created_at: 0, key_digest: null, token_digest: null });
    const history: Txn[] = [];
    let value = 0;
    const client = async (store: Store, from: number) => {
      for (let at = 0; at < EACH; at += 1) {
        const steps = Array.from({ length: 1 + ((from + at) % 3) }, (_, nth): Step => {
          const key = KEYS[(from * 7 + at * 5 + nth) % KEYS.length] ?? 'x';
          value += 1;
          return (from + at + nth) % 2 === 0 ? r(key) : a(key, value);
        });
        const id = history.length + 1;
        history.push({ id, end: 'unknown', steps });
        const isReading = steps.every(step => 'read' in step);
        const work = (sql: Sql) => carriedOut(sql, steps);
        const told = await (isReading ? store.read(work) : store.write(work, 'repeatable'));
        history[id - 1] = { id, end: 'done', steps: told };
      }
    };
    const stores = both.map(each => each.of('bank'));
    await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(stores[at % 2] as Store, at)));
    const last = await stores[0]?.read(sql =>
      carriedOut(
        sql,
        KEYS.map(key => r(key)),
      ),
    );
    history.push({ id: history.length + 1, end: 'done', steps: last ?? [] });
    expect(history.length).toBe(CLIENTS * EACH + 1);
    expect(anomaliesOf(history, { isComplete: true })).toEqual([]);
    for (const each of both) await each.close();
    await here.close();
  },
);

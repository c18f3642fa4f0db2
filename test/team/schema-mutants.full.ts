/** Each rule of the schema that keeps money safe is taken out once, in a database of its own: its probe must see it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEMA_SQL } from '../../src/team/schema/print.ts';
import { missing } from '../postgres/server.ts';
import { connect, type Database, database, statementsOf } from '../postgres/shared.ts';
import {
  done,
  ended,
  FACTS,
  hex,
  linesOf,
  next,
  OUTCOME,
  sent,
  type TestAccount,
  testAccount,
  wanted,
} from './test-account.ts';

interface Rule {
  readonly name: string;
  /** What stands in the schema, once, and what stands there without the rule. */
  readonly text: readonly [is: string, without: string];
  /** Rejects, or resolves to false, where the rule is not kept. */
  readonly holds: (at: TestAccount, other: () => Promise<TestAccount>) => Promise<boolean>;
}

const claimed = async (at: TestAccount, cents: number, more = {}) => {
  const op = wanted(at.account, cents, more);
  const { verdict } = await at.ana.claim(op, linesOf(op.by, sent(1)), FACTS);
  return { op, verdict };
};
const rejects = (call: Promise<unknown>, code: string) =>
  call.then(
    () => false,
    (thrown: { readonly code?: string }) => thrown.code === code,
  );

const RULES: readonly Rule[] = [
  {
    name: 'a fence before SENT',
    text: [
      "o.state <> 'running' or o.epoch <> (call ->> 'epoch')::int or o.holder <> session_user\n    or there",
      "o.state <> 'running' or o.holder <> session_user\n    or there",
    ],
    async holds(at) {
      const { op } = await claimed(at, 500, { counts: { unknown: 0, open: 1 } });
      await at.endLeases();
      const { account, op: id, host, ttl_ms } = op;
      await at.ana.take({ account, op: id, by: hex(4), host, ttl_ms, resume: true }, { event: 'taken', op: id });
      return rejects(at.ana.append(next(op), linesOf(op.by, sent(1))), 'CW008');
    },
  },
  {
    name: 'cents of an unknown outcome stay held',
    text: [
      "  if o.unknown > 0 or o.open > 0 then perform bad_call('the end of an operation with rows that are not settled'); end if;\n",
      '',
    ],
    async holds(at) {
      const { op } = await claimed(at, 500);
      return rejects(at.ana.letGo({ account: at.account, op: op.op, epoch: 1, ...ended(0) }, OUTCOME), 'CW007');
    },
  },
  {
    name: 'an op ends once',
    text: [
      "  if o.state = 'running' then\n    perform end_op(o, coalesce(nullif(call -> 'ending', 'null'), '{}'));",
      "  if true then\n    perform end_op(o, coalesce(nullif(call -> 'ending', 'null'), '{}'));",
    ],
    async holds(at) {
      await claimed(at, 700);
      const { op } = await claimed(at, 300);
      await at.ana.append({ ...next(op), ...ended(300) }, linesOf(op.by, done(1)), OUTCOME);
      await at.ana.letGo({ account: at.account, op: op.op, epoch: 1, ...ended(0) }, OUTCOME);
      return (await at.ana.status(at.account)).used === 1000;
    },
  },
  {
    name: 'no more is spent than was held',
    text: [
      "  if spent_cents < 0 or spent_cents > o.reserved then perform bad_call('more was spent than reserved'); end if;\n",
      '',
    ],
    async holds(at) {
      await claimed(at, 700);
      const { op } = await claimed(at, 300);
      const end = at.ana.append({ ...next(op), ...ended(400) }, linesOf(op.by, done(1)), OUTCOME);
      return rejects(end, 'CW007');
    },
  },
  {
    name: 'a twin is refused',
    text: ['given_key_verdict(a, wanted), twin_verdict(a, wanted),', 'given_key_verdict(a, wanted),'],
    async holds(at) {
      const { op } = await claimed(at, 500);
      return (await claimed(at, 500, { digest: op.digest })).verdict === 'twin';
    },
  },
  {
    name: 'an equal create under a living lease is refused',
    text: [' or not (is_named and is_all_named(o))', ''],
    async holds(at) {
      const create = { moves: false, freely: false };
      const { op } = await claimed(at, 500, create);
      return (await claimed(at, 500, { ...create, digest: op.digest })).verdict === 'twin';
    },
  },
  {
    name: 'a frozen account hands out what is settled, and nothing else',
    text: ['not (settled_too and is_about_settled(a, call))', 'not settled_too'],
    async holds(at) {
      const { op } = await claimed(at, 500);
      await at.endLeases();
      await at.admin(`freeze_account('we are looking at it')`);
      const { account, op: id, host, ttl_ms } = op;
      const take = at.ana.take({ account, op: id, by: hex(4), host, ttl_ms, resume: true }, { event: 'taken', op: id });
      return rejects(take, 'CW010');
    },
  },
  {
    name: 'a name is used once',
    text: ['verdict := coalesce(intent_verdict(a, wanted), ', 'verdict := coalesce('],
    async holds(at) {
      const intents = [{ row: 1, name: 'order-1', digest: hex(32) }];
      await claimed(at, 500, { intents });
      return (await claimed(at, 500, { intents })).verdict === 'earlier';
    },
  },
  {
    name: 'the cap of a day',
    text: ['if used + amount > limit_cents then', 'if false then'],
    async holds(at) {
      await at.admin(`set_cap('max_per_day', 500)`);
      return (await claimed(at, 300)).verdict === 'claimed' && (await claimed(at, 300)).verdict === 'cap';
    },
  },
  {
    name: 'a SENT of old facts does not go with a claim',
    text: [
      "(o.state <> 'finished' or ((wanted ->> 'sent')::boolean and (o.bulk or o.digest = wanted ->> 'digest')))",
      "o.state <> 'finished'",
    ],
    async holds(at) {
      const looked = (await at.ana.status(at.account)).head.seq;
      const { op } = await claimed(at, 500);
      await at.ana.append({ ...next(op), ...ended(500) }, linesOf(op.by, done(1)), OUTCOME);
      return (await claimed(at, 500, { digest: op.digest, looked, sent: true })).verdict === 'changed';
    },
  },
  {
    name: 'the same claim twice is one',
    text: [
      "  if o.nonce = wanted ->> 'nonce' and o.digest = wanted ->> 'digest' then return claimed_answer(o); end if;\n",
      '',
    ],
    async holds(at) {
      const op = wanted(at.account, 500);
      const call = () => at.ana.claim(op, linesOf(op.by, sent(1)), FACTS);
      await call();
      return (await call()).verdict === 'claimed' && (await at.ana.status(at.account)).used === 500;
    },
  },
  {
    name: 'a late outcome is one of a row that was sent',
    text: ["\n      and (r.record ->> 'row')::int in (select s.row from sent s)", ''],
    async holds(at) {
      const { op } = await claimed(at, 500);
      const call = { account: at.account, op: op.op, by: op.by };
      return rejects(at.ana.witness(call, linesOf(op.by, { ...done(2), by: op.by } as never)), 'CW007');
    },
  },
  {
    name: 'a loss that one machine has seen stops the others',
    text: ['    perform refuse_lost(a);\n', ''],
    async holds(at) {
      const known = { seq: 999, hash: 'f'.repeat(64) };
      await at.ana.reportLoss({ account: at.account, known, accepted: 0, host: 'laptop' });
      const op = wanted(at.account, 300);
      return rejects(at.ben.claim(op, linesOf(op.by, sent(1)), FACTS), 'CW006');
    },
  },
  {
    name: 'one machine goes on with an account alone',
    text: [
      "    if a.left_to is not null and not moves_nothing and wants <> 'admin' and not has_left(a, call) then perform refuse_left(a); end if;\n",
      '',
    ],
    async holds(at) {
      await at.admin(`freeze_account('moved')`);
      const leaving = { account: at.account, host: 'laptop', machine: hex(8), mine: false };
      await at.ana.leaveAccount(leaving, FACTS);
      await at.admin(`accept_failover('it goes on')`);
      return rejects(claimed(at, 500), 'CW011');
    },
  },
  {
    name: 'nobody is left out by a NULL',
    text: ["  perform refuse_null('the list of those who are left out', without);\n", ''],
    holds: at => rejects(at.admin(`accept_failover('the backup', array['ci', null])`), 'CW007'),
  },
  {
    name: 'no process writes without its epoch',
    text: ["  perform need(call, 'op epoch n by');\n", ''],
    async holds(at) {
      const { op } = await claimed(at, 500);
      const call = { ...next(op), epoch: null as never };
      return rejects(at.ana.append(call, linesOf(op.by, done(1))), 'CW007');
    },
  },
  {
    name: 'nothing that can be read is set aside',
    text: ['  if is_whole(o) and can_be_read(o) then', '  if is_whole(o) and not can_be_read(o) then'],
    async holds(at) {
      const { op } = await claimed(at, 500);
      await at.endLeases();
      return rejects(at.admin(`set_aside('${op.op}', false, 'a typing error')`), 'CW008');
    },
  },
  {
    name: 'an account sees its own rows',
    text: ["    execute format('alter table %I force row level security', guarded);\n", ''],
    async holds(at, other) {
      await claimed(at, 500);
      const elsewhere = await other();
      return (await elsewhere.ana.daySums(elsewhere.account)).length === 0;
    },
  },
];

describe.skipIf(missing())('without its rule', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it.each(RULES)('$name is not kept', async ({ name, text: [is, without], holds }) => {
    expect(SCHEMA_SQL.split(is).length, `once in the schema: ${is}`).toBeGreaterThan(1);
    expect(await holds(await testAccount(here), () => testAccount(here)), `${name}, with its rule`).toBe(true);
    await using mutant = await databaseOf(here, SCHEMA_SQL.replaceAll(is, without));
    const at = await testAccount(mutant);
    const kept = await holds(at, () => testAccount(mutant)).catch(() => false);
    expect(kept, `${name}, without its rule`).toBe(false);
  });
});

/** A database of the same server with another schema. */
async function databaseOf(here: Database, sql: string): Promise<Database & AsyncDisposable> {
  const name = `${here.name}_${hex(3)}`;
  await (await here.as('postgres')).call(`create database ${name}`, []);
  const known = new Map<string, ReturnType<typeof connect>>();
  const as: Database['as'] = role => {
    const session = known.get(role) ?? connect(here.server, role, name);
    known.set(role, session);
    return session;
  };
  const root = await as('postgres');
  for (const statement of statementsOf(sql)) await root.call(statement, []);
  await root.call('commit', []);
  const close = async () => void (await Promise.all([...known.values()].map(async session => (await session).end())));
  return { server: here.server, name, as, close, [Symbol.asyncDispose]: close };
}

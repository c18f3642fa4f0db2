/**
 * NULL is no value: a condition over it is neither true nor false, and SQL passes over it silently. So each function that
 * somebody may execute is called with a NULL in the place of each argument, of each element of a list and of each member of
 * a call: it refuses, or its row here says why it does nothing wrong.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresSession, PostgresValue } from '../../src/postgres/client.ts';
import { GRANTED } from '../../src/team/schema/administration.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database, type Person } from '../postgres/shared.ts';
import { addApproverRoles, signer } from './approver.ts';
import {
  done,
  ended,
  FACTS,
  hex,
  KEY_PRINT,
  linesOf,
  next,
  OUTCOME,
  sent,
  type TestAccount,
  testAccount,
  wanted,
} from './test-account.ts';

type Json = Readonly<Record<string, unknown>>;

/** A call that is taken, and what may be null in it. */
interface Call {
  readonly role?: Person;
  /** Behind the account, or the whole of them: a text is an SQL expression, an object the JSON of a call. */
  readonly values: readonly (string | Json | Uint8Array)[];
  /** By its path or the number of the argument, why a null does nothing wrong. */
  readonly free?: Readonly<Record<string, string>>;
}

const facts = (told: object) => `'${JSON.stringify(told).slice(1, -1)}'`;
const NOTED = facts(FACTS);
const bob = signer('bob');

/** An op in the hands of ana, with its first row sent or still open. */
async function claimed({ ana, account }: TestAccount, more: Parameters<typeof wanted>[2] = {}) {
  const op = wanted(account, 5, more);
  await ana.claim(op, linesOf(op.by, sent(1)), FACTS);
  return op;
}
const OPEN = { counts: { unknown: 0, open: 1 } };
const settled = (op: Awaited<ReturnType<typeof claimed>>) => ({ account: op.account, op: op.op, epoch: 1 });

async function finished(at: TestAccount) {
  const op = await claimed(at, { intents: [{ row: 1, name: `n-${hex(4)}`, digest: hex(32) }] });
  await at.ana.append(next(op, { n: 2, ...ended(5) }), linesOf(op.by, done(1)), OUTCOME);
  return op;
}

/** What waits for bob, as the schema keeps it. */
async function asked(at: TestAccount) {
  await addApproverRoles(at);
  await at.admin(`add_approver('${bob.line}', '{bob}')`);
  const op = await claimed(at, OPEN);
  await at.root.call(`update cardwright.op set state = 'pending', lease_until = null where op = $1`, [op.op]);
  await at.root.call(
    `insert into cardwright.approval_request (op, account, payload, needed, requester, spending, expires_at)
       select op, account, '{}', 1, 'ana', '{"largest": 5, "total": 5, "cards": 0, "bins": []}', clock_timestamp() + interval '1 hour'
         from cardwright.op where op = $1`,
    [op.op],
  );
  return op;
}

const IN_ADMIN: Readonly<Record<string, Call>> = {
  set_cap: { values: [`'max_cards'`, '7::bigint'], free: { 1: 'takes the cap away' } },
  set_bins: { values: [`'{bin_1}'::text[]`] },
  add_key: { values: [`'${'a'.repeat(16)}'`] },
  remove_key: { values: [`'${KEY_PRINT}'`] },
  add_member: { values: [`'cyd'`, `'{read}'::text[]`] },
  set_rule: { values: [`'approve_above'`, '7::bigint'], free: { 1: 'takes the rule away' } },
  add_approver: { values: [`'${bob.line}'`, `'{bob}'::text[]`] },
  freeze_account: { values: [`'why'`] },
  accept_failover: { values: [`'why'`, `'{ana}'::text[]`] },
};

type Prepare = (at: TestAccount) => Promise<Call> | Call;

const CALLS: Readonly<Record<string, Prepare>> = {
  ...Object.fromEntries(
    Object.entries(IN_ADMIN).map(([name, call]) => [name, () => ({ role: 'ada', ...call }) as const]),
  ),
  async remove_approver(at) {
    await at.admin(`add_approver('${bob.line}', '{bob}')`);
    return { role: 'ada', values: [`'bob'`] };
  },
  async accept_clash(at) {
    const [one, other] = [await claimed(at), await claimed(at)];
    return { role: 'ada', values: [`'${one.op}'`, `'${other.op}'`, `'why'`] };
  },
  accept_card: () => ({ role: 'ada', values: [`'card_1'`, `'why'`] }),
  async set_aside(at) {
    const op = await claimed(at);
    await at.endLeases();
    await at.root.call(`update cardwright.segment set bytes = 'x' where op = $1`, [op.op]);
    return { role: 'ada', values: [`'${op.op}'`, 'true', `'why'`] };
  },
  claim(at) {
    const op = wanted(at.account, 5, {
      looked: 99,
      sent: true,
      again: true,
      irreversible: false,
      judged_rows: 0,
      digest_in_order: hex(32),
      intents: [{ row: 1, name: `n-${hex(4)}`, digest: hex(32) }],
      key: { value: hex(8), digest: hex(32) },
    });
    return {
      values: [{ ...op }, linesOf(op.by, sent(1)), NOTED],
      free: {
        looked: 'no rule was asked',
        sent: 'SENT does not go with it',
        again: 'false',
        irreversible: 'false',
        judged_rows: 'no rows that a rule counts',
        digest_in_order: 'none',
        'spending.bins': 'none',
      },
    };
  },
  async append(at) {
    const op = await claimed(at);
    const call = next(op, { ending: { finished: true, spent: 5, free: [], free_key: false } });
    return {
      values: [{ ...call, shown: {} }, linesOf(op.by, done(1)), facts(OUTCOME)],
      free: {
        shown: 'a list reads its records',
        ending: 'it does not end with this',
        'ending.finished': 'it does not end with this',
        'ending.free_key': 'false',
      },
    };
  },
  async let_go(at) {
    const op = await claimed(at);
    await at.ana.append(next(op), linesOf(op.by, done(1)));
    return {
      values: [{ ...settled(op), ending: { finished: true, spent: 5 } }, facts(OUTCOME)],
      free: { ending: 'the lease is let go', 'ending.finished': 'the lease is let go' },
    };
  },
  async abandon(at) {
    const op = wanted(at.account, 5, OPEN);
    await at.ana.claim(op, linesOf(op.by, { t: 'END', at: 2 } as never), FACTS);
    return { values: [settled(op), NOTED] };
  },
  async take(at) {
    const op = await claimed(at);
    await at.endLeases();
    const call = { account: at.account, op: op.op, by: hex(4), host: 'laptop', ttl_ms: 5_000, resume: true };
    return { values: [call, NOTED], free: { resume: `one's own op may be taken over` } };
  },
  renew: async at => ({ values: [settled(await claimed(at))] }),
  async told(at) {
    const { op } = await finished(at);
    return { values: [{ account: at.account, op, is_told: true, began: false }], free: { began: 'false' } };
  },
  note: at => ({ values: [{ account: at.account, host: 'laptop', nonce: hex(8) }, NOTED] }),
  async witness(at) {
    const op = await claimed(at);
    return { values: [{ account: at.account, op: op.op, by: op.by }, linesOf(op.by, done(1))] };
  },
  pushed: at => ({
    values: [{ account: at.account, host: 'laptop', machine: hex(8), left: false, lost: 0 }],
    free: {
      host: 'no machine is waited for any less',
      machine: 'no machine is waited for any less',
      left: 'false',
      lost: 'none',
    },
  }),
  report_loss: at => ({
    values: [{ account: at.account, known: { seq: 99, hash: 'f'.repeat(64) }, accepted: 0, host: 'laptop' }],
  }),
  async leave_account(at) {
    await at.admin(`freeze_account('it is moved')`);
    return {
      values: [{ account: at.account, host: 'laptop', machine: hex(8), mine: false }, NOTED],
      free: { mine: 'false' },
    };
  },
  async came_back(at) {
    const call = { account: at.account, host: 'laptop', machine: hex(8) };
    await at.admin(`freeze_account('it is moved')`);
    await at.ana.leaveAccount({ ...call, mine: false }, FACTS);
    await at.root.call('update cardwright.account set frozen_why = null where name = $1', [at.account]);
    return { values: [call] };
  },
  async release(at) {
    const op = await asked(at);
    const call = { account: at.account, op: op.op, by: hex(4), host: 'laptop', ttl_ms: 5_000, keys: [bob.keyid] };
    return { values: [call, linesOf(call.by, { t: 'APPROVED', at: 1 } as never), NOTED] };
  },
  async approve(at) {
    const op = await asked(at);
    const envelope = bob.approves(Buffer.from('{}'));
    const call = { account: at.account, op: op.op, host: 'laptop', keyid: bob.keyid, envelope };
    return { role: 'bob', values: [call, NOTED] };
  },
  async deny(at) {
    const op = await asked(at);
    const call = { account: at.account, op: op.op, by: hex(4), host: 'laptop', n: 2, shown: {}, why: 'rejected' };
    const bytes = linesOf(call.by, { t: 'DENIED', at: 1 } as never, { t: 'END', at: 2 } as never);
    return { values: [call, bytes, NOTED], free: { shown: 'a list reads its records' } };
  },
  import_op(at) {
    const { key: _, ...op } = wanted(at.account, 5);
    const call = {
      account: at.account,
      op: op.op,
      from: 0,
      whole: true,
      recovered: false,
      keep_both: false,
      by: op.by,
      host: 'laptop',
      key_print: KEY_PRINT,
      command: op.command,
      digest: op.digest,
      bulk: false,
      moves: true,
      freely: false,
      rows: 1,
      cents: 5,
      reserved: 5,
      day: '2026-01-01',
      begun_ms: 1_000,
      ended_ms: 2_000,
      counts: { unknown: 0, open: 0 },
      shown: {},
      ending: { finished: true, spent: 5 },
      intents: [{ row: 1, name: `n-${hex(4)}`, digest: hex(32) }],
      key: { value: hex(8), digest: hex(32) },
      own: true,
      ttl_ms: 5_000,
    };
    return {
      values: [call, linesOf(op.by, done(1)), NOTED],
      free: {
        whole: 'more of it follows',
        recovered: 'false',
        keep_both: 'false',
        key_print: 'it was another key',
        day: 'today',
        begun_ms: 'now',
        ended_ms: 'now',
        shown: 'a list reads its records',
        ending: 'it has not ended',
        'ending.finished': 'it has not ended',
        own: 'false',
        ttl_ms: 'for what is taken up alone',
      },
    };
  },
  import_names: at => ({
    values: [
      {
        account: at.account,
        op: wanted(at.account, 5).op,
        host: 'laptop',
        names: [{ row: 1, name: `n-${hex(4)}`, digest: hex(32), done: {} }],
        keep_both: false,
        recovered: false,
      },
    ],
    free: { keep_both: 'false', recovered: 'false' },
  }),
  async prune_op(at) {
    const op = await finished(at);
    await at.root.call(`update cardwright.op set ended_at = ended_at - interval '91 days' where op = $1`, [op.op]);
    const name = op.intents?.[0]?.name;
    return {
      values: [{ account: at.account, op: op.op, host: 'laptop', done: [{ name, done: { card: 'card_1' } }] }, NOTED],
      free: { 'done.0.done.card': 'the row made no card' },
    };
  },
  forget_names: at => ({
    values: [{ account: at.account, before_ms: 1_000 }],
    free: { before_ms: 'those of 400 days ago' },
  }),
  hold_name: at => ({
    values: [{ account: at.account, name: 'fleet', by: hex(4), host: 'laptop', ttl_ms: 5_000 }],
  }),
  release_name: at => ({ values: [{ account: at.account, name: 'fleet', by: hex(4) }] }),
};

/** What only reads: a null asks for nothing, and no account is one that is not there. */
const READS = new Set(GRANTED.cardwright_auditor.map(plain));

function plain(signature: string): string {
  return signature.replace(/\(.*$/, '');
}

/** The type of each argument, as the grant has it. */
function typesOf(name: string): readonly string[] {
  const signature = Object.values(GRANTED)
    .flat()
    .find(each => plain(each) === name);
  return (/\((.*)\)/.exec(signature ?? '')?.[1] ?? '').split(', ');
}

/** Each place of a value where a null may stand, with the value that has one there. */
function nullsIn(value: unknown, path: readonly string[] = []): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value).filter(([name]) => path.length > 0 || name !== 'account');
  return members.flatMap(([name, member]) => {
    const with_ = (other: unknown) =>
      Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
    const inner = nullsIn(member, [...path, name]).map(([where, other]) => [where, with_(other)] as const);
    return [[[...path, name].join('.'), with_(null)] as const, ...inner];
  });
}

/** Of ours, and of a value or a column that cannot be null. */
const REFUSED = /^(?:CW0(?:04|07|08|11)|22023|23502)$/;

describe.skipIf(missing())('a null in a call of the schema', () => {
  let here: Database;
  const sessions = new Map<Person, PostgresSession>();
  beforeAll(async () => {
    here = await database();
    for (const role of ['ana', 'ada', 'bob', 'eve'] as const) sessions.set(role, await here.as(role, 'another'));
  });
  afterAll(() => here.close());

  /** What comes of a call that is taken back: its verdict, `done` without one, or the code of its refusal. */
  async function outcome(role: Person, text: string, values: readonly PostgresValue[]): Promise<string> {
    const session = sessions.get(role);
    await session?.call('begin', []);
    try {
      const [[answer] = []] = (await session?.call(text, values)) ?? [];
      if (answer?.startsWith('{') !== true) return 'done';
      const { verdict, lost } = JSON.parse(answer);
      return String(verdict ?? (lost === null ? 'no loss' : 'a loss'));
    } catch (thrown) {
      return String((thrown as { readonly code?: string }).code ?? thrown);
    } finally {
      await session?.call('rollback', []);
    }
  }

  it('has a row for each function that somebody may execute', () => {
    const granted = new Set(Object.values(GRANTED).flat().map(plain));
    expect([...Object.keys(CALLS), ...READS].toSorted()).toEqual([...granted].toSorted());
  });

  it.each(Object.keys(CALLS))('%s refuses it, or does nothing wrong', async name => {
    const at = await testAccount(here);
    const prepared = await CALLS[name]?.(at);
    if (prepared === undefined) throw new Error(name);
    const { role = 'ana', values, free = {} } = prepared;
    const types = typesOf(name);
    const isCall = types[0] === 'jsonb';
    const given = isCall ? values : [`'${at.account}'`, ...values];
    const call = (instead: ReadonlyMap<number, unknown>) => {
      const bound: PostgresValue[] = [];
      const texts = given.map((value, index) => {
        const used = instead.has(index) ? instead.get(index) : value;
        if (typeof used === 'string') return used;
        if (used === null) return `null::${types[index]}`;
        bound.push(used instanceof Uint8Array ? used : JSON.stringify(used));
        return `$${bound.length}`;
      });
      return outcome(role, `select cardwright.${name}(${texts.join(', ')})`, bound);
    };
    const taken = await call(new Map());
    expect(taken, 'the call itself').not.toMatch(REFUSED);
    expect(taken, 'the call itself').not.toMatch(/^[0-9A-Z]{5}$/);

    const seen = new Set<string>();
    const check = async (where: string, index: number, value: unknown) => {
      const found = await call(new Map([[index, value]]));
      seen.add(where);
      if (free[where] !== undefined) expect({ where, found }).toEqual({ where, found: taken });
      // A verdict that is another one says no.
      else if (REFUSED.test(found) || found === taken || /^[0-9A-Z]{5}$/.test(found))
        expect({ where, found }).toEqual({ where, found: expect.stringMatching(REFUSED) });
    };
    for (const [index, value] of given.entries()) {
      await check(isCall ? `argument ${index}` : String(index - 1), index, null);
      if (types[index] === 'text[]')
        for (const list of ['array[null]::text[]', `${value} || null::text`]) await check(list, index, list);
      if (typeof value !== 'object' || value instanceof Uint8Array) continue;
      for (const [where, other] of nullsIn(value)) await check(where, index, other);
    }
    for (const where of Object.keys(free)) expect(seen, 'named for nothing').toContain(where);
  });

  it.each([...READS])('%s reads nothing for it', async name => {
    const at = await testAccount(here);
    const types = typesOf(name);
    const call = (empty: number) =>
      outcome(
        'eve',
        `select cardwright.${name}(${types.map((type, index) => (index === empty ? `null::${type}` : index === 0 ? `'${at.account}'` : type === 'jsonb' ? `'[]'` : type === 'text' ? `'x'` : '1'))})`,
        [],
      );
    expect(await call(0)).toBe('CW004');
    for (const index of types.keys()) if (index > 0) expect(await call(index)).toMatch(/^(?:done|\{)/);
  });
});

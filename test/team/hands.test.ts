/** What a claimed op goes through: records, its end, other hands, outcomes that come late. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Taking } from '../../src/team/calls.ts';
import { statementsOver } from '../../src/team/statements.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import {
  done,
  ended,
  FACTS,
  freshOp,
  hex,
  linesOf,
  next,
  OUTCOME,
  sent,
  type TestAccount,
  testAccount,
  wanted,
} from './test-account.ts';

describe.skipIf(missing())('an op', () => {
  let here: Database;
  let at: TestAccount;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());
  beforeEach(async () => {
    at = await testAccount(here);
  });

  const REASON = { ...FACTS, reason: 'the runner is gone' };
  const FENCED = { code: 'CW008' };
  const BAD = { code: 'CW007' };

  async function claimed(cents = 500) {
    const op = wanted(at.account, cents);
    await at.ana.claim(op, linesOf(op.by, sent(1)), FACTS);
    return op;
  }
  const taking = (op: string, more: Partial<Taking> = {}): Taking => ({
    account: at.account,
    op,
    by: hex(4),
    host: 'server',
    ttl_ms: 60_000,
    resume: false,
    ...more,
  });
  const headOf = async (op: string) => (await at.eve.heads(at.account, { op }))[0];
  const lines = async () => (await at.eve.auditPage(at.account, 1)).length;

  it('takes records once, however often they are brought, and gives them back byte for byte', async () => {
    const op = await claimed();
    const bytes = linesOf(op.by, done(1));
    const first = await at.ana.append(next(op), bytes);
    expect(first).toMatchObject({ verdict: 'appended', n: 2, lease_ms: 180_000 });
    expect(await at.ana.append(next(op), bytes)).toEqual(first);
    const segments = await at.eve.readOp(at.account, op.op, 1);
    expect(segments.map(({ n, epoch, by }) => ({ n, epoch, by }))).toEqual(
      [1, 2].map(n => ({ n, epoch: 1, by: op.by })),
    );
    expect(Buffer.concat(segments.map(segment => segment.bytes))).toEqual(
      Buffer.concat([linesOf(op.by, sent(1)), bytes]),
    );
    expect((await at.eve.readOp(at.account, op.op, 2)).map(({ n }) => n)).toEqual([2]);
    expect(await headOf(op.op)).toMatchObject({
      n: 2,
      unknown: 0,
      state: 'running',
      size: linesOf(op.by, sent(1)).length + bytes.length,
    });
  });

  it('refuses other records under a number, a gap, another epoch, another role and an op that is not there', async () => {
    const op = await claimed();
    await at.ana.append(next(op), linesOf(op.by, done(1)));
    const bytes = linesOf(op.by, done(2));
    await expect(at.ana.append(next(op), bytes)).rejects.toMatchObject(FENCED);
    await expect(at.ana.append(next(op, { n: 4 }), bytes)).rejects.toMatchObject(FENCED);
    await expect(at.ana.append(next(op, { n: 3, epoch: 2 }), bytes)).rejects.toMatchObject(FENCED);
    await expect(at.ben.append(next(op, { n: 3 }), bytes)).rejects.toMatchObject(FENCED);
    await expect(at.ana.append(next(op, { n: 3, op: freshOp() }), bytes)).rejects.toMatchObject(FENCED);
    await expect(at.ana.append(next(op, { n: 3 }), new Uint8Array())).rejects.toMatchObject(BAD);
    await expect(at.ana.append(next(op, { n: 3, by: 'me' }), bytes)).rejects.toMatchObject(BAD);
    await expect(at.ana.append(next(op, { n: 3, counts: { unknown: -1, open: 0 } }), bytes)).rejects.toMatchObject(BAD);
    expect(await headOf(op.op)).toMatchObject({ n: 2 });
  });

  it('ends once: what was reserved becomes what was spent, with one line', async () => {
    const op = await claimed(500);
    const bytes = linesOf(op.by, done(1));
    const before = await lines();
    const first = await at.ana.append(next(op, ended(300)), bytes, OUTCOME);
    expect(await at.ana.append(next(op, ended(300)), bytes, OUTCOME)).toEqual(first);
    expect(await lines()).toBe(before + 1);
    expect(await headOf(op.op)).toMatchObject({ state: 'finished', spent: 300, reserved: 500, lease_ms: 0 });
    expect((await at.eve.status(at.account)).used).toBe(300);
    await expect(at.ana.append(next(op, { n: 3, ...ended(300) }), bytes, OUTCOME)).rejects.toMatchObject(FENCED);
    await expect(at.ana.renew({ account: at.account, op: op.op, epoch: 1 })).rejects.toMatchObject(FENCED);
    expect(await at.ben.take(taking(op.op), REASON)).toMatchObject({ verdict: 'finished', holder: 'ana' });
    expect((await at.eve.status(at.account)).used).toBe(300);
  });

  it('does not end with rows that are not settled, or with more spent than reserved', async () => {
    const op = await claimed(500);
    const end = (spent: number, counts = { unknown: 0, open: 0 }) =>
      at.ana.append(next(op, { counts, ...ended(spent) }), linesOf(op.by, done(1)), OUTCOME);
    await expect(end(501)).rejects.toMatchObject(BAD);
    await expect(end(-1)).rejects.toMatchObject(BAD);
    await expect(end(0, { unknown: 1, open: 0 })).rejects.toMatchObject(BAD);
    await expect(end(0, { unknown: 0, open: 1 })).rejects.toMatchObject(BAD);
    // All or nothing: the records are not there either.
    expect(await headOf(op.op)).toMatchObject({ n: 1, state: 'running' });
    expect((await at.eve.status(at.account)).used).toBe(500);
  });

  it('lets its lease go and keeps the cents of what is unknown', async () => {
    const op = await claimed(500);
    const counts = { unknown: 1, open: 0 };
    await at.ana.append(next(op, { counts, ending: { finished: false } }), linesOf(op.by, done(1)), OUTCOME);
    expect(await headOf(op.op)).toMatchObject({ state: 'running', lease_ms: 0, unknown: 1 });
    expect((await at.eve.status(at.account)).used).toBe(500);
    expect(await at.ana.take(taking(op.op, { resume: true }), FACTS)).toMatchObject({ verdict: 'taken', epoch: 2 });
  });

  it('stays in living hands, and leaves those whose lease is over', async () => {
    const op = await claimed();
    const held = await at.ben.take(taking(op.op), REASON);
    expect(held).toMatchObject({ verdict: 'held', holder: 'ana', host: 'laptop' });
    expect(held.verdict === 'held' && held.left_ms).toBeGreaterThan(170_000);
    await at.endLeases();
    expect(await at.ben.take(taking(op.op, { resume: true }), FACTS)).toMatchObject({
      verdict: 'other',
      holder: 'ana',
    });
    await expect(at.ben.take(taking(op.op), FACTS)).rejects.toMatchObject(BAD);
    await expect(at.ben.take(taking(op.op), { ...FACTS, reason: 'r'.repeat(201) })).rejects.toMatchObject(BAD);
    await expect(at.ben.take(taking(op.op, { by: op.by }), REASON)).rejects.toMatchObject(BAD);
    expect(await at.ben.take(taking(freshOp()), REASON)).toMatchObject({ verdict: 'absent' });
    const before = await lines();
    const call = taking(op.op);
    const first = await at.ben.take(call, REASON);
    expect(first).toMatchObject({ verdict: 'taken', epoch: 2, n: 1, lease_ms: 60_000 });
    expect(first.verdict === 'taken' && first.since_lease_ms).toBeGreaterThanOrEqual(5_000);
    expect(await at.ben.take(call, REASON)).toMatchObject({ verdict: 'taken', epoch: 2 });
    expect(await lines()).toBe(before + 1);
    expect(await headOf(op.op)).toMatchObject({ holder: 'ben', host: 'server', epoch: 2 });
  });

  it('keeps out who lost it: no record, no end, no lease', async () => {
    const op = await claimed();
    await at.endLeases();
    await at.ben.take(taking(op.op), REASON);
    const bytes = linesOf(op.by, done(1));
    const words = { code: 'CW008', message: 'the operation was taken over by ben on server' };
    await expect(at.ana.append(next(op), bytes)).rejects.toMatchObject(words);
    await expect(at.ana.append(next(op, ended(500)), bytes, OUTCOME)).rejects.toMatchObject(words);
    await expect(at.ana.renew({ account: at.account, op: op.op, epoch: 1 })).rejects.toMatchObject(words);
    // Not by the number alone: it is the other's.
    await expect(at.ana.append(next(op, { epoch: 2 }), bytes)).rejects.toMatchObject(FENCED);
    expect(await at.ben.renew({ account: at.account, op: op.op, epoch: 2 })).toMatchObject({
      verdict: 'renewed',
      lease_ms: 60_000,
    });
    expect(await at.ben.renew({ account: at.account, op: op.op, epoch: 2 })).toMatchObject({ verdict: 'renewed' });
    expect(await headOf(op.op)).toMatchObject({ n: 1, epoch: 2 });
  });

  it('is renewed by records', async () => {
    const op = await claimed();
    await at.endLeases();
    await at.ana.append(next(op, { counts: { unknown: 1, open: 0 } }), linesOf(op.by, sent(1)));
    expect((await headOf(op.op))?.lease_ms).toBeGreaterThan(170_000);
  });

  it('takes records while another operator holds the account: only what begins or ends waits', async () => {
    const op = await claimed();
    const [holding, watching] = [await here.as('ben', 'another'), await here.as('postgres', 'another')];
    await holding.call('begin', []);
    await statementsOver(holding).note({ account: at.account, host: 'server', nonce: hex(8) }, FACTS);
    const bytes = linesOf(op.by, done(1));
    expect(await at.ana.append(next(op), bytes)).toMatchObject({ verdict: 'appended' });
    expect(await at.ana.renew({ account: at.account, op: op.op, epoch: 1 })).toMatchObject({ verdict: 'renewed' });
    const late = { account: at.account, op: op.op, by: op.by };
    expect(await at.ana.witness(late, linesOf(op.by, done(1)))).toMatchObject({ verdict: 'witnessed' });
    const ending = at.ana.append(next(op, { n: 3, ...ended(5) }), bytes, OUTCOME);
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await watching.call(waits, [])).length).toBe(1);
    await holding.call('commit', []);
    expect(await ending).toMatchObject({ verdict: 'appended', n: 3 });
  });

  it('hears late what its former holder saw of a row that it sent, and nothing else', async () => {
    const op = wanted(at.account, 500, { rows: 2 });
    const notSent = { t: 'NOTSENT', row: 2, kind: 'guarded', message: 'stopped', at: 1 } as const;
    await at.ana.claim(op, linesOf(op.by, sent(1), notSent), FACTS);
    await at.endLeases();
    await at.ben.take(taking(op.op), REASON);
    const call = { account: at.account, op: op.op, by: op.by };
    const bytes = linesOf(op.by, done(1));
    for (const wrong of [
      linesOf(op.by, done(2)),
      linesOf(op.by, sent(1)),
      linesOf(op.by, done(1), { t: 'END', done: 1, refused: 0, not_sent: 0, cents: 5, at: 1 }),
      linesOf(hex(4), done(1)),
      Buffer.from('not a journal\n'),
      Buffer.from([0xff, 0xfe]),
    ]) {
      await expect(at.ana.witness(call, wrong)).rejects.toMatchObject(BAD);
    }
    const stranger = hex(4);
    await expect(at.ana.witness({ ...call, by: stranger }, linesOf(stranger, done(1)))).rejects.toMatchObject(BAD);
    await expect(at.ana.witness({ ...call, op: freshOp() }, bytes)).rejects.toMatchObject(FENCED);
    for (let time = 0; time < 2; time += 1)
      expect(await at.ana.witness(call, bytes)).toMatchObject({ verdict: 'witnessed' });
    // The new holder's numbers go on as if nothing had come.
    const mine = hex(4);
    await at.ben.append({ ...next(op), by: mine, epoch: 2 }, linesOf(mine, done(1)));
    const segments = await at.eve.readOp(at.account, op.op, 1);
    expect(segments.map(({ n }) => n)).toEqual([1, 2, -1]);
    expect(await headOf(op.op)).toMatchObject({ state: 'running', holder: 'ben', epoch: 2, n: 2 });
  });

  it('counts what was done after all, within what was held for it, and once', async () => {
    const op = wanted(at.account, 500);
    await at.ana.claim(op, linesOf(op.by, sent(1)), FACTS);
    await at.endLeases();
    await at.ben.take(taking(op.op), REASON);
    const end = { t: 'END', done: 0, refused: 0, not_sent: 1, cents: 0, at: 1 } as const;
    await at.ben.append({ ...next(op), by: hex(4), epoch: 2, ...ended(0) }, linesOf(hex(4), end), OUTCOME);
    const call = { account: at.account, op: op.op, by: op.by, host: 'laptop' };
    const bytes = linesOf(op.by, done(1));
    expect(await at.ana.witness({ ...call, running: true }, bytes)).toMatchObject({ verdict: 'ended' });
    for (const cents of [501, -1])
      await expect(at.ana.witness({ ...call, late: { cents, intents: [] } }, bytes, FACTS)).rejects.toMatchObject(BAD);
    for (let time = 0; time < 2; time += 1)
      await at.ana.witness({ ...call, late: { cents: 500, intents: [] } }, bytes, FACTS);
    expect(await headOf(op.op)).toMatchObject({ state: 'finished', spent: 500 });
    const sums = await at.eve.daySums(at.account);
    expect(sums.every(({ spent, ops_spent }) => spent === ops_spent)).toBe(true);
  });

  it('is not seen or touched from another account', async () => {
    const op = await claimed();
    const { account } = await testAccount(here);
    const bytes = linesOf(op.by, done(1));
    await expect(at.ana.append(next({ ...op, account }), bytes)).rejects.toMatchObject(FENCED);
    expect(await at.ana.take(taking(op.op, { account }), REASON)).toMatchObject({ verdict: 'absent' });
    await expect(at.ana.witness({ account, op: op.op, by: op.by }, bytes)).rejects.toMatchObject(FENCED);
    expect(await at.eve.readOp(account, op.op, 1)).toEqual([]);
    expect(await at.eve.heads(account, {})).toEqual([]);
  });

  it('is listed with the unknown ones first, and by what is asked', async () => {
    const settled = await claimed();
    await at.ana.append(next(settled), linesOf(settled.by, done(1)));
    const unknown = await claimed();
    const finished = await claimed();
    await at.ana.append(next(finished, ended(0)), linesOf(finished.by, done(1)), OUTCOME);
    const ops = async (filter: object) => (await at.eve.heads(at.account, filter)).map(({ op }) => op);
    expect(await ops({})).toEqual([unknown.op, finished.op, settled.op]);
    expect(await ops({ unfinished: true })).toEqual([unknown.op, settled.op]);
    expect(await ops({ most: 1, skip: 1 })).toEqual([finished.op]);
    await at.root.call(`update cardwright.op set lease_until = clock_timestamp() where op = $1`, [settled.op]);
    expect(await ops({ live: true })).toEqual([unknown.op]);
    await at.root.call(`update cardwright.op set ended_at = ended_at - interval '2 hours' where op = $1`, [
      finished.op,
    ]);
    expect(await ops({ since_ms: 3_600_000 })).toEqual([unknown.op, settled.op]);
  });
});

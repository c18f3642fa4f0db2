/** `claim`: every verdict, and the same one again for the same call. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WantedOp } from '../../src/team/calls.ts';
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

describe.skipIf(missing())('claim', () => {
  let here: Database;
  let at: TestAccount;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());
  beforeEach(async () => {
    at = await testAccount(here);
  });

  const claim = (op: WantedOp, as: 'ana' | 'ben' = 'ana') => at[as].claim(op, linesOf(op.by, sent(1)), FACTS);
  const finish = (op: WantedOp, spent = 0, as: 'ana' | 'ben' = 'ana') =>
    at[as].append(next(op, ended(spent)), linesOf(op.by, done(1)), OUTCOME);

  it('gives the first answer again when its answer was lost, also after the op has gone on', async () => {
    const op = wanted(at.account, 500);
    const first = await claim(op);
    expect(first).toMatchObject({ verdict: 'claimed', op: op.op, epoch: 1, n: 1, lease_ms: 180_000 });
    expect(await claim(op)).toEqual(first);
    await finish(op, 500);
    expect(await claim(op)).toEqual(first);
    expect((await at.eve.status(at.account)).used).toBe(500);
    expect(await at.eve.heads(at.account, { op: op.op })).toMatchObject([
      { state: 'finished', reserved: 500, spent: 500 },
    ]);
  });

  it('refuses the id of another claim, of this account or another', async () => {
    const op = wanted(at.account, 500);
    await claim(op);
    await expect(claim({ ...op, nonce: hex(8) })).rejects.toMatchObject({ code: 'CW007' });
    const other = await testAccount(here);
    await expect(
      other.ana.claim({ ...op, account: other.account }, linesOf(op.by, sent(1)), FACTS),
    ).rejects.toMatchObject({
      code: 'CW007',
    });
    expect((await other.ana.status(other.account)).used).toBe(0);
  });

  it('refuses an API key that the account does not have', async () => {
    expect(await claim(wanted(at.account, 1, { key_print: 'f'.repeat(16) }))).toMatchObject({ verdict: 'key' });
    await at.admin(`remove_key('0123456789abcdef')`);
    expect(await claim(wanted(at.account, 1))).toMatchObject({ verdict: 'key' });
  });

  it('refuses a twin while its outcome is unknown, whoever holds it, and lets it be done again when it is told', async () => {
    const digest = hex(32);
    const op = wanted(at.account, 500, { digest });
    await claim(op);
    const again = { digest, intents: [{ row: 1, name: 'another-name', digest }] };
    const twin = {
      verdict: 'twin',
      standing: { op: op.op, holder: 'ana', host: 'laptop', unknown: 1, state: 'running' },
    };
    expect(await claim(wanted(at.account, 500, again), 'ben')).toMatchObject(twin);
    await at.endLeases();
    expect(await claim(wanted(at.account, 500, again), 'ben')).toMatchObject({ ...twin, standing: { lease_ms: 0 } });
    expect(await claim(wanted(at.account, 500, { digest: hex(32), digest_in_order: digest }), 'ben')).toMatchObject(
      twin,
    );
    // Done, and nobody was told.
    await at.ana.append(next(op), linesOf(op.by, done(1)));
    await at.endLeases();
    expect(await claim(wanted(at.account, 500, again), 'ben')).toMatchObject({
      verdict: 'twin',
      standing: { unknown: 0 },
    });
    await at.ana.append(next(op, { n: 3, ...ended(500) }), linesOf(op.by, done(1)), OUTCOME);
    expect(await claim(wanted(at.account, 500, again), 'ben')).toMatchObject({ verdict: 'claimed' });
  });

  it('lets two commands make the same card at once where other names say so, and none beside a resume of the first', async () => {
    const digest = hex(32);
    const card = { digest, moves: false };
    const named = (name: string) => ({ ...card, intents: [{ row: 1, name, digest }] });
    const op = wanted(at.account, 500, named('order-1'));
    await claim(op);
    // A lease outlives its process.
    expect(await claim(wanted(at.account, 500, card), 'ben')).toMatchObject({
      verdict: 'twin',
      standing: { op: op.op },
    });
    const other = wanted(at.account, 500, named('order-2'));
    expect(await claim(other, 'ben')).toMatchObject({ verdict: 'claimed' });
    await finish(other, 500, 'ben');
    await at.endLeases();
    const take = { account: at.account, op: op.op, by: hex(4), host: 'laptop', ttl_ms: 60_000, resume: true };
    await at.ana.take(take, FACTS);
    expect(await claim(wanted(at.account, 500, card), 'ben')).toMatchObject({
      verdict: 'twin',
      standing: { epoch: 2 },
    });
  });

  it.each([
    { unknown: 0, open: 0 },
    { unknown: 1, open: 0 },
    { unknown: 0, open: 1 },
  ])('lets what may be repeated freely be repeated, whatever came of it: %o', async counts => {
    const freeze = { digest: hex(32), moves: false, freely: true, counts };
    await claim(wanted(at.account, 0, freeze));
    for (const who of ['ana', 'ben'] as const)
      expect(await claim(wanted(at.account, 0, freeze), who)).toMatchObject({ verdict: 'claimed' });
    await at.endLeases();
    for (const who of ['ana', 'ben'] as const)
      expect(await claim(wanted(at.account, 0, freeze), who)).toMatchObject({ verdict: 'claimed' });
  });

  it('refuses the same many rows while they are not finished, and for a day unless that is meant', async () => {
    const digest = hex(32);
    const bulk = { digest, bulk: true, rows: 2 };
    const op = wanted(at.account, 500, { ...bulk, counts: { unknown: 0, open: 2 } });
    await claim(op);
    expect(await claim(wanted(at.account, 500, { ...bulk, again: true }))).toMatchObject({ verdict: 'twin' });
    await finish(op, 500);
    expect(await claim(wanted(at.account, 500, bulk), 'ben')).toMatchObject({
      verdict: 'repeated',
      op: op.op,
      holder: 'ana',
    });
    const named = ['a', 'b'].map((name, index) => ({ row: index + 1, name, digest }));
    expect(await claim(wanted(at.account, 500, { ...bulk, intents: named.slice(1) }))).toMatchObject({
      verdict: 'repeated',
    });
    const meant = wanted(at.account, 500, { ...bulk, intents: named });
    expect(await claim(meant)).toMatchObject({ verdict: 'claimed' });
    await finish(meant);
    await at.root.call(`update cardwright.op set ended_at = ended_at - interval '25 hours' where op = any($1)`, [
      `{${op.op},${meant.op}}`,
    ]);
    expect(await claim(wanted(at.account, 500, bulk))).toMatchObject({ verdict: 'claimed' });
  });

  it('knows a name that was used: with the same values where it stands, with others the op that has it', async () => {
    const digest = hex(32);
    const intents = [{ row: 1, name: 'payroll-nov', digest }];
    const op = wanted(at.account, 500, { digest, intents });
    await claim(op);
    const earlier = {
      verdict: 'earlier',
      intents: [{ intent: 'payroll-nov', row: 1, earlier_row: 1, standing: { op: op.op } }],
    };
    expect(await claim(wanted(at.account, 500, { digest, intents }), 'ben')).toMatchObject(earlier);
    const otherwise = [{ row: 3, name: 'payroll-nov', digest: hex(32) }];
    expect(await claim(wanted(at.account, 600, { intents: otherwise }), 'ben')).toMatchObject({
      verdict: 'conflict',
      intent: 'payroll-nov',
      op: op.op,
      row: 3,
    });
    await finish(op, 500);
    // Of many rows one is known to be that one, and the other is new.
    const rows = [
      { ...intents[0], row: 1, name: 'payroll-nov', digest, op: op.op },
      { row: 2, name: 'rent-nov', digest: hex(32) },
    ];
    const bulk = wanted(at.account, 700, { bulk: true, rows: 2, intents: rows });
    expect(await claim(bulk)).toMatchObject({ verdict: 'claimed' });
    expect(await at.eve.heads(at.account, { intent: 'rent-nov' })).toMatchObject([{ op: bulk.op }]);
    expect(await at.eve.heads(at.account, { intent: 'payroll-nov' })).toMatchObject([{ op: op.op }]);
  });

  it('frees a name whose row came to nothing, for the same values and for others', async () => {
    const intents = [{ row: 1, name: 'once', digest: hex(32) }];
    const op = wanted(at.account, 500, { intents, key: { value: 'k-1', digest: 'd1' } });
    await claim(op);
    const nothing = { finished: true, spent: 0, free: ['once'], free_key: true };
    await at.ana.append(next(op, { ending: nothing }), linesOf(op.by, done(1)), OUTCOME);
    const stale = wanted(at.account, 500, { intents: [{ row: 1, name: 'once', digest: hex(32), op: op.op }] });
    expect(await claim(stale)).toMatchObject({ verdict: 'earlier', intents: [{ intent: 'once', standing: null }] });
    const fresh = { intents: [{ row: 1, name: 'once', digest: hex(32) }], key: { value: 'k-1', digest: 'd2' } };
    expect(await claim(wanted(at.account, 500, fresh))).toMatchObject({ verdict: 'claimed' });
  });

  it('knows a key of the caller', async () => {
    const op = wanted(at.account, 500, { key: { value: 'k-9', digest: 'd1' } });
    await claim(op);
    const same = wanted(at.account, 500, { key: { value: 'k-9', digest: 'd1' } });
    expect(await claim(same)).toMatchObject({ verdict: 'earlier', key: 'k-9', standing: { op: op.op } });
    const other = wanted(at.account, 500, { key: { value: 'k-9', digest: 'd2' } });
    expect(await claim(other)).toMatchObject({ verdict: 'conflict', key: 'k-9', op: op.op });
  });

  it('holds each cap, and names it with what is used of it', async () => {
    const caps = { max_per_call: 1_000, max_per_run: 2_000, max_cards: 2, max_per_day: 3_000 };
    for (const [name, value] of Object.entries(caps)) await at.admin(`set_cap('${name}', ${value})`);
    await at.admin(`set_bins('{bin_1,bin_2}')`);
    const asking = (spending: Partial<WantedOp['spending']>) =>
      claim(wanted(at.account, 0, { spending: { largest: 0, total: 0, cards: 0, bins: [], ...spending } }));
    expect(await asking({ largest: 1_001, total: 1_001 })).toMatchObject({
      cap: 'max_per_call',
      limit: 1_000,
      asked: 1_001,
    });
    expect(await asking({ largest: 1_000, total: 2_001 })).toMatchObject({
      cap: 'max_per_run',
      limit: 2_000,
      asked: 2_001,
    });
    expect(await asking({ cards: 3 })).toMatchObject({ cap: 'max_cards', limit: 2, asked: 3 });
    expect(await asking({ bins: ['bin_1', 'bin_7'] })).toMatchObject({
      cap: 'bins',
      limit: ['bin_1', 'bin_2'],
      asked: ['bin_7'],
    });
    expect(await asking({ untold: true })).toMatchObject({ verdict: 'cap', untold: true });
    expect(await asking({ largest: 1_000, total: 2_000, cards: 2, bins: ['bin_2'] })).toMatchObject({
      verdict: 'claimed',
    });
    expect(await asking({ largest: 1_000, total: 1_001 })).toMatchObject({
      cap: 'max_per_day',
      limit: 3_000,
      used: 2_000,
      asked: 1_001,
    });
    expect(await asking({ largest: 1_000, total: 1_000 })).toMatchObject({ verdict: 'claimed' });
    expect(await asking({})).toMatchObject({ verdict: 'claimed' });
    expect(await at.eve.status(at.account)).toMatchObject({ caps, bins: ['bin_1', 'bin_2'], used: 3_000 });
  });

  it('never opens a day anew for a clock that was set back', async () => {
    await at.admin(`set_cap('max_per_day', 1000)`);
    const op = wanted(at.account, 1_000);
    await claim(op);
    await at.root.call(`update cardwright.spend_day set day = day + 1`, []);
    await at.root.call(`update cardwright.op set day = day + 1`, []);
    expect(await claim(wanted(at.account, 1))).toMatchObject({ cap: 'max_per_day', used: 1_000 });
    await finish(op, 0);
    expect(await claim(wanted(at.account, 1))).toMatchObject({ verdict: 'claimed' });
  });

  it('takes nothing but what cardwright sends', async () => {
    const op = () => wanted(at.account, 5);
    const bad: readonly Partial<WantedOp>[] = [
      { op: 'op_short' },
      { by: 'nobody' },
      { ttl_ms: 5 },
      { nonce: '' },
      { rows: 0 },
      { spending: { largest: 6, total: 5, cards: 0, bins: [] } },
      { spending: { largest: 0, total: -5, cards: 0, bins: [] } },
      { counts: { unknown: -1, open: 0 } },
      { intents: [{ row: 1, name: 'no spaces', digest: 'd' }] },
      { intents: [1, 2].map(row => ({ row, name: 'twice', digest: 'd' })) },
    ];
    for (const more of bad) {
      const thrown: unknown = await claim({ ...op(), ...more }).catch((error: unknown) => error);
      expect(thrown, JSON.stringify(more)).toMatchObject({ code: 'CW007' });
    }
    await expect(at.ana.claim(op(), new Uint8Array(), FACTS)).rejects.toMatchObject({ code: 'CW007' });
    expect((await at.eve.status(at.account)).used).toBe(0);
    expect(freshOp()).toMatch(/^op_/);
  });

  it('exceeds no cap by a cent, when two operators claim as fast as they can', async () => {
    await at.admin(`set_cap('max_per_day', 5000)`);
    const many = (as: 'ana' | 'ben') =>
      Promise.all(Array.from({ length: 100 }, (_, index) => claim(wanted(at.account, 37 + (index % 7)), as)));
    const verdicts = (await Promise.all([many('ana'), many('ben')])).flat();
    const { used } = await at.eve.status(at.account);
    const claimed = verdicts.filter(({ verdict }) => verdict === 'claimed').length;
    expect(used).toBeLessThanOrEqual(5_000);
    expect(used).toBeGreaterThan(5_000 - 43);
    const heads = await at.eve.heads(at.account, {});
    expect(heads).toHaveLength(claimed);
    expect(heads.reduce((sum, { reserved }) => sum + reserved, 0)).toBe(used);
    expect(verdicts.filter(({ verdict }) => verdict === 'cap').length).toBe(200 - claimed);
  });
});

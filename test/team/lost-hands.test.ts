/** A process that was stopped past its lease, and what another operator has taken meanwhile. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spendingOf } from '../../src/core/spending.ts';
import { judgedRows } from '../../src/journal/approvals/rule.ts';
import { planLines } from '../../src/journal/runs/plan-lines.ts';
import type { OpStore, Tape } from '../../src/journal/store/op-store.ts';
import { encodeLines } from '../../src/journal/wal/codec.ts';
import type { JournalRecord, PlanRecord } from '../../src/journal/wal/records.ts';
import { thrown } from '../client/served.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { LEASE_S, secondsLeft } from '../support/seconds-left.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type SharedOrder, storeAt } from './shared-driver.ts';
import { done, freshOp, hex, KEY_PRINT, sent, testAccount } from './test-account.ts';

const BY = '0a0a0a0a';

describe.skipIf(missing())('an op in other hands', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  async function two() {
    const folder = await temporaryFolder();
    const at = await testAccount(here);
    const { socket, port } = here.server;
    const open = (role: string) =>
      storeAt({
        account: at.account,
        role,
        socket,
        port,
        database: here.name,
        folder: `${folder.path}/${role}`,
      } as SharedOrder);
    const [ana, ben] = [await open('ana'), await open('ben')];
    const more: (typeof ana)[] = [];
    return {
      at,
      ana: ana.store,
      ben: ben.store,
      async another(role: string) {
        const one = await open(role);
        more.push(one);
        return one.store;
      },
      async [Symbol.asyncDispose]() {
        await Promise.all([ana, ben, ...more].map(each => each.end()));
        await folder[Symbol.asyncDispose]();
      },
    };
  }

  const plan = (): PlanRecord => ({
    t: 'PLAN',
    version: 1,
    op: freshOp(),
    command: 'cards fund',
    origin: 'https://api.example.com',
    profile: 'team',
    mode: 'test',
    key_print: KEY_PRINT,
    digest: hex(32),
    rows: 1,
    total_cents: 500,
    bulk: false,
    marker: true,
    capability: { 'cards.fund': { key: 'unknown' } },
    at: 1,
  });
  const item = {
    t: 'ITEM',
    row: 1,
    attempt: 1,
    operation: 'cards.fund',
    key: undefined,
    method: 'POST',
    path: '/cards/card_1/fund',
    body: undefined,
    input: {},
  } as const;
  const linesOf = (record: PlanRecord) => {
    const run = { t: 'RUN', pid: 1, start: '', boot: '', at: 1 } as const;
    return [Buffer.concat([...planLines({ by: BY, plan: record, items: [item], run })])];
  };
  const claim = (store: OpStore, record: PlanRecord, lines = linesOf(record)) =>
    store.claim({
      record,
      spending: () => spendingOf([]),
      judged: () => judgedRows([]),
      refuse: async () => undefined,
      lines: () => lines,
      refuseAgain: async () => undefined,
    });
  const write = async ({ file }: Tape, seq: number, record: JournalRecord) => {
    await file.append(encodeLines(BY, seq, [record]));
    await file.sync();
  };

  it('cannot be written to any more: its SENT is refused before a byte leaves', async () => {
    await using t = await two();
    const record = plan();
    const expectLeft = secondsLeft(LEASE_S);
    const tape = await claim(t.ana, record);
    expect(await tape.mayLeave?.()).toBe(true);
    const held = await thrown(t.ben.take(record.op, { reason: 'ana is away' }));
    expect(held.kind).toBe('guarded');
    expectLeft(held.message, /ana on ana has it; .* in (\d+) s/);
    await t.at.endLeases();
    await expect(t.ben.take(record.op)).rejects.toMatchObject({ message: expect.stringContaining('another operator') });
    const taken = await t.ben.take(record.op, { reason: 'ana is away' });
    await expect(write(tape, 4, sent(1))).rejects.toMatchObject({
      code: 'CW008',
      message: expect.stringContaining('taken over by ben'),
    });
    expect([tape.lost?.aborted, await tape.mayLeave?.()]).toEqual([true, false]);
    await tape.file.close();
    await tape.release(true);
    // It is none of ours any more: it stays as the other one has it.
    expect(await t.ana.isHeld(record.op)).toBe(true);
    await taken.file.close();
    await taken.release(false);
    expect(await t.ben.isHeld(record.op)).toBe(false);
  });

  it('is not said to be brought to another server while a command still works on it', async () => {
    await using t = await two();
    const record = plan();
    const tape = await claim(t.ana, record);
    await write(tape, 4, sent(1));
    await t.at.root.call(`update cardwright.account set timeline = 'elsewhere' where name = $1`, [t.at.account]);
    const again = await t.another('ana');
    await expect(again.push?.()).rejects.toMatchObject({
      kind: 'guarded',
      message: expect.stringContaining(`still works on ${record.op}`),
    });
    const pushed = () =>
      t.at.root.call(
        'select role from cardwright.push p join cardwright.account a on a.id = p.account where a.name = $1',
        [t.at.account],
      );
    expect(await pushed()).toEqual([]);
    await tape.file.close();
    await expect(tape.release(false)).rejects.toMatchObject({ code: 'CW005' });
    expect(await again.push?.()).toMatchObject({ clashes: [], missing: [] });
    expect(await pushed()).toHaveLength(1);
  });

  it('keeps the cents of a row that may have been sent, until somebody knows', async () => {
    await using t = await two();
    const record = plan();
    const tape = await claim(t.ana, record);
    await write(tape, 4, sent(1));
    await tape.file.close();
    // An end with an unknown row is none, whoever says so.
    await expect(tape.release(true)).rejects.toMatchObject({ code: 'CW007' });
    await t.at.endLeases();
    const taken = await t.ana.take(record.op);
    await write(taken, 5, done(1));
    await write(taken, 6, { t: 'END', done: 1, refused: 0, not_sent: 0, cents: 500, at: 3 });
    await taken.file.close();
    await taken.release(true);
    const [head] = await t.at.ana.heads(t.at.account, { op: record.op });
    expect(head).toMatchObject({ state: 'finished', unknown: 0, open: 0, epoch: 2 });
  });

  it('a plan that was never whole is gone when somebody has looked at it', async () => {
    await using t = await two();
    const record = plan();
    const [whole = Buffer.alloc(0)] = linesOf(record);
    const first = whole.subarray(0, whole.indexOf(0x0a) + 1);
    const tape = await claim(t.ana, record, [first]);
    await tape.file.close();
    await t.at.endLeases();
    const taken = await t.ben.take(record.op, { reason: 'killed' });
    await taken.file.close();
    await taken.release(false);
    expect(await t.ana.read(record.op)).toBeUndefined();
    const after = await claim(t.ana, { ...plan(), digest: record.digest });
    await after.abandon();
    expect(await t.at.ana.heads(t.at.account, {})).toEqual([]);
  });
});

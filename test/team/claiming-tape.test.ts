/** A claim that goes with SENT: what it tells was read before, so nobody may have come between. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { spendingOf } from '../../src/core/spending.ts';
import { planLines } from '../../src/journal/runs/plan-lines.ts';
import { placesIn } from '../../src/journal/store/paths.ts';
import { encodeLines } from '../../src/journal/wal/codec.ts';
import type { PlanRecord } from '../../src/journal/wal/records.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { OutdatedFacts } from '../../src/journal/wal/writer.ts';
import { chainHead, type SharedOps } from '../../src/team/shared-ops.ts';
import { sharedStore } from '../../src/team/shared-store.ts';
import { pushSpool } from '../../src/team/spool.ts';
import { statementsOver } from '../../src/team/statements.ts';
import { claimOf, record } from '../journal/store-contract.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { random, realClock } from '../support/clocks.ts';
import { done, ended, FACTS, next, OUTCOME, sent, type TestAccount, testAccount, wanted } from './test-account.ts';

const BY = '0a0a0a0a';

describe.skipIf(missing())('a claim that goes with SENT', () => {
  let here: Database;
  let folder: string;
  beforeAll(async () => {
    [here, folder] = await Promise.all([database(), mkdtemp(join(tmpdir(), 'cardwright-claiming-'))]);
  });
  afterAll(async () => {
    await here.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** A machine of ana's, its store, and how often each call was made. */
  async function machine(at: TestAccount, more: Partial<SharedOps> = {}) {
    const { pid, platform } = process;
    const home = await mkdtemp(join(folder, 'home-'));
    const disk = createDisk({ platform, random, warn: () => undefined, lock: { pid, clock: realClock, random } });
    const statements = statementsOver(await here.as('ana', 'another'));
    const shared: SharedOps = {
      statements: () => statements,
      account: at.account,
      journalId: 'jrn_test',
      role: 'ana',
      mayHold: false,
      host: 'laptop',
      machine: async () => '0123456789abcdef',
      clock: realClock,
      random,
      disk,
      notice: () => undefined,
      writeTotalMs: 75_000,
      head: chainHead(disk, join(home, 'head'), undefined),
      spoolFolder: async () => home,
      ...more,
    };
    shared.head.look((await statements.status(at.account)).head.seq);
    const open = async () => shared;
    return {
      home,
      shared,
      store: sharedStore({
        shared: open,
        opened: open,
        keyPrint: async () => '0123456789abcdef',
        hasLeft: async () => false,
        places: placesIn(home),
        account: at.account,
      }),
    };
  }

  const planned = (plan: PlanRecord) => ({
    sentNext: true,
    spending: () => spendingOf([{ operation: 'cards.fund', input: {}, amount: 500 as never }]),
    lines: () => [
      Buffer.concat([
        ...planLines({ by: BY, plan, items: [item], run: { t: 'RUN', pid: 1, start: '', boot: '', at: 1 } }),
      ]),
    ],
  });
  const item = {
    t: 'ITEM',
    row: 1,
    attempt: 1,
    operation: 'cards.fund',
    method: 'POST',
    path: '/x',
    input: {},
  } as never;
  const line = (seq: number, ...records: Parameters<typeof encodeLines>[2]) => encodeLines(BY, seq, records);

  it('is nothing in the database before, and whole behind it', async () => {
    const at = await testAccount(here);
    const { store, home } = await machine(at);
    const plan = record();
    const tape = await store.claim(claimOf(plan, planned(plan)));
    expect(await at.ana.heads(at.account, {})).toEqual([]);
    expect(await tape.mayLeave?.()).toBe(false);
    await tape.file.append(line(4, sent(1)));
    await tape.file.sync();
    expect(await tape.mayLeave?.()).toBe(true);
    expect(await at.ana.heads(at.account, {})).toMatchObject([{ op: plan.op, n: 1, unknown: 1, reserved: 500 }]);
    const kept = await store.read(plan.op);
    expect(Buffer.from(kept ?? []).toString()).toContain('"SENT"');
    await tape.file.append(line(5, done(1), { t: 'END', done: 1, refused: 0, not_sent: 0, cents: 500, at: 3 }));
    await tape.file.sync();
    await tape.file.close();
    await tape.release(true);
    expect(await at.ana.heads(at.account, {})).toMatchObject([{ state: 'finished', n: 2, spent: 500 }]);
    expect((await readdir(home)).filter(name => name.startsWith('op_'))).toEqual([]);
  });

  it('is let go before it: nobody ever hears of it', async () => {
    const at = await testAccount(here);
    const { store, home } = await machine(at);
    const lines = await at.ana.auditPage(at.account, 1);
    for (const end of ['abandon', 'release'] as const) {
      const plan = record();
      const tape = await store.claim(claimOf(plan, planned(plan)));
      if (end === 'release') await tape.file.close();
      await tape[end](false);
    }
    expect(await at.ana.heads(at.account, {})).toEqual([]);
    expect(await at.ana.auditPage(at.account, 1)).toEqual(lines);
    expect((await readdir(home)).filter(name => name.startsWith('op_'))).toEqual([]);
  });

  it.each([
    ['arrived, with SENT', { sentNext: true, arrives: true }],
    ['arrived', { sentNext: false, arrives: true }],
    ['never arrived', { sentNext: true, arrives: false }],
  ])('its answer was lost, and it %s: the next command ends its lease', async (_, { sentNext, arrives }) => {
    const at = await testAccount(here);
    const { store, shared, home } = await machine(at);
    const statements = shared.statements();
    const lost = {
      ...statements,
      claim: async (...call: Parameters<typeof statements.claim>) => {
        if (arrives) await statements.claim(...call);
        throw new CliError('guarded', { message: 'gone', reason: 'journal_unreachable' });
      },
    };
    Object.assign(shared, { statements: () => lost });
    const plan = record();
    const claiming = async () => {
      const tape = await store.claim(claimOf(plan, { ...planned(plan), sentNext }));
      await tape.file.append(line(4, sent(1)));
      try {
        await tape.file.sync();
      } finally {
        await tape.file.close();
        await tape.release(false);
      }
    };
    await expect(claiming()).rejects.toMatchObject({ facts: { reason: 'journal_unreachable' } });
    const left = { unfinished: true };
    expect((await at.ana.heads(at.account, left)).map(({ lease_ms }) => lease_ms > 0)).toEqual(arrives ? [true] : []);
    Object.assign(shared, { statements: () => statements });
    await pushSpool(shared);
    expect((await at.ana.heads(at.account, left)).map(({ lease_ms }) => lease_ms)).toEqual(arrives ? [0] : []);
    expect((await readdir(home)).filter(name => name.startsWith('op_'))).toEqual([]);
  });

  it.each([
    ['the same change, which is over', { bulk: false, isSame: true }, true],
    ['many rows, which are over', { bulk: true, isSame: false }, true],
    ['another change, which is over', { bulk: false, isSame: false }, false],
  ])('somebody came between with %s', async (_, { bulk, isSame }, isOutdated) => {
    const at = await testAccount(here);
    const { store } = await machine(at);
    const plan = record();
    const tape = await store.claim(claimOf(plan, planned(plan)));
    const other = wanted(at.account, 300, { bulk, ...(isSame && { digest: plan.digest }) });
    const { op, command, digest, rows, cents: total_cents } = other;
    const first = encodeLines(other.by, 0, [{ ...plan, op, command, digest, rows, total_cents }]);
    expect((await at.ben.claim(other, first, FACTS)).verdict).toBe('claimed');
    await at.ben.append({ ...next(other), ...ended(300) }, encodeLines(other.by, 1, [done(1)]), OUTCOME);
    await tape.file.append(line(4, sent(1)));
    const writing = tape.file.sync();
    if (isOutdated) {
      await expect(writing).rejects.toBeInstanceOf(OutdatedFacts);
      // It is in hand now: what is read from here on counts.
      expect(await at.ana.heads(at.account, { op: plan.op })).toMatchObject([{ n: 1, open: 1, unknown: 0 }]);
      await tape.file.append(line(4, sent(1)));
      await tape.file.sync();
    } else await writing;
    expect(await tape.mayLeave?.()).toBe(true);
    expect(await at.ana.heads(at.account, { op: plan.op })).toMatchObject([{ n: isOutdated ? 2 : 1, unknown: 1 }]);
    await tape.file.close();
    await tape.release(false);
  });

  it('the rules say it where somebody who came between is not over', async () => {
    const at = await testAccount(here);
    const { store } = await machine(at);
    const plan = record();
    let asked = 0;
    const refuse = async () => {
      asked += 1;
      if (asked > 1) throw new CliError('guarded', { message: 'the same operation is under way', hint: 'x' });
    };
    const tape = await store.claim(claimOf(plan, { ...planned(plan), refuse }));
    const other = wanted(at.account, 500, { digest: plan.digest });
    await at.ben.claim(other, encodeLines(other.by, 0, [{ ...plan, op: other.op }]), FACTS);
    await tape.file.append(line(4, sent(1)));
    await expect(tape.file.sync()).rejects.toThrow('the same operation is under way');
    expect(await tape.mayLeave?.()).toBe(false);
    await tape.file.close();
    await tape.release(false);
    expect(await at.ana.heads(at.account, { op: plan.op })).toEqual([]);
  });
});

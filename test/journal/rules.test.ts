import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Approver, approverLine, keyIdOf, publicBytes, signRequest } from '../../src/approvals/request.ts';
import type { CliError } from '../../src/core/errors.ts';
import { cents } from '../../src/core/money.ts';
import { checkChain } from '../../src/journal/chain.ts';
import { finishOp, settle, takeOp } from '../../src/journal/changes.ts';
import { type ClaimResult, claim, type Draft } from '../../src/journal/claim.ts';
import { type Database, type Sql, sql, type Transaction } from '../../src/journal/database.ts';
import { selfOf } from '../../src/journal/holder.ts';
import { openPostgres } from '../../src/journal/postgres.ts';
import type { Change } from '../../src/journal/records.ts';
import { approvalState, claimRules, keepApproval, pendingOp, rejectOp } from '../../src/journal/rules.ts';
import { openSqlite } from '../../src/journal/sqlite.ts';
import { readLimits, type SourcedLimits } from '../../src/limits/limits.ts';
import { type JournalServer, journalServer, settingsAt } from '../postgres/journal-server.ts';
import { missing } from '../postgres/server.ts';

const ACCOUNT = 'live https://api.example.com';
const files = {
  platform: process.platform,
  random: { bytes: (count: number) => new Uint8Array(count), fraction: () => 0 },
  warn: () => undefined,
};
const self = selfOf({ holder: 'ana@desk', pid: process.pid });

function profile(values: object): SourcedLimits {
  const read = readLimits(values);
  if ('wrong' in read) throw new Error(read.wrong);
  return { source: { kind: 'profile', name: 'team' }, limits: read.limits };
}

function person(name: string): Approver & { readonly privateKey: KeyObject; readonly line: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicBytes(publicKey);
  return { person: name, key, keyid: keyIdOf(key), privateKey, line: approverLine(name, key) };
}

let counted = 0;

function draft(amounts: readonly number[]): Draft {
  counted += 1;
  const op = `op_${String(counted).padStart(26, '0')}`;
  const changes = amounts.map(
    (amount, index): Change => ({
      op,
      n: index + 1,
      operation: 'cards.create',
      input: { bin_id: 'bin_1', amount },
      request: { method: 'POST', path: '/cards', body: JSON.stringify({ amount, counted }) },
      facts: {},
      key: `${op}.${index + 1}`,
      marker: `${op}.${index + 1}`,
      intent: undefined,
      digest: `create ${amount} ${counted} ${index}`,
      card: undefined,
      last4: undefined,
      amount,
      state: 'planned',
      attempts: 0,
      sentAt: undefined,
      lastSentAt: undefined,
      before: undefined,
      evidence: {},
      error: undefined,
      decidedAt: undefined,
      decidedBy: undefined,
    }),
  );
  return {
    id: op,
    origin: 'https://api.example.com',
    mode: 'live',
    keyPrint: 'print',
    profile: 'team',
    command: 'cards create',
    digest: `file ${counted}`,
    bulk: amounts.length > 1,
    movesMoney: true,
    plan: {},
    givenKey: undefined,
    again: false,
    age: () => 0,
    total: amounts.reduce((sum, amount) => sum + amount, 0),
    changes,
    rows: amounts.map((amount, index) => ({
      row: index + 1,
      operation: 'cards.create' as const,
      input: { bin_id: 'bin_1' },
      amount: cents(amount),
    })),
  };
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: CliError) => error,
  );

test('the day of a cap never goes back, whatever the clock of the machine says', async () => {
  let apart = 0;
  const database = await openSqlite({ stateFolder: 'memory', files, clock: { now: () => Date.now() + apart } });
  const sources = async () => [profile({ max_per_day: '20.00' })];
  const rules = claimRules({ isShared: false, sources, approvers: async () => undefined, requester: 'ana@desk' });
  const useAccount = async (tx: Transaction) => {
    await tx.run(
      sql`insert into account (id, origin, mode) values (${ACCOUNT}, 'https://api.example.com', 'live') on conflict (id) do nothing`,
    );
    return ACCOUNT;
  };
  const begin = () => database.transaction(tx => claim(tx, { database, self, rules, useAccount }, draft([1500])));
  await begin();
  apart = 86_400_000;
  await begin();
  for (apart of [0, -86_400_000, 86_400_000]) expect((await refusal(begin()))?.facts.reason).toBe('max_per_day');
  // What is left of many days may not leave the wallet on one.
  apart = 5 * 86_400_000;
  const kept = await begin();
  if (kept.kind !== 'claimed') throw new Error(kept.kind);
  const take = () => takeOp({ database, self }, kept.op.id, rules.resume, undefined);
  apart += 2 * 86_400_000;
  expect((await refusal(take()))?.facts.reason).toBe('max_per_day');
  apart -= 86_400_000;
  expect((await take()).op.id).toBe(kept.op.id);
  await database.close();
});

describe.each(['sqlite', 'postgres'] as const)('%s', engine => {
  const isShared = engine === 'postgres';
  const isHere = engine === 'sqlite' || missing() === undefined;
  let server: JournalServer | undefined;
  let database: Database;
  let colleague: Database;
  let limits: SourcedLimits[] = [];
  let approvers: readonly Approver[] | undefined;
  const settings = { isShared, sources: async () => limits, approvers: async () => approvers, requester: 'ana@desk' };
  const rules = claimRules(settings);

  beforeAll(async () => {
    if (!isHere) return;
    if (isShared) {
      server = await journalServer();
      database = await openPostgres(settingsAt(server.url('ana')));
      colleague = await openPostgres(settingsAt(server.url('bo')));
    } else {
      database = await openSqlite({ stateFolder: 'memory', files, clock: Date });
      colleague = database;
    }
    await database.transaction(tx =>
      tx.run(sql`insert into account (id, origin, mode) values (${ACCOUNT}, 'https://api.example.com', 'live')`),
    );
  });

  afterAll(async () => {
    await database?.close();
    await colleague?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const begin = (wanted: Draft): Promise<ClaimResult> =>
    database.transaction(tx => claim(tx, { database, self, rules, useAccount: async () => ACCOUNT }, wanted));
  const take = (op: string) => takeOp({ database, self }, op, rules.resume, undefined);
  async function finish(result: ClaimResult): Promise<void> {
    if (result.kind !== 'claimed') throw new Error(result.kind);
    const held = { database, self, op: result.op };
    for (const change of result.changes)
      await settle(held, change, { state: 'done', card: `card_${change.op}`, evidence: {} });
    await finishOp(held, [], true);
  }
  const flaws = async () =>
    (await database.read(tx => checkChain(tx, ACCOUNT, approvers ?? []))).flaws.map(({ what }) => what);
  const asOwner = async (statement: string | Sql) =>
    server === undefined ? database.transaction(tx => tx.run(statement)) : server.sql(statement);

  test.skipIf(!isHere)(
    'the cap of a day counts what is held and what is spent, and lets go what was refused',
    async () => {
      limits = [profile({ max_per_day: '10.00', max_per_call: '6.00' })];
      await finish(await begin(draft([600])));
      await begin(draft([300]));
      expect((await refusal(begin(draft([200]))))?.facts.reason).toBe('max_per_day');
      expect((await refusal(begin(draft([601]))))?.facts.reason).toBe('max_per_call');
      await finish(await begin(draft([100])));
      limits = [];
      await asOwner(sql`insert into approval_rule (account, name, value) values (${ACCOUNT}, 'max_per_day', '10.50')`);
      const byJournal = await refusal(begin(draft([51])));
      expect(byJournal?.message).toContain('journal');
      await begin(draft([50]));
      await asOwner("update approval_rule set value = '100000.00'");
    },
  );

  test.skipIf(!isHere)('what a rule holds waits for persons, and is released once by their signatures', async () => {
    limits = [profile({ approve_above: '5.00', approvals_needed: 2 })];
    const [bo, cy] = [person('bo'), person('cy')];
    approvers = undefined;
    expect((await refusal(begin(draft([501]))))?.facts.reason).toBe('approvers');
    for (const each of [bo, cy])
      await asOwner(
        sql`insert into approver (account, keyid, person, key, added)
          values (${ACCOUNT}, ${each.keyid}, ${each.person}, ${each.line.split(' ')[2]}, 1)`,
      );
    const held = draft([501]);
    const pending = await begin(held);
    expect(pending).toMatchObject({ kind: 'pending', error: { kind: 'pending_approval' } });
    const { text } = await database.read(async tx => approvalState(tx, await pendingOp(tx, held.id), settings));
    // Nothing of it counts against the day while it waits, and nothing releases it.
    expect((await refusal(take(held.id)))?.kind).toBe('pending_approval');
    await keepApproval(colleague, held.id, signRequest(text, bo.privateKey), settings);
    expect((await refusal(take(held.id)))?.facts.approval).toMatchObject({ have: 1, needed: 2 });
    const stranger = await refusal(
      keepApproval(colleague, held.id, signRequest(text, person('eve').privateKey), settings),
    );
    expect(stranger?.kind).toBe('guarded');
    await keepApproval(colleague, held.id, signRequest(text, cy.privateKey), settings);
    const taken = await take(held.id);
    expect(taken.approvedBy).toEqual(['bo', 'cy']);
    expect(taken.op.state).toBe('open');
    expect((await refusal(keepApproval(colleague, held.id, signRequest(text, cy.privateKey), settings)))?.kind).toBe(
      'usage',
    );
  });

  test.skipIf(!isHere)('a limit that was tightened meanwhile holds when it is released', async () => {
    const bo = person('bo');
    limits = [profile({ approve_above: '5.00' })];
    approvers = [bo];
    const held = draft([700]);
    await begin(held);
    const { text } = await database.read(async tx => approvalState(tx, await pendingOp(tx, held.id), settings));
    await keepApproval(colleague, held.id, signRequest(text, bo.privateKey), settings);
    limits = [profile({ approve_above: '5.00', max_per_call: '6.00' })];
    expect((await refusal(take(held.id)))?.facts.reason).toBe('max_per_call');
    limits = [profile({ approve_above: '5.00', approvals_needed: 2 })];
    expect((await refusal(take(held.id)))?.kind).toBe('pending_approval');
    // Who approves is told of the number that holds now.
    const { needed } = await keepApproval(colleague, held.id, signRequest(text, bo.privateKey), settings);
    expect(needed).toBe(2);
    await rejectOp(database, held.id, { who: 'ana@desk', reason: 'not wanted' });
    expect(await refusal(take(held.id))).toBeUndefined();
    const rows = await database.read(tx =>
      tx.all<{ state: string }>(sql`select state from change where op = ${held.id}`),
    );
    expect(rows).toEqual([{ state: 'not_sent' }]);
    expect((await refusal(rejectOp(database, held.id, { who: 'a', reason: 'b' })))?.kind).toBe('usage');
  });

  test.skipIf(!isHere)(
    'two that are released at once do not pass the cap of the day of their release together',
    async () => {
      const bo = person('bo');
      approvers = [bo];
      const used = async () => {
        const rows = await database.read(tx =>
          tx.all<{ day: string; held: number; spent: number }>(
            sql`select day, held, spent from spent where account = ${ACCOUNT} and scope = 'account' order by day`,
          ),
        );
        return rows.at(-1) ?? { day: '', held: 0, spent: 0 };
      };
      const { day, held, spent } = await used();
      const cap = ((held + spent + 900) / 100).toFixed(2);
      limits = [profile({ approve_above: '1.00', max_per_day: cap })];
      const both = [draft([500]), draft([500])];
      for (const each of both) {
        await begin(each);
        const { text } = await database.read(async tx => approvalState(tx, await pendingOp(tx, each.id), settings));
        await keepApproval(colleague, each.id, signRequest(text, bo.privateKey), settings);
        // It was asked on another day.
        await asOwner(sql`update op set day = '2020-01-01' where id = ${each.id}`);
      }
      const by = (place: Database, holder: string, op: string) =>
        takeOp({ database: place, self: { ...self, holder } }, op, rules.resume, undefined);
      const ended = await Promise.allSettled([
        by(database, 'ana@desk', both[0]?.id ?? ''),
        by(colleague, 'bo@desk', both[1]?.id ?? ''),
      ]);
      expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const released = ended.find(each => each.status === 'fulfilled');
      const op = released?.status === 'fulfilled' ? released.value.op : undefined;
      if (op === undefined) throw new Error('none');
      expect(op.day).toBe(day);
      expect(await used()).toEqual({ day, held: held + 500, spent });
      await finishOp({ database, self, op }, [], true);
      expect(await used()).toEqual({ day, held, spent });
      for (const each of both)
        if (each.id !== op.id) await rejectOp(database, each.id, { who: 'ana@desk', reason: 'test' });
    },
  );

  test.skipIf(!isHere || !isShared)('nobody approves their own request, whatever name they give', async () => {
    const [ana, bo] = [person('ana'), person('bo')];
    limits = [profile({ approve_above: '5.00' })];
    approvers = [ana];
    expect((await refusal(begin(draft([501]))))?.facts.reason).toBe('approvers');
    approvers = [ana, bo];
    const held = draft([501]);
    await begin(held);
    const { text, request } = await database.read(async tx =>
      approvalState(tx, await pendingOp(tx, held.id), settings),
    );
    expect(request.requested_by).toBe('ana');
    expect((await refusal(keepApproval(database, held.id, signRequest(text, ana.privateKey), settings)))?.kind).toBe(
      'guarded',
    );
    await rejectOp(database, held.id, { who: 'ana@desk', reason: 'test' });
  });

  test.skipIf(!isHere)(
    'what a colleague forges by SQL is refused where it was approved, and found by the check',
    async () => {
      const bo = person('bo');
      limits = [profile({ approve_above: '5.00' })];
      approvers = [bo];
      expect(await flaws()).toEqual([]);
      const held = draft([900]);
      await begin(held);
      const { text } = await database.read(async tx => approvalState(tx, await pendingOp(tx, held.id), settings));
      await keepApproval(colleague, held.id, signRequest(text, bo.privateKey), settings);
      const forge = (statement: Sql) => colleague.transaction(tx => tx.run(statement));
      const request = '{"method":"POST","path":"/cards","body":"{\\"amount\\":90000}"}';
      await forge(sql`update change set request = ${request} where op = ${held.id}`);
      expect((await refusal(take(held.id)))?.kind).toBe('check_failed');
      expect((await flaws()).join()).toContain(`the changes of ${held.id} are not those that were begun`);
      // Opened by hand: the check says that it was never resumed as approved, and what was begun is not what is there.
      await forge(sql`update op set state = 'finished' where id = ${held.id}`);
      expect((await flaws()).join()).toContain(`no audit line says how ${held.id} ended`);
      const opened = draft([900]);
      await begin(opened);
      await colleague.transaction(tx => tx.run(sql`update op set state = 'open' where id = ${opened.id}`));
      expect((await flaws()).join()).toContain(`${opened.id} was held for approval and opened without it`);
      expect((await refusal(take(opened.id)))?.message).toContain('was held for approval and opened without it');
      // A signature of nobody, and one that is of other bytes, approve nothing.
      const { signature } = signRequest('other bytes', bo.privateKey);
      for (const keyid of [bo.keyid, 'nobody'])
        await colleague.transaction(tx =>
          tx.insert('approval', ['op', 'keyid', 'signature', 'at'], [[opened.id, keyid, signature, 1]]),
        );
      const forged = (await flaws()).filter(each => each.includes(opened.id)).join();
      expect(forged).toContain('the signature of bo does not fit');
      expect(forged).toContain('the key nobody is not among the approvers');
      expect(forged).toContain('was held for approval and opened without it');
      expect((await refusal(take(opened.id)))?.kind).toBe('check_failed');
      limits = [];
      const begun = draft([100, 200]);
      await begin(begun);
      await forge(sql`update op set lease = 0, process = '' where id = ${begun.id}`);
      await forge(sql`update change set request = ${request} where op = ${begun.id} and n = 2`);
      const altered = await refusal(take(begun.id));
      expect([altered?.kind, altered?.facts.outcome]).toEqual(['check_failed', 'not_sent']);
      // A name that is moved to another purchase.
      const named = draft([100]);
      await begin({ ...named, changes: named.changes.map(planned => ({ ...planned, intent: 'o1' })) });
      const ofNamed = async () => (await flaws()).filter(each => each.includes(named.id));
      expect(await ofNamed()).toEqual([]);
      await forge(sql`update change set intent = 'o2' where op = ${named.id}`);
      expect(await ofNamed()).toEqual([`the changes of ${named.id} are not those that were begun`]);
      const done = draft([100]);
      await finish(await begin(done));
      await colleague.transaction(tx => tx.run('update spent set spent = 0, held = 0'));
      expect((await flaws()).join()).toContain('less is counted against the limits of');
      await colleague.transaction(tx => tx.run(sql`update change set state = 'refused' where op = ${done.id}`));
      expect((await flaws()).join()).toContain(`what came of ${done.id} was changed`);
      await colleague.transaction(async tx => {
        const [head] = await tx.all<{ audit_seq: number }>(sql`select audit_seq from account where id = ${ACCOUNT}`);
        const seq = (head?.audit_seq ?? 0) + 1;
        await tx.run(
          sql`insert into audit (account, seq, line, hash) values (${ACCOUNT}, ${seq}, ${'{"event":"accepted"}'}, ${'forged'})`,
        );
      });
      expect((await flaws()).join()).toContain('is not one that follows the line before it');
      const refused = await refusal(begin(draft([100])));
      expect([refused?.kind, refused?.facts.hint]).toEqual(['guarded', 'cardwright journal accept']);
    },
  );
});

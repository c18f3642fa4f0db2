/** What each writing function looks at first, and the chain that it leaves. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { followChain } from '../../src/audit/entry.ts';
import type { PostgresSession } from '../../src/postgres/client.ts';
import { statementsOver } from '../../src/team/statements.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
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

describe.skipIf(missing())('entering', () => {
  let here: Database;
  let at: TestAccount;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());
  beforeEach(async () => {
    at = await testAccount(here);
  });

  const note = (session: PostgresSession, facts: object = FACTS) =>
    statementsOver(session).note({ account: at.account, host: 'laptop', nonce: hex(8) }, { ...facts });
  /** One more connection of ana's with a setting, as a database or a role may have it. */
  const withSetting = async (setting: string) => {
    const session = await here.as('ana', 'another');
    await session.call(`set ${setting}`, []);
    return session;
  };
  const lines = () => at.eve.auditPage(at.account, 1);
  /** What psql shows to an admin beside the answer. */
  async function noticesOf(text: string): Promise<readonly string[]> {
    const client = new pg.Client({
      host: here.server.socket,
      port: here.server.port,
      user: 'ada',
      database: here.name,
    });
    const told: string[] = [];
    client.on('notice', ({ message }) => told.push(message ?? ''));
    await client.connect();
    await client.query(text);
    await client.end();
    return told;
  }

  it('wants read committed: a stricter snapshot is older than the lock (CW001)', async () => {
    for (const level of ['repeatable read', 'serializable']) {
      const session = await withSetting(`default_transaction_isolation = '${level}'`);
      await expect(note(session)).rejects.toMatchObject({ code: 'CW001', message: expect.stringContaining(level) });
    }
  });

  it('wants a transaction that writes (CW002)', async () => {
    const session = await withSetting('default_transaction_read_only = on');
    await expect(note(session)).rejects.toMatchObject({ code: 'CW002' });
    // Reading does without.
    expect(await statementsOver(session).status(at.account)).toMatchObject({ role: 'ana' });
  });

  it('commits durably where the database would not, and leaves a stronger setting alone', async () => {
    const used = async (setting: string) => {
      const session = await withSetting(`synchronous_commit = ${setting}`);
      await session.call('begin', []);
      await note(session);
      const [[value] = []] = await session.call(`select current_setting('synchronous_commit')`, []);
      await session.call('commit', []);
      const [[after] = []] = await session.call(`select current_setting('synchronous_commit')`, []);
      return [value, after];
    };
    expect(await used('off')).toEqual(['on', 'off']);
    expect(await used('local')).toEqual(['on', 'local']);
    expect(await used('remote_apply')).toEqual(['remote_apply', 'remote_apply']);
  });

  it('waits ten seconds for a lock and no longer, whatever the database says', async () => {
    const session = await withSetting('lock_timeout = 0');
    await session.call('begin', []);
    await note(session);
    expect(await session.call(`select current_setting('lock_timeout')`, [])).toEqual([['10s']]);
    await session.call('commit', []);
  });

  it('lets in members alone, and each for what it may do (CW004)', async () => {
    const refused = { code: 'CW004' };
    await expect(note(await here.as('eve'))).rejects.toMatchObject({ code: '42501' });
    await at.admin(`add_member('ana', '{read}')`);
    await expect(note(await here.as('ana'))).rejects.toMatchObject(refused);
    await expect(at.ana.claim(wanted(at.account, 5), linesOf(hex(4), sent(1)), FACTS)).rejects.toMatchObject(refused);
    expect(await at.ana.status(at.account)).toMatchObject({ can: ['read'] });
    await at.admin(`add_member('ana', '{}')`);
    await expect(at.ana.status(at.account)).rejects.toMatchObject(refused);
    // Whoever administers it moves no money by that.
    const ada = await here.as('ada');
    await expect(
      ada.call('select cardwright.renew($1)', [JSON.stringify({ account: at.account })]),
    ).rejects.toMatchObject({
      code: '42501',
    });
    await expect(at.admin(`add_member('ben', '{everything}')`)).rejects.toMatchObject({ code: '23514' });
  });

  it('asks who logged in, not who it acts as', async () => {
    await at.root.call('grant ben to ana', []);
    const session = await here.as('ana', 'another');
    await session.call('set role ben', []);
    await note(session);
    await at.root.call('revoke ben from ana', []);
    expect(JSON.parse((await lines()).at(-1) ?? '{}')).toMatchObject({ who: 'ana@laptop' });
  });

  it('refuses all that writes while an admin has frozen the account, and shows why (CW010)', async () => {
    const op = wanted(at.account, 5);
    await at.ana.claim(op, linesOf(op.by, sent(1)), FACTS);
    await at.admin(`freeze_account('the laptop was stolen')`);
    const frozen = {
      code: 'CW010',
      message: expect.stringMatching(/^the account acc-\d+ was frozen by ada at \S+Z: the laptop was stolen$/),
    };
    await expect(note(await here.as('ben'))).rejects.toMatchObject(frozen);
    await expect(at.ana.append(next(op), linesOf(op.by, done(1)))).rejects.toMatchObject(frozen);
    const own = { account: at.account, op: op.op, epoch: 1 };
    await expect(at.ana.renew(own)).rejects.toMatchObject(frozen);
    await expect(
      at.ana.append(next(op, { ending: { finished: false } }), linesOf(op.by, done(1)), FACTS),
    ).rejects.toMatchObject(frozen);
    await expect(at.ana.letGo({ ...own, ending: { finished: true, spent: 0 } }, OUTCOME)).rejects.toMatchObject(frozen);
    // A lease moves nothing.
    expect(await at.ana.letGo({ ...own, ending: { finished: false } }, FACTS)).toMatchObject({ verdict: 'let_go' });
    expect((await at.eve.heads(at.account, { op: op.op }))[0]).toMatchObject({
      state: 'running',
      lease_ms: 0,
      unknown: 1,
    });
    expect(await at.eve.status(at.account)).toMatchObject({ frozen: 'the laptop was stolen', moved: false });
    await expect(at.admin(`freeze_account(null)`)).rejects.toThrow('accept_failover(account, reason) ends one');
    await at.admin(`accept_failover('it was found')`);
    expect(await note(await here.as('ben'))).toMatchObject({ verdict: 'noted' });
    await expect(at.admin(`accept_failover('')`)).rejects.toMatchObject({ code: 'CW007' });
  });

  it('tells whoever knows more than it does (CW006)', async () => {
    const op = wanted(at.account, 5);
    const { head } = await at.ana.claim(op, linesOf(op.by, sent(1)), FACTS);
    const knowing = (known: typeof head) =>
      at.ben
        .note({ account: at.account, known, host: 'laptop', nonce: hex(8) }, FACTS)
        .catch((error: unknown) => error);
    expect(await knowing(head)).toMatchObject({ verdict: 'noted' });
    const ahead = (await knowing({ seq: head.seq + 7, hash: head.hash })) as { code: string; detail: string };
    expect(ahead).toMatchObject({ code: 'CW006' });
    expect(JSON.parse(ahead.detail)).toEqual({ known: head.seq + 7, here: head.seq + 1, lost: 6 });
    expect(await knowing({ seq: head.seq, hash: 'f'.repeat(64) })).toMatchObject({ code: 'CW006' });
    const call = { ...next(op), known: { seq: 99, hash: head.hash } };
    await expect(at.ana.append(call, linesOf(op.by, done(1)))).rejects.toMatchObject({ code: 'CW006' });
    await expect(at.ana.renew({ ...call, epoch: 1 })).rejects.toMatchObject({ code: 'CW006' });
  });

  it('is closed to everybody once somebody has seen a line that it has lost, until an admin accepts it (CW006)', async () => {
    const { account } = at;
    const op = wanted(account, 5);
    await at.ana.claim(op, linesOf(op.by, sent(1)), FACTS);
    const { head } = await at.ana.status(account);
    const report = (known: typeof head, accepted = 0) =>
      at.ana.reportLoss({ account, known, accepted, host: 'laptop' });
    const lostLine = { seq: head.seq + 3, hash: 'f'.repeat(64) };
    expect(await report(head)).toMatchObject({ lost: null, head });
    const lost = `ana on laptop has seen line ${lostLine.seq} of its audit log, which it does not hold`;
    expect(await report(lostLine)).toMatchObject({ lost });
    expect(await report({ ...lostLine, seq: 900 })).toMatchObject({ lost, head: { seq: head.seq + 1 } });
    expect(await at.eve.status(account)).toMatchObject({ lost, frozen: null, moved: false, accepted: 0 });
    const refused = { code: 'CW006', message: `the database has lost what was written last: ${lost}` };
    await expect(note(await here.as('ben'))).rejects.toMatchObject(refused);
    await expect(at.ana.append(next(op), linesOf(op.by, done(1)))).rejects.toMatchObject(refused);
    await expect(
      at.ana.leaveAccount({ account, host: 'laptop', machine: hex(8), mine: true }, FACTS),
    ).rejects.toMatchObject(refused);
    await expect(at.admin(`accept_failover('the backup of Monday')`)).rejects.toMatchObject({ code: 'CW009' });
    for (const who of [at.ana, at.ben]) await who.pushed({ account, host: 'laptop', lost: 0 });
    await at.admin(`accept_failover('the backup of Monday')`);
    expect(await note(await here.as('ben'))).toMatchObject({ verdict: 'noted' });
    // What was accepted with it stops nobody else again; what was seen since does.
    expect(await report(lostLine)).toMatchObject({ lost: null });
    expect(await report(lostLine, 1)).toMatchObject({ lost });
    await expect(at.eve.reportLoss({ account, known: lostLine, accepted: 9, host: 'x' })).rejects.toMatchObject({
      code: '42501',
    });
  });

  it('waits for each machine of a role that has worked there, and names those that have not pushed (CW009)', async () => {
    const { account } = at;
    const [laptop, runner, second] = ['11', '22', '33'].map(two => two.repeat(8));
    const works = async (host: string, machine: string | undefined) => {
      const op = { ...wanted(account, 5), host, machine };
      await at.ana.claim(op, linesOf(op.by, sent(1)), FACTS);
    };
    await works('laptop', laptop);
    await works('build-1', runner);
    await works('build-1', second);
    // Gone for more than a week before the last one was seen: it has no copies any more.
    await works('old-desk', '4'.repeat(16));
    await at.root.call(
      `update cardwright.machine set seen_at = seen_at - interval '8 days' where host = 'old-desk'`,
      [],
    );
    const { head } = await at.ana.status(account);
    const known = { seq: head.seq + 3, hash: 'f'.repeat(64) };
    expect(await at.ana.reportLoss({ account, known, accepted: 0, host: 'laptop' })).toMatchObject({
      lost: expect.any(String),
    });
    const accept = (without: string) => at.admin(`accept_failover('the backup', '${without}')`);
    const waiting = (names: string) => ({ code: 'CW009', message: `these have not pushed what they know: ${names}` });
    await expect(accept('{}')).rejects.toMatchObject(waiting('ana@build-1 (2 state folders), ana@laptop, ben'));
    const push = (host: string, machine: string | undefined) => at.ana.pushed({ account, host, machine, lost: 0 });
    await push('laptop', laptop);
    await push('build-1', runner);
    await expect(accept('{}')).rejects.toMatchObject(waiting('ana@build-1, ben'));
    await expect(accept('{ben}')).rejects.toMatchObject(waiting('ana@build-1'));
    await expect(accept('{ana}')).rejects.toMatchObject(waiting('ben'));
    // Over a null nothing is true and nothing is false: everybody would be left out.
    for (const nobody of ['null', 'array[null]::text[]', `array['ben', null]`])
      await expect(at.admin(`accept_failover('the backup', ${nobody})`), nobody).rejects.toMatchObject({
        code: 'CW007',
      });
    await expect(accept('{}')).rejects.toMatchObject(waiting('ana@build-1, ben'));
    const told = await noticesOf(`select cardwright.accept_failover('${account}', 'the backup', '{ben,ana}')`);
    expect(told).toEqual([expect.stringMatching(/^What ana, ana@build-1, ben alone knew is lost, .*journal check/)]);
    expect(JSON.parse((await lines()).at(-1) ?? '{}')).toMatchObject({
      operation: 'journal.accept_failover',
      reason: 'the backup; left out: ana, ana@build-1, ben',
    });
    const many = Array.from({ length: 40 }, (_, index) => `ci@${'b'.repeat(180)}-${index}`).join(',');
    await accept(`{${many}}`);
    const { reason } = JSON.parse((await lines()).at(-1) ?? '{}');
    expect(reason).toMatch(/^the backup; left out: ci@b+-0, ci@b+ and 30 more$/);
    expect(await noticesOf(`select cardwright.accept_failover('${account}', 'it goes on')`)).toEqual([]);
    await expect(at.ana.note({ account, host: 'x', machine: 'y', nonce: hex(8) }, FACTS)).rejects.toMatchObject({
      code: 'CW007',
    });
  });

  it('takes no facts that could be another line, or another member of this one (CW007)', async () => {
    const ana = await here.as('ana');
    const before = await lines();
    const raw = (facts: string | null) =>
      ana.call('select cardwright.note($1, $2)', [
        JSON.stringify({ account: at.account, host: 'laptop', nonce: hex(8) }),
        facts,
      ]);
    for (const facts of [
      null,
      '',
      ' ',
      'no json',
      '"a":1},"b":{"c":2',
      '"a":1}\n{"seq":2',
      '"a":\n1',
      '"a":1,"a":2',
      '"seq":1',
      '"who":"ben@laptop"',
      '"prev":"0"',
      '"hash":"0"',
      '"batch":1',
      '"a":"\u2028"',
      `"a":"${'x'.repeat(5_000)}"`,
      // Lines of an admin.
      '"event":"write","operation":"journal.set_cap","reason":"max_per_day 1"',
      '"operation":"journal.freeze_account"',
      '"operation":" Journal.accept_failover"',
      '"operation":"journal.leave_account"',
    ]) {
      await expect(raw(facts), String(facts)).rejects.toMatchObject({ code: 'CW007' });
    }
    const host = 'lap\ntop';
    await expect(at.ana.note({ account: at.account, host, nonce: hex(8) }, FACTS)).rejects.toMatchObject({
      code: 'CW007',
    });
    for (const nonce of ['', 'f'.repeat(101)])
      await expect(at.ana.note({ account: at.account, host: 'laptop', nonce }, FACTS)).rejects.toMatchObject({
        code: 'CW007',
      });
    const op = wanted(at.account, 5);
    const asAdmin = { ...FACTS, operation: 'journal.set_cap' };
    await expect(at.ana.claim(op, linesOf(op.by, sent(1)), asAdmin)).rejects.toMatchObject({ code: 'CW007' });
    expect(await lines()).toEqual(before);
  });

  it('leaves a chain that audit verify follows, one line for each thing done', async () => {
    const op = wanted(at.account, 5);
    await at.ana.claim(op, linesOf(op.by, sent(1)), { ...FACTS, card_id: 'card_"ü€😀' });
    await at.ana.append(next(op), linesOf(op.by, done(1)));
    await at.ana.append(next(op, { n: 3, ...ended(5) }), linesOf(op.by, done(1)), { ...OUTCOME, of: 6 });
    const once = { account: at.account, host: 'höst "1"', nonce: hex(8) };
    const first = await at.ben.note(once, { ...FACTS, event: 'reveal', sink: 'screen' });
    expect(await at.ben.note(once, FACTS)).toEqual(first);
    await at.admin(`set_cap('max_per_day', 1)`);
    const chain = followChain(await lines());
    expect(chain.flaw).toBeUndefined();
    const told = chain.entries.map(entry => entry as unknown as Record<string, unknown>);
    expect(told.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(told.slice(5).map(({ who, event, operation }) => [who, event, operation])).toEqual([
      ['ana@laptop', 'write', 'cards.fund'],
      ['ana@laptop', 'outcome', 'cards.fund'],
      ['ben@höst "1"', 'reveal', 'cards.fund'],
      ['ada@local', 'write', 'journal.set_cap'],
    ]);
    expect(told[5]).toMatchObject({ card_id: 'card_"ü€😀' });
    for (const { at: time } of told) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await at.eve.status(at.account)).head).toEqual({ seq: 9, hash: told[8]?.['hash'] });
    expect(await at.eve.auditPage(at.account, 9)).toHaveLength(1);
  });

  it('numbers the lines of two operators at once without a gap', async () => {
    const [ana, ben] = [await here.as('ana'), await here.as('ben')];
    await Promise.all(Array.from({ length: 40 }, (_, index) => note(index % 2 === 0 ? ana : ben)));
    const chain = followChain(await lines());
    expect(chain).toMatchObject({ entries: expect.objectContaining({ length: 45 }) });
    expect(chain.flaw).toBeUndefined();
  });
});

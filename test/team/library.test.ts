/** `cardwright/client` with a shared journal: programs and commands of several machines carry a named change out once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/library/client.ts';
import { statementsOver } from '../../src/team/statements.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database, type Person } from '../postgres/shared.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { addApproverRoles, signer } from './approver.ts';
import { countingProxy } from './counting-proxy.ts';
import { team, urlOf } from './team.ts';

Object.assign(globalThis, { CARDWRIGHT_VERSION: '0.0.0-test' });

interface Card {
  readonly id: string;
  readonly balance: number;
}

const CREATE = { bin_id: 'bin_1', amount: 10, label: 'ads' };

describe.skipIf(missing())('a program with a shared journal', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  /** Programs on machines of their own. */
  async function programs(options: Parameters<typeof team>[1] = {}) {
    const t = await team(here, options);
    const opened: AsyncDisposable[] = [];
    const keep = <T extends AsyncDisposable>(one: T): T => {
      opened.unshift(one);
      return one;
    };
    const program = async (role: Person, journal = urlOf(here, role)) => {
      const { path: journalFolder } = keep(await temporaryFolder());
      const around = { journal, journalAccount: t.at.account, journalFolder };
      return keep(createClient({ baseUrl: t.proxy.url, apiKey: t.key, ...around }));
    };
    const close = async () => {
      for (const each of opened) await each[Symbol.asyncDispose]();
      await t[Symbol.asyncDispose]();
    };
    return { t, keep, program, [Symbol.asyncDispose]: close };
  }

  it('two programs with one intent at once make one card, and the later call gets it', async () => {
    await using at = await programs();
    const both = [await at.program('ana'), await at.program('ben')];
    const send = () => both.map(each => each.send('cards.create', CREATE, { intent: 'po-1' }) as Promise<Card>);
    const [first, second] = await Promise.allSettled(send());
    for (const each of [first, second]) {
      if (each?.status === 'rejected') expect(each.reason).toMatchObject({ kind: 'guarded', outcome: 'not_sent' });
    }
    expect([first?.status, second?.status]).toContain('fulfilled');
    const again = await Promise.all(send());
    expect(again).toMatchObject([{ id: 'card_1' }, { id: 'card_1' }]);
    expect([at.t.proxy.posts().length, (await at.t.cards()).length, await at.t.balance()]).toEqual([1, 1, 90]);
    expect(await at.t.at.ana.heads(at.t.at.account, {})).toMatchObject([{ state: 'finished', spent: 1000 }]);
  });

  it('many calls of one client at once are carried out once each, over one connection', async () => {
    await using at = await programs({ wallet: 1000 });
    const way = at.keep(await countingProxy(here.server));
    const client = await at.program('ana', `postgres://ana@${encodeURIComponent(way.folder)}:${way.port}/${here.name}`);
    const fund = (n: number) => client.send('cards.fund', { card_id: 'card_1', amount: n }, { intent: `fund-${n}` });
    await client.send('cards.create', CREATE, { intent: 'po-1' });
    expect(way.taken()).toEqual({ logins: 1, calls: 3 });
    await Promise.all([1, 2, 3, 4, 5, 6].map(fund));
    await Promise.all([1, 2, 3, 4, 5, 6].map(fund));
    expect(way.taken()).toMatchObject({ logins: 0 });
    expect([at.t.proxy.posts().length, await at.t.balance()]).toEqual([7, 1000 - 10 - 21]);
  });

  it('a command and a program know each other, and another input is refused', async () => {
    await using at = await programs();
    const machine = await at.t.machine('ben');
    const client = await at.program('ana');
    const made = await machine.run('cards create --bin bin_1 --amount 10 --label ads --intent po-1 -q');
    expect(made).toMatchObject({ code: 0, out: 'card_1\n' });
    expect(await client.send('cards.create', CREATE, { intent: 'po-1' })).toMatchObject({ id: 'card_1' });
    await expect(client.send('cards.create', { ...CREATE, amount: 11 }, { intent: 'po-1' })).rejects.toMatchObject({
      kind: 'usage',
      op: expect.stringMatching(/^op_/),
    });
    await client.send('cards.fund', { card_id: 'card_1', amount: 5 }, { intent: 'po-2' });
    const again = await machine.run('cards fund card_1 --amount 5 --intent po-2 --json');
    expect([again.code, JSON.parse(again.out)]).toMatchObject([0, { card_balance: 15, intent: { repeated: true } }]);
    expect(at.t.proxy.posts()).toHaveLength(2);
  });

  it('an answer that was lost is settled by the next call, or by another operator', async () => {
    await using at = await programs();
    const { t } = at;
    const client = await at.program('ana');
    const lost = async (intent: string) => {
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      const sent = await client.send('cards.create', CREATE, { intent }).catch((thrown: unknown) => thrown);
      t.proxy.mend();
      expect(sent).toMatchObject({ kind: 'outcome_unknown', outcome: 'unknown', op: expect.stringMatching(/^op_/) });
      return (sent as { op: string }).op;
    };
    await lost('po-1');
    expect(await client.send('cards.create', CREATE, { intent: 'po-1' })).toMatchObject({ id: 'card_1' });
    const op = await lost('po-2');
    const machine = await t.machine('ben');
    const taken = await machine.run(`ops takeover ${op} --reason "ana's program has stopped"`);
    expect({ code: taken.code, err: taken.err }).toMatchObject({ code: 0 });
    expect(await client.send('cards.create', CREATE, { intent: 'po-2' })).toMatchObject({ id: 'card_2' });
    expect([t.proxy.posts().length, (await t.cards()).length]).toEqual([2, 2]);
  });

  it('what is over a cap, and what other persons must approve, is refused and not sent', async () => {
    await using at = await programs();
    const { t } = at;
    const client = await at.program('ana');
    await t.at.admin(`set_cap('max_per_day', 1500)`);
    await expect(client.send('cards.create', { ...CREATE, amount: 16 }, { intent: 'po-1' })).rejects.toMatchObject({
      kind: 'guarded',
      outcome: 'not_sent',
      message: expect.stringContaining('max_per_day'),
    });
    await t.at.admin(`set_rule('approve_above', 500)`);
    await expect(client.send('cards.create', CREATE, { intent: 'po-1' })).rejects.toMatchObject({
      kind: 'pending_approval',
      outcome: 'not_sent',
    });
    expect(t.proxy.posts()).toEqual([]);
    await t.at.admin(`set_rule('approve_above', null)`);
    expect(await client.send('cards.create', CREATE, { intent: 'po-1' })).toMatchObject({ id: 'card_1' });
  });

  it('what the command line has asked for is sent by it, and the message says how', async () => {
    await using at = await programs();
    const { t } = at;
    const client = await at.program('ana');
    await addApproverRoles(t.at);
    const bob = signer('bob');
    await t.at.admin(`add_approver('${bob.line}', '{bob}')`);
    await t.at.admin(`set_rule('approve_above', 500)`);
    const ana = await t.machine('ana');
    const asked = await ana.run(`cards create --bin bin_1 --amount ${CREATE.amount} --label ads --intent po-1 --json`);
    expect(asked.code).toBe(17);
    const { op, approval } = JSON.parse(asked.err.trim().split('\n').at(-1) ?? '').error;
    const call = () => client.send('cards.create', CREATE, { intent: 'po-1' });
    await expect(call()).rejects.toMatchObject({
      kind: 'pending_approval',
      message: `${op} is held until other persons have approved it. Then the command line sends it: cardwright ops resume ${op}`,
    });
    const envelope = bob.approves(Buffer.from(approval.payload, 'base64'));
    const given = { account: t.at.account, op, host: 'desk', keyid: bob.keyid, envelope };
    const approver = statementsOver(await here.as('bob'));
    expect(await approver.approve(given, { event: 'approved', op })).toMatchObject({ verdict: 'approved' });
    await expect(call()).rejects.toMatchObject({
      kind: 'pending_approval',
      message: `${op} is approved, and was not sent yet. The command line sends it: cardwright ops resume ${op}`,
    });
    expect(t.proxy.posts()).toEqual([]);
    expect((await ana.run(`ops resume ${op}`)).code).toBe(0);
    expect(await call()).toMatchObject({ id: 'card_1' });
    expect(t.proxy.posts()).toHaveLength(1);
  });

  it('a journal that cannot be used is refused before anything is sent', async () => {
    await using at = await programs();
    const { t } = at;
    const good = { baseUrl: t.proxy.url, apiKey: t.key, journal: urlOf(here, 'ana'), journalAccount: t.at.account };
    for (const [options, message] of [
      [{ journal: 'postgres://ana:secretword@db.example.com/j' }, /journalPasswordFile/],
      [{ journal: 'postgres://ana@db.example.com/j?sslmode=require' }, /verify-full/],
      [{ journalAccount: undefined }, /journalAccount is missing/],
      [{ journalFolder: 'here' }, /journalFolder must be the absolute path of a folder/],
      [{ journalPasswordFile: 'here' }, /journalPasswordFile must be the absolute path of a file/],
      [{ journal: '/tmp/folder' }, /journalAccount is for a journal in a database/],
      [{ journal: undefined }, /journalAccount is for a journal in a database/],
    ] as const) {
      const made = () => createClient({ ...good, ...options } as Parameters<typeof createClient>[0]);
      expect(made).toThrow(message);
      expect(made).not.toThrow(/secretword/);
    }
    const { path: journalFolder } = at.keep(await temporaryFolder());
    for (const [options, words] of [
      [{ journalAccount: 'nobody' }, { kind: 'guarded' }],
      [{ baseUrl: 'http://127.0.0.1:1/v1' }, { message: expect.stringContaining('is at http://127.0.0.1:') }],
      [{ apiKey: 'sk_test_another0123456789' }, { message: expect.stringContaining('is none of this account') }],
      [{ journal: urlOf(here, 'eve') }, { kind: 'guarded' }],
    ] as const) {
      await using client = createClient({ ...good, journalFolder, ...options });
      const sent = client.send('cards.create', CREATE, { intent: 'po-1' });
      await expect(sent).rejects.toMatchObject({ outcome: 'not_sent', ...words });
    }
    expect(t.proxy.posts()).toEqual([]);
  });
});

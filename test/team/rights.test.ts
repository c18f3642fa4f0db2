/** What an operator is told whose API key is not listed, or whose role has no rights: each command says it, before a change is refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountPrint } from '../../src/core/key-print.ts';
import { Secret } from '../../src/core/secret.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import type { World } from '../support/world.ts';
import { team, urlOf } from './team.ts';

interface Found {
  readonly check: string;
  readonly status: string;
  readonly says: string;
  readonly hint?: string;
}

describe.skipIf(missing())('who may change something', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  const FUND = 'cards fund card_1 --amount 1';
  const sharedRow = async (machine: World) =>
    (JSON.parse((await machine.run('doctor --json')).out).data as Found[]).find(
      ({ check }) => check === 'shared journal',
    );
  const keyListed = async (machine: World) => JSON.parse((await machine.run('journal status --json')).out).key_listed;

  it('doctor and journal status say that the API key is not listed, with the line of SQL', async () => {
    await using t = await team(here);
    const machine = await t.machine('ana');
    expect((await machine.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
    expect([await keyListed(machine), (await sharedRow(machine))?.status]).toEqual([true, 'ok']);
    const print = accountPrint(new Secret(t.key), t.at.account);
    await t.at.admin(`remove_key('${print}')`);

    const sql = `select cardwright.add_key('${t.at.account}', '${print}');`;
    const refused = await machine.run(FUND);
    expect([refused.code, refused.err]).toEqual([14, expect.stringContaining(sql)]);
    const why = `the API key is none of this account in the shared journal. When this is the right key, an admin of the journal adds its print in the database: ${sql}`;
    expect(await sharedRow(machine)).toEqual({
      check: 'shared journal',
      status: 'fail',
      says: why,
      hint: 'cardwright whoami',
    });
    const page = await machine.run('journal status', { terminal: 400 });
    expect([page.code, page.err]).toEqual([0, expect.stringContaining(`warning: ${why}\n`)]);
    expect(page.out).toMatch(/^Key +not listed in the account; each change ends with 14$/m);
    expect(await keyListed(machine)).toBe(false);
    expect(page.all).not.toContain(t.key);
  });

  it('a key or a member that is not there cannot be removed, and no line says that it was', async () => {
    await using t = await team(here);
    const lines = async () => (await t.at.ana.status(t.at.account)).head.seq;
    const before = await lines();
    await expect(t.at.admin(`remove_key('0000000000000000')`)).rejects.toMatchObject({ code: '22023' });
    await expect(t.at.admin(`add_member('bne', '{}')`)).rejects.toMatchObject({ code: '22023' });
    expect(await lines()).toBe(before);
  });

  it('and nothing of a key that no change could use: who only reads, another account, no key at all', async () => {
    await using t = await team(here);
    const [ana, eve] = [await t.machine('ana'), await t.machine('eve')];
    const keyless = await t.machine('ana', { CARDWRIGHT_API_KEY: '' });
    await t.at.admin(`remove_key('${accountPrint(new Secret(t.key), t.at.account)}')`);
    for (const machine of [eve, keyless]) {
      expect([await keyListed(machine), (await machine.run('journal status')).err]).toEqual([null, '']);
    }
    await t.at.root.call(`update cardwright.account set origin = 'https://other.example.com' where name = $1`, [
      t.at.account,
    ]);
    expect(await keyListed(ana)).toBe(null);
    expect(await sharedRow(ana)).toMatchObject({
      status: 'fail',
      says: expect.stringMatching(/is at https:\/\/other\.example\.com, test; this run acts at/),
    });
  });

  it('a role without rights, in one sentence with the line of SQL, whatever is asked', async () => {
    await using t = await team(here);
    const machine = await t.machine('ana');
    expect((await machine.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
    await t.at.admin(`add_member('ana', '{}')`);
    const sentence = `error: the role ana has no rights in the account ${t.at.account} of the shared journal ${urlOf(here, 'ana')}, or too few for this\n`;
    const sql = `select cardwright.add_member('${t.at.account}', 'ana', '{read,operate}');`;
    const op = 'op_00000000000000000000000001';
    for (const line of [
      FUND,
      ...['list', 'locks', `show ${op}`, `resume ${op}`].map(each => `ops ${each}`),
      ...['status', 'push', 'check', 'move --to shared'].map(each => `journal ${each}`),
      ...['list', 'verify', 'export'].map(each => `audit ${each} --shared`),
      'approvals list',
      'reconcile',
    ]) {
      const { code, err } = await machine.run(line);
      expect([line, code, err]).toEqual([line, 14, expect.stringContaining(sentence)]);
      expect([line, err]).toEqual([line, expect.stringContaining(`  ${sql}\n`)]);
    }
    expect(await sharedRow(machine)).toMatchObject({ status: 'fail', says: expect.stringContaining(sql) });
  });

  it('a role that only reads, where it changes something', async () => {
    await using t = await team(here);
    const refused = await (await t.machine('eve')).run('cards create --bin bin_1 --amount 5');
    expect(refused.code).toBe(14);
    expect(refused.err).toContain(
      `error: the role eve has no rights in the account ${t.at.account} of the shared journal ${urlOf(here, 'eve')}, or too`,
    );
    // It may be meant to read alone.
    const grant = 'as an admin of PostgreSQL: grant cardwright_operator to eve;';
    expect(refused.err).toContain(`Where eve is to operate, and not to read alone, ${grant}`);
    expect(refused.err).toContain(`select cardwright.add_member('${t.at.account}', 'eve', '{read,operate}');`);
    expect(t.proxy.posts()).toEqual([]);
  });

  it('a login with another key, where the profile has a shared journal, leads to what knows it and what does not', async () => {
    await using t = await team(here);
    const alone = {
      CARDWRIGHT_API_KEY: '',
      CARDWRIGHT_BASE_URL: '',
      CARDWRIGHT_JOURNAL_URL: '',
      CARDWRIGHT_JOURNAL_ACCOUNT: '',
    };
    const machine = await t.machine('ana', alone);
    const login = `login --profile team --base-url ${t.proxy.url} --key-stdin`;
    const at = { terminal: 200 } as const;
    const first = await machine.run(login, { ...at, stdin: t.key });
    expect([first.code, first.all]).toEqual([0, expect.stringContaining('Next: cardwright -p team whoami')]);
    for (const [setting, value] of [
      ['journal', urlOf(here, 'ana')],
      ['journal_account', t.at.account],
    ])
      expect((await machine.run(`profiles set team ${setting} ${value}`)).code).toBe(0);
    const unknown = `${t.key.slice(0, -4)}zzzz`;
    const second = await machine.run(login, { ...at, stdin: unknown });
    expect([second.code, second.all]).toEqual([
      0,
      expect.stringMatching(
        /need a key that its account lists; doctor looks whether it does\.\nNext: cardwright -p team doctor\n/,
      ),
    ]);
    const found = JSON.parse((await machine.run('doctor -p team --json')).out).data as Found[];
    const failed = found.filter(({ status }) => status === 'fail').map(({ check }) => check);
    expect(failed).toEqual(expect.arrayContaining(['network', 'shared journal']));
    const sql = `select cardwright.add_key('${t.at.account}', '${accountPrint(new Secret(unknown), t.at.account)}');`;
    expect(found.find(({ check }) => check === 'shared journal')?.says).toContain(sql);
    expect(JSON.stringify(found) + second.all).not.toContain(unknown);
  });
});

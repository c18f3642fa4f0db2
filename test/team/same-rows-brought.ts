/**
 * An operation is brought to a shared journal in which another one of the same purchases was begun meanwhile, without names: no
 * resume sends what the other one has bought, whoever takes it up, and everybody reads which one it is.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/library/client.ts';
import type { Clock } from '../../src/platform/host.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { World } from '../support/world.ts';
import { backupOf } from './account-backup.ts';
import { addApproverRoles, signer } from './approver.ts';
import { later } from './killing-stage.ts';
import { team, urlOf } from './team.ts';

Object.assign(globalThis, { CARDWRIGHT_VERSION: '0.0.0-test' });

const FILE = 'cards create --file team.csv --yes --concurrency 1';
const SINGLE = 'cards create --bin bin_1 --amount 20';
const SINGLES = [
  ['a create', SINGLE],
  ['a fund', 'cards fund card_1 --amount 20'],
] as const;
const WITHOUT_PAUSES = { onPause: () => undefined, longestPause: Number.MAX_SAFE_INTEGER };

type Team = Awaited<ReturnType<typeof team>>;

/** `isWhole` adds rarer ways in which two operations come to have the same rows. */
export function sameRowsBrought({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('an operation that was brought beside another one of the same rows', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    const csv = (amounts: readonly number[]) => `bin_id,amount\n${amounts.map(amount => `bin_1,${amount}\n`).join('')}`;
    const write = ({ folder }: World, amounts: readonly number[]) => writeFile(join(folder, 'team.csv'), csv(amounts));

    async function stage() {
      const t = await team(here, { wallet: 500 });
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      for (const each of [ana, ben]) await write(each, [2, 3, 4]);
      expect((await ben.run('cards create --bin bin_1 --amount 9 --intent warm -q')).code).toBe(0);
      return { ...t, ana, ben };
    }

    /** Stopped behind its first request: the other rows were never sent. */
    const stopped = ({ run }: World, { proxy }: Pick<Team, 'proxy'>, line = FILE) => {
      const stop = new AbortController();
      void proxy.posted(proxy.posts().length + 1).then(() => stop.abort());
      return run(line, { signal: stop.signal });
    };

    /** Its request never arrives. */
    async function unknown({ proxy }: Pick<Team, 'proxy'>, { run }: World, line: string, clock?: Clock) {
      proxy.fail('POST', /\/cards/, 'drop-before');
      const { code, err } = await run(line, clock && { clock });
      expect(code, err).toBe(11);
    }

    /** Ana has brought back what a restored backup had lost, and everybody may go on. */
    async function pushed({ ana, ben, at }: Awaited<ReturnType<typeof stage>>, wanted = 15) {
      const { code, out, err } = await ana.run('journal push');
      expect(code, err).toBe(wanted);
      expect((await ben.run('journal push')).code).toBe(0);
      await at.admin(`accept_failover('the backup')`);
      const [, op = ''] = /^recovered\t\[\{"op":"(op_\w+)"/m.exec(out) ?? [];
      return { op, out, err };
    }

    /** Commands that leave nothing as it is: none of them sends. */
    async function nobodySends(s: Awaited<ReturnType<typeof stage>>, op: string, code: number) {
      const { ana, ben, proxy, at } = s;
      const posts = proxy.posts().length;
      const takeover = `ops takeover ${op} --reason "ana is away"`;
      const dry = await ana.run(`ops resume ${op} --dry-run`);
      expect(dry.err).toMatch(/op_\w+, begun by ben on \S+ at 20\S+Z/);
      const resumed = await ana.run(`ops resume ${op} --resend-absent --yes`, WITHOUT_PAUSES);
      expect([resumed.code, resumed.err]).toEqual([
        code,
        expect.stringMatching(/op_\w+, begun by ben on \S+ at 20\S+Z/),
      ]);
      const over = `clock_timestamp() - interval '200 seconds'`;
      await at.root.call(`update cardwright.op set lease_until = ${over} where op = '${op}' and state = 'running'`, []);
      expect((await ben.run(`${takeover} --dry-run`)).err).toMatch(/begun by ben on \S+ at 20\S+Z/);
      expect((await ben.run(`${takeover} --resend-absent --yes`, WITHOUT_PAUSES)).code).toBe(code);
      expect(proxy.posts().length).toBe(posts);
      return resumed.err;
    }

    it('is not sent to its end where the other one has done its rows', async () => {
      await using s = await stage();
      const { ana, ben, proxy } = s;
      const backup = await backupOf(s.at.root, s.at.account);
      expect((await stopped(ana, s)).code).not.toBe(0);
      await backup.restore();
      expect((await ben.run(FILE)).code).toBe(0);
      const { op, out, err } = await pushed(s);
      expect(out).toMatch(new RegExp(`^twins\\t\\[\\{"op":"${op}","with":"op_\\w+","rows":3\\}\\]$`, 'm'));
      expect(err).toContain(`ops resolve ${op} 2 3 --as not-done --note "why"`);
      for (const { run } of [ana, ben]) {
        expect((await run(FILE)).code).toBe(14);
        const again = await run(`${FILE} --again`);
        expect([again.code, again.err]).toEqual([14, expect.stringMatching(/begun by ben on \S+ at 20\S+Z/)]);
        expect(again.err).not.toContain('A resume sends the others');
        expect(again.err).toContain(`ops resolve ${op} 2 3 --as not-done --note "why"`);
      }
      const said = await nobodySends(s, op, 9);
      expect(said).toContain(`--as not-done --note "why"`);
      const posts = proxy.posts().length;
      expect((await ben.run(`ops resolve ${op} 2 3 --as not-done --note looked --yes`)).code).toBe(0);
      await ana.run(`ops resume ${op} --yes`);
      expect([proxy.posts().length, (await s.cards()).length]).toEqual([posts, 5]);
      expect((await ben.run('journal check')).code).toBe(0);
      expect((await ben.run(`${FILE}`)).code).toBe(14);
    });

    it('goes on with the rows that it alone has', async () => {
      await using s = await stage();
      const { ana, ben, proxy } = s;
      const backup = await backupOf(s.at.root, s.at.account);
      expect((await stopped(ana, s)).code).not.toBe(0);
      await backup.restore();
      // Row 2 is of both; of hers alone are the others.
      await write(ben, [3, 7]);
      expect((await ben.run(FILE)).code).toBe(0);
      const { op } = await pushed(s);
      const posts = proxy.posts().length;
      const resumed = await ana.run(`ops resume ${op} --yes`);
      expect([resumed.code, resumed.err]).toEqual([9, expect.stringContaining('op_')]);
      expect(proxy.posts().length).toBe(posts + 1);
      const amounts = (await s.cards()).map(({ balance }) => balance).sort();
      expect(amounts).toEqual([2, 3, 4, 7, 9]);
    });

    it.runIf(isWhole)('is sent to its end where the other one was given up', async () => {
      await using s = await stage();
      const { ana, ben, proxy } = s;
      const backup = await backupOf(s.at.root, s.at.account);
      expect((await stopped(ana, s)).code).not.toBe(0);
      await backup.restore();
      await unknown(s, ben, SINGLE.replace('20', '3'));
      const [theirs] = await s.at.ben.heads(s.at.account, { unfinished: true });
      expect((await ben.run(`ops resolve ${theirs?.op} --as not-done --note looked --yes`)).code).toBe(0);
      const { op } = await pushed(s, 0);
      expect((await ana.run(`ops resume ${op} --yes`)).code).toBe(0);
      expect((await s.cards()).map(({ balance }) => balance).sort()).toEqual([2, 3, 4, 9]);
      expect(proxy.posts().length).toBe(5);
    });

    it.each(firstOf(SINGLES, { isWhole }))('is looked for, and not sent again: %s', async (_, line) => {
      await using s = await stage();
      const { ana, ben } = s;
      const backup = await backupOf(s.at.root, s.at.account);
      await unknown(s, ana, line);
      await backup.restore();
      expect((await ben.run(line)).code).toBe(0);
      const { op } = await pushed(s);
      const again = await ana.run(line);
      expect([again.code, again.err]).toEqual([14, expect.stringMatching(/begun by ben on \S+ at 20\S+Z/)]);
      const said = await nobodySends(s, op, 11);
      expect(said).not.toContain('--resend-absent');
    });

    it.runIf(isWhole)('is another purchase where the other one was over before it began', async () => {
      await using s = await stage();
      const { ana, ben } = s;
      expect((await ben.run(SINGLE)).code).toBe(0);
      const backup = await backupOf(s.at.root, s.at.account);
      await unknown(s, ana, SINGLE, later());
      await backup.restore();
      await pushed(s, 0);
      expect((await s.cards()).map(({ balance }) => balance).sort()).toEqual([20, 9]);
    });

    it.runIf(isWhole)('is another purchase where both have names', async () => {
      await using s = await stage();
      const { ana, ben, proxy } = s;
      await writeFile(join(ana.folder, 'team.csv'), 'bin_id,amount,intent\nbin_1,2,a-1\nbin_1,3,a-2\n');
      const backup = await backupOf(s.at.root, s.at.account);
      await stopped(ana, s);
      await backup.restore();
      expect((await ben.run('cards create --bin bin_1 --amount 3 --intent b-1 -q')).code).toBe(0);
      const { op } = await pushed(s, 0);
      expect((await ana.run(`ops resume ${op} --yes`)).code).toBe(0);
      expect((await s.cards()).map(({ balance }) => balance).sort()).toEqual([2, 3, 3, 9]);
      expect(proxy.posts()).toHaveLength(4);
    });

    it.runIf(isWhole)(
      'is in the way of the other one, which is not finished either, with what it has done',
      async () => {
        await using s = await stage();
        const { ana, ben, proxy } = s;
        const backup = await backupOf(s.at.root, s.at.account);
        await stopped(ana, s);
        await backup.restore();
        await write(ben, [5, 2, 6]);
        expect((await stopped(ben, s)).code).not.toBe(0);
        const [theirs] = await s.at.ben.heads(s.at.account, { unfinished: true });
        await pushed(s);
        const resumed = await ben.run(`ops resume ${theirs?.op} --yes`);
        expect([resumed.code, resumed.err]).toEqual([9, expect.stringMatching(/begun by ana on \S+ at 20\S+Z/)]);
        expect((await s.cards()).map(({ balance }) => balance).sort()).toEqual([2, 5, 6, 9]);
        expect(proxy.posts()).toHaveLength(4);
      },
    );

    it.runIf(isWhole)('waits for one that is held for approval, and goes on when that was rejected', async () => {
      await using s = await stage();
      const { ana, ben, proxy } = s;
      const backup = await backupOf(s.at.root, s.at.account);
      await stopped(ana, s);
      await backup.restore();
      await addApproverRoles(s.at);
      await s.at.admin(`add_approver('${signer('bob').line}', '{bob}')`);
      await s.at.admin(`set_rule('approve_above', 100)`);
      const held = await ben.run(FILE);
      expect(held.code, held.err).toBe(17);
      // What is held stays held; hers is asked no more.
      await s.at.admin(`set_rule('approve_above', null)`);
      const { op } = await pushed(s);
      const posts = proxy.posts().length;
      const waits = await ana.run(`ops resume ${op} --yes`);
      expect([waits.code, waits.err]).toEqual([9, expect.stringMatching(/begun by ben on \S+ at 20/)]);
      expect(proxy.posts()).toHaveLength(posts);
      const request = /op_\w{26}/.exec(held.err)?.[0].replace(/^op/, 'apr');
      const rejected = await ben.run(`approvals reject ${request} --reason "ana has it" --yes`);
      expect(rejected.code, rejected.err).toBe(0);
      const resumed = await ana.run(`ops resume ${op} --yes`);
      expect(resumed.code, resumed.err).toBe(0);
      expect(proxy.posts()).toHaveLength(posts + 2);
    });

    it('comes from the files of a machine', async () => {
      await using s = await stage();
      const { ana, ben, proxy } = s;
      const stop = new AbortController();
      void proxy.posted(proxy.posts().length + 1).then(() => stop.abort());
      await ana.run(`${FILE} --journal local`, { signal: stop.signal });
      expect((await ben.run(FILE)).code).toBe(0);
      const moved = await ana.run('journal move --to shared');
      expect([moved.code, moved.err]).toEqual([0, expect.stringMatching(/begun by ben on \S+ at 20\S+Z/)]);
      const [own] = await s.at.ana.heads(s.at.account, { unfinished: true });
      await nobodySends(s, own?.op ?? '', 9);
    });

    it('is not sent by a program either', async () => {
      await using s = await stage();
      const { ana, ben, proxy } = s;
      const backup = await backupOf(s.at.root, s.at.account);
      await using place = await temporaryFolder();
      const around = { journal: urlOf(here, 'ana'), journalAccount: s.at.account, journalFolder: place.path };
      await using program = createClient({ baseUrl: proxy.url, apiKey: s.key, ...around });
      await writeFile(join(ana.folder, 'team.csv'), 'bin_id,amount,intent\nbin_1,2,a-1\nbin_1,3,a-2\n');
      await stopped(ana, s);
      await backup.restore();
      expect((await ben.run(FILE)).code).toBe(0);
      await pushed(s);
      const posts = proxy.posts().length;
      const send = program.send('cards.create', { bin_id: 'bin_1', amount: 3 }, { intent: 'a-2' });
      await expect(send).rejects.toMatchObject({ kind: 'guarded' });
      expect(proxy.posts()).toHaveLength(posts);
    });

    it.runIf(isWhole)('is one of two that come back, and a third one has done all of it', async () => {
      await using s = await stage();
      const { ana, ben, proxy } = s;
      const laptop = await s.machine('ana');
      await write(laptop, [2, 3, 4]);
      const backup = await backupOf(s.at.root, s.at.account);
      await stopped(ana, s);
      await backup.restore();
      await stopped(ben, s);
      await backup.restore();
      expect((await laptop.run(FILE)).code).toBe(0);
      for (const { run } of [ana, ben]) expect((await run('journal push')).code).toBe(15);
      expect((await laptop.run('journal push')).code).toBe(0);
      await s.at.admin(`accept_failover('twice')`);
      const posts = proxy.posts().length;
      const left = await s.at.ana.heads(s.at.account, { unfinished: true });
      expect(left).toHaveLength(2);
      for (const { op, holder } of left) {
        const { run } = holder === 'ana' ? ana : ben;
        expect((await run(`ops resume ${op} --yes`)).code).toBe(9);
      }
      expect(proxy.posts()).toHaveLength(posts);
    });
  });
}

/** What a refusal over a shared journal names as the next step: commands that work when they are copied. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import { addApproverRoles, signer } from './approver.ts';
import { team } from './team.ts';

/** `isWhole` adds the ways out of other refusals. */
export function waysOut({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('the way out of a refusal', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    it('names the resume of the same operator and the takeover of another one, while a lease runs', async () => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      expect((await ana.run('cards create --bin bin_1 --amount 3 -q')).code).toBe(11);
      t.proxy.mend();
      const lease = (until: string) =>
        t.at.root.call(`update cardwright.op set lease_until = clock_timestamp() + interval '${until}'`, []);
      await lease('170 s');
      const [left] = await t.at.ana.heads(t.at.account, { unfinished: true });
      const elsewhere = await t.machine('ana');
      const resumed = await elsewhere.run(`ops resume ${left?.op}`);
      expect([resumed.code, resumed.err]).toEqual([
        14,
        expect.stringContaining(`its lease is over: cardwright ops resume ${left?.op}`),
      ]);
      const taken = await ben.run(`ops takeover ${left?.op} --reason "ana is away"`);
      const [, command = ''] = /its lease is over: cardwright (ops takeover .*)\n/.exec(taken.err) ?? [];
      expect([taken.code, command]).toEqual([14, `ops takeover ${left?.op} --reason "why"`]);
      await lease('0 s');
      const over = await ben.run(command);
      expect([over.code, over.err]).toEqual([0, expect.any(String)]);
    });

    it.each(firstOf(['', ' --journal local'], { isWhole }))(
      'finds the card of an intent that a person has named%s',
      async journal => {
        await using t = await team(here);
        const ana = await t.machine('ana');
        const create = `cards create --bin bin_1 --amount 3 --intent twoj${journal}`;
        t.proxy.fail('POST', /\/cards$/, 'drop-after');
        t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
        expect((await ana.run(create)).code).toBe(11);
        const [{ op }] = JSON.parse((await ana.run(`ops list --json${journal}`)).out).data;
        const resolve = (card: string) => `ops resolve ${op} --as done --card ${card} --note seen${journal}`;
        // It is looked up before anything is recorded.
        expect((await ana.run(resolve('card_9'))).code).toBe(5);
        t.proxy.mend();
        const other = await ana.run(resolve('card_1').replace('--as done', '--as not-done'));
        expect([other.code, other.err]).toEqual([2, expect.stringContaining('--card goes with --as done')]);
        expect((await ana.run(resolve('card_1'))).code).toBe(0);
        const again = await ana.run(`${create} --json --jq .id`);
        expect([again.code, again.out, again.err]).toEqual([0, 'card_1\n', expect.any(String)]);
        expect(t.proxy.posts()).toHaveLength(1);
      },
    );

    it.runIf(isWhole)('names labels for a create alone: a fund has none', async () => {
      await using t = await team(here);
      const ana = await t.machine('ana');
      expect((await ana.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
      for (const [line, labels] of [
        ['cards fund card_1 --amount 3', false],
        ['cards create --bin bin_1 --amount 3', true],
      ] as const) {
        t.proxy.fail('POST', /./, 'drop-after');
        t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
        expect((await ana.run(`${line} --intent po-1-${labels}`)).code).toBe(11);
        t.proxy.mend();
        const { code, err } = await ana.run(`${line} --intent po-2-${labels}`);
        expect([code, err]).toEqual([14, expect.stringContaining('Another intent is no way around it.')]);
        expect(err.includes('label or other metadata')).toBe(labels);
      }
    });

    it.runIf(isWhole)('says to a colleague that the takeover comes before what he says of a row', async () => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      const write = (name: string, amounts: readonly number[]) => {
        const text = `bin_id,amount\n${amounts.map(amount => `bin_1,${amount}\n`).join('')}`;
        return Promise.all([ana, ben].map(({ folder }) => writeFile(join(folder, name), text)));
      };
      await write('all.csv', [2, 3, 4]);
      await write('some.csv', [3, 2]);
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
      expect((await ana.run('cards create --file all.csv --yes --concurrency 1')).code).toBe(11);
      t.proxy.mend();
      const refused = async (machine: typeof ana) => {
        const { code, err } = await machine.run('cards create --file some.csv --yes');
        expect([code, err]).toEqual([14, expect.stringContaining('It happened: cardwright ops resolve op_')]);
        return err;
      };
      expect(await refused(ana)).toContain(
        'Where that cannot tell, look at the service yourself, then say so. It happened',
      );
      const told = await refused(ben);
      const [op = ''] = /op_\w{26}/.exec(told) ?? [];
      expect(told).toContain(`sends nothing that may have left: cardwright ops takeover ${op} --reason "why"`);
      expect(told).toContain(
        'The takeover comes first. Where it cannot tell, look at the service yourself, then say so. It happened',
      );
      const [, resolve = ''] = /It happened: cardwright (.*)/.exec(told) ?? [];
      expect((await ben.run(`${resolve} --yes`)).code).toBe(14);
    });

    it.runIf(isWhole)('says that the books need the journal, and that money waits for it', async () => {
      await using t = await team(here);
      const ana = await t.machine('ana');
      expect((await ana.run('books sync -q')).code).toBe(0);
      const away = { env: { CARDWRIGHT_JOURNAL_URL: 'postgres://ana@127.0.0.1:1/journal' }, onPause: () => undefined };
      for (const line of ['books reconcile', 'cards create --bin bin_1 --amount 3 -q']) {
        const { code, err } = await ana.run(line, away);
        expect([line, code, err]).toEqual([
          line,
          14,
          expect.stringContaining('reconcile and statement need the journal'),
        ]);
        expect(err).toContain('ask its administrator');
        expect(err).toContain('try: cardwright doctor');
      }
      expect(t.proxy.posts()).toEqual([]);
    });

    it.runIf(isWhole)(
      'says who has rejected a request, to whoever resumes it and to whoever repeats its command',
      async () => {
        await using t = await team(here, { wallet: 500 });
        await addApproverRoles(t.at);
        await t.at.admin(`add_approver('${signer('bob').line}', '{bob}')`);
        await t.at.admin(`set_rule('approve_above', 100)`);
        const [ana, bob] = [await t.machine('ana'), await t.machine('bob', { CARDWRIGHT_API_KEY: '' })];
        const create = 'cards create --bin bin_1 --amount 3 --intent ads-nov';
        const asked = await ana.run(create);
        expect([asked.code, asked.err]).toEqual([17, expect.not.stringContaining('asks anew')]);
        const [held] = await t.at.ana.heads(t.at.account, { unfinished: true });
        const reject = `approvals reject ${held?.op.replace(/^op/, 'apr')} --reason "too much" --yes`;
        expect((await bob.run(reject)).code).toBe(0);
        const words = `the request for ${held?.op} was rejected by bob@desk: too much`;
        const resumed = await ana.run(`ops resume ${held?.op}`);
        expect([resumed.code, resumed.err]).toEqual([14, expect.stringContaining(words)]);
        const again = await ana.run(create);
        expect([again.code, again.err]).toEqual([17, expect.stringContaining(`note: ${words}. This asks anew`)]);
        expect(t.proxy.posts()).toEqual([]);
      },
    );
  });
}

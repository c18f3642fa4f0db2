/** Records of a shared journal are damaged: everybody reads so, an admin who has looked sets the operation aside, and people go on. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import { later } from './killing-stage.ts';
import { team } from './team.ts';

const LINE = 'cards create --bin bin_1 --amount 3 --label ads --intent po-7';

/** `isWhole` adds the other way of each. */
export function damagedRecords({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('an operation whose records are damaged', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    /** A create that is unknown, whose last record was changed in the database. */
    async function damaged() {
      const t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      expect((await ana.run(LINE)).code).toBe(11);
      t.proxy.mend();
      const [head] = await t.at.ana.heads(t.at.account, { unfinished: true });
      const op = head?.op ?? '';
      await t.at.root.call(
        `update cardwright.segment set bytes = set_byte(bytes, 20, 33) where op = $1 and n = (select max(n) from cardwright.segment where op = $1)`,
        [op],
      );
      const run = (machine: typeof ana, line: string) => machine.run(line, { clock: later() });
      const flaws = async () => JSON.parse((await run(ben, 'journal check --json')).out).flaws;
      return { ...t, ana, ben, op, run, flaws };
    }

    it('is named by everybody who meets it, with what an admin does about it', async () => {
      await using t = await damaged();
      const { ana, ben, op, run } = t;
      const sql = `select cardwright.set_aside('${t.at.account}', '${op}', true, 'why');`;
      for (const line of [`ops show ${op}`, `ops resolve ${op} --as done --note why`, 'journal check']) {
        const { code, err } = await run(ana, line);
        expect([code, err], line).toEqual([15, expect.stringContaining(sql)]);
      }
      for (const line of [LINE, LINE.replace(' --intent po-7', ''), `ops resume ${op}`]) {
        const { code, err } = await run(ana, line);
        expect([code, err], line).toEqual([15, expect.stringContaining(`try: cardwright ops show ${op}`)]);
        if (line !== `ops resume ${op}`) expect(err, line).toContain(sql);
      }
      expect((await run(ben, `ops show ${op}`)).err).toContain('cardwright audit list --shared -o wide');
      for (const machine of [ana, ben]) {
        const { code, out } = await run(machine, 'doctor');
        expect([code, out]).toEqual([15, expect.stringMatching(new RegExp(`fail.*journal of ${op} is damaged`))]);
      }
      expect((await t.flaws())[0]).toMatchObject({ what: 'op', op, sql });
      // Who operates does not set it aside, and nobody while it is worked on or without a reason.
      await expect((await here.as('ana')).call(sql, [])).rejects.toMatchObject({ code: '42501' });
      const ada = await here.as('ada');
      await expect(ada.call(sql.replace(`'why'`, `''`), [])).rejects.toMatchObject({ code: 'CW007' });
      await expect(ada.call(sql.replace(op, 'op_00000000000000000000000000'), [])).rejects.toMatchObject({
        code: 'CW008',
      });
      await t.at.root.call(
        `update cardwright.op set lease_until = clock_timestamp() + interval '1 minute' where op = $1`,
        [op],
      );
      await expect(ada.call(sql, [])).rejects.toThrow(/ana on \S+ works on op_\w+; its lease ends in \d+ s/);
    });

    it.each(
      firstOf(
        [
          ['done', true],
          ['not done', false],
        ],
        { isWhole },
      ),
    )('is in nobody’s way when an admin has said that it was %s', async (words, wasDone) => {
      await using t = await damaged();
      const { ana, ben, op, run } = t;
      for (const _ of 'ab') await t.at.admin(`set_aside('${op}', ${wasDone}, 'seen at the service')`);
      expect(await t.flaws()).toEqual([]);
      for (const machine of [ana, ben]) expect((await run(machine, 'journal check')).code).toBe(0);
      expect((await run(ben, 'doctor')).out).not.toContain('damaged');
      expect((await t.at.ana.status(t.at.account)).used).toBe(wasDone ? 300 : 0);
      const [line] = JSON.parse((await run(ben, 'audit list --shared --json')).out).data.toReversed();
      expect(line).toMatchObject({ operation: 'journal.set_aside', reason: `${op} ${words}: seen at the service` });
      const kept = await t.at.root.call('select count(*) from cardwright.damaged_segment where op = $1', [op]);
      expect(Number(kept[0]?.[0])).toBeGreaterThan(1);
      expect((await run(ana, 'journal push')).code).toBe(0);
      // Its name was used where it was done, and is free where it was not.
      const again = await run(ben, LINE);
      expect([again.code, (await t.cards()).length], again.err).toEqual(wasDone ? [15, 1] : [0, 2]);
      if (wasDone) expect(again.err).toContain('try: cardwright audit list --shared -o wide');
      expect((await run(ben, LINE.replace(' --intent po-7', ' --intent po-8'))).code).toBe(0);
      expect(await t.flaws()).toEqual([]);
    });

    it.each(firstOf(['unknown', 'finished'], { isWhole }))(
      'keeps the journal where it is, %s: one machine would not know of it',
      async stands => {
        await using t = await damaged();
        const { ana, op, run } = t;
        if (stands === 'finished')
          await t.at.root.call(
            `update cardwright.op set state = 'finished', unknown = 0, not_told = null where op = $1`,
            [op],
          );
        await t.at.admin(`add_member('ben', '{}')`);
        await t.at.endLeases();
        const sql = `select cardwright.set_aside('${t.at.account}', '${op}', true, 'why');`;
        const way = 'journal move --to local';
        const refused = async (line: string) => {
          const { code, err } = await run(ana, line);
          expect([code, err], line).toEqual([15, expect.stringContaining(sql)]);
        };
        await refused(`${way} --mine`);
        expect(await t.at.ana.status(t.at.account)).toMatchObject({ frozen: null, left_to: null });
        await t.at.admin(`freeze_account('one machine')`);
        await refused(`${way} --mine`);
        await refused(way);
        // An admin sets it aside in a frozen account, too.
        await t.at.admin(`set_aside('${op}', true, 'seen at the service')`);
        expect((await run(ana, way)).code).toBe(0);
        const alone = { env: { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' }, clock: later() };
        const again = await ana.run(LINE, alone);
        expect([again.code, (await t.cards()).length], again.err).toEqual([15, 1]);
        expect(again.err).toContain('try: cardwright cards list\n');
      },
    );

    it('is meant, and no other one: what can be read is not set aside', async () => {
      await using t = await damaged();
      const { ana, op, run } = t;
      expect((await run(ana, 'cards create --bin bin_1 --amount 2 --label other --intent po-8')).code).toBe(0);
      await writeFile(join(ana.folder, 'team.csv'), `bin_id,amount,label\n${'bin_1,2,广告\n'.repeat(40)}`);
      t.proxy.fail('POST', /\/cards$/, ...Array<'drop-after'>(3).fill('drop-after'));
      expect([0, 11]).toContain((await run(ana, 'cards create --file team.csv --yes')).code);
      t.proxy.mend();
      const others = (await t.at.ana.heads(t.at.account, {})).filter(head => head.op !== op);
      expect(others).toHaveLength(2);
      for (const { op: other } of others) {
        await expect(t.at.admin(`set_aside('${other}', false, 'a typing error')`)).rejects.toThrow(
          `the records of ${other} can be read: nothing of it is set aside`,
        );
        // One byte of it, or a whole segment, is enough.
        await t.at.root.call(
          `update cardwright.segment set bytes = set_byte(bytes, octet_length(bytes) - 9, 33) where op = $1 and n = 1`,
          [other],
        );
        const { used } = await t.at.ana.status(t.at.account);
        const [{ spent, op: first } = { spent: 0, op: '' }] = others;
        await t.at.admin(`set_aside('${other}', ${other !== first}, 'seen at the service')`);
        // What was not done has not spent its cents either.
        const freed = used - (await t.at.ana.status(t.at.account)).used;
        expect(freed).toBe(other === first ? spent : 0);
      }
      expect(others[0]?.spent).toBeGreaterThan(0);
      expect((await run(ana, 'journal check')).code).toBe(15);
      await t.at.admin(`set_aside('${op}', false, 'seen at the service')`);
      expect((await run(ana, 'journal check')).code).toBe(0);
    });
  });
}

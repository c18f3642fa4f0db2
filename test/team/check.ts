/** A shared journal is read whole: what was changed behind its back is named, and so is who works past it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import { team, urlOf } from './team.ts';

/** `isWhole` adds the other flaws, and how many of them are named. */
export function journalCheck({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('journal check', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    /** Two operators who have worked: a card with a name, a fund, a file, and one that is unknown. */
    async function worked() {
      const t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      expect((await ana.run('cards create --bin bin_1 --amount 10 --intent po-1 -q')).code).toBe(0);
      expect((await ben.run('cards fund card_1 --amount 5 -q')).code).toBe(0);
      const check = async () => {
        const { code, out, err } = await ben.run('journal check --json');
        return { code, err, ...JSON.parse(out) };
      };
      return { ...t, ana, ben, check };
    }
    const inAccount = (account: string) => `(select id from cardwright.account where name = '${account}')`;

    it('finds a journal whole, also while a row is unknown', async () => {
      await using t = await worked();
      t.proxy.fail('POST', /\/cards$/, 'drop-before');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      expect((await t.ana.run('cards create --bin bin_1 --amount 3 --label ads')).code).toBe(11);
      t.proxy.mend();
      expect(await t.check()).toMatchObject({ code: 0, ok: true, ops: 3, cards: 1, flaws: [] });
      const words = await t.ana.run('journal check', { terminal: 100 });
      expect(words.out).toMatch(/^Whole: \d+ lines, 3 operations with \d+ records, 1 marked card\.\n$/);
    });

    it.each(
      firstOf(
        [
          [
            'a segment that is gone',
            'delete from cardwright.segment where n = 2 and account = ACCOUNT',
            'op',
            /segments were written/,
          ],
          [
            'records that were changed',
            `update cardwright.segment set bytes = convert_to(replace(convert_from(bytes, 'UTF8'), 'cards fund', 'cards funD'), 'UTF8')
         where account = ACCOUNT and n = 1`,
            'op',
            /its records are not those that the chain names/,
          ],
          [
            'a day that was lowered',
            'update cardwright.spend_day set spent = spent - 1 where account = ACCOUNT',
            'day',
            /14\.99 spent; its operations have .*15\.00/,
          ],
          [
            'an outcome that a list hides',
            `update cardwright.op set shown = jsonb_set(shown, '{counts,done}', '0') where account = ACCOUNT and moves`,
            'op',
            /what a list shows of it is not what its records say/,
          ],
          [
            'a name that was freed',
            'delete from cardwright.intent where account = ACCOUNT',
            'intent',
            /its intent po-1 is noted for nothing/,
          ],
          [
            'a line that was changed',
            `update cardwright.audit set line = replace(line, 'ben@', 'bob@') where account = ACCOUNT`,
            'chain',
            /digest does not match/,
          ],
          [
            'lines that were cut off',
            'delete from cardwright.audit u where u.account = ACCOUNT and u.seq = (select max(seq) from cardwright.audit x where x.account = u.account)',
            'chain',
            /names as its last/,
          ],
          [
            'an amount that was changed',
            'update cardwright.op set spent = 1 where account = ACCOUNT and moves',
            'op',
            /\$5\.00 were spent, and \$0\.01 are counted/,
          ],
        ],
        { isWhole },
      ),
    )('names %s', async (_what, change, what, text) => {
      await using t = await worked();
      await t.at.root.call(change.replaceAll('ACCOUNT', inAccount(t.at.account)), []);
      const found = await t.check();
      expect(found).toMatchObject({ code: 15, ok: false });
      expect(found.flaws).toContainEqual(expect.objectContaining({ what, text: expect.stringMatching(text) }));
    });

    it('tells two operations with one name until an admin has accepted both, and then as a note', async () => {
      await using t = await worked();
      const account = inAccount(t.at.account);
      const other = `(select op from cardwright.op where account = ${account} and command = 'cards fund')`;
      await t.at.root.call(`update cardwright.intent set op = ${other} where account = ${account}`, []);
      const found = await t.check();
      const { op, text, sql } = found.flaws[0];
      expect([found.code, found.flaws.length]).toEqual([15, 1]);
      expect(text).toMatch(/^its intent po-1 belongs to op_\w+$/);
      const told = await t.ana.run('journal check');
      expect(told.code).toBe(15);
      expect(told.err).toContain('one operation has a name that belongs to another one');
      expect(told.err).toContain(`\n  ${sql}\n`);
      expect(told.err).toContain(`try: cardwright ops show ${op}`);
      // Who operates does not close it, and an admin only for operations that are there, with a reason.
      const ana = await here.as('ana');
      await expect(ana.call(sql, [])).rejects.toMatchObject({ code: '42501' });
      const ada = await here.as('ada');
      await expect(ada.call(sql.replace(`'why'`, `''`), [])).rejects.toMatchObject({ code: 'CW007' });
      await expect(ada.call(sql.replace(op, 'op_00000000000000000000000000'), [])).rejects.toMatchObject({
        code: 'CW008',
      });
      expect((await t.check()).code).toBe(15);
      for (const _ of 'ab') await ada.call(sql.replace(`'why'`, `'both are right'`), []);
      expect(await t.check()).toMatchObject({
        code: 0,
        flaws: [],
        clashes: [{ op, intent: 'po-1', by: 'ada', why: 'both are right', at: expect.stringMatching(/Z$/) }],
      });
      const words = await t.ana.run('journal check', { terminal: 400 });
      expect([words.code, words.out]).toEqual([0, expect.stringMatching(/^Whole: /)]);
      expect(words.err).toContain('ada has accepted both');
      // Another one with the same name is another matter.
      await t.at.root.call(`update cardwright.accepted_clash set belongs_to = op`, []);
      expect((await t.check()).code).toBe(15);
    });

    it('names cards that were made past it, and leads to one of them', async () => {
      await using t = await worked();
      const eve = await t.machine('eve');
      expect((await eve.run('cards create --bin bin_1 --amount 2 --journal local -q')).out).toBe('card_2\n');
      const found = await t.check();
      expect(found).toMatchObject({
        code: 15,
        flaws: [{ what: 'card', card: 'card_2', text: 'made past this journal' }],
      });
      expect(found.err).toContain('one card was made past the shared journal');
      expect(found.err).toContain('cardwright cards get card_2');
      const words = async () => (await t.ben.run('journal check')).err;
      expect(await words()).toContain('Somebody works beside the journal: ');
      // Since an admin has accepted a database it may be of a machine that was left out.
      await t.at.admin(`accept_failover('the backup of Monday', '{eve}')`);
      expect(await t.check()).toMatchObject({ code: 15, accepted_databases: 1 });
      expect(await words()).toContain('may be of a machine that was left out then');
      expect(await words()).not.toContain('Somebody works beside the journal');
    });

    it('counts operations, and not their names', async () => {
      await using t = await worked();
      const rows = ['bin_id,amount,intent', ...['r-1', 'r-2', 'r-3'].map(name => `bin_1,1,${name}`)];
      await writeFile(join(t.ana.folder, 'rows.csv'), `${rows.join('\n')}\n`);
      expect((await t.ana.run('cards create --file rows.csv --yes')).code).toBe(0);
      const account = inAccount(t.at.account);
      const other = `(select op from cardwright.op where account = ${account} and command = 'cards fund')`;
      const given = `update cardwright.intent set op = ${other} where account = ${account}`;
      await t.at.root.call(`${given} and name like 'r-%'`, []);
      expect((await t.check()).err).toContain('one operation has 3 names that belong to another one');
      await t.at.root.call(given, []);
      expect((await t.check()).err).toContain('2 operations have 4 names that belong to another one');
    });

    it('names a card until an admin has accepted it, and then as a note', async () => {
      await using t = await worked();
      const eve = await t.machine('eve');
      for (const amount of [2, 3]) await eve.run(`cards create --bin bin_1 --amount ${amount} --journal local -q`);
      const [, { sql }] = (await t.check()).flaws;
      expect(sql).toContain("'card_2'");
      expect((await t.ana.run('journal check')).err).toContain(`\n  ${sql}\n`);
      const [ana, ada] = [await here.as('ana'), await here.as('ada')];
      await expect(ana.call(sql, [])).rejects.toMatchObject({ code: '42501' });
      await expect(ada.call(sql.replace(`'why'`, `''`), [])).rejects.toMatchObject({ code: 'CW007' });
      await expect(ada.call(sql.replace(`'card_2'`, `''`), [])).rejects.toMatchObject({ code: 'CW007' });
      expect((await t.check()).flaws).toHaveLength(2);
      for (const _ of 'ab') await ada.call(sql.replace(`'why'`, `'a test of eve'`), []);
      const accepted = { card: 'card_2', text: 'made past this journal', by: 'ada', why: 'a test of eve' };
      expect(await t.check()).toMatchObject({ code: 15, flaws: [{ card: 'card_3' }], accepted_cards: [accepted] });
      await ada.call(sql.replace('card_2', 'card_3'), []);
      const words = await t.ana.run('journal check', { terminal: 400 });
      expect([words.code, words.out]).toEqual([0, expect.stringMatching(/^Whole: /)]);
      expect(words.err).toContain('note: card_2 was made past this journal; ada has accepted it at ');
      const lines = (await t.ana.run('audit list --shared --json --jq .data[].operation')).out;
      expect(lines.match(/journal\.accept_card/g)).toHaveLength(2);
    });

    it.runIf(isWhole)('names a few of many, and says how many more there are', async () => {
      await using t = await worked();
      const eve = await t.machine('eve');
      for (let made = 0; made < 12; made += 1)
        expect((await eve.run(`cards create --bin bin_1 --amount ${made + 1} --journal local -q`)).code).toBe(0);
      for (const terminal of [undefined, 200]) {
        const { code, out, err } = await t.ben.run('journal check', terminal === undefined ? {} : { terminal });
        expect([code, err]).toEqual([15, expect.stringContaining('12 cards were made past the shared journal')]);
        const lines = out.trim().split('\n');
        expect(lines.filter(line => /card card_\d+: made past this journal$/.test(line))).toHaveLength(10);
        expect(lines.at(-1)).toMatch(/2 more: cardwright journal check --json$/);
        expect(lines.every(line => line.length < 100)).toBe(true);
      }
      expect((await t.check()).flaws).toHaveLength(12);
    });

    it('reads the chain of the account for everybody who may read it', async () => {
      await using t = await worked();
      const eve = await t.machine('eve');
      const verified = await eve.run('audit verify --shared --json');
      expect(JSON.parse(verified.out)).toMatchObject({ ok: true, path: expect.stringContaining(t.at.account) });
      const listed = JSON.parse((await eve.run('audit list --shared --json')).out).data;
      expect(listed.at(-1)).toMatchObject({
        event: 'outcome',
        who: expect.stringMatching(/^ben@/),
        operation: 'cards fund',
      });
      expect(listed.at(-1).records_sha256).toMatch(/^[0-9a-f]{64}$/);
      const exported = await eve.run('audit export --shared');
      expect(exported.out.trim().split('\n')).toHaveLength(listed.length);
      await t.at.root.call(
        `update cardwright.audit set line = replace(line, 'ana@', 'bob@') where account = ${inAccount(t.at.account)}`,
        [],
      );
      const broken = await eve.run('audit verify --shared');
      expect(broken.code).toBe(15);
      expect(broken.err).toContain('is broken at line');
    });

    it.runIf(isWhole)('uses the journal that the profile keeps', async () => {
      await using t = await worked();
      const env = {
        CARDWRIGHT_JOURNAL_URL: '',
        CARDWRIGHT_JOURNAL_ACCOUNT: '',
        CARDWRIGHT_API_KEY: '',
        CARDWRIGHT_BASE_URL: '',
      };
      const run = (line: string, more = {}) => t.ana.run(line, { env, ...more });
      expect((await run('journal check --profile team')).code).toBe(2);
      const login = await run(`login --profile team --base-url ${t.proxy.url} --key-stdin`, { stdin: t.key });
      expect(login).toMatchObject({ code: 0 });
      for (const setting of [`journal ${urlOf(here, 'ana')}`, `journal_account ${t.at.account}`])
        expect(await run(`profiles set team ${setting}`)).toMatchObject({ code: 0 });
      expect(await run('journal check --profile team --json --jq .ok')).toMatchObject({ code: 0, out: 'true\n' });
      expect((await run('journal status --profile team --json --jq .role')).out).toBe('ana\n');
      expect((await run('audit verify --shared --profile team')).code).toBe(0);
    });
  });
}

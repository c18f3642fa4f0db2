/** What a colleague has recorded by hand of an operation that he took over: who began it reads who has said what, and when. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import type { World } from '../support/world.ts';
import { team } from './team.ts';

type Team = Awaited<ReturnType<typeof team>>;

const FUND = 'cards fund card_1 --amount 5';
const SEEN = 'by ben@desk at 2026-11-20T14:03:11Z: ticket 4711';

/** Of a fund whose answer was lost, what ben says; resolves to the op. */
async function recorded(
  t: Team,
  { ana, ben }: Record<'ana' | 'ben', World>,
  {
    line = FUND,
    as,
    note = 'ticket 4711',
  }: { readonly line?: string; readonly as: 'done' | 'not-done'; readonly note?: string },
): Promise<string> {
  t.proxy.fail('POST', /\/fund$/, as === 'done' ? 'drop-after' : 'drop-before');
  const { code, err } = await ana.run(`${line} --json`);
  t.proxy.mend();
  expect(code).toBe(11);
  const op = String(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op);
  t.proxy.fail('GET', /./, ...Array<'drop-before'>(30).fill('drop-before'));
  await ben.run(`ops takeover ${op} --reason "ana is away" --yes`);
  t.proxy.mend();
  const said = await ben.run(`ops resolve ${op} --as ${as} --note "${note}" --yes`);
  expect({ code: said.code, err: said.err }).toMatchObject({ code: 0 });
  return op;
}

/** `isWhole` adds names, and one machine alone. */
export function recordedByHand({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('rows that a colleague has recorded', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    async function machines(t: Team) {
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      for (const amount of [20, 21])
        expect((await ben.run(`cards create --bin bin_1 --amount ${amount}`)).code).toBe(0);
      return { ana, ben };
    }

    it.each(firstOf(['', ' --intent po-1'], { isWhole }))('as done, of a single change%s', async intent => {
      await using t = await team(here);
      const { ana, ben } = await machines(t);
      const op = await recorded(t, { ana, ben }, { line: FUND + intent, as: 'done' });
      const shown = await ana.run(`ops show ${op}`, { terminal: 120 });
      expect(shown.out).toContain(`done ${SEEN}`);
      const { items } = JSON.parse((await ana.run(`ops show ${op} --json`)).out);
      expect(items[0].resolved).toEqual({
        as: 'done',
        note: 'ticket 4711',
        at: '2026-11-20T14:03:11Z',
        who: 'ben@desk',
      });
      const refused = await ana.run(FUND);
      expect([refused.code, refused.err]).toEqual([14, expect.stringContaining(`Row 1 was recorded as done ${SEEN}`)]);
      const again = await ana.run(intent === '' ? `ops resume ${op}` : FUND + intent);
      expect({ code: again.code, err: again.err }).toMatchObject({ code: 0 });
      expect(again.err).toContain(`note: ${op}: Row 1 was recorded as done ${SEEN}\n`);
      // Shown, and meant.
      const meant = await ana.run(FUND);
      expect([meant.code, meant.err]).toEqual([0, expect.not.stringContaining('recorded')]);
    });

    it.each(firstOf(['', ' --intent po-1'], { isWhole }))(
      'as not done: the same command goes on, and says so%s',
      async intent => {
        await using t = await team(here);
        const { ana, ben } = await machines(t);
        const op = await recorded(t, { ana, ben }, { line: FUND + intent, as: 'not-done' });
        expect((await ana.run(`ops show ${op}`)).out).toContain(`cards.fund was declared not done ${SEEN}`);
        const dry = await ana.run(`${FUND}${intent} --dry-run`);
        const again = await ana.run(FUND + intent);
        for (const { code, err } of [dry, again]) {
          expect({ code, err }).toMatchObject({ code: 0 });
          expect(err.split(`note: ${op}: Row 1 was recorded as not done ${SEEN}\n`)).toHaveLength(2);
        }
        expect((await ben.run(FUND)).err).not.toContain('recorded');
        const resumed = await ana.run(`ops resume ${op}`);
        expect(resumed.err).toContain(`declared not done ${SEEN}`);
      },
    );

    it('as done, of rows of a file', async () => {
      await using t = await team(here);
      const { ana, ben } = await machines(t);
      await writeFile(join(ana.folder, 'funds.csv'), 'card_id,amount,intent\ncard_1,2,po-1\ncard_2,3,po-2\n');
      const line = 'cards fund --file funds.csv --yes';
      const op = await recorded(t, { ana, ben }, { line, as: 'done' });
      const finished = await ben.run(`ops resume ${op} --yes`);
      expect(finished.code, finished.err).toBe(0);
      const says = `Row 1 was recorded as done ${SEEN}`;
      expect((await ana.run(`ops show ${op}`, { terminal: 120 })).all).toContain(says);
      expect((await ana.run('cards fund card_1 --amount 2')).err).toContain(says);
      const again = await ana.run(line);
      expect([again.code, again.err]).toEqual([0, expect.stringContaining(`note: ${op}: ${says}\n`)]);
      expect(again.err.split(says)).toHaveLength(2);
    });

    it('says who, when and why beside each row and in the audit log of the account', async () => {
      await using t = await team(here);
      const { ana, ben } = await machines(t);
      await writeFile(join(ana.folder, 'funds.csv'), 'card_id,amount\ncard_1,2\ncard_2,3\n');
      for (const [line, as] of [
        [FUND, 'done'],
        ['cards fund card_2 --amount 5', 'not-done'],
        ['cards fund --file funds.csv --yes', 'done'],
      ] as const) {
        const op = await recorded(t, { ana, ben }, { line, as });
        if (line.includes('--file')) expect((await ben.run(`ops resume ${op} --yes`)).code).toBe(0);
        const declared = as === 'done' ? 'done' : 'not done';
        expect((await ana.run(`ops show ${op}`)).out).toContain(`cards.fund was declared ${declared} ${SEEN}`);
        const { data } = JSON.parse((await ana.run('audit list --shared --json')).out);
        const outcome = data.find((each: { event: string; op: string }) => each.event === 'outcome' && each.op === op);
        expect(outcome.reason).toMatch(
          new RegExp(`^rows? 1(?: and 2)? declared ${declared} by ben@desk: ticket 4711$`),
        );
      }
      expect((await ana.run('audit list --shared -o wide')).out).toContain(
        'row 1 declared done by ben@desk: ticket 4711',
      );
      // A note of any characters and length ends it as well.
      const odd = await recorded(
        t,
        { ana, ben },
        { line: 'cards fund card_2 --amount 7', as: 'done', note: `a\u2028b\u0085c\u{1f4b3} ${'long '.repeat(90)}` },
      );
      const { data } = JSON.parse((await ana.run('audit list --shared --json')).out);
      const { reason } = data.find(
        (each: { event: string; op: string }) => each.event === 'outcome' && each.op === odd,
      );
      expect(reason).toMatch(/^row 1 declared done by ben@desk: a b c\u{1f4b3} long .*…$/u);
      expect((await ana.run('audit verify --shared')).code).toBe(0);
    });

    it.runIf(isWhole)('on one machine there is nobody else', async () => {
      await using t = await team(here);
      const ana = await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' });
      expect((await ana.run('cards create --bin bin_1 --amount 20')).code).toBe(0);
      t.proxy.fail('POST', /\/fund$/, 'drop-after');
      const op = /op_[0-9a-z]{26}/.exec((await ana.run(FUND)).err)?.[0] ?? '';
      expect((await ana.run(`ops resolve ${op} --as done --note "ticket 4711" --yes`)).code).toBe(0);
      expect((await ana.run(`ops show ${op}`, { terminal: 120 })).out).toContain('done: ticket 4711');
    });
  });
}

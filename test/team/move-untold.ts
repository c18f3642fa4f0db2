/** A journal goes back to one machine, and nobody loses sight of what was done and not shown to who began it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutputError } from '../../src/core/errors.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import type { World } from '../support/world.ts';
import { team } from './team.ts';

const FULL = { message: 'cannot write standard output: no space is left (ENOSPC)' };
/** The operation is done, and its command ends before it could say so. */
const full = { onOut: () => Promise.reject(new OutputError('check_failed', FULL)) };

const CREATE = 'cards create --bin bin_1 --amount 3 --label q1';
const NAMED = 'cards create --bin bin_1 --amount 4 --label q2 --intent q2';
const FUND = 'cards fund card_1 --amount 2';
const UNNAMED = [CREATE, NAMED.replace(' --intent q2', ''), FUND];

/** `isWhole` adds other operators, and a frozen account. */
export function moveUntold({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('a journal with operations that nobody was shown', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    /** Of ana two that ben has ended, the fund by hand, and one with a name whose answer could not be printed. */
    async function untold() {
      const t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      expect((await ben.run('cards create --bin bin_1 --amount 10 -q')).code).toBe(0);
      for (const line of [CREATE, FUND]) {
        t.proxy.fail('POST', /\/(?:cards|fund)$/, 'drop-after');
        t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
        const { code, err } = await ana.run(`${line} --json`);
        t.proxy.mend();
        expect({ line, code }).toEqual({ line, code: 11 });
        const { op } = JSON.parse(err.trim().split('\n').at(-1) ?? '').error;
        const ended = await ben.run(`ops takeover ${op} --reason "ana is away" --yes`);
        if (line === FUND) expect((await ben.run(`ops resolve ${op} --as done --note seen --yes`)).code).toBe(0);
        else expect(ended.code).toBe(0);
      }
      expect((await ana.run(NAMED, full)).code).toBe(15);
      const ops = await untoldOf(ana);
      expect(ops).toHaveLength(3);
      return { ...t, ana, ben, ops, posts: t.proxy.posts().length };
    }

    async function untoldOf(machine: World, more: Parameters<World['run']>[1] = {}): Promise<readonly string[]> {
      const { out } = await machine.run('ops list --state untold --json', more);
      return JSON.parse(out).data.map(({ op }: { op: string }) => op);
    }

    const LOCAL = { env: { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' } };

    it('stays where it is until each of them was shown, also in a frozen account', async () => {
      await using t = await untold();
      const { ana, ops } = t;
      const shown = await ana.run('ops list --state untold', { terminal: 120 });
      expect(shown.out + shown.err).toContain('3 untold: cardwright ops resume <op>');
      await t.at.admin(`freeze_account('moved to one machine')`);
      const refused = await ana.run('journal move --to local');
      expect(refused).toMatchObject({ code: 14 });
      expect(refused.err).toContain('error: 3 operations are not finished, and a journal is moved back');
      expect(refused.err).toContain(
        `  3 untold, yours: ${ops.join(', ')}. For each: cardwright ops resume ${ops[0]}\n`,
      );
      expect(refused.err).toContain(`  try: cardwright ops resume ${ops[0]}\n`);
      for (const [n, op] of ops.entries()) {
        expect(await ana.run(`ops resume ${op}`)).toMatchObject({ code: 0, out: expect.stringContaining('done') });
        expect(await untoldOf(ana), op).toEqual(ops.slice(n + 1));
      }
      expect(await ana.run('journal move --to local')).toMatchObject({ code: 0 });
      expect(t.proxy.posts()).toHaveLength(t.posts);
      // Each was shown: from here on it is meant.
      expect((await ana.run(CREATE, LOCAL)).code).toBe(0);
      expect((await ana.run(`${NAMED} --json`, LOCAL)).out).toContain('"repeated": true');
      expect(t.proxy.posts()).toHaveLength(t.posts + 1);
    });

    it.runIf(isWhole)('waits for its other operators too, until they have left', async () => {
      await using t = await untold();
      const { ana, ben, ops } = t;
      await t.at.admin(`freeze_account('moved to one machine')`);
      const refused = await ben.run('journal move --to local');
      expect(refused).toMatchObject({ code: 14 });
      expect(refused.err).toContain(
        `  3 untold, begun by ana: ${ops.join(', ')}. For each, by ana: cardwright ops resume ${ops[0]}\n`,
      );
      const leaves = `add_member('${t.at.account}', 'ana', '{}');`;
      expect(refused.err).toContain(`An admin ends the membership in the database: select cardwright.${leaves}\n`);
      expect(refused.err).toContain(`  try: cardwright ops show ${ops[0]}\n`);
      for (const op of ops.slice(1)) expect((await ana.run(`ops resume ${op}`)).code).toBe(0);
      const last = await ben.run('journal move --to local');
      expect(last).toMatchObject({ code: 14, err: expect.stringContaining(`${ops[0]} is not finished`) });
      await t.at.admin(`add_member('ana', '{}')`);
      await expect(t.at.admin(`add_member('ana', '{read}')`)).rejects.toMatchObject({ code: 'CW010' });
      expect(await ben.run('journal move --to local')).toMatchObject({ code: 0 });
      expect(t.proxy.posts()).toHaveLength(t.posts);
    });

    it.runIf(isWhole)(
      'says of what is unknown in a frozen account that the freeze ends first, who began it and who has it',
      async () => {
        await using t = await untold();
        const { ana, ben, ops } = t;
        const unknown = async (amount: number) => {
          t.proxy.fail('POST', /\/cards$/, 'drop-after');
          t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
          const { err } = await ana.run(`cards create --bin bin_1 --amount ${amount} --json`);
          t.proxy.mend();
          return String(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op);
        };
        const [left, taken] = [await unknown(6), await unknown(7)];
        t.proxy.fail('GET', /./, ...Array<'drop-before'>(60).fill('drop-before'));
        expect((await ben.run(`ops takeover ${taken} --reason "ana is away" --yes`)).code).toBe(11);
        t.proxy.mend();
        const thawed = await ana.run('journal move --to local');
        expect(thawed.err).toContain(
          `1 unknown, begun by you, ben has it: ${taken}. For each: cardwright ops takeover ${taken} --reason "why"\n`,
        );
        expect(thawed.err).not.toContain('accept_failover');
        await t.at.admin(`freeze_account('moved to one machine')`);
        const frozen = await ana.run('journal move --to local');
        expect(frozen).toMatchObject({ code: 14 });
        const [end, again] = [`accept_failover('${t.at.account}', 'it goes on')`, `freeze_account('${t.at.account}', `];
        for (const line of [
          `3 untold, yours: ${ops.join(', ')}. For each: cardwright ops resume ${ops[0]}\n`,
          `1 unknown, yours: ${left}. For each, when the freeze has ended: cardwright ops resume ${left}\n`,
          `1 unknown, begun by you, ben has it: ${taken}. For each, when the freeze has ended: cardwright ops takeover ${taken}`,
          `ends the freeze in the database: select cardwright.${end};\n`,
          `select cardwright.${again}'moved to one machine');\n`,
          `try: cardwright ops resume ${ops[0]}\n`,
        ])
          expect(frozen.err).toContain(line);
        // The same command names a resume that is refused until then, and how that ends.
        const twin = await ana.run('cards create --bin bin_1 --amount 6');
        expect(twin).toMatchObject({ code: 14, err: expect.stringContaining(`select cardwright.${end};\n`) });
        expect(twin.err).toContain(`try: cardwright ops resume ${left}\n`);
        expect((await ben.run('journal move --to local')).err).toContain(
          `1 unknown, begun by ana, yours: ${taken}. For each, when`,
        );
        for (const op of ops) expect((await ana.run(`ops resume ${op}`)).code).toBe(0);
        // Nothing is left that could be done now.
        const stuck = await ana.run('journal move --to local');
        expect(stuck.err).toContain('try: cardwright ops show op_');
        await t.at.admin(`accept_failover('it goes on')`);
        for (const [machine, op] of [
          [ana, left],
          [ben, taken],
        ] as const)
          expect((await machine.run(`ops resume ${op} --yes`)).code).toBe(0);
        expect((await ana.run(`ops resume ${taken}`)).code).toBe(0);
        await t.at.admin(`freeze_account('moved to one machine')`);
        expect(await ana.run('journal move --to local')).toMatchObject({ code: 0 });
      },
    );

    it.each(firstOf([false, true], { isWhole }))(
      'is asked for what a command of this machine has left unsaid; lost there: %s',
      async isLost => {
        await using t = await team(here);
        const ana = await t.machine('ana');
        const lost = (why: string | null) =>
          t.at.root.call('update cardwright.account set lost_why = $2 where name = $1', [t.at.account, why]);
        // As after a kill: its end is in the database, and its copy on this machine alone says that nobody has seen it.
        const unsaid = async () => {
          await lost('a drill');
          throw new OutputError('check_failed', FULL);
        };
        expect((await ana.run(NAMED, { onOut: unsaid })).code).toBe(15);
        await lost(null);
        await t.at.admin(`freeze_account('moved to one machine')`);
        if (isLost) {
          for (const table of ['intent', 'segment', 'op']) await t.at.root.call(`delete from cardwright.${table}`, []);
          const unknown = await ana.run('journal move --to local');
          expect(unknown).toMatchObject({ code: 15, err: expect.stringContaining('try: cardwright journal push\n') });
          expect(await ana.run('journal push')).toMatchObject({ code: 0 });
        }
        const refused = await ana.run('journal move --to local');
        expect(refused).toMatchObject({ code: 14, err: expect.stringContaining('1 untold, yours: op_') });
        await t.at.admin(`add_member('ben', '{}')`);
        expect((await ana.run('journal move --to local --mine')).code).toBe(0);
        expect(await untoldOf(ana, LOCAL)).toHaveLength(1);
      },
    );

    it('is taken back by its only operator with what he has not seen, and he sees it there', async () => {
      await using t = await untold();
      const { ana, ops } = t;
      await t.at.admin(`add_member('ben', '{}')`);
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      expect((await untoldOf(ana, LOCAL)).toSorted()).toEqual([...ops].toSorted());
      for (const line of UNNAMED) {
        for (const more of ['', ' --intent other']) {
          const refused = await ana.run(line + more, LOCAL);
          expect({ line, more, code: refused.code, err: refused.err }).toMatchObject({
            line,
            more,
            code: 14,
            err: expect.stringContaining('cardwright ops resume op_'),
          });
        }
      }
      expect(await ana.run(`${NAMED} --json`, LOCAL)).toMatchObject({
        code: 0,
        out: expect.stringContaining('repeated'),
      });
      // Said once more it changes nothing of what was shown here.
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      expect(t.proxy.posts()).toHaveLength(t.posts);
      const left = await untoldOf(ana, LOCAL);
      expect(left).toHaveLength(2);
      for (const op of left) expect((await ana.run(`ops resume ${op}`, LOCAL)).code).toBe(0);
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      expect((await ana.run(CREATE, LOCAL)).code).toBe(0);
      expect(t.proxy.posts()).toHaveLength(t.posts + 1);
    });
  });
}

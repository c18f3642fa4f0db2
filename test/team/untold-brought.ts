/** Who began an operation that is brought from elsewhere is told what came of it, as of every other. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '../../src/core/durations.ts';
import { OutputError } from '../../src/core/errors.ts';
import { accountPrint } from '../../src/core/key-print.ts';
import { Secret } from '../../src/core/secret.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { realClock } from '../support/clocks.ts';
import { firstOf } from '../support/first-of.ts';
import type { World } from '../support/world.ts';
import { backupOf } from './account-backup.ts';
import { team, urlOf } from './team.ts';
import { testAccount } from './test-account.ts';

const FULL = { message: 'cannot write standard output: no space is left (ENOSPC)' };
/** The operation is done, and its command ends before it could say so. */
const fullAfter = (work: () => Promise<unknown>) => ({
  onOut: async () => {
    await work();
    throw new OutputError('check_failed', FULL);
  },
});
const full = fullAfter(async () => undefined);

const CREATE = 'cards create --bin bin_1 --amount 3 --label q1';
const NAMED = 'cards create --bin bin_1 --amount 4 --label q2 --intent q2';
const UNNAMED = NAMED.replace(' --intent q2', '');
const FUND = 'cards fund card_1 --amount 2';

/** `isWhole` adds more ways to be brought. */
export function untoldBrought({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('an operation that was brought from elsewhere', () => {
    let [here, there]: Database[] = [];
    beforeAll(async () => {
      [here, there] = await Promise.all([database(), database()]);
    });
    afterAll(() => Promise.all([here?.close(), there?.close()]));

    async function begun() {
      if (here === undefined) throw new Error('no database');
      const t = await team(here);
      return { ...t, ana: await t.machine('ana'), ben: await t.machine('ben') };
    }
    type Begun = Awaited<ReturnType<typeof begun>>;

    /** The service has done it, and nothing shows it. Resolves to the op. */
    async function lost({ proxy }: Begun, machine: World, line: string): Promise<string> {
      proxy.fail('POST', /\/(?:cards|fund)$/, 'drop-after');
      proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
      const { code, err } = await machine.run(`${line} --json`);
      proxy.mend();
      expect({ line, code }).toEqual({ line, code: 11 });
      return String(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op);
    }

    async function untoldOf(machine: World, more: Parameters<World['run']>[1] = {}): Promise<readonly string[]> {
      const { out } = await machine.run('ops list --state untold --json', more);
      return JSON.parse(out).data.map(({ op }: { op: string }) => op);
    }

    /** The same command is refused until its result was shown. */
    async function refused(t: Begun, line: string, op: string, more: Parameters<World['run']>[1] = {}) {
      const posts = t.proxy.posts().length;
      const again = await t.ana.run(line, more);
      expect({ line, code: again.code, err: again.err }).toMatchObject({
        line,
        code: 14,
        err: expect.stringContaining(`try: cardwright ops resume ${op}\n`),
      });
      expect(t.proxy.posts()).toHaveLength(posts);
      expect(await untoldOf(t.ana, more)).toContain(op);
      expect((await t.ana.run(`ops resume ${op}`, more)).code).toBe(0);
      expect(await untoldOf(t.ana, more)).not.toContain(op);
    }

    it('from the files of a machine, and a colleague has ended it', async () => {
      await using t = await begun();
      const op = await lost(t, t.ana, `${CREATE} --journal local`);
      expect((await t.ana.run('journal move --to shared')).code).toBe(0);
      expect((await t.ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).code).toBe(0);
      await refused(t, CREATE, op);
    });

    it.runIf(isWhole)('from the files of a machine, to which it had come without being shown', async () => {
      await using t = await begun();
      expect((await t.ben.run('cards create --bin bin_1 --amount 10 -q')).code).toBe(0);
      const op = await lost(t, t.ana, FUND);
      await t.ben.run(`ops takeover ${op} --reason "ana is away" --yes`);
      expect((await t.ben.run(`ops resolve ${op} --as done --note seen --yes`)).code).toBe(0);
      await t.at.admin(`add_member('ben', '{}')`);
      expect(await t.ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      if (there === undefined) throw new Error('no database');
      const at = await testAccount(there, {
        origin: t.proxy.url,
        keyPrint: name => accountPrint(new Secret(t.key), name),
      });
      const env = { CARDWRIGHT_JOURNAL_URL: urlOf(there, 'ana'), CARDWRIGHT_JOURNAL_ACCOUNT: at.account };
      expect(await t.ana.run('journal move --to shared', { env })).toMatchObject({ code: 0 });
      await refused(t, FUND, op, { env });
    });

    it('from a journal that this machine leaves, and its answer could not be printed', async () => {
      await using t = await begun();
      if (there === undefined) throw new Error('no database');
      expect((await t.ana.run(NAMED, full)).code).toBe(15);
      const [op = ''] = await untoldOf(t.ana);
      const at = await testAccount(there, {
        origin: t.proxy.url,
        keyPrint: name => accountPrint(new Secret(t.key), name),
      });
      const env = { CARDWRIGHT_JOURNAL_URL: urlOf(there, 'ana'), CARDWRIGHT_JOURNAL_ACCOUNT: at.account };
      const named = await t.ana.run('journal move --to shared', { env });
      const [, leave = ''] = /cardwright (journal move --to shared --leave \S+)\n/.exec(named.err) ?? [];
      expect(await t.ana.run(`${leave} --yes`, { env })).toMatchObject({ code: 0 });
      await refused(t, UNNAMED, op, { env });
    });

    it('after its database was lost, as a note that came too late', async () => {
      await using t = await begun();
      const losing = fullAfter(() =>
        t.at.root.call(`update cardwright.account set lost_why = 'a drill' where name = $1`, [t.at.account]),
      );
      expect((await t.ana.run(NAMED, losing)).code).toBe(15);
      for (const machine of [t.ana, t.ben]) expect((await machine.run('journal push')).code).toBe(0);
      await t.at.admin(`accept_failover('a drill')`);
      await t.ana.run('ops list');
      const [op = ''] = await untoldOf(t.ana);
      await refused(t, UNNAMED, op);
    });

    it.each(
      firstOf(
        [
          ['ana', 'ben'],
          ['ben', 'ana'],
        ],
        { isWhole },
      ),
    )('after its database has lost it: %s brings it first', async (...[first]) => {
      await using t = await begun();
      const op = await lost(t, t.ana, CREATE);
      expect((await t.ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).code).toBe(0);
      for (const table of ['intent', 'segment', 'op'])
        await t.at.root.call(`delete from cardwright.${table} where op = $1`, [op]);
      await t.at.root.call(`update cardwright.account set lost_why = 'a drill' where name = $1`, [t.at.account]);
      for (const machine of first === 'ana' ? [t.ana, t.ben] : [t.ben, t.ana])
        expect(await machine.run('journal push')).toMatchObject({ code: 0 });
      await t.at.admin(`accept_failover('a drill')`);
      if (first === 'ana') expect((await t.ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).code).toBe(0);
      await refused(t, CREATE, op);
    });

    it.each(
      firstOf(['whose answer could not be printed', 'that a colleague has ended, and has brought back'], { isWhole }),
    )('after its database has lost it, and this machine had shown it: one %s is over', async which => {
      await using t = await begun();
      const isOwn = which.startsWith('whose');
      const backup = await backupOf(t.at.root, t.at.account);
      if (isOwn) expect((await t.ana.run(NAMED, full)).code).toBe(15);
      const op = isOwn ? ((await untoldOf(t.ana))[0] ?? '') : await lost(t, t.ana, UNNAMED);
      if (!isOwn) expect((await t.ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).code).toBe(0);
      expect(await untoldOf(t.ana)).toEqual([op]);
      expect((await t.ana.run(`ops resume ${op}`)).code).toBe(0);
      await backup.restore();
      // The first who knows more says so.
      expect(await untoldOf(t.ana)).toEqual([]);
      for (const machine of [t.ben, t.ana]) expect(await machine.run('journal push')).toMatchObject({ code: 0 });
      await t.at.admin(`accept_failover('a drill')`);
      expect(await untoldOf(t.ana)).toEqual([]);
      expect(JSON.parse((await t.ana.run(`ops show ${op} --json`)).out)).toMatchObject({
        state: 'finished',
        done: 1,
      });
      expect(JSON.parse((await t.ana.run('journal check --json')).out)).toMatchObject({ flaws: [] });
      expect((await t.ana.run(UNNAMED)).code).toBe(0);
    });

    it.runIf(isWhole)('and when it is old, it is kept until then', async () => {
      await using t = await begun();
      expect((await t.ana.run(NAMED, full)).code).toBe(15);
      const [op = ''] = await untoldOf(t.ana);
      const clock = { ...realClock, now: () => Date.now() + 100 * DAY };
      const old = `update cardwright.op set ended_at = ended_at - interval '100 days' where op = $1`;
      await t.at.root.call(old, [op]);
      expect((await t.ben.run('ops prune --json --jq .page.total', { clock })).out).toBe('0\n');
      await refused(t, UNNAMED, op);
    });
  });
}

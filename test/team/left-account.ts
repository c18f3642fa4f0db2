/** While one machine goes on with an account alone, nobody else moves money over the shared journal until it comes back. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noteMoved } from '../../src/journal/store/moved.ts';
import { forgetMovedBack } from '../../src/journal/store/moved-back.ts';
import { placesIn } from '../../src/journal/store/paths.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { ended, type Home, home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { random, realClock, skippingClock } from '../support/clocks.ts';
import { firstOf } from '../support/first-of.ts';
import { words } from '../support/words.ts';
import type { World } from '../support/world.ts';
import { backupOf } from './account-backup.ts';
import { team } from './team.ts';

const CREATE = 'cards create --bin bin_1 --amount 3 --label q1 -q';
const FILE = 'cards create --file team.csv --yes';
const LOCAL = { env: { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' } };

/** `isWhole` adds moves that were cut off or refused, and a machine that is gone for good. */
export function leftAccount({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('an account that one machine goes on with', () => {
    let here: Database;
    let place: Home;
    beforeAll(async () => {
      [here, place] = await Promise.all([database(), home()]);
    });
    afterAll(async () => {
      await place?.[Symbol.asyncDispose]();
      await here.close();
    });

    type Team = Awaited<ReturnType<typeof team>>;

    /** Its request or the answer to it was lost, and nothing tells so. */
    async function unknown(
      t: Team,
      machine: World,
      how: 'drop-before' | 'drop-after' = 'drop-before',
    ): Promise<string> {
      t.proxy.fail('POST', /\/cards$/, how);
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
      const { code, err } = await machine.run(`${CREATE} --json`);
      t.proxy.mend();
      expect({ code, err }).toMatchObject({ code: 11 });
      return JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op;
    }

    /** Settled on the machine of ana, and made there by hand; the account takes on from everybody again. */
    async function settledHere() {
      const t = await team(here);
      const ana = await t.machine('ana');
      const op = await unknown(t, ana);
      await t.at.admin(`add_member('ben', '{}')`);
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      expect(await ana.run(`ops resolve ${op} --as not-done --note seen --yes`, LOCAL)).toMatchObject({ code: 0 });
      expect(await ana.run(CREATE, LOCAL)).toMatchObject({ code: 0 });
      await t.at.admin(`accept_failover('it goes on')`);
      await t.at.admin(`add_member('ben', '{read,operate}')`);
      expect(await t.cards()).toHaveLength(1);
      return { ...t, ana, op, posts: t.proxy.posts().length };
    }

    it('takes nothing from the machine that goes on with it, over the journal', async () => {
      await using t = await settledHere();
      const { ana, op } = t;
      for (const line of [
        `ops resume ${op} --resend-absent`,
        `ops resume ${op} --resend-absent --dry-run`,
        `ops takeover ${op} --reason "it is mine" --yes`,
        `ops resolve ${op} --as not-done --note seen --yes`,
      ]) {
        const { code, err } = await ana.run(line);
        expect({ line, code, err }).toMatchObject({
          code: 14,
          err: expect.stringContaining('were moved back to this machine from the account'),
        });
        expect(err).toContain('Then: cardwright journal move --to shared\n');
      }
      expect(t.proxy.posts()).toHaveLength(t.posts);
      expect(await t.cards()).toHaveLength(1);
    });

    it('takes nothing from anybody until that machine has come back, and then from everybody', async () => {
      await using t = await settledHere();
      const { ana, op } = t;
      const [ben, other] = [await t.machine('ben'), await t.machine('ana')];
      const lines = [
        [ben, `ops takeover ${op} --reason "ana is away" --yes`],
        [ben, `ops takeover ${op} --reason "ana is away" --dry-run`],
        [other, `ops resume ${op} --resend-absent`],
        [other, `ops resolve ${op} --as not-done --note seen --yes`],
        // It has made the card since, and nobody here knows of that.
        [ben, CREATE],
        [other, 'cards create --bin bin_1 --amount 9 --label other -q'],
        [ben, 'journal move --to shared'],
        [other, 'journal move --to local'],
        [other, 'journal move --to local --mine'],
      ] as const;
      for (const [machine, line] of lines) {
        const { code, err } = await machine.run(line);
        expect({ line, code, err }).toMatchObject({
          code: 14,
          err: expect.stringContaining(' was moved to one machine, ana@'),
        });
        expect(err).toContain('It comes back when that machine has run: cardwright journal move --to shared\n');
      }
      expect(t.proxy.posts()).toHaveLength(t.posts);
      expect(await ana.run('journal move --to shared')).toMatchObject({ code: 0 });
      expect(await t.at.ana.heads(t.at.account, { op })).toMatchObject([{ state: 'finished' }]);
      expect(await t.at.ana.status(t.at.account)).toMatchObject({ left_to: null });
      expect((await ben.run(`ops show ${op} --json`)).out).toContain('"not_sent": 1');
      expect((await ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).err).not.toContain('was moved to');
      expect(t.proxy.posts()).toHaveLength(t.posts);
      expect(await t.cards()).toHaveLength(1);
    });

    it.each(firstOf(['done', 'not-done'], { isWhole }))(
      'has what was recorded there, %s, also of what a colleague held',
      async as => {
        await using t = await team(here);
        const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
        const op = await unknown(t, ben);
        await t.at.admin(`add_member('ben', '{}')`);
        await t.at.endLeases();
        expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
        expect(await ana.run(`ops resolve ${op} --as ${as} --note seen --yes`, LOCAL)).toMatchObject({ code: 0 });
        await t.at.admin(`accept_failover('it goes on')`);
        for (const run of ['first', 'again']) {
          const moved = await ana.run('journal move --to shared');
          expect({ run, code: moved.code, err: moved.err }).toMatchObject({ code: 0 });
          const [head] = await t.at.ana.heads(t.at.account, { op });
          expect(head, run).toMatchObject({ state: 'finished', unknown: 0, holder: 'ana' });
        }
        await t.at.admin(`add_member('ben', '{read,operate}')`);
        const shown = JSON.parse((await ben.run(`ops show ${op} --json`)).out);
        expect(shown).toMatchObject(as === 'done' ? { done: 1 } : { not_sent: 1 });
        expect(await t.cards()).toHaveLength(0);
        expect(await ana.run('journal check')).toMatchObject({ code: 0 });
      },
    );

    it.runIf(isWhole)('comes back where an operation was shown here and ended there', async () => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      const op = await unknown(t, ana, 'drop-after');
      expect((await ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).code).toBe(0);
      await t.at.admin(`add_member('ben', '{}')`);
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      expect(await ana.run(`ops resume ${op}`, LOCAL)).toMatchObject({ code: 0 });
      await t.at.admin(`accept_failover('it goes on')`);
      expect(await ana.run('journal move --to shared')).toMatchObject({ code: 0 });
      // She has seen it in the folder of her machine.
      expect(await t.at.ana.heads(t.at.account, { op })).toMatchObject([{ state: 'finished', untold: false }]);
      expect(await t.cards()).toHaveLength(1);
    });

    it.runIf(isWhole)('goes on without that machine where an admin has named it', async () => {
      await using t = await settledHere();
      const { op } = t;
      const leftTo = async () => (await t.at.ben.status(t.at.account)).left_to;
      const to = await leftTo();
      expect(to).toMatch(/^ana@./);
      await t.at.admin(`accept_failover('another one', array['ben', 'ana@elsewhere'])`);
      expect(await leftTo()).toBe(to);
      await t.at.admin(`accept_failover('it burned', array['${to}'])`);
      expect(await leftTo()).toBeNull();
      const ben = await t.machine('ben');
      expect((await ben.run(`ops takeover ${op} --reason "it burned" --dry-run`)).err).not.toContain('was moved to');
    });

    const leave = { mine: 'journal move --to local --mine', frozen: 'journal move --to local' };
    it.each(firstOf(['mine', 'frozen'], { isWhole }))(
      'is left by one machine alone, %s, also where nothing is open and both have one name',
      async how => {
        await using t = await team(here);
        const [ana, other] = [await t.machine('ana'), await t.machine('ana')];
        expect(await ana.run(CREATE)).toMatchObject({ code: 0 });
        if (how === 'mine') await t.at.admin(`add_member('ben', '{}')`);
        else await t.at.admin(`freeze_account('one machine')`);
        // Said again it is done already.
        for (const machine of [ana, ana]) expect(await machine.run(leave[how])).toMatchObject({ code: 0 });
        for (const line of Object.values(leave)) {
          const { code, err } = await other.run(line);
          expect({ line, code, err }).toMatchObject({
            code: 14,
            err: expect.stringContaining('was moved to one machine, ana@'),
          });
        }
        expect((await other.run('journal status --json')).out).toContain('"left_to": "ana@');
        expect((await other.run(CREATE)).err).toContain(
          '  That is another state folder of a machine with the name of this one.\n',
        );
        expect((await other.run('doctor')).out).toContain('was moved to one machine, ana@');
        await t.at.admin(`accept_failover('it goes on')`);
        expect(await other.run(CREATE)).toMatchObject({ code: 14 });
        expect(await ana.run(CREATE, LOCAL)).toMatchObject({ code: 0 });
        expect(await ana.run('journal move --to shared')).toMatchObject({ code: 0 });
        expect(await other.run('cards create --bin bin_1 --amount 9 -q')).toMatchObject({ code: 0 });
        expect(await t.cards()).toHaveLength(3);
      },
    );

    /** A file of 24 rows that was killed when the first were made, taken along and finished by the one machine. */
    async function fileFinishedAlone() {
      const t = await team(here, { wallet: 500, delayMs: 60_000 });
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      for (const { folder } of [ana, ben])
        await writeFile(join(folder, 'team.csv'), `bin_id,amount\n${'bin_1,2\n'.repeat(24)}`);
      t.proxy.fail('POST', /\/cards$/, ...Array<'late-answer'>(24).fill('late-answer'));
      const child = place.start(words(FILE), { env: t.processEnv('ana', ana), cwd: ana.folder });
      const end = ended(child);
      await Promise.race([t.proxy.posted(3), end]);
      await t.proxy.answered();
      child.kill('SIGKILL');
      expect((await end).signal).toBe('SIGKILL');
      t.proxy.mend();
      const [{ op } = { op: '' }] = await t.at.ana.heads(t.at.account, { unfinished: true });
      await t.at.admin(`add_member('ben', '{}')`);
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      expect((await ana.run(FILE, LOCAL)).code).toBe(14);
      const resumed = await ana.run(`ops resume ${op} --resend-absent`, { ...LOCAL, clock: skippingClock() });
      expect(resumed).toMatchObject({ code: 0 });
      expect(await t.cards()).toHaveLength(24);
      return { ...t, ana, ben, op };
    }

    it('gets back a file that was killed, with every row once', { timeout: 120_000 }, async () => {
      await using t = await fileFinishedAlone();
      const { ana, ben, op } = t;
      await t.at.admin(`accept_failover('it goes on')`);
      await t.at.admin(`add_member('ben', '{read,operate}')`);
      const early = await ben.run(FILE);
      expect(early).toMatchObject({ code: 14, err: expect.stringContaining('was moved to one machine') });
      expect(await ana.run('journal move --to shared')).toMatchObject({ code: 0 });
      expect(JSON.parse((await ben.run(`ops show ${op} --json`)).out)).toMatchObject({ state: 'finished', done: 24 });
      for (const each of [ana, ben]) expect((await each.run(FILE)).code).toBe(14);
      expect(await t.cards()).toHaveLength(24);
      expect(await ana.run('journal check')).toMatchObject({ code: 0 });
    });

    it('goes on alone also where a backup from before was put in place of the database', async () => {
      await using t = await team(here);
      const [ana, other] = [await t.machine('ana'), await t.machine('ana')];
      const op = await unknown(t, ana);
      await t.at.admin(`add_member('ben', '{}')`);
      await t.at.endLeases();
      const backup = await backupOf(t.at.root, t.at.account);
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      expect(await ana.run(`ops resolve ${op} --as not-done --note seen --yes`, LOCAL)).toMatchObject({ code: 0 });
      expect(await ana.run(CREATE, LOCAL)).toMatchObject({ code: 0 });
      await backup.restore();
      await t.at.root.call(
        `update cardwright.account set frozen_why = null, left_to = null, left_machine = null where name = $1`,
        [t.at.account],
      );
      for (const machine of [ana, other]) expect((await machine.run('journal push')).code).toBe(0);
      await t.at.admin(`accept_failover('the backup of Monday')`);
      for (const line of [`ops resume ${op} --resend-absent`, CREATE]) {
        const { code, err } = await other.run(line);
        expect({ line, code, err }).toMatchObject({
          code: 14,
          err: expect.stringContaining('was moved to one machine, ana@'),
        });
      }
      expect(await ana.run('journal move --to shared')).toMatchObject({ code: 0 });
      expect(JSON.parse((await other.run(`ops show ${op} --json`)).out)).toMatchObject({
        state: 'finished',
        not_sent: 1,
      });
      expect(await t.cards()).toHaveLength(1);
    });

    it.runIf(isWhole)('stays with that machine where the way back is refused: nothing there has changed', async () => {
      await using t = await team(here);
      const ana = await t.machine('ana');
      await t.at.admin(`add_member('ben', '{}')`);
      expect(await ana.run(CREATE)).toMatchObject({ code: 0 });
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      const back = await ana.run('journal move --to shared');
      expect(back).toMatchObject({ code: 14, err: expect.stringContaining('was frozen by ana') });
      expect(await ana.run('cards fund card_1 --amount 1', LOCAL)).toMatchObject({ code: 0 });
    });

    it.runIf(isWhole).each([
      ['mine', 'journal move --to local --mine'],
      ['frozen', 'journal move --to local'],
    ] as const)('names the move that was cut off, %s', async (how, command) => {
      await using t = await team(here);
      const ana = await t.machine('ana');
      await t.at.admin(how === 'mine' ? `add_member('ben', '{}')` : `freeze_account('one machine')`);
      expect(await ana.run(command)).toMatchObject({ code: 0 });
      const { journal_id: journal } = await t.at.ana.status(t.at.account);
      const disk = createDisk({
        platform: 'linux',
        random,
        warn: () => undefined,
        lock: { pid: process.pid, clock: realClock, random },
      });
      const local = { disk, places: placesIn(join(ana.folder, 'state')) };
      // As the files are in the middle of it.
      await noteMoved(local, { origin: t.proxy.url, mode: 'test', journal, account: t.at.account, back: how });
      await forgetMovedBack(local, { origin: t.proxy.url, mode: 'test' });
      if (how === 'mine') await t.at.admin(`accept_failover('it goes on')`);
      for (const env of [{}, LOCAL]) {
        const { code, err } = await ana.run(CREATE, env);
        expect({ code, err }).toMatchObject({ code: 14, err: expect.stringContaining(`${command}`) });
        expect(err).not.toContain('move --to shared');
      }
      if (how === 'mine') await t.at.admin(`freeze_account('one machine')`);
      expect(await ana.run(command)).toMatchObject({ code: 0 });
      expect(await ana.run(CREATE, LOCAL)).toMatchObject({ code: 0 });
    });

    it.runIf(isWhole)(
      'may have sent what is open where it is gone for good: that is looked for',
      { timeout: 120_000 },
      async () => {
        await using t = await fileFinishedAlone();
        const { left_to: to } = await t.at.ana.status(t.at.account);
        await t.at.admin(`accept_failover('it burned', array['${to}'])`);
        const other = await t.machine('ana');
        const { code, err } = await other.run(`ops resume ${t.op} --resend-absent`, { clock: skippingClock() });
        expect({ code, err }).toMatchObject({ code: 0 });
        expect(await t.cards()).toHaveLength(24);
        expect(JSON.parse((await other.run(`ops show ${t.op} --json`)).out)).toMatchObject({
          state: 'finished',
          done: 24,
        });
      },
    );

    it.runIf(isWhole)('is on its way back where a name belongs to two, and both journals name the move', async () => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      await t.at.admin(`add_member('ben', '{}')`);
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      expect((await ana.run(`${CREATE} --intent po-9`, LOCAL)).code).toBe(0);
      const { left_to: to } = await t.at.ana.status(t.at.account);
      await t.at.admin(`accept_failover('it burned', array['${to}'])`);
      await t.at.admin(`add_member('ben', '{read,operate}')`);
      expect((await ben.run('cards create --bin bin_1 --amount 5 --intent po-9 -q')).code).toBe(0);
      expect((await ana.run('journal move --to shared')).code).toBe(15);
      for (const env of [{}, LOCAL]) {
        const { code, err } = await ana.run(CREATE, env);
        expect({ code, err }).toMatchObject({
          code: 14,
          err: expect.stringContaining('are on their way to the account'),
        });
        expect(err).toMatch(/^ {2}try: .*cardwright journal move --to shared/m);
      }
    });
  });
}

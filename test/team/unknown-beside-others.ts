/** What is said of an unknown outcome while others use the wallet through the same journal: their moves are taken off. */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MINUTE } from '../../src/core/durations.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import { type RunOptions, WORLD_TIME, type World } from '../support/world.ts';
import { team } from './team.ts';

/** `isWhole` adds the journal of one machine. */
export function unknownBesideOthers({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('beside others', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    const minutesOn = (minutes: number): Pick<RunOptions, 'clock'> => ({
      clock: {
        now: () => Date.parse(WORLD_TIME) + minutes * MINUTE,
        monotonic: () => performance.now(),
        // Pauses between two looks pass at once; a lease is renewed in its time.
        sleep: (ms, signal) => (ms > 8_000 ? wait(ms, undefined, { ref: false, signal }) : Promise.resolve()),
      },
    });

    /** Two machines over the shared journal, or two commands over the files of one; a card each. */
    async function two(kept: 'shared' | 'local') {
      const t = await team(here, { wallet: 500 });
      const alone = { CARDWRIGHT_JOURNAL_URL: '' };
      const one = await t.machine('ana', kept === 'local' ? alone : {});
      const other = kept === 'local' ? one : await t.machine('ben');
      for (const machine of [one, other])
        expect(await machine.run('cards create --bin bin_1 --amount 20', minutesOn(0))).toMatchObject({ code: 0 });
      return { ...t, one, other };
    }

    async function lost(machine: World, line: string): Promise<string> {
      const { code, err } = await machine.run(`${line} --json`, minutesOn(10));
      expect(code).toBe(11);
      return String(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op);
    }

    async function verdictOf(machine: World, op: string, minutes = 60): Promise<string | undefined> {
      const { err, out } = await machine.run(`ops resume ${op} --dry-run`, minutesOn(minutes));
      return /Verdict: (.*)/.exec(`${out}${err}`)?.[1];
    }

    const done = async (machine: World, line: string, minutes: number) =>
      expect(await machine.run(line, minutesOn(minutes))).toMatchObject({ code: 0 });

    describe.each(firstOf(['shared', 'local'], { isWhole }))('in a %s journal', kept => {
      it('a fund that was done is probably done, whatever others have bought meanwhile', async () => {
        await using t = await two(kept);
        t.proxy.fail('POST', /\/fund$/, 'drop-after');
        const op = await lost(t.one, 'cards fund card_1 --amount 5');
        await done(t.other, 'cards fund card_2 --amount 7', 30);
        await done(t.other, 'cards withdraw card_2 --amount 3', 31);
        await done(t.other, 'cards fund card_1 --amount 2', 32);
        expect(await verdictOf(t.one, op)).toMatch(
          /^probably done: the card holds \$5\.00 more, its amount; the wallet holds \$5\.00 less, its amount; what other operations of this journal have moved is taken off/,
        );
        expect((await t.one.run(`ops resume ${op}`, minutesOn(60))).code).toBe(11);
        const recorded = await t.one.run(`ops resolve ${op} 1 --as not-done --note "not there"`, minutesOn(61));
        expect([recorded.code, recorded.err]).toEqual([
          0,
          expect.stringContaining('warning: row 1 is probably done, by the looks so far: the card holds $5.00 more'),
        ]);
      });

      it('one that was not done has left no trace, though others have moved card and wallet by its amount', async () => {
        await using t = await two(kept);
        t.proxy.fail('POST', /\/fund$/, 'drop-before');
        const op = await lost(t.one, 'cards fund card_1 --amount 5');
        await done(t.other, 'cards fund card_1 --amount 3', 30);
        await done(t.other, 'cards fund card_1 --amount 2', 31);
        expect(await verdictOf(t.one, op)).toMatch(
          /^no trace yet: neither the card nor the wallet has moved; what other/,
        );
      });

      it('one that other unknown ones may explain cannot be determined', async () => {
        await using t = await two(kept);
        t.proxy.fail('POST', /\/fund$/, 'drop-before', 'drop-after', 'drop-after');
        const op = await lost(t.one, 'cards fund card_1 --amount 5');
        expect(await t.other.run('cards fund card_1 --amount 2', minutesOn(30))).toMatchObject({ code: 11 });
        expect(await verdictOf(t.one, op)).toMatch(/^no trace yet/);
        expect(await t.other.run('cards fund card_1 --amount 3', minutesOn(31))).toMatchObject({ code: 11 });
        expect(await verdictOf(t.one, op)).toMatch(/^cannot be determined: .*may have moved them meanwhile/);
      });

      it('a create that was not done has left no trace, though another one cost as much', async () => {
        await using t = await two(kept);
        t.proxy.fail('POST', /\/cards$/, 'drop-before');
        const op = await lost(t.one, 'cards create --bin bin_1 --amount 2 --label ads');
        await done(t.other, 'cards create --bin bin_1 --amount 2', 30);
        expect(await verdictOf(t.one, op)).toMatch(/^no trace yet: the wallet has not moved; what other/);
      });
    });
  });
}

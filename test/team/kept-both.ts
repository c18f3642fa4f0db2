/** One name in the files of a machine and in the shared journal: a person who has looked at both ends that. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placesIn } from '../../src/journal/store/paths.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import type { World } from '../support/world.ts';
import { team } from './team.ts';

/** `isWhole` adds names that get free, keys, and operations that are elsewhere. */
export function keptBoth({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('one name in both journals', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    const create = (amount: number, name: string) =>
      `cards create --bin bin_1 --amount ${amount} --intent ${name} --json --jq .id`;

    /** As an older release did it, or a state folder that was copied by hand: what was begun in the database is not noted. */
    const forgetNote = (ana: World) => rm(placesIn(join(ana.folder, 'state')).moved);

    /** The last line that a message gives for this. */
    function commandIn(err: string, start: string): string {
      const [, command] = new RegExp(`cardwright (${start}.*?)\\n`).exec(err) ?? [];
      if (command === undefined) throw new Error(`no such command in: ${err}`);
      return command;
    }

    async function lockedOut() {
      const t = await team(here);
      const ana = await t.machine('ana');
      expect((await ana.run(create(2, 'jl-1'))).out).toBe('card_1\n');
      await forgetNote(ana);
      expect((await ana.run(`${create(2, 'jl-1')} --journal local`)).out).toBe('card_2\n');
      const refused = await ana.run('cards fund card_1 --amount 1');
      expect([refused.code, refused.err]).toEqual([14, expect.stringContaining('journal move --to shared')]);
      return { ...t, ana };
    }

    it('moves both where somebody says that both have happened, and never makes a third', async () => {
      await using t = await lockedOut();
      const { ana } = t;
      const made = t.proxy.posts().length;
      const clash = await ana.run('journal move --to shared');
      expect(clash.code).toBe(15);
      expect(clash.err).toMatch(
        /the intent jl-1 of op_\w+ belongs to op_\w+ in the shared journal\. op_\w+ was not moved/,
      );
      // What was moved is not named as being in the way.
      const waits = await ana.run('cards fund card_1 --amount 1');
      expect([waits.code, waits.err]).toEqual([14, expect.stringContaining('names what is in its way')]);
      const keep = commandIn(clash.err, 'journal move --to shared --keep-both');
      for (const look of ['ops show .* --journal local', 'ops show '])
        expect((await ana.run(commandIn(clash.err, look))).code).toBe(0);
      const alone = await ana.run(keep);
      expect([alone.code, alone.err]).toEqual([3, expect.stringContaining(`${keep} --yes`)]);
      const moved = await ana.run(`${keep} --yes --json`);
      expect([moved.code, JSON.parse(moved.out)]).toEqual([0, { to: 'shared', moved: 1, rows: 1, there: 0, names: 0 }]);
      // The name is that of the first card, for everybody.
      expect((await ana.run(create(2, 'jl-1'))).out).toBe('card_1\n');
      expect((await (await t.machine('ben')).run(create(2, 'jl-1'))).out).toBe('card_1\n');
      expect((await ana.run('cards fund card_1 --amount 1 -q')).code).toBe(0);
      expect(t.proxy.posts()).toHaveLength(made + 1);
      expect(await t.cards()).toHaveLength(2);
      const checked = await ana.run('journal check --json');
      expect([checked.code, JSON.parse(checked.out)]).toMatchObject([
        0,
        {
          ok: true,
          flaws: [],
          clashes: [{ intent: 'jl-1', by: 'ana', why: expect.stringContaining('both have happened') }],
        },
      ]);
      const log = (await ana.run('audit list --shared --json')).out;
      expect(log).toContain('"its intent belongs to op_');
      expect((await ana.run('journal move --to shared -q')).code).toBe(0);
    });

    it('lets a row be settled first of which nobody knows whether it happened', async () => {
      await using t = await team(here);
      const ana = await t.machine('ana');
      expect((await ana.run(create(2, 'jl-2'))).out).toBe('card_1\n');
      await forgetNote(ana);
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      expect((await ana.run(`${create(2, 'jl-2')} --journal local`)).code).toBe(11);
      t.proxy.mend();
      const clash = await ana.run('journal move --to shared');
      expect(clash.code).toBe(15);
      const keep = `${commandIn(clash.err, 'journal move --to shared --keep-both')} --yes`;
      const unsettled = await ana.run(keep);
      expect([unsettled.code, unsettled.err]).toEqual([14, expect.stringContaining('row 1 of op_')]);
      const settle = commandIn(unsettled.err, 'ops resolve .*--as done');
      expect((await ana.run(`${settle.replace('"why"', 'seen')} -q`)).code).toBe(0);
      expect((await ana.run(`${keep} -q`)).code).toBe(0);
      expect((await ana.run(create(2, 'jl-2'))).out).toBe('card_1\n');
      expect(await t.cards()).toHaveLength(2);
      expect((await ana.run('journal check -q')).code).toBe(0);
    });

    it.runIf(isWhole)('frees the name of a row that came to nothing, and moves the rest without asking', async () => {
      await using t = await team(here, { wallet: 10 });
      const ana = await t.machine('ana');
      expect((await ana.run(create(2, 'jl-3'))).out).toBe('card_1\n');
      await forgetNote(ana);
      expect((await ana.run(`${create(200, 'jl-3')} --journal local`)).code).not.toBe(0);
      expect((await ana.run('journal move --to shared -q')).code).toBe(0);
      expect((await ana.run(create(2, 'jl-3'))).out).toBe('card_1\n');
    });

    it.runIf(isWhole)('keeps an idempotency key with the operation that has it there', async () => {
      await using t = await team(here);
      const ana = await t.machine('ana');
      const line = 'cards create --bin bin_1 --amount 3 --idempotency-key key-of-ana-0009 --json --jq .id';
      expect((await ana.run(line)).out).toBe('card_1\n');
      await forgetNote(ana);
      expect((await ana.run(`${line} --journal local`)).out).toBe('card_2\n');
      const clash = await ana.run('journal move --to shared');
      expect([clash.code, clash.err]).toEqual([
        15,
        expect.stringContaining('the idempotency key key-of-ana-0009 of op_'),
      ]);
      const keep = commandIn(clash.err, 'journal move --to shared --keep-both');
      expect((await ana.run(`${keep} --yes -q`)).code).toBe(0);
      expect((await ana.run(line)).out).toBe('card_1\n');
      expect(await t.cards()).toHaveLength(2);
    });

    it.runIf(isWhole)('names an operation that is not on this machine', async () => {
      await using t = await lockedOut();
      const wrong = 'op_00000000000000000000000001';
      const forgotten = await t.ana.run('journal move --to shared --keep-both --yes');
      expect([forgotten.code, forgotten.err]).toEqual([2, expect.stringContaining('"--yes" is no whole id')]);
      const refused = await t.ana.run(`journal move --to shared --keep-both ${wrong} --yes`);
      expect([refused.code, refused.err]).toEqual([
        2,
        expect.stringContaining(`${wrong} is no operation of this machine`),
      ]);
    });
  });
}

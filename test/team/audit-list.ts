/** The shared audit log as a person reads it: amounts, outcomes, and when something happened. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { WORLD_TIME, type World } from '../support/world.ts';
import { team } from './team.ts';

interface Line {
  readonly event: string;
  readonly operation: string;
  readonly who: string;
  readonly at: string;
  readonly recorded_at?: string;
  readonly amount?: number;
  readonly outcome?: string;
  readonly card_id?: string;
  readonly row?: number;
}

/** `isWhole` adds times, runs on one machine and many lines. */
export function auditList({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('audit list --shared', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    const linesOf = async (machine: World, operation: string) =>
      (JSON.parse((await machine.run('audit list --shared --json')).out).data as Line[]).filter(
        line => line.operation === operation,
      );

    it('has the amount and the outcome of what moved money', async () => {
      await using t = await team(here, { wallet: 40 });
      const machine = await t.machine('ana');
      expect((await machine.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
      expect((await machine.run('cards fund card_9 --amount 7')).code).toBe(5);
      await writeFile(join(machine.folder, 'few.csv'), 'card_id,amount\ncard_1,1\ncard_9,2\ncard_1,3\n');
      expect((await machine.run('cards fund --file few.csv --yes --keep-going')).code).toBe(9);
      expect(await linesOf(machine, 'cards create')).toMatchObject([
        { event: 'begun', amount: 5 },
        { event: 'outcome', amount: 5, outcome: 'done' },
      ]);
      const [begun, failed, , some] = await linesOf(machine, 'cards fund');
      expect([begun?.amount, failed?.amount, failed?.outcome, some?.amount, some?.outcome]).toEqual([
        7,
        undefined,
        'refused',
        4,
        '2 of 3 done',
      ]);
      const page = await machine.run('audit list --shared', { terminal: 120 });
      expect(page.out.replace(/\x1b\[\d+m/g, '')).toMatch(/outcome +ana@desk .*cards create .* \$5\.00 +done/);
      // What is kept is printed as it is.
      expect((await machine.run('audit export --shared')).out).toContain('"cents":500');
    });

    it.runIf(isWhole)('says when a line happened, and when it was brought', async () => {
      await using t = await team(here);
      const machine = await t.machine('ana');
      expect((await machine.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
      expect((await machine.run('cards freeze card_1')).code).toBe(0);
      expect((await machine.run('journal push')).code).toBe(0);
      const lines = await linesOf(machine, 'cards.freeze');
      expect(lines).toMatchObject([{ event: 'write' }, { event: 'outcome', outcome: 'done' }]);
      for (const { at, recorded_at } of lines) {
        expect(at).toBe(WORLD_TIME);
        expect(Date.parse(recorded_at ?? '')).toBeGreaterThan(Date.parse('2026-01-01T00:00:00Z'));
        expect(recorded_at).not.toBe(at);
      }
      const wide = await machine.run('audit list --shared -o wide', { terminal: 300 });
      expect(wide.out).toContain('BROUGHT');
      // What was never brought later happened when it was written.
      const [created] = await linesOf(machine, 'cards create');
      expect(created?.recorded_at).toBeUndefined();
    });

    it.runIf(isWhole)('has a line for each card that a run on this machine alone has frozen', async () => {
      await using t = await team(here);
      const machine = await t.machine('ana');
      const cards = ['card_1', 'card_2', 'card_3'];
      for (const card of cards)
        expect((await machine.run(`cards create --bin bin_1 --amount 5 --label ${card} -q`)).out).toBe(`${card}\n`);
      await writeFile(join(machine.folder, 'stolen.csv'), `card_id\n${cards.join('\n')}\n`);
      expect((await machine.run('cards freeze --file stolen.csv --journal local --yes')).code).toBe(0);
      const pushed = await machine.run('journal push', { terminal: 200 });
      expect(pushed.out).toBe('Brought 5 lines to its audit log.\n');
      expect(JSON.parse((await machine.run('journal push --json')).out)).toMatchObject({ audit_lines: 0 });
      const rows = (await linesOf(machine, 'cards.freeze')).filter(({ row }) => row !== undefined);
      expect(rows.map(({ card_id }) => card_id).sort()).toEqual(cards);
      for (const line of rows) expect(line).toMatchObject({ event: 'outcome', who: 'ana@desk', outcome: 'done' });
      const one = await machine.run('audit list --shared --card card_2 --json');
      expect(JSON.parse(one.out).data).toMatchObject([{ operation: 'cards.freeze', at: WORLD_TIME }]);
      expect((await machine.run('audit verify --shared')).code).toBe(0);
      expect((await machine.run('journal check')).code).toBe(0);
    });

    it('has the lines of a run that was killed once its resume writes them down, with the time of the deed', async () => {
      await using t = await team(here);
      const machine = await t.machine('ana');
      expect((await machine.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
      await writeFile(join(machine.folder, 'stolen.csv'), 'card_id\ncard_1\n');
      expect((await machine.run('cards freeze --file stolen.csv --journal local --yes')).code).toBe(0);
      // As a kill leaves it that came right behind the outcome in the journal: the line of the run alone is there.
      const log = join(machine.folder, 'state', 'audit.jsonl');
      const lines = (await readFile(log, 'utf8'))
        .trim()
        .split('\n')
        .map(line => JSON.parse(line));
      const { seq, hash, op } = lines.find(({ event }) => event === 'run');
      await writeFile(log, (await readFile(log, 'utf8')).split('\n').slice(0, seq).join('\n').concat('\n'));
      await writeFile(join(machine.folder, 'state', 'audit.head'), `${String(seq).padStart(12, '0')} ${hash}\n`);
      await rm(join(machine.folder, 'state', 'team', 'notes'), { recursive: true });
      expect((await machine.run(`ops resume ${op} --journal local --yes`)).code).toBe(0);
      expect((await machine.run('journal push')).code).toBe(0);
      expect(await linesOf(machine, 'cards.freeze')).toMatchObject([
        { card_id: 'card_1', outcome: 'done', at: WORLD_TIME },
      ]);
    });

    it.runIf(isWhole)('brings all of many lines with a push, and some with another command', async () => {
      await using t = await team(here, { wallet: 1000 });
      const machine = await t.machine('ana');
      const count = 230;
      await writeFile(join(machine.folder, 'many.csv'), `bin_id,amount\n${'bin_1,1\n'.repeat(count)}`);
      expect((await machine.run('cards create --file many.csv --yes -q')).code).toBe(0);
      const ids = (await machine.run('cards list --all -q')).out;
      await writeFile(join(machine.folder, 'ids.csv'), `card_id\n${ids}`);
      expect((await machine.run('cards freeze --file ids.csv --journal local --yes -q')).code).toBe(0);
      expect((await machine.run('ops list')).err).toContain('now has 200 lines');
      expect(JSON.parse((await machine.run('journal push --json')).out)).toMatchObject({
        audit_lines: count + 2 - 200,
      });
      const rows = (await linesOf(machine, 'cards.freeze')).filter(({ row }) => row !== undefined);
      expect(new Set(rows.map(({ card_id }) => card_id)).size).toBe(count);
    });
  });
}

/** The shared audit log as a person reads it: amounts, outcomes, and when something happened. */
import { writeFile } from 'node:fs/promises';
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

  it('says when a line happened, and when it was brought', async () => {
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
});

/** A backup was put in the place of the database, and nobody has said so: whoever looks first on a machine that knows more is warned. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import type { World } from '../support/world.ts';
import { team } from './team.ts';

/** Makes the machine know a line that the database does not hold. */
async function knowsMore({ folder }: World, account: string, more: number): Promise<number> {
  const root = join(folder, 'state', 'team');
  const [journal = ''] = await readdir(root);
  const path = join(root, journal, `${account}.head`);
  const seq = JSON.parse(await readFile(path, 'utf8')).seq + more;
  await writeFile(path, JSON.stringify({ seq, hash: '0'.repeat(64) }));
  return seq;
}

describe.skipIf(missing())('a look at a journal that lacks what was written last', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it.each([
    ['is shorter', 2],
    ['has another line there', -1],
  ])('where it %s', async (_, more) => {
    await using t = await team(here);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    expect((await ana.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
    const whole = await ana.run('journal status --json');
    expect([whole.code, whole.err, JSON.parse(whole.out).lost]).toEqual([0, '', null]);
    const seq = await knowsMore(ana, t.at.account, more);
    const why = `this machine has seen line ${seq} of its audit log, which it does not hold`;

    const status = await ana.run('journal status --json');
    expect([status.code, JSON.parse(status.out)]).toMatchObject([0, { moved: false, lost: why }]);
    for (const line of ['journal status', 'audit list --shared']) {
      const { code, err } = await ana.run(line);
      expect([line, code, err]).toEqual([line, 0, expect.stringContaining(`${why}. Next: cardwright journal push`)]);
    }
    const verified = await ana.run('audit verify --shared');
    expect([verified.code, verified.out], verified.err).toEqual([15, '']);
    expect(verified.err.match(/has seen line/g)).toHaveLength(1);
    expect(verified.err).toContain(`lacks what was written last: ${why}`);
    expect(verified.err).toContain(`select cardwright.accept_failover('${t.at.account}', 'why');`);
    expect(verified.err).toContain('try: cardwright journal push\n');
    const found = JSON.parse((await ana.run('doctor --json')).out).data;
    expect(found.filter(({ check }: { check: string }) => check === 'shared journal')).toMatchObject([
      { status: 'fail', says: expect.stringContaining(why), hint: 'cardwright journal push' },
    ]);
    // To look writes nothing: nobody else is stopped by it.
    expect(JSON.parse((await ben.run('journal status --json')).out)).toMatchObject({ lost: null });
    expect((await ben.run('audit verify --shared')).code).toBe(0);
    expect((await ben.run('cards fund card_1 --amount 1 -q')).code).toBe(0);
  });

  it('says in words where the database stands, and counts one as one', async () => {
    await using t = await team(here);
    const machine = await t.machine('ana');
    expect((await machine.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
    const page = async () => (await machine.run('journal status', { terminal: 120 })).out;
    expect(await page()).toMatch(/^Database +the one that the account knows$/m);
    expect((await machine.run('journal check', { terminal: 120 })).out).toMatch(
      /^Whole: \d+ lines, 1 operation with \d+ records, 1 marked card\.$/m,
    );
    await t.at.root.call(`update cardwright.account set system_identifier = 'another' where name = $1`, [t.at.account]);
    expect(await page()).toMatch(
      /^Database +restored, copied or failed over; nothing is written until an admin accepts it$/m,
    );
  });
});

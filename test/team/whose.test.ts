/** In a journal of several people every look at it says whose an operation is. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { world } from '../support/world.ts';
import { team } from './team.ts';

describe.skipIf(missing())('whose an operation is', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it('stands in ops list and ops show', async () => {
    await using t = await team(here);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    const { intent } = JSON.parse((await ana.run('cards create --bin bin_1 --amount 10 --intent po-1 --json')).out);
    await ben.run('cards fund card_1 --amount 5 -q');
    expect(JSON.parse((await ben.run('ops list --json')).out).data).toMatchObject([
      { command: 'cards fund', holder: 'ben', host: expect.stringMatching(/./) },
      { command: 'cards create', holder: 'ana' },
    ]);
    const list = await ben.run('ops list', { terminal: 80 });
    const over = await ben.run(`ops takeover ${intent.op} --reason "ana is away"`);
    expect(over).toMatchObject({
      code: 0,
      err: expect.stringContaining(`${intent.op} has ended already: nothing is taken`),
    });
    expect((await ben.run('audit list --shared -o tsv')).out).not.toContain('ana is away');
    expect(list.out).toMatch(/HOLDER/);
    expect(list.out).toMatch(/cards create .* ana$/m);
    expect(JSON.parse((await ben.run(`ops show ${intent.op} --json`)).out)).toMatchObject({ holder: 'ana' });
    expect((await ben.run(`ops show ${intent.op}`, { terminal: 80 })).out).toMatch(/^Holder +ana on \S+$/m);
  });

  it('is nobody to be named on one machine', async () => {
    await using alone = await world();
    await alone.run('cards create --bin bin_1 --amount 10 -q');
    expect((await alone.run('ops list', { terminal: 80 })).out).not.toMatch(/HOLDER/);
    const [op] = JSON.parse((await alone.run('ops list --json')).out).data;
    expect(op).not.toHaveProperty('holder');
    expect((await alone.run(`ops show ${op.op}`, { terminal: 80 })).out).not.toMatch(/^Holder/m);
  });

  it('is said of a file that a colleague has run', async () => {
    await using t = await team(here);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    const file = join(ana.folder, 'cards.csv');
    await writeFile(file, 'bin_id,amount,label\nbin_1,2,one\nbin_1,2,two\n');
    const line = `cards create --file ${file} --yes`;
    expect((await ana.run(line)).code).toBe(0);
    expect((await ben.run(line)).err).toMatch(/was finished by ana on \S+ less than 24 hours ago, 2 of 2 rows done/);
    expect((await ana.run(line)).err).toContain('was finished less than 24 hours ago, 2 of 2 rows done');
  });
});

describe.skipIf(missing())('journal status at a terminal', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it('says caps in dollars, and nothing of what is not', async () => {
    await using t = await team(here);
    const ana = await t.machine('ana');
    await t.at.admin(`set_cap('max_per_day', 80000)`);
    await t.at.admin(`set_rule('approve_above', 1500)`);
    await t.at.admin(`set_rule('approvals_needed', 2)`);
    const { out } = await ana.run('journal status', { terminal: 80 });
    expect(out).toMatch(/^Used +\$0\.00 on \d{4}-\d\d-\d\d \(UTC\)$/m);
    expect(out).toMatch(/^Caps +max_per_day \$800\.00$/m);
    expect(out).toMatch(/^Approval +approve_above \$15\.00, approvals_needed 2$/m);
    expect(out).toMatch(/^BINs +all$/m);
    expect(out).not.toMatch(/Frozen|Lost|Moved/);
    await t.at.admin(`freeze_account('moved away')`);
    expect((await ana.run('journal status', { terminal: 80 })).out).toMatch(/^Frozen +moved away, by \S+/m);
  });
});

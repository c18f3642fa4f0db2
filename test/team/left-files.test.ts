/** What a command that was killed while it wrote a small file has left beside it is in nobody's way, and does not stay for ever. */
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { team } from './team.ts';

const HEX = '0123456789abcdef';

describe.skipIf(missing())('files that a killed command has left', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it('are ignored by every command, and go when they are old', async () => {
    await using t = await team(here);
    const ana = await t.machine('ana');
    expect((await ana.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
    const root = join(ana.folder, 'state', 'team');
    const [journal = ''] = await readdir(root);
    const folder = join(root, journal);
    const [young, old] = [`${t.at.account}.head.tmp-${HEX}`, `${t.at.account}.head.tmp-${HEX.replace('0', 'f')}`];
    const left = [
      join(folder, young),
      join(folder, old),
      join(folder, `.machine.${HEX}`),
      join(root, `left.tmp-${HEX}`),
      join(folder, t.at.account, 'kept', `left.tmp-${HEX}`),
    ];
    for (const path of left) await writeFile(path, '', { mode: 0o600 });
    await utimes(join(folder, old), 0, 0);
    const { data } = JSON.parse((await ana.run('doctor --json')).out);
    // The folder was used: what a machine knows of the shared journal lies there.
    expect(data.find(({ check }: { check: string }) => check === 'state')).toMatchObject({
      status: 'ok',
      says: join(ana.folder, 'state'),
    });
    const failed = data.filter(({ status }: { status: string }) => status === 'fail');
    // The clock of the test is not that of the service.
    expect(failed.map(({ check }: { check: string }) => check)).toEqual(['clock']);
    const lines = ['ops list', 'ops list --local', 'journal status', 'books reconcile', 'cards fund card_1 --amount 2'];
    for (const line of lines) {
      const { code, err } = await ana.run(`${line} --json`);
      expect({ line, code, err }).toMatchObject({ code: 0 });
    }
    const names = await readdir(folder);
    expect([names.includes(young), names.includes(old)]).toEqual([true, false]);
  });
});

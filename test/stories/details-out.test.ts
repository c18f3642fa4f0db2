import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

const REVEAL = 'cards details card_1 --reveal --out';

test('card details go into a new file that only its owner reads, and nowhere else', async () => {
  await using here = await world();
  await here.run('cards create --bin bin_1 --amount 5');
  const { code, all } = await here.run(`${REVEAL} card.json --debug`);
  expect(code).toBe(0);
  const path = join(here.folder, 'card.json');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const { number, cvv } = JSON.parse(await readFile(path, 'utf8')) as { number: string; cvv: string };
  expect(number).toMatch(/^\d{16}$/);
  expect(cvv).toMatch(/^\d{3}$/);
  expect(all).not.toContain(number);
});

test('a file that cannot be made is said before the card is asked for', async () => {
  await using here = await world();
  await here.run('cards create --bin bin_1 --amount 5');
  await writeFile(join(here.folder, 'there'), 'mine');
  await symlink(join(here.folder, 'nowhere'), join(here.folder, 'dangling'));
  for (const path of ['there', 'dangling', 'no/folder/x', 'there/x', '.', '']) {
    const { code, err } = await here.run(`cards details card_1 --reveal --out '${path}'`);
    expect({ path, code, err }).toEqual({ path, code: 2, err: expect.stringContaining('--out') });
  }
  const { out } = await here.run('audit list --event reveal --json');
  expect(JSON.parse(out)).toMatchObject({ data: [] });
});

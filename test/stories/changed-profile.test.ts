/** A profile file that something else than the program has changed, and the way a person accepts it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

test('another host: no command uses the profile until it was shown and accepted', async () => {
  await using here = await world({ env: { CARDWRIGHT_SANDBOX: '' } });
  const login = 'login --profile team --base-url https://service.invalid/v1 --key-stdin';
  expect((await here.run(login, { stdin: 'sk_test_CANARYaaaa1111\n' })).code).toBe(0);
  const path = join(here.folder, 'config', 'config.json');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace('service.invalid', 'servise.invalid'));
  for (const line of [
    'wallet --profile team',
    'cards create --bin bin_1 --amount 5 --profile team --yes',
    'cards fund card_1 --amount 5 --profile team --yes',
    'profiles set team max_per_day 5',
    'login --profile team --base-url https://service.invalid/v1 --key-stdin',
  ]) {
    const { code, err } = await here.run(line, { stdin: 'sk_test_CANARYaaaa1111\n' });
    expect([line, code]).toEqual([line, 14]);
    expect(err).toContain('cardwright profiles accept team');
    expect(err.replaceAll(/\s+/g, ' ')).toContain(`profile team in ${path} was changed by something else`);
  }
  // Shown first; off a terminal --yes says so.
  const asked = await here.run('profiles accept team');
  expect([asked.code, asked.err]).toEqual([3, expect.stringContaining('https://servise.invalid/v1')]);
  expect(asked.err).toContain('cardwright profiles accept team --yes');
  const refused = await here.run('profiles accept team', { terminal: 80, typed: ['n'] });
  expect(refused.code).toBe(3);
  const accepted = await here.run('profiles accept team', { terminal: 80, typed: ['y'] });
  expect(accepted.code).toBe(0);
  expect((await here.run('profiles set team max_per_day 5')).code).toBe(0);
  expect((await here.run('profiles accept team --yes')).err).toContain('There is nothing to accept.');
});

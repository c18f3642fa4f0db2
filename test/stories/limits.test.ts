import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

const KEY = 'sk_test_51HqLyjWDarjtT1zdp7dcAAAA';
const NO_PROFILE = { CARDWRIGHT_PROFILE: undefined };

async function withProfile(managedLimits: string) {
  const here = await world({ env: NO_PROFILE });
  const login = 'login --profile team --base-url https://service.invalid/v1 --key-stdin';
  expect((await here.run(login, { stdin: KEY })).code).toBe(0);
  return { here, run: (line: string, how: object = {}) => here.run(line, { managedLimits, ...how }) };
}

test('what the administrator has set holds for every profile, and is named', async () => {
  const managedLimits = JSON.stringify({
    read_only: true,
    max_per_call: '30.00',
    origins: { 'https://service.invalid': { bins: ['bin_9'] } },
  });
  const { here, run } = await withProfile(managedLimits);
  await using _ = here;
  await run('profiles set team max_per_call 100');
  const file = join(here.folder, 'managed', 'limits.json');
  expect(JSON.parse((await run('whoami --json')).out).limits).toEqual([
    { name: 'read_only', value: 'true', source: file },
    { name: 'max_per_call', value: '$30.00', source: file },
    { name: 'bins', value: 'bin_9', source: file },
  ]);
  expect((await run('whoami', { terminal: 200 })).err).toContain(`$30.00, set by ${file}`);
  const { data } = JSON.parse((await run('doctor --json')).out);
  expect(data.find(({ check }: { check: string }) => check === 'limits')).toMatchObject({
    status: 'ok',
    says: expect.stringContaining('bin_9'),
  });
  const { code, err } = await run('cards create --bin bin_9 --amount 5 --yes');
  expect(code).toBe(14);
  expect(err).toContain('administrator');
  expect(readFileSync(file, 'utf8')).toBe(managedLimits);
});

test('a managed file that is no JSON refuses every change, and doctor says so', async () => {
  const { here, run } = await withProfile('{');
  await using _ = here;
  expect((await run('cards create --bin bin_9 --amount 5 --yes')).code).toBe(14);
  const { data } = JSON.parse((await run('doctor --json')).out);
  expect(data.find(({ check }: { check: string }) => check === 'limits')).toMatchObject({ status: 'fail' });
});

test('where cards may be revealed, the administrator says', async () => {
  await using here = await world();
  const { id } = JSON.parse((await here.run('--sandbox cards create --bin auto --amount 5 --json')).out);
  const managed = (reveal: string) => ({ managedLimits: JSON.stringify({ reveal }) });
  const print = `--sandbox cards details ${id} --reveal --print`;
  const exec = `--sandbox cards exec ${id} --reveal -- true`;
  expect((await here.run(print, managed('never'))).code).toBe(14);
  expect((await here.run(exec, managed('never'))).code).toBe(14);
  expect((await here.run(print, managed('exec'))).code).toBe(14);
  expect((await here.run(exec, managed('terminal'))).code).toBe(14);
  expect((await here.run(exec, managed('exec'))).code).not.toBe(14);
  expect((await here.run(print, { ...managed('terminal'), terminal: 100 })).code).toBe(0);
});

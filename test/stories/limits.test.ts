import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

const KEY = 'sk_test_51HqLyjWDarjtT1zdp7dcAAAA';
const NO_PROFILE = { CARDWRIGHT_PROFILE: undefined };

async function withProfile(more: { readonly terminal?: number; readonly managedLimits?: string } = {}) {
  const here = await world({ env: NO_PROFILE });
  const login = 'login --profile team --base-url https://service.invalid/v1 --key-stdin';
  expect((await here.run(login, { stdin: KEY })).code).toBe(0);
  return { here, run: (line: string, how: object = {}) => here.run(line, { ...more, ...how }) };
}

test('an agent without a terminal cannot lift a limit, also with --yes; a stricter one is free', async () => {
  const { here, run } = await withProfile();
  await using _ = here;
  for (const line of ['max_per_call 50', 'max_per_call 40', 'read_only true', 'bins bin_1', 'approve_above 10'])
    expect((await run(`profiles set team ${line}`)).code, line).toBe(0);
  for (const line of [
    'max_per_call 41',
    'max_per_call none',
    'read_only false',
    'bins bin_1,bin_2',
    'bins none',
    'approve_above none',
    'approvers_file ./mine',
    'journal local',
  ]) {
    for (const yes of ['', ' --yes']) {
      const { code, err } = await run(`profiles set team ${line}${yes}`);
      expect([line, code]).toEqual([line, 14]);
      expect(err).toContain('terminal');
    }
  }
  // Nor is its address another one by logging in again.
  const login = (address: string) =>
    run(`login --profile team --base-url ${address} --key-stdin --yes`, { stdin: KEY });
  expect((await login('https://elsewhere.invalid/v1')).code).toBe(14);
  expect((await login('https://service.invalid/v1')).code).toBe(0);
  const { settings, base_url } = JSON.parse((await run('profiles show team --json')).out);
  expect(base_url).toBe('https://service.invalid/v1');
  expect(settings).toMatchObject({ max_per_call: '40.00', read_only: true, bins: ['bin_1'], approve_above: '10.00' });
});

test('a person at a terminal types the name of the profile, and each change is an audit line', async () => {
  const { here, run } = await withProfile({ terminal: 100 });
  await using _ = here;
  expect((await run('profiles set team max_per_call 50')).code).toBe(0);
  expect((await run('profiles set team max_per_call 60', { typed: ['other'] })).code).toBe(3);
  expect((await run('profiles set team max_per_call 60', { typed: ['team'] })).code).toBe(0);
  expect((await run('profiles set team max_per_call none --yes', { typed: ['team'] })).code).toBe(0);
  expect((await run('profiles set team policy none')).code).toBe(0);
  // A file of approvers is read when it is named, not when a purchase waits for them.
  await writeFile(join(here.folder, 'approvers'), 'just a word\n');
  const named = `profiles set team approvers_file ${join(here.folder, 'approvers')}`;
  expect((await run(named, { typed: ['team'] })).err).toContain('approvers:1');
  const { data } = JSON.parse((await run('audit list --event limit --json')).out);
  expect(data.toReversed()).toMatchObject([
    { limit: 'max_per_call', before: 'none', after: '50.00', profile: 'team', operation: 'profiles.set' },
    { limit: 'max_per_call', before: '50.00', after: '60.00' },
    { limit: 'max_per_call', before: '60.00', after: 'none' },
  ]);
  expect((await run('audit verify')).code).toBe(0);
});

test('what the administrator has set holds for every profile, and is named', async () => {
  const managedLimits = JSON.stringify({
    read_only: true,
    max_per_call: '30.00',
    origins: { 'https://service.invalid': { bins: ['bin_9'] } },
  });
  const { here, run } = await withProfile({ managedLimits });
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
  const { here, run } = await withProfile({ managedLimits: '{' });
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

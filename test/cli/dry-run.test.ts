/** `--dry-run` of a command that has none: refused, and nothing is changed. */
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

it('is refused by what changes this machine alone', async () => {
  await using here = await world();
  const login = 'login --profile team --base-url https://api.example.com/v1 --key-stdin';
  const stdin = 'sk_test_CANARY0123456789';
  const lines = [
    `${login} --dry-run`,
    'profiles use sandbox --dry-run',
    'profiles set team read_only true --dry-run',
    'profiles remove team --dry-run --yes',
    'logout --profile team --dry-run --yes',
    'journal leave bo --dry-run',
    'ops reject op_00000000000000000000000001 --reason no --dry-run',
  ];
  const refused = async () => {
    for (const line of lines) {
      const { code, out, err } = await here.run(line, { stdin });
      expect([code, out, err], line).toEqual([2, '', expect.stringContaining('has no dry run')]);
    }
  };
  await refused();
  expect((await here.run('profiles list -o id')).out).toBe('');
  await here.run(login, { stdin });
  await refused();
  const shown = JSON.parse((await here.run('profiles show team --json')).out);
  expect(shown).toMatchObject({ current: true, settings: {} });
});

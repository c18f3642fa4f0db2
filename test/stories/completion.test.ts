import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RunOptions, type World, world } from '../support/world.ts';

const TEST_KEY = 'sk_test_0123456789abcdef';

/** What zsh is told for words after the program's name, the last one under the cursor. */
async function offered(here: World, words: string, options: RunOptions = {}): Promise<string[]> {
  const { code, out, err } = await here.run(`__complete zsh ${words}`, options);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out.split('\n').slice(0, -1);
}

const ON_A_TERMINAL: RunOptions = { terminal: 80 };
const caches = (here: World) => readdir(join(here.folder, 'cache', 'completion')).catch(() => []);

describe('ids of cards', () => {
  it('are what commands have shown, with what tells them apart, and follow what is done to them', async () => {
    await using here = await world();
    const label = `'ads "$(touch x)" é'`;
    await here.run(`cards create --bin bin_1 --amount 5 --label ${label}`, ON_A_TERMINAL);
    await here.run('cards create --bin bin_1 --amount 5');
    expect(await offered(here, `cards get ''`)).toEqual([
      expect.stringMatching(/^card_2\tvisa \d{4}, active$/),
      expect.stringMatching(/^card_1\tvisa \d{4}, active, "ads \\"\$\(touch x\)\\" é"$/),
    ]);
    await here.run('cards freeze card_1');
    expect(await offered(here, `cards unfreeze ''`)).toEqual([expect.stringContaining('card_1\t')]);
    expect(await offered(here, `cards freeze ''`)).toEqual([expect.stringContaining('card_2\t')]);
    await here.run('cards terminate card_2 --yes');
    expect(await offered(here, `tx list --card ''`)).toEqual([expect.stringContaining('card_1\t')]);
    await here.run('sandbox reset --yes');
    expect(await offered(here, `cards get card_1`)).toEqual([]);
  });

  it('are kept neither where nobody types nor in a dry run', async () => {
    await using here = await world();
    await here.run('cards create --bin bin_1 --amount 5');
    await here.run('cards list --json');
    expect(await caches(here)).toEqual([]);
  });
});

describe('a saved profile', () => {
  const CACHE = (place: readonly (string | null)[], id: string) =>
    JSON.stringify({
      place: JSON.stringify(place),
      shown: { card: [{ id, about: 'visa 4242', status: 'active' }] },
    });

  it('whose service calls a card --yes: TAB inserts that behind -- alone', async () => {
    await using here = await world();
    const login = 'login --profile team --base-url https://api.example.com/v1 --key-stdin';
    expect((await here.run(login, { stdin: TEST_KEY })).code).toBe(0);
    const folder = join(here.folder, 'cache', 'completion');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const place = ['test', 'https://api.example.com/v1', 'sk_test_…cdef', null, null];
    await writeFile(join(folder, 'team.json'), CACHE(place, '--yes'), { mode: 0o600 });
    for (const line of ['cards terminate', 'tx list --card', 'cards get']) {
      expect((await offered(here, `--profile team ${line} ''`)).join()).not.toContain('visa 4242');
    }
    expect(await offered(here, `--profile team tx list --card=`)).toEqual([]);
    expect(await offered(here, `--profile team cards terminate -- ''`)).toEqual(['--yes\tvisa 4242, active']);
  });

  it.each(['key_command', 'keychain'])('whose key comes from a %s is never looked at', async source => {
    await using here = await world();
    const from = source === 'keychain' ? { account: 'x' } : { command: ['/bin/false'] };
    const team = {
      base_url: 'https://api.example.com/v1',
      key_source: source,
      ...from,
      mode: 'test',
      hint: 'sk_test_…cdef',
    };
    const profiles = { team: { ...team, settings: {} } };
    await mkdir(join(here.folder, 'config'), { mode: 0o700 });
    const path = join(here.folder, 'config', 'config.json');
    await writeFile(path, JSON.stringify({ version: 1, profiles }), { mode: 0o600 });
    expect(await offered(here, `-p team cards get ''`)).toEqual([]);
    expect(await caches(here)).toEqual([]);
  });
});

interface Shown {
  readonly number: string;
}

it('never offers a secret', async () => {
  await using here = await world();
  const created = await here.run('cards create --bin bin_1 --amount 5', ON_A_TERMINAL);
  const id = /card_\d+/.exec(created.out)?.[0];
  const { number } = JSON.parse((await here.run(`cards details ${id} --reveal --print --json`)).out) as Shown;
  await here.run('webhooks create --url https://a.example/hook-s3cr3t --event card.created', ON_A_TERMINAL);
  const lines = await Promise.all(
    [`cards get ''`, `webhooks get ''`, `-p ''`, `ops show ''`, `bins get ''`].map(line => offered(here, line)),
  );
  const kept = await Promise.all(
    (await caches(here)).map(name => readFile(join(here.folder, 'cache', 'completion', name), 'utf8')),
  );
  const text = [...lines.flat(), ...kept].join('\n');
  expect(text).toContain('webhook');
  expect(text).toContain(`${id}`);
  for (const secret of [number, 's3cr3t']) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/whsec_\w/);
});

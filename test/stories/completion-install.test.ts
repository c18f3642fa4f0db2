import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RunOptions, type World, world } from '../support/world.ts';

const SCRIPTS = {
  bash: '.local/share/bash-completion/completions/cardwright',
  zsh: '.local/share/zsh/site-functions/_cardwright',
  fish: '.config/fish/completions/cardwright.fish',
  powershell: '.config/powershell/cardwright.ps1',
} as const;

/** A home with an apostrophe and a blank in its name, as a person may have one. */
async function homeIn(here: World): Promise<{ home: string; env: RunOptions }> {
  const home = join(here.folder, "o'neil home");
  await mkdir(home);
  return { home, env: { env: { HOME: home } } };
}

const textOf = (path: string) => readFile(path, 'utf8').catch(() => undefined);

describe.each(['bash', 'zsh', 'fish', 'powershell'] as const)('in %s', shell => {
  it('the script is installed, said where it must be named, and taken away again', async () => {
    await using here = await world();
    const { home, env } = await homeIn(here);
    const script = join(home, SCRIPTS[shell]);
    const first = await here.run(`completion ${shell} --install --yes --json`, env);
    expect({ code: first.code, err: first.err }).toEqual({ code: 0, err: '' });
    const line = shell === 'fish' ? null : expect.stringContaining(script.replace("'", String.raw`'\''`));
    expect(JSON.parse(first.out)).toEqual({ shell, changed: true, file: script, line });
    expect(await textOf(script)).toBe((await here.run(`completion ${shell}`)).out);
    expect((await here.run(`completion ${shell} --install --yes`, env)).code).toBe(0);
    await here.run(`completion ${shell} --uninstall --yes`, env);
    expect(await textOf(script)).toBeUndefined();
  });
});

it('changes nothing in a dry run, nor where nobody can be asked', async () => {
  await using here = await world();
  const { home, env } = await homeIn(here);
  const dry = await here.run('completion bash --install --dry-run --json', env);
  expect(JSON.parse(dry.out)).toMatchObject({ changed: false });
  expect((await here.run('completion bash --install', env)).code).toBe(3);
  expect(await textOf(join(home, '.local'))).toBeUndefined();
});

const SPOILT: readonly (readonly [string, (path: string) => Promise<unknown>])[] = [
  ['of somebody else', path => writeFile(path, 'complete -F mine cardwright\n')],
  ['that is a folder', path => mkdir(path)],
];
it.each(SPOILT)('a script %s is left alone', async (_what, spoil) => {
  await using here = await world();
  const { home, env } = await homeIn(here);
  const script = join(home, SCRIPTS.bash);
  await mkdir(dirname(script), { recursive: true });
  await spoil(script);
  const before = { state: (await lstat(script)).mode, text: await textOf(script) };
  for (const wanted of ['install', 'uninstall']) {
    const { code, err } = await here.run(`completion bash --${wanted} --yes`, env);
    expect({ code, err }).toEqual({ code: 14, err: expect.stringContaining('it was not changed') });
    expect({ state: (await lstat(script)).mode, text: await textOf(script) }).toEqual(before);
  }
});

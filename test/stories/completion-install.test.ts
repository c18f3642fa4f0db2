import { chmod, lstat, mkdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RunOptions, type World, world } from '../support/world.ts';

const START_FILES = { bash: '.bashrc', zsh: '.zshrc', powershell: '.config/powershell/profile.ps1' } as const;

/** A home with an apostrophe and a blank in its name, as a person may have one. */
async function homeIn(here: World): Promise<{ home: string; env: RunOptions }> {
  const home = join(here.folder, "o'neil home");
  await mkdir(home);
  return { home, env: { env: { HOME: home } } };
}

const bytesOf = (path: string) => readFile(path).catch(() => undefined);

const BEFORE = [
  ['a last line without an end', 'alias x=y'],
  ['nothing', undefined],
  ['bytes that are no text, and old line ends', Buffer.from([0xff, 0xfe, 0x0d, 0x0a, 0x00])],
] as const;

describe.each(['bash', 'zsh', 'powershell'] as const)('in %s', shell => {
  it.each(shell === 'bash' ? BEFORE : BEFORE.slice(0, 1))(
    '%s is there again after install, install and uninstall, its last line with an end',
    async (_what, before) => {
      await using here = await world();
      const { home, env } = await homeIn(here);
      const start = join(home, START_FILES[shell]);
      await mkdir(dirname(start), { recursive: true });
      if (before !== undefined) await writeFile(start, before, { mode: 0o640 });
      const first = await here.run(`completion ${shell} --install --yes --json`, env);
      expect({ code: first.code, err: first.err }).toEqual({ code: 0, err: '' });
      expect(JSON.parse(first.out)).toMatchObject({ shell, changed: true });
      const installed = await readFile(start);
      expect(installed.subarray(0, before?.length ?? 0)).toEqual(Buffer.from(before ?? ''));
      if (before !== undefined) expect((await lstat(start)).mode & 0o777).toBe(0o640);
      expect(JSON.parse((await here.run(`completion ${shell} --install --yes --json`, env)).out)).toMatchObject({
        changed: false,
      });
      expect(await readFile(start)).toEqual(installed);
      await here.run(`completion ${shell} --uninstall --yes`, env);
      const whole = before === undefined ? undefined : Buffer.from(before);
      const end = whole === undefined || whole.at(-1) === 0x0a ? '' : '\n';
      expect(await bytesOf(start)).toEqual(whole && Buffer.concat([whole, Buffer.from(end)]));
    },
  );
});

it('changes nothing in a dry run, nor where nobody can be asked', async () => {
  await using here = await world();
  const { home, env } = await homeIn(here);
  const dry = await here.run('completion bash --install --dry-run --json', env);
  expect(JSON.parse(dry.out)).toMatchObject({ changed: false, files: [{ action: 'create' }, { action: 'create' }] });
  expect((await here.run('completion bash --install', env)).code).toBe(3);
  expect(await bytesOf(join(home, '.bashrc'))).toBeUndefined();
  expect(await bytesOf(join(home, '.local'))).toBeUndefined();
});

describe('a start file that must stay what it is', () => {
  it('a link stays a link, and what it points to is changed and comes back', async () => {
    await using here = await world();
    const { home, env } = await homeIn(here);
    await mkdir(join(home, 'dotfiles'));
    await writeFile(join(home, 'dotfiles', 'bashrc'), 'x=1\n');
    await symlink(join('dotfiles', 'bashrc'), join(home, '.bashrc'));
    await here.run('completion bash --install --yes', env);
    expect(await readlink(join(home, '.bashrc'))).toBe(join('dotfiles', 'bashrc'));
    expect(await readFile(join(home, 'dotfiles', 'bashrc'), 'utf8')).toContain('# >>> cardwright completion >>>');
    await here.run('completion bash --uninstall --yes', env);
    expect(await readlink(join(home, '.bashrc'))).toBe(join('dotfiles', 'bashrc'));
    expect(await readFile(join(home, 'dotfiles', 'bashrc'), 'utf8')).toBe('x=1\n');
  });

  const SPOILT: readonly (readonly [string, (path: string) => Promise<void>])[] = [
    ['write-protected', path => writeFile(path, 'x=1\n').then(() => chmod(path, 0o444))],
    ['a folder', path => mkdir(path).then(() => undefined)],
    ['with half a block', path => writeFile(path, '# >>> cardwright completion >>>\nx=1\n')],
  ];
  it.each(SPOILT)('%s is left alone, nothing else is changed, and the lines are told', async (_what, spoil) => {
    await using here = await world();
    const { home, env } = await homeIn(here);
    const start = join(home, '.bashrc');
    await spoil(start);
    const before = { state: (await lstat(start)).mode, bytes: await bytesOf(start) };
    const { code, err } = await here.run('completion bash --install --yes', env);
    expect(code).toBe(14);
    expect(err).toContain('it was not changed');
    expect(err).toContain('[ -r ');
    expect({ state: (await lstat(start)).mode, bytes: await bytesOf(start) }).toEqual(before);
    expect(await bytesOf(join(home, '.local', 'share', 'bash-completion'))).toBeUndefined();
  });
});

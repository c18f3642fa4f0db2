import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, link, lstat, mkdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPLETION_SHELLS, completionStub } from '../../src/cli/completion/scripts.ts';
import { requires } from '../support/programs.ts';
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
  ['nothing', undefined],
  ['a last line without an end', 'alias x=y'],
  ['an empty file', ''],
  ['lines', 'alias x=y\n\n'],
  ['bytes that are no text, and old line ends', Buffer.from([0xff, 0xfe, 0x0d, 0x0a, 0x00])],
] as const;

describe.each(['bash', 'zsh', 'powershell'] as const)('in %s', shell => {
  it.each(shell === 'bash' ? BEFORE : BEFORE.slice(0, 2))(
    '%s is there again, byte for byte, after install, install and uninstall',
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
      expect(await bytesOf(start)).toEqual(before === undefined ? undefined : Buffer.from(before));
    },
  );

  it('what was written below the block since then keeps its line', async () => {
    await using here = await world();
    const { home, env } = await homeIn(here);
    const start = join(home, START_FILES[shell]);
    await mkdir(dirname(start), { recursive: true });
    await writeFile(start, 'alias x=y');
    await here.run(`completion ${shell} --install --yes`, env);
    await writeFile(start, 'alias z=w\n', { flag: 'a' });
    await here.run(`completion ${shell} --uninstall --yes`, env);
    expect(await readFile(start, 'utf8')).toBe('alias x=y\nalias z=w\n');
  });
});

it('shows what it will change, asks, and takes No for an answer', async () => {
  await using here = await world({ terminal: 100 });
  const { home, env } = await homeIn(here);
  await writeFile(join(home, '.zshrc'), 'autoload x\n');
  const no = await here.run('completion zsh --install', { ...env, typed: ['n'] });
  expect(no.code).toBe(3);
  expect(no.err).toContain(`change ${join(home, '.zshrc')}`);
  expect(no.err).toContain('    fi');
  expect(no.err).toContain('Nothing was changed.');
  expect(await readFile(join(home, '.zshrc'), 'utf8')).toBe('autoload x\n');
  const yes = await here.run('completion zsh --install', { ...env, typed: ['y'] });
  expect({ code: yes.code, out: yes.out }).toEqual({
    code: 0,
    out: expect.stringContaining('Installed the completion for zsh.'),
  });
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

it('puts the script of every shell where it says, and only its own is taken away', async () => {
  await using here = await world();
  const { home, env } = await homeIn(here);
  for (const shell of COMPLETION_SHELLS) {
    const { files } = JSON.parse((await here.run(`completion ${shell} --install --yes --json`, env)).out) as {
      files: { path: string }[];
    };
    const [{ path } = { path: '' }] = files;
    expect(await readFile(path, 'utf8')).toContain(completionStub(shell));
    expect((await lstat(path)).mode & 0o777).toBe(0o644);
  }
  const fish = join(home, '.config', 'fish', 'completions', 'cardwright.fish');
  await writeFile(fish, 'complete -c cardwright -a mine\n');
  const other = await here.run('completion fish --uninstall --yes', env);
  expect({ code: other.code, err: other.err }).toEqual({ code: 14, err: expect.stringContaining('is not a script') });
  expect(await readFile(fish, 'utf8')).toBe('complete -c cardwright -a mine\n');
});

it('brings an older block up to date in its place', async () => {
  await using here = await world();
  const { home, env } = await homeIn(here);
  const start = join(home, '.bashrc');
  await here.run('completion bash --install --yes', env);
  const block = await readFile(start, 'utf8');
  await writeFile(start, `a\n${block.replace('[ -r', '[ -f')}b\n`);
  await here.run('completion bash --install --yes', env);
  expect(await readFile(start, 'utf8')).toBe(`a\n${block}b\n`);
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
    ['a link to nothing', path => symlink('gone', path)],
    ['a folder', path => mkdir(path).then(() => undefined)],
    ['of two names', path => writeFile(path, 'x=1\n').then(() => link(path, `${path}.twin`))],
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

it('takes the shell from SHELL, and asks for it where that is another one', async () => {
  await using here = await world();
  const { home } = await homeIn(here);
  const as = (shell: string) =>
    here.run('completion --install --dry-run --json', { env: { HOME: home, SHELL: shell } });
  expect(JSON.parse((await as('/usr/bin/fish')).out)).toMatchObject({ shell: 'fish' });
  const other = await as('/bin/tcsh');
  expect({ code: other.code, err: other.err }).toEqual({ code: 2, err: expect.stringContaining('bash, zsh') });
  expect((await here.run('completion bash --install', { env: { HOME: '' } })).code).toBe(2);
});

/** What the shell does at its start and at TAB, in one line. */
const TABS = {
  bash: [
    '-i',
    '-c',
    'COMP_LINE="cardwright ca" COMP_POINT=13; _cardwright cardwright ca cardwright; echo "<$COMPREPLY>"',
  ],
  zsh: [
    '-i',
    '-c',
    'PREFIX=ca CURRENT=2 words=(cardwright ca); functions _cardwright >/dev/null && _cardwright; echo "<>"',
  ],
  fish: ['-c', 'complete -C "cardwright ca"; echo "<>"'],
} as const;

/** PATH as after the program is gone: whoever works on it may have linked it into one of these folders. */
function pathWithoutTheProgram(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.filter(folder => !existsSync(join(folder, 'cardwright'))).join(delimiter);
}

describe.each(['bash', 'zsh', 'fish'] as const)('a program that was removed, and its completion not, in %s', shell => {
  it('is no line on the screen, at the start of the shell and at TAB', async ({ skip }) => {
    const missing = requires(shell);
    if (missing !== undefined) return skip(missing);
    await using here = await world();
    const { home, env } = await homeIn(here);
    expect((await here.run(`completion ${shell} --install --yes`, env)).code).toBe(0);
    // Without a terminal bash says that there is none, whatever stands in its files.
    const ended = spawnSync(shell, TABS[shell], {
      cwd: home,
      env: { PATH: pathWithoutTheProgram(), HOME: home, TERM: 'dumb' },
      encoding: 'utf8',
      input: '',
    });
    const said = ended.stderr
      .split('\n')
      .filter(line => !/cannot set terminal process group|no job control/.test(line));
    expect([ended.stdout, said.join('\n')]).toEqual(['<>\n', '']);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  COMPLETION_FILES,
  COMPLETION_SHELLS,
  type CompletionShell,
  completionStub,
} from '../../src/cli/completion/scripts.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { requires } from '../support/programs.ts';
import { runWords } from './line.ts';

const completions = join(import.meta.dirname, '..', '..', 'completions');

describe.each(COMPLETION_SHELLS)('the %s script', shell => {
  it('is the committed file, and what the command prints', async () => {
    const text = await readFile(join(completions, COMPLETION_FILES[shell]), 'utf8');
    expect(text, 'npm run generate writes it').toBe(completionStub(shell));
    expect(await runWords(['completion', shell])).toEqual({ code: 0, out: text, err: '' });
  });

  it('is thin: no name of a command, no eval', () => {
    const text = completionStub(shell);
    expect(text.split('\n').length).toBeLessThan(30);
    expect(text).not.toMatch(/\beval\b/);
    for (const { name } of REGISTRY.filter(group => group.name !== 'completion' && group.name !== '3ds')) {
      expect(text).not.toMatch(new RegExp(`(?<![_-])\\b${name}\\b`));
    }
  });
});

/** A folder with a `cardwright` that notes its arguments and answers what the file `answer` holds. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-stub-'));
  const script = `#!/bin/sh\nfor word in "$@"; do printf '[%s]\\n' "$word"; done > '${folder}/asked'\ncat '${folder}/answer'\n`;
  await writeFile(join(folder, 'cardwright'), script);
  await chmod(join(folder, 'cardwright'), 0o755);
  for (const name of ['my file.json', 'mine.json']) await writeFile(join(folder, name), '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a shell over the stub in the folder; returns its lines, and what the program was asked. */
async function drive(shell: string, args: readonly string[], answer: string) {
  await writeFile(join(folder, 'answer'), answer);
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, HOME: folder, LC_ALL: 'C.UTF-8' };
  const { status, stdout, stderr } = spawnSync(shell, [...args], { cwd: folder, env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const asked = await readFile(join(folder, 'asked'), 'utf8');
  return { offered: stdout.split('\n').slice(0, -1), asked: asked.split('\n').slice(0, -1) };
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const stubOf = (shell: CompletionShell) => quoted(join(completions, COMPLETION_FILES[shell]));

function withShell(shell: string, tests: () => void): void {
  const missing = requires(shell);
  describe(`in real ${shell}`, () => {
    if (missing === undefined) tests();
    else it('completes', ({ skip }) => skip(missing));
  });
}

withShell('bash', () => {
  /** `line` with `|` at the cursor; `word` is what readline takes for the current word. */
  const complete = (marked: string, word: string, answer: string) => {
    const line = marked.replace('|', '');
    const script = `source ${stubOf('bash')}
      COMP_LINE=${quoted(line)} COMP_POINT=${[...marked.slice(0, marked.indexOf('|'))].length}
      _cardwright cardwright ${quoted(word)} previous
      for each in "\${COMPREPLY[@]}"; do printf '%s\\n' "$each"; done`;
    return drive('bash', ['--norc', '--noprofile', '-c', script], answer);
  };

  it('is registered for the command', () => {
    const told = execFileSync('bash', ['--norc', '-c', `source ${stubOf('bash')}; complete -p cardwright`]);
    expect(String(told)).toBe('complete -F _cardwright cardwright\n');
  });

  it('passes the line up to the cursor, counted in characters', async () => {
    const { asked, offered } = await complete('cardwright cards list --label "ü 広" --st| --all', '--st', '--status\n');
    expect(asked).toEqual(['[__complete]', '[bash]', '[cardwright cards list --label "ü 広" --st]']);
    expect(offered).toEqual(['--status']);
  });

  it.each([
    ['cardwright cards list --status=fr|', 'fr', '--status=frozen', 'frozen'],
    ['cardwright cards list --status=|', '', '--status=frozen', 'frozen'],
    ['cardwright cards list --status="fr|', 'fr', '--status=frozen', 'frozen'],
    ['cardwright cards list --status=fr|', '--status=fr', '--status=frozen', '--status=frozen'],
    ['cardwright x a:b|', 'b', 'a:bc', 'bc'],
    ['cardwright cards |', '', 'list', 'list'],
  ])('keeps what bash replaces: %s', async (line, word, answer, expected) => {
    expect((await complete(line, word, `${answer}\n`)).offered).toEqual([expected]);
  });

  it('offers file names with blanks for :files, also after =', async () => {
    const names = async (line: string, word: string) => (await complete(line, word, ':files\n')).offered.toSorted();
    expect(await names('cardwright cards details c --out m|', 'm')).toEqual(['mine.json', 'my file.json']);
    expect(await names('cardwright cards details c --out=my|', 'my')).toEqual(['my file.json']);
  });

  it('runs nothing that was typed or answered', async () => {
    const hostile = '$(touch ran) `touch ran` ; touch ran';
    await complete(`cardwright cards get ${hostile}|`, hostile, ':files\n');
    const { offered } = await complete('cardwright cards get |', '', `${hostile}\n`);
    expect(offered).toEqual([hostile]);
    expect(await readdir(folder)).not.toContain('ran');
  });

  it('offers nothing when the program says nothing', async () => {
    expect((await complete('cardwright nosuch |', '', '')).offered).toEqual([]);
  });
});

withShell('zsh', () => {
  /** The function as compsys calls it; `compadd` and `_files` print what they were given. */
  const complete = (words: readonly string[], prefix: string, answer: string) => {
    const script = `compdef() { : }
      compadd() { while (( $# )); do case $1 in -d) shift; print -rl -- "\${(@P)1}";; -a) shift;; esac; shift; done }
      compset() { print -r -- "compset $*" }; _files() { print -r -- files }
      source ${stubOf('zsh')}
      words=(${words.map(quoted).join(' ')}); CURRENT=${words.length}; PREFIX=${quoted(prefix)}
      _cardwright; true`;
    return drive('zsh', ['-f', '-c', script], answer);
  };

  it('passes the words up to the cursor without their quotes', async () => {
    const { asked, offered } = await complete(
      ['cardwright', 'cards', '"a b"', '--sta'],
      '--st',
      '--status\tOnly these\n',
    );
    expect(asked).toEqual(['[__complete]', '[zsh]', '[cards]', '[a b]', '[--st]']);
    expect(offered).toEqual(['--status  -- Only these']);
  });

  it('passes the empty word, and asks for files after =', async () => {
    const { asked } = await complete(['cardwright', ''], '', 'cards\n');
    expect(asked).toEqual(['[__complete]', '[zsh]', '[]']);
    expect((await complete(['cardwright', '--out=m'], '--out=m', ':files\n')).offered).toEqual([
      'compset -P 1 *=',
      'files',
    ]);
  });

  it('runs nothing that was typed', async () => {
    const hostile = '$(touch ran)';
    const { asked } = await complete(['cardwright', hostile, hostile], hostile, ':files\n');
    expect(asked.slice(2)).toEqual([`[${hostile}]`, `[${hostile}]`]);
    expect(await readdir(folder)).not.toContain('ran');
  });
});

withShell('fish', () => {
  const complete = (line: string, answer: string) => {
    const script = `source ${stubOf('fish')}; complete -C ${quoted(line)}`;
    return drive('fish', ['--no-config', '-c', script], answer);
  };

  it('passes the words and the current token', async () => {
    const { asked, offered } = await complete('cardwright cards "a b" li', 'list\tList cards\n');
    expect(asked).toEqual(['[__complete]', '[fish]', '[cards]', '[a b]', '[li]']);
    expect(offered).toEqual(['list\tList cards']);
    expect((await complete('cardwright cards ', 'list\n')).asked).toEqual(['[__complete]', '[fish]', '[cards]', '[]']);
  });

  it('offers file names, also after =', async () => {
    expect((await complete('cardwright x --out=my', ':files\n')).offered.map(line => line.trim())).toEqual([
      '--out=my file.json',
    ]);
  });

  it('runs nothing that was typed', async () => {
    await complete('cardwright cards $(touch ran) "$(touch ran)', ':files\n');
    expect(await readdir(folder)).not.toContain('ran');
  });
});

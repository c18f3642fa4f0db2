/**
 * A real interactive shell in a pseudo-terminal (script(1)), in which somebody types and presses TAB. The shell starts
 * with the script that `completion --install` has put there and the line that it tells, in a home of its own, with the built program on its path.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { CODE_CACHE, ROOT } from '../package/built.ts';
import { requires } from '../support/programs.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Why a shell cannot be driven here; undefined when it can. */
export function missing(shell: string): string | undefined {
  return requires([shell, 'script', 'stty']);
}

/** How an interactive shell is started that reads its start files and no others' history. */
const START: Readonly<Record<Shell, string>> = { bash: 'bash -i', zsh: 'zsh -i', fish: 'fish -i' };
const CTRL = { a: '\x01', c: '\x03', e: '\x05', u: '\x15' };
const PATIENCE_MS = 20_000;

export interface Session extends AsyncDisposable {
  readonly folder: string;
  /** Types a line, with TABs in it, and Enter; resolves to the words the shell then made of it. */
  words(typed: string): Promise<readonly string[]>;
  /** Types, waits until that shows, and throws the line away; resolves to what came on the screen, as bytes. */
  shown(typed: string, until: RegExp): Promise<string>;
  /** Files in the working folder. */
  files(): Promise<readonly string[]>;
}

/** Cards as the cache holds them: the shell and we must cope with whatever a service has sent. */
export interface PlantedCard {
  readonly id: string;
  readonly label?: string;
  readonly status?: string;
}

export async function openShell(shell: Shell, cards: readonly PlantedCard[], startLines = ''): Promise<Session> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-shell-'));
  const work = join(folder, 'work folder');
  await Promise.all([mkdir(work), mkdir(join(folder, '.config', 'fish'), { recursive: true })]);
  const program = await programIn(join(folder, 'bin'));
  for (const name of ['my file.json', 'other.json']) await writeFile(join(work, name), '{}');
  await plant(folder, cards);
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: folder,
    CARDWRIGHT_CONFIG_DIR: join(folder, 'cardwright'),
    CARDWRIGHT_PROFILE: 'sandbox',
    CARDWRIGHT_CACHE: CODE_CACHE,
    TERM: 'xterm',
    LC_ALL: 'C.UTF-8',
    SHELL: '/bin/sh',
  };
  const installed = spawnSync(program, ['completion', shell, '--install', '--yes', '--json'], {
    env,
    encoding: 'utf8',
  });
  if (installed.status !== 0) throw new Error(installed.stderr);
  const { line } = JSON.parse(installed.stdout) as { readonly line: string | null };
  await writeFile(join(folder, shell === 'zsh' ? '.zshrc' : '.bashrc'), startLines || `${line ?? ''}\n`);
  const command = `stty cols 200 rows 50; exec ${START[shell]}`;
  const terminal = spawn('script', ['-qfec', command, '/dev/null'], { cwd: work, env: { ...env, SHELL: '/bin/sh' } });
  return session(terminal, { shell, folder, work });
}

/** A folder for the path, with the built program under its name. Resolves to the program. */
export async function programIn(folder: string): Promise<string> {
  const program = join(folder, 'cardwright');
  await mkdir(folder);
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'bin', 'cardwright.js')}' "$@"\n`);
  await chmod(program, 0o755);
  return program;
}

async function session(
  terminal: ChildProcessWithoutNullStreams,
  { shell, folder, work }: { readonly shell: Shell; readonly folder: string; readonly work: string },
): Promise<Session> {
  let screen = '';
  terminal.stdout.setEncoding('utf8').on('data', chunk => {
    screen += chunk;
  });
  terminal.stdin.on('error', () => undefined);
  const ended = new Promise<void>(resolve => terminal.once('close', () => resolve()));
  let count = 0;

  async function until(pattern: RegExp, from: number): Promise<string> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const fresh = screen.slice(from);
      if (pattern.test(plain(fresh))) return fresh;
      if (performance.now() > deadline) throw new Error(`${shell}: no ${pattern} on the screen: ${plain(fresh)}`);
      await wait(10);
    }
  }

  /** The shell is at its prompt again: it answers a line whose text is not its answer. */
  async function ready(): Promise<void> {
    const from = screen.length;
    terminal.stdin.write(`echo re''ady-${++count}\r`);
    await until(new RegExp(`ready-${count}\\r?\\n`), from);
  }

  await ready();
  return {
    folder,
    async words(typed) {
      const from = screen.length;
      const number = ++count;
      // What was typed becomes the arguments of printf, which prints each between angle brackets.
      terminal.stdin.write(`${typed}${CTRL.a}printf '<%s>' n${number} ${CTRL.e} end${number}\r`);
      const answer = new RegExp(`<n${number}>((?:<[^<>]*>)*)<end${number}>`);
      const seen = answer.exec(plain(await until(answer, from)));
      await ready();
      return [...(seen?.[1] ?? '').matchAll(/<([^<>]*)>/g)].map(([, word = '']) => word);
    },
    async shown(typed, pattern) {
      const from = screen.length;
      terminal.stdin.write(typed);
      const seen = await until(pattern, from);
      // bash throws away what is typed right behind a Ctrl-C; the others have a menu open that it closes.
      terminal.stdin.write(shell === 'bash' ? CTRL.u : `${CTRL.c}${CTRL.u}`);
      await ready();
      return seen;
    },
    files: () => readdir(work),
    async [Symbol.asyncDispose]() {
      terminal.stdin.write(`${CTRL.u}exit\r`);
      const hurry = wait(2_000, undefined, { ref: false }).then(() => terminal.kill('SIGKILL'));
      await Promise.race([ended, hurry]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Without the shell's own colours and cursor moves. */
export function plain(bytes: string): string {
  return bytes.replace(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[[(][0-?]*[ -/]*[@-~]|\x1b[=>]|[\x07\x08]/g, '');
}

async function plant(folder: string, cards: readonly PlantedCard[]): Promise<void> {
  const shown = {
    card: cards.map(card => ({ about: 'visa 4242', status: 'active', ...card })),
    bin: ['bin_one', 'bin_two'].map(id => ({ id, about: 'visa credit' })),
    webhook: [],
  };
  const text = JSON.stringify({ place: JSON.stringify(['sandbox', 'embedded', null, null, null]), shown });
  const place = join(folder, 'cardwright', 'cache', 'completion');
  await mkdir(place, { recursive: true, mode: 0o700 });
  await writeFile(join(place, 'sandbox.json'), text, { mode: 0o600 });
  const team = {
    base_url: 'https://api.example.com/v1',
    key_source: 'stored',
    key: 'sk_test_c4n4ryc4n4ryc4n4ry',
    settings: {},
  };
  await mkdir(join(folder, 'cardwright', 'config'), { mode: 0o700 });
  const profiles = JSON.stringify({ version: 1, profiles: { team } });
  await writeFile(join(folder, 'cardwright', 'config', 'config.json'), profiles, { mode: 0o600 });
}

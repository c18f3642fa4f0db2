/**
 * A card on a real terminal: whatever ends the program, the screen is wiped and left, and the terminal is as it was.
 * SIGKILL cannot be answered and is not promised. What takes its real time, and more signals, in the whole run.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CODE_CACHE, ROOT } from '../package/built.ts';
import { requires } from '../support/programs.ts';
import { isWhole } from '../support/whole.ts';

const ENTER = '\x1b[?1049h';
const LEAVE = '\x1b[2J\x1b[3J\x1b[H\x1b[?1049l\x1b[?25h';

/** Why no card is shown here; undefined when one is. */
const missing = process.platform === 'linux' ? requires('script') : 'script(1) of util-linux is a program of Linux';

interface Ended {
  /** Everything the terminal was sent. */
  readonly bytes: string;
  readonly code: string;
  /** `stty -a` says the same before and after. */
  readonly sameTerminal: boolean;
}

type Deed = (pid: number, type: (text: string) => void, terminal: ChildProcess) => unknown;

interface Desk extends AsyncDisposable {
  readonly folder: string;
  /** The number, without spaces. */
  readonly pan: string;
  /** Runs a command of the sandbox off a terminal; returns its output. */
  run(...words: string[]): string;
  /** Shows the card, does the deed when `until` stands on the screen (the number when left out), and looks at what is left. */
  shown(deed: Deed, how?: { readonly env?: Record<string, string>; readonly until?: string }): Promise<Ended>;
  /** The number stood on the alternate screen alone, which was wiped and left. */
  expectWiped(ended: Ended): void;
}

async function desk(): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-screen-'));
  const environment = (more: Record<string, string> = {}) => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    TERM: 'xterm',
    CARDWRIGHT_CONFIG_DIR: join(folder, 'cardwright'),
    CARDWRIGHT_CACHE: CODE_CACHE,
    ...more,
  });
  const run = (...words: string[]) =>
    execFileSync(process.execPath, [join(ROOT, 'bin', 'cardwright.js'), '--sandbox', ...words], {
      encoding: 'utf8',
      env: environment(),
    }).trim();
  const card = run('cards', 'create', '--bin', 'auto', '--amount', '5', '-q');
  const pan = run('cards', 'details', card, '--reveal', '--print', '--field', 'number');
  const grouped = pan.replace(/(\d{4})(?=\d)/g, '$1 ');

  const shown: Desk['shown'] = async (deed, { env = {}, until = grouped } = {}) => {
    const place = await mkdtemp(join(folder, 'run-'));
    const inner = join(place, 'inner.sh');
    const program = `'${process.execPath}' '${join(ROOT, 'bin', 'cardwright.js')}' --sandbox cards details ${card} --reveal`;
    await writeFile(
      inner,
      // The shell outlives a hangup, to say how the program ended.
      `#!/bin/sh\ntrap : HUP\nstty -a > '${place}/before'\n${program}\necho $? > '${place}/code'\nstty -a > '${place}/after'\n`,
    );
    await chmod(inner, 0o755);
    const terminal = spawn('script', ['-qfec', inner, '/dev/null'], {
      env: environment(env),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let bytes = '';
    terminal.stdout.setEncoding('utf8').on('data', text => {
      bytes += text;
    });
    const over = new Promise(resolve => terminal.on('close', resolve));
    while (!bytes.includes(until)) await wait(20);
    const type = (text: string) => void (terminal.stdin.writable && terminal.stdin.write(text));
    await deed(await pidOf(terminal.pid ?? 0), type, terminal);
    await over;
    while (!(await readdir(place)).includes('after')) await wait(20);
    const read = async (name: string) => (await readFile(join(place, name), 'utf8')).trim();
    return { bytes, code: await read('code'), sameTerminal: (await read('before')) === (await read('after')) };
  };

  return {
    folder,
    pan,
    run,
    shown,
    expectWiped({ bytes, sameTerminal }) {
      const entered = bytes.indexOf(ENTER);
      const left = bytes.lastIndexOf(LEAVE);
      expect(entered).toBeGreaterThanOrEqual(0);
      expect(left).toBeGreaterThan(entered);
      const outside = bytes.slice(0, entered) + bytes.slice(left);
      expect(outside.replace(/\D/g, '')).not.toContain(pan);
      expect(outside).not.toContain(grouped.slice(0, 9));
      expect(sameTerminal).toBe(true);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The card is shown, the signal comes, and the program ends with this code. */
async function wipedAt(at: Desk, signal: NodeJS.Signals, code: string): Promise<void> {
  const ended = await at.shown(pid => process.kill(pid, signal));
  at.expectWiped(ended);
  expect(ended.code).toBe(code);
}

/** The node process below script(1), by its parents. */
async function pidOf(ancestor: number): Promise<number> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number);
  const parents = new Map<number, number>();
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const below = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent === ancestor || (parent !== undefined && parent > 1 && below(parent));
  };
  for (const pid of pids.filter(below)) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.startsWith(process.execPath)) return pid;
  }
  throw new Error('the program is not running');
}

let at: Desk;
beforeAll(async () => {
  at = await desk();
});
afterAll(() => at[Symbol.asyncDispose]());

describe.skipIf(missing)('a card on the screen', () => {
  it('ends in order when the terminal itself goes away', async () => {
    const ended = await at.shown((_, __, terminal) => terminal.kill('SIGKILL'));
    // Of the hangup, and not 134 with a core dump that holds the card.
    expect(ended.code).toBe('129');
  });

  it('is wiped at Ctrl-C', async () => {
    const ended = await at.shown((_, type) => type('\x03'));
    at.expectWiped(ended);
    expect(ended.code).toBe('130');
  });
});

describe.skipIf(missing || !isWhole)('a card on the screen, longer and otherwise', () => {
  it.each(['SIGALRM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const)(
    'is wiped at %s, and the program ends with 143',
    signal => wipedAt(at, signal, '143'),
  );

  it('is wiped when the program crashes', async () => {
    const crash = join(at.folder, 'crash.cjs');
    await writeFile(crash, `process.once('SIGUSR2', () => { throw new Error('crash') });\n`);
    const ended = await at.shown(pid => process.kill(pid, 'SIGUSR2'), { env: { NODE_OPTIONS: `--require=${crash}` } });
    at.expectWiped(ended);
    expect(ended.code).toBe('1');
  });

  it('is wiped when it is stopped at a prompt', () => wipedAt(at, 'SIGTSTP', '0'));

  it('opens no debugger at SIGUSR1, and stays until a key; one line stays', async () => {
    const ended = await at.shown(async (pid, type) => {
      process.kill(pid, 'SIGUSR1');
      await wait(1200);
      type('q');
    });
    at.expectWiped(ended);
    expect(ended.code).toBe('0');
    expect(ended.bytes).not.toContain('Debugger');
    expect(ended.bytes).toMatch(/Shown for \d+ s and cleared\.\r?\n$/);
  });

  it('is wiped after 30 seconds when nobody does anything', async () => {
    const started = performance.now();
    const ended = await at.shown(() => undefined);
    const took = performance.now() - started;
    at.expectWiped(ended);
    expect(ended.code).toBe('0');
    expect(ended.bytes).toContain('hides in 1 s');
    expect(ended.bytes).toMatch(/Shown for 30 s and cleared\.\r?\n$/);
    expect(took).toBeGreaterThan(29_000);
  });
});

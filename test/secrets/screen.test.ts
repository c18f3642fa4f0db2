/**
 * A card on a real terminal, made by script(1): whatever ends the program, the screen is wiped and left, and the
 * terminal is as it was. SIGKILL cannot be answered and is not promised.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../package/built.ts';

const ENTER = '\x1b[?1049h';
const LEAVE = '\x1b[2J\x1b[3J\x1b[H\x1b[?1049l\x1b[?25h';

function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

const possible = process.platform === 'linux' && hasScript();
if (!possible)
  process.stderr.write('SKIPPED: script(1) of util-linux is not here, no terminal test of the reveal screen ran\n');

let folder: string;
let card: string;
let pan: string;
const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  TERM: 'xterm',
  CARDWRIGHT_CONFIG_DIR: join(folder, 'cardwright'),
  ...more,
});
const run = (...words: string[]) =>
  execFileSync(process.execPath, [join(ROOT, 'bin', 'cardwright.js'), '--sandbox', ...words], {
    encoding: 'utf8',
    env: environment(),
  }).trim();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-screen-'));
  card = run('cards', 'create', '--bin', 'auto', '--amount', '5', '-q');
  pan = run('cards', 'details', card, '--reveal', '--print', '--field', 'number');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly bytes: string;
  readonly code: string;
  readonly sameTerminal: boolean;
}

/** Shows the card in a terminal, does the deed when the number stands there, and looks at what is left. */
type Deed = (pid: number, type: (text: string) => void, terminal: ChildProcess) => unknown;

async function shown(deed: Deed, env = {}): Promise<Ended> {
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
  const grouped = pan.replace(/(\d{4})(?=\d)/g, '$1 ');
  while (!bytes.includes(grouped)) await wait(20);
  const type = (text: string) => void (terminal.stdin.writable && terminal.stdin.write(text));
  await deed(await pidOf(terminal.pid ?? 0), type, terminal);
  await over;
  while (!(await readdir(place)).includes('after')) await wait(20);
  const read = async (name: string) => (await readFile(join(place, name), 'utf8')).trim();
  return { bytes, code: await read('code'), sameTerminal: (await read('before')) === (await read('after')) };
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

function expectWiped({ bytes, sameTerminal }: Ended): void {
  const entered = bytes.indexOf(ENTER);
  const left = bytes.lastIndexOf(LEAVE);
  expect(entered).toBeGreaterThanOrEqual(0);
  expect(left).toBeGreaterThan(entered);
  const outside = bytes.slice(0, entered) + bytes.slice(left);
  expect(outside.replace(/\D/g, '')).not.toContain(pan);
  expect(outside).not.toContain(pan.slice(0, 4));
  expect(sameTerminal).toBe(true);
}

describe.runIf(possible)('a card on the screen', () => {
  it.each([
    ['SIGINT', '130'],
    ['SIGTERM', '143'],
    ['SIGHUP', '143'],
    ['SIGQUIT', '143'],
    ['SIGUSR2', '143'],
    ['SIGALRM', '143'],
    ['SIGTSTP', '0'],
  ] as const)('is wiped at %s, and the program ends with %s', async (signal, code) => {
    const ended = await shown(pid => process.kill(pid, signal));
    expectWiped(ended);
    expect(ended.code).toBe(code);
  });

  it('opens no debugger at SIGUSR1, and stays until a key', async () => {
    const ended = await shown(async (pid, type) => {
      process.kill(pid, 'SIGUSR1');
      await wait(1200);
      type('q');
    });
    expectWiped(ended);
    expect(ended.code).toBe('0');
    expect(ended.bytes).not.toContain('Debugger');
  });

  it('ends in order when the terminal itself goes away', async () => {
    const ended = await shown((_, __, terminal) => terminal.kill('SIGKILL'));
    // Of the hangup, and not 134 with a core dump that holds the card.
    expect(ended.code).toBe('129');
  });

  it('is wiped at two signals at once', async () => {
    const ended = await shown(pid => {
      process.kill(pid, 'SIGTERM');
      process.kill(pid, 'SIGTERM');
    });
    expectWiped(ended);
  });

  it('is wiped at Ctrl-C', async () => {
    const ended = await shown((_, type) => type('\x03'));
    expectWiped(ended);
    expect(ended.code).toBe('130');
  });

  it('is wiped at any key, and one line stays', async () => {
    const ended = await shown((_, type) => type('q'));
    expectWiped(ended);
    expect(ended.code).toBe('0');
    expect(ended.bytes).toMatch(/Shown for \d+ s and cleared\.\r?\n$/);
  });

  it('is wiped when the program crashes', async () => {
    const crash = join(folder, 'crash.cjs');
    await writeFile(crash, `process.once('SIGUSR2', () => { throw new Error('crash') });\n`);
    const ended = await shown(pid => process.kill(pid, 'SIGUSR2'), { NODE_OPTIONS: `--require=${crash}` });
    expectWiped(ended);
    expect(ended.code).toBe('1');
  });
});

/** The questions of a command with words left out, on a real terminal, a screen of tmux: typed, cancelled, narrow. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plain } from '../completion/shell-session.ts';
import { ROOT } from '../package/built.ts';
import { requires } from '../support/programs.ts';

const PROGRAM = [process.execPath, join(ROOT, 'bin', 'cardwright.js')] as const;
const PATIENCE_MS = 60_000;

const missing = requires('tmux');

let folder: string;
let environment: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-asked-'));
  environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    TERM: 'xterm',
    LC_ALL: 'C.UTF-8',
    CARDWRIGHT_CONFIG_DIR: join(folder, 'cardwright'),
    CARDWRIGHT_PROFILE: 'sandbox',
  };
  run('cards', 'create', '--bin', 'auto', '--amount', '5', '--label', 'zebra\u202e crossing');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A command off a terminal. */
function run(...words: string[]): string {
  return execFileSync(PROGRAM[0], [PROGRAM[1], ...words], { encoding: 'utf8', env: environment }).trim();
}

/** What is typed once a text stands on the screen after what was typed before. */
type Step = readonly [until: RegExp, keys: string];

interface Talk {
  /** Everything the terminal was sent. */
  readonly bytes: string;
  /** What somebody sees at the end. */
  readonly screen: string;
  readonly code: number;
  readonly sameTerminal: boolean;
}

/** A command on a screen of tmux: typed into, read back as somebody sees it, with the bytes it was sent. */
async function talk(words: string, steps: readonly Step[], columns = 100): Promise<Talk> {
  const place = await mkdtemp(join(folder, 'talk-'));
  const at = (name: string) => join(place, name);
  const inner = at('inner.sh');
  const lines = [
    '#!/bin/sh',
    // Nothing is asked before the bytes are written down.
    `while ! test -e '${at('begin')}'; do sleep 0.05; done`,
    `stty -a > '${at('before')}'`,
    `'${PROGRAM[0]}' '${PROGRAM[1]}' ${words}`,
    `echo $? > '${at('code')}'; stty -a > '${at('after')}'; touch '${at('over')}'; sleep ${PATIENCE_MS / 1000}`,
  ];
  await writeFile(inner, `${lines.join('\n')}\n`);
  await chmod(inner, 0o755);
  const tmux = (...what: string[]) =>
    execFileSync('tmux', ['-S', at('tmux'), '-f', '/dev/null', ...what], { encoding: 'utf8', env: environment });
  tmux('new-session', '-d', '-x', String(columns), '-y', '24', inner);
  try {
    tmux('pipe-pane', `cat > '${at('bytes')}'`);
    await writeFile(at('begin'), '');
    const screen = () => tmux('capture-pane', '-p').trimEnd();
    const isOver = () => existsSync(at('over'));
    const deadline = performance.now() + PATIENCE_MS;
    const soon = async (isSo: () => boolean, what: string) => {
      while (!isSo()) {
        if (performance.now() > deadline || (isOver() && !isSo())) throw new Error(`no ${what} on:\n${screen()}`);
        await wait(20);
      }
    };
    for (const [until, keys] of steps) {
      await soon(() => until.test(screen()), String(until));
      tmux('send-keys', '-H', ...[...Buffer.from(keys)].map(byte => byte.toString(16).padStart(2, '0')));
    }
    await soon(isOver, 'end');
    const read = async (name: string) => (await readFile(at(name), 'utf8')).trim();
    const [bytes, code, before, after] = await Promise.all(['bytes', 'code', 'before', 'after'].map(read));
    return { bytes: bytes ?? '', screen: screen(), code: Number(code), sameTerminal: before === after };
  } finally {
    tmux('kill-server');
  }
}

const DOWN = '\x1b[B';
const CTRL_C = '\x03';

/** The whole command a person is told, ready to be copied; a shell reads it. */
function told({ bytes }: Talk): string {
  return /Command:\s+(cardwright [^\r\n]*)/.exec(plain(bytes))?.[1] ?? '';
}

describe.skipIf(missing)('words that were left out', () => {
  it('cards freeze: a card is found by its label, frozen, and the command is told', async () => {
    const talked = await talk('cards freeze', [
      [/Which card \(type to search\)[\s\S]*active/, 'zebra'],
      [/> card_\S+ [^\r\n]*zebra/, '\r'],
    ]);
    expect({ code: talked.code, sameTerminal: talked.sameTerminal }).toEqual({ code: 0, sameTerminal: true });
    expect(talked.bytes).not.toContain('\u202e');
    const [, id = ''] = /^cardwright cards freeze (card_\S+)$/.exec(told(talked)) ?? [];
    expect(JSON.parse(run('cards', 'get', id, '--json'))).toMatchObject({ id, status: 'frozen' });
  });

  it('cards create: BIN, amount and label are asked for, and the told command is the whole of it', async () => {
    const talked = await talk('cards create', [
      [/--bin\) \(type to search\)[\s\S]*auto/, DOWN],
      [/> bin_/, '\r'],
      [/--amount\)/, '0.5\r'],
      [/1\.00/, '\x15$1,250\r'],
      [/--label, may be empty\)/, `it's "new"\r`],
    ]);
    expect({ code: talked.code, sameTerminal: talked.sameTerminal }).toEqual({ code: 0, sameTerminal: true });
    const command = told(talked);
    expect(command).toMatch(/^cardwright cards create --bin bin_\S+ --amount 1250\.00 --label /);
    const again = execFileSync(
      'sh',
      ['-c', `cardwright() { '${PROGRAM[0]}' '${PROGRAM[1]}' "$@"; }; ${command} --dry-run --json`],
      {
        encoding: 'utf8',
        env: environment,
      },
    );
    expect(JSON.parse(again)).toMatchObject({ body: { amount: 1250, label: `it's "new"` } });
  });

  it.each([
    ['cards freeze', /type to search/],
    ['cards create', /type to search/],
    ['cards terminate', /type to search/],
  ])('%s: Ctrl-C changes nothing, ends with 130 and leaves the terminal as it was', async (words, question) => {
    const before = run('cards', 'list', '--json');
    const talked = await talk(words, [[question, CTRL_C]]);
    expect({ code: talked.code, sameTerminal: talked.sameTerminal }).toEqual({ code: 130, sameTerminal: true });
    expect(plain(talked.bytes)).toContain('Nothing was changed.');
    // The library hides the cursor while it asks.
    expect(talked.bytes.lastIndexOf('\x1b[?25h')).toBeGreaterThanOrEqual(talked.bytes.lastIndexOf('\x1b[?25l'));
    expect(run('cards', 'list', '--json')).toBe(before);
  });

  it('on 30 columns the same questions are answered in the same way', async () => {
    const talked = await talk(
      'cards unfreeze',
      [
        [/type\s+to/, 'zeb'],
        [/zeb/, '\r'],
      ],
      30,
    );
    expect({ code: talked.code, sameTerminal: talked.sameTerminal }).toEqual({ code: 0, sameTerminal: true });
    expect(told(talked)).toMatch(/^cardwright cards unfreeze card_/);
  });

  it('bins pick asks nothing, and ranks on a narrow screen too', async () => {
    const talked = await talk('bins pick --need 3ds', [], 40);
    expect(talked.code).toBe(0);
    // Below a line that is longer than the screen the terminal would go on by itself.
    for (const line of plain(talked.bytes).split(/\r*\n/)) expect([...line].length, line).toBeLessThanOrEqual(40);
    const ids: string[] = JSON.parse(run('bins', 'list', '--json')).data.map(({ id }: { id: string }) => id);
    expect(ids.filter(id => plain(talked.bytes).includes(id.slice(0, 10))).length).toBeGreaterThan(1);
  });
});

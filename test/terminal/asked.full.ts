/** The questions of a command with words left out, on a real terminal made by script(1): typed, cancelled, narrow. */
import { execFileSync, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plain } from '../completion/shell-session.ts';
import { ROOT } from '../package/built.ts';
import { possible } from '../secrets/shown-card.ts';

const PROGRAM = [process.execPath, join(ROOT, 'bin', 'cardwright.js')] as const;
const PATIENCE_MS = 60_000;

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
  readonly code: number;
  readonly sameTerminal: boolean;
}

async function talk(words: string, steps: readonly Step[], columns = 100): Promise<Talk> {
  const place = await mkdtemp(join(folder, 'talk-'));
  const inner = join(place, 'inner.sh');
  const [node, program] = PROGRAM;
  const lines = [
    '#!/bin/sh',
    `stty cols ${columns} rows 24; stty -a > '${place}/before'`,
    `'${node}' '${program}' ${words}`,
    `echo $? > '${place}/code'; stty -a > '${place}/after'`,
  ];
  await writeFile(inner, `${lines.join('\n')}\n`);
  await chmod(inner, 0o755);
  const terminal = spawn('script', ['-qfec', inner, '/dev/null'], {
    env: environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let bytes = '';
  terminal.stdout.setEncoding('utf8').on('data', text => {
    bytes += text;
  });
  const over = new Promise(resolve => terminal.once('close', resolve));
  const deadline = performance.now() + PATIENCE_MS;
  let from = 0;
  for (const [until, keys] of steps) {
    while (!until.test(plain(bytes.slice(from)))) {
      if (performance.now() > deadline) throw new Error(`no ${until} on the screen: ${plain(bytes.slice(from))}`);
      await wait(10);
    }
    from = bytes.length;
    terminal.stdin.write(keys);
  }
  await over;
  const read = async (name: string) => (await readFile(join(place, name), 'utf8')).trim();
  return { bytes, code: Number(await read('code')), sameTerminal: (await read('before')) === (await read('after')) };
}

const DOWN = '\x1b[B';
const CTRL_C = '\x03';

/** The whole command a person is told, ready to be copied; a shell reads it. */
function told({ bytes }: Talk): string {
  return /Command: (cardwright [^\r\n]*)/.exec(plain(bytes))?.[1] ?? '';
}

describe.runIf(possible)('words that were left out', () => {
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
      [/> bin_\d/, '\r'],
      [/--amount\)/, '0.5\r'],
      [/1\.00/, '\x15$1,250\r'],
      [/--label, may be empty\)/, `it's "new"\r`],
    ]);
    expect({ code: talked.code, sameTerminal: talked.sameTerminal }).toEqual({ code: 0, sameTerminal: true });
    const command = told(talked);
    expect(command).toMatch(/^cardwright cards create --bin bin_\d --amount 1250\.00 --label /);
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
        [/type to/, 'zeb'],
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
    expect(plain(talked.bytes)).toMatch(/bin_\d/);
    for (const line of plain(talked.bytes).split(/\r?\n/)) expect([...line].length, line).toBeLessThanOrEqual(40);
  });
});

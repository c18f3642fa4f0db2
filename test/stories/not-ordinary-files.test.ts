/** A pipe, a device or a socket where a file of ours belongs: refused at once. A pipe of rows is read as ever. */
import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ended, home, ROOT } from '../package/built.ts';
import { isWhole } from '../support/whole.ts';

/** ms; a program that waits for a writer would wait for ever. */
const PATIENCE = 20_000;

const PLACES: readonly (readonly [string, readonly string[]])[] = [
  ['config/config.json', ['profiles', 'list']],
  ['state/journal.db', ['audit', 'list']],
  ['state/journal.db', ['--sandbox', 'cards', 'create', '--bin', 'auto', '--amount', '5']],
  ['state/journal.db', ['ops', 'list']],
  ['state/journal.db', ['__complete', 'fish', 'ops', 'show', '']],
];

test
  .skipIf(process.platform === 'win32')
  .each(isWhole ? PLACES : PLACES.filter(([, words]) => words.includes('create')))(
  'a pipe as %s, and %j',
  async (place, words) => {
    await using here = await home();
    const path = join(here.folder, place);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    expect(spawnSync('mkfifo', ['-m', '600', path]).status).toBe(0);
    const child = here.start(words);
    child.stdin?.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
    const { code, signal, err } = await ended(child);
    clearTimeout(timer);
    expect({ words, signal }).toEqual({ words, signal: null });
    if (words[0] === '__complete') return;
    expect(err).toContain(`${path} is not an ordinary file`);
    // Nothing is sent on a sandbox key either way, so that a log which cannot be written is a warning there.
    if (words[0] !== '--sandbox') expect(code).toBe(14);
  },
);

const NAMED: readonly (readonly string[])[] = [
  ['--sandbox', 'cards', 'create', '--file', 'PIPE', '--yes'],
  ['--sandbox', 'api', 'POST', '/cards', '--input', 'PIPE', '--yes'],
  ['--contract', 'PIPE', '--sandbox', 'cards', 'list'],
  ['--sandbox', 'sandbox', 'simulate', 'run', 'PIPE'],
];

test.skipIf(process.platform === 'win32')('a pipe whose writer says nothing is left at a signal', async () => {
  await using here = await home();
  const path = join(here.folder, 'pipe');
  expect(spawnSync('mkfifo', ['-m', '600', path]).status).toBe(0);
  const words = (isWhole ? NAMED : NAMED.slice(0, 1)).map(each => each.map(word => (word === 'PIPE' ? path : word)));
  const byFile = { env: { CARDWRIGHT_API_KEY_FILE: path, CARDWRIGHT_BASE_URL: 'http://127.0.0.1:9/v1' } };
  const all = [...words.map(each => [each]), [['cards', 'list'], byFile]] as Parameters<typeof here.start>[];
  for (const [at, [each, how]] of all.entries()) {
    const child = here.start(each, how);
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
    child.stdin?.end();
    const end = ended(child);
    const writer = await silentWriter(path, () => child.exitCode !== null || child.signalCode !== null);
    child.kill(at % 2 === 0 ? 'SIGTERM' : 'SIGINT');
    const { code, signal } = await end;
    clearTimeout(timer);
    await writer?.close();
    expect([each, code, signal]).toEqual([each, at % 2 === 0 ? 143 : 130, null]);
  }
});

/** Open to write as soon as somebody waits to read. */
async function silentWriter(path: string, isOver: () => boolean): Promise<FileHandle | undefined> {
  while (!isOver()) {
    const writer = await open(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
    if (writer !== undefined) return writer;
  }
  return undefined;
}

test.runIf(isWhole)('a device is refused, and a pipe without an end is cut off', async () => {
  await using here = await home();
  for (const words of NAMED) {
    const { code, err } = await here.run(words.map(word => (word === 'PIPE' ? '/dev/zero' : word)));
    expect([code, err]).toEqual([2, expect.stringContaining('it is a device, not a file or a pipe')]);
  }
  const program = `${process.execPath} ${join(ROOT, 'bin', 'cardwright.js')}`;
  const env = { ...process.env, CARDWRIGHT_CONFIG_DIR: here.folder };
  const child = spawn('bash', ['-c', `${program} --contract <(yes) --sandbox cards list`], { env, stdio: 'pipe' });
  child.stdin.end();
  const { code, err } = await ended(child);
  expect([code, err]).toEqual([2, expect.stringContaining('is larger than 16 MB')]);
});

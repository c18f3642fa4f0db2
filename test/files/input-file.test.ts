/** Pipes that keep their reader waiting: the run's end ends it. */
import { spawnSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { openInputFile, readWhole } from '../../src/files/input-file.ts';
import { failure, freshFolder } from '../profile/dependencies.ts';

const STOPPED = new CliError('interrupted', { message: 'stopped' });

async function withPipe(work: (path: string) => Promise<void>): Promise<void> {
  await using fresh = await freshFolder();
  const path = join(fresh.path, 'pipe');
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
  await work(path);
}

test.skipIf(process.platform === 'win32')('more pipes than threads, and nobody writes: each ends at the signal', () =>
  withPipe(async path => {
    const stop = new AbortController();
    const all = Array.from({ length: 9 }, () => failure(() => openInputFile(path, 'rows.csv', stop.signal)));
    // Nothing of the thread pool answers any more.
    for (let turn = 0; turn < 100; turn += 1) await new Promise(next => setImmediate(next));
    stop.abort(STOPPED);
    expect(await Promise.all(all)).toEqual(all.map(() => STOPPED));
  }),
);

test.skipIf(process.platform === 'win32')('a pipe is read to its bound and no further', () =>
  withPipe(async path => {
    const read = failure(() => readWhole(path, 'rows.csv', 100_000, AbortSignal.any([])));
    const writer = await open(path, 'w');
    const written = writer.writeFile('x'.repeat(1_000_000)).catch((error: NodeJS.ErrnoException) => error.code);
    expect((await read).facts.message).toContain('is larger than 100,000 bytes');
    expect(await written).toBe('EPIPE');
    await writer.close();
  }),
);

test('devices are refused, but for the empty one', async () => {
  const signal = AbortSignal.any([]);
  for (const device of ['/dev/zero', '/dev/urandom', '/dev/full']) {
    const { kind, facts } = await failure(() => openInputFile(device, device, signal));
    expect([kind, facts.message]).toEqual([
      'usage',
      `cannot read "${device}": it is a device, not a file or a pipe (ENODEV)`,
    ]);
  }
  expect(await readWhole('/dev/null', '/dev/null', 1, signal)).toHaveLength(0);
});

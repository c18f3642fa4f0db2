import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openProfileStore } from '../../src/profile/store.ts';
import { requires } from '../support/programs.ts';
import { freshFolder, hostIn, modeOf } from './dependencies.ts';
import { writerIn } from './writer.ts';

const run = promisify(execFile);

test('4 processes with 25 writes each keep 100 of 100', { timeout: 180_000 }, async () => {
  await using fresh = await freshFolder();
  const writer = await writerIn(fresh.path);
  const config = join(fresh.path, 'config');
  const writers = ['0', '1', '2', '3'].map(n => writer(config, '077', n, '25'));
  await Promise.all(writers);
  const store = await openProfileStore(hostIn(fresh.path), () => {});
  expect(store.list()).toHaveLength(100);
  expect((await store.key('w3-24')).expose()).toBe('sk_test_3_00000024');
  expect(await readdir(config)).toEqual(['config.json']);
});

test.each(['000', '022'])('modes are right from creation under umask %s', async umask => {
  await using fresh = await freshFolder();
  const writer = await writerIn(fresh.path);
  const config = join(fresh.path, 'deep', 'config');
  await writer(config, umask, '0', '1');
  expect([await modeOf(config), await modeOf(join(config, 'config.json'))]).toEqual(['700', '600']);
  expect(await readFile(join(config, 'config.json'), 'utf8')).toContain('"w0-0"');
});

test.skipIf(requires('strace'))(
  'the text is synced before the rename and the folder after it (needs strace)',
  async () => {
    await using fresh = await freshFolder();
    const writer = await writerIn(fresh.path);
    const [config, trace] = [join(fresh.path, 'config'), join(fresh.path, 'trace')];
    const watched = ['-f', '-y', '-o', trace, '-e', 'trace=fsync,rename,renameat,renameat2'];
    await run('strace', [...watched, process.execPath, writer.file, config, '022', '0', '1']);
    const calls = (await readFile(trace, 'utf8')).split('\n');
    const steps = calls.flatMap(call => {
      if (/fsync\(\d+<[^>]*config\.json\.tmp-/.test(call)) return ['sync text'];
      if (/rename.*config\.json\.tmp-.*config\.json"/.test(call)) return ['rename'];
      return /fsync\(\d+<[^>]*\/config>/.test(call) ? ['sync folder'] : [];
    });
    expect(steps).toEqual(['sync text', 'rename', 'sync folder']);
  },
);

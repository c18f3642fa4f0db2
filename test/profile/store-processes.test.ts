import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openProfileStore } from '../../src/profile/store.ts';
import { requires } from '../support/programs.ts';
import { isWhole } from '../support/whole.ts';
import { freshFolder, hostIn, modeOf } from './dependencies.ts';
import { writerIn } from './writer.ts';

const run = promisify(execFile);

const [PROCESSES, WRITES] = isWhole ? [16, 50] : [2, 8];

test('processes that write at once keep what each has written', { timeout: 180_000 }, async () => {
  await using fresh = await freshFolder();
  const writer = await writerIn(fresh.path);
  const config = join(fresh.path, 'config');
  await Promise.all(Array.from({ length: PROCESSES }, (_, n) => writer(config, '077', String(n), String(WRITES))));
  const store = await openProfileStore(hostIn(fresh.path), () => {});
  expect(store.file.profiles.size).toBe(PROCESSES * WRITES);
  expect((await store.key('w1-7')).expose()).toBe('sk_test_1_00000007');
  expect(await readdir(config)).toEqual(['config.json', 'config.json.lock']);
});

test.skipIf(requires('strace'))(
  'the text is synced before the rename and the folder after it; modes are right under any umask (needs strace)',
  async () => {
    await using fresh = await freshFolder();
    const writer = await writerIn(fresh.path);
    const [config, trace] = [join(fresh.path, 'deep', 'config'), join(fresh.path, 'trace')];
    const watched = ['-f', '-y', '-o', trace, '-e', 'trace=fsync,rename,renameat,renameat2'];
    await run('strace', [...watched, process.execPath, writer.file, config, '000', '0', '1']);
    const calls = (await readFile(trace, 'utf8')).split('\n');
    const steps = calls.flatMap(call => {
      if (/fsync\(\d+<[^>]*config\.json\.tmp-/.test(call)) return ['sync text'];
      if (/rename.*config\.json\.tmp-.*config\.json"/.test(call)) return ['rename'];
      return /fsync\(\d+<[^>]*\/config>/.test(call) ? ['sync folder'] : [];
    });
    expect(steps).toEqual(['sync text', 'rename', 'sync folder']);
    expect([await modeOf(config), await modeOf(join(config, 'config.json'))]).toEqual(['700', '600']);
  },
);

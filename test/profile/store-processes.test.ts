import { execFile, spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { openProfileStore } from '../../src/profile/store.ts';
import { freshFolder, hostIn, modeOf } from '../profile/surroundings.ts';

const run = promisify(execFile);

/** A writer as a process of its own: real time, real chance, `umask` and the names it saves are its arguments. */
const WRITER = `
const { randomBytes } = require('node:crypto');
const { openProfileStore, readKey } = require('./profile.cjs');
const [folder, umask, writer, count] = process.argv.slice(2);
process.umask(parseInt(umask, 8));
const clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  sleep: ms => new Promise(resolve => setTimeout(resolve, ms)),
};
const random = { bytes: n => new Uint8Array(randomBytes(n)), fraction: Math.random };
const folders = { config: folder, state: folder, data: folder, cache: folder, runtime: folder };
const host = { folders, clock, random, pid: process.pid, platform: process.platform, env: {} };
(async () => {
  const store = await openProfileStore(host, text => { throw new Error(text); });
  for (let n = 0; n < Number(count); n += 1) {
    const key = readKey('sk_test_' + writer + '_' + String(n).padStart(8, '0'));
    await store.save({ name: 'w' + writer + '-' + n, base_url: 'https://api.example.com/v1', key });
  }
})();
`;

async function bundled(folder: string): Promise<string> {
  const source = (name: string) => JSON.stringify(fileURLToPath(new URL(`../../src/profile/${name}`, import.meta.url)));
  await build({
    stdin: {
      contents: `export { openProfileStore } from ${source('store.ts')}; export { readKey } from ${source('key.ts')};`,
      resolveDir: fileURLToPath(new URL('../..', import.meta.url)),
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    outfile: join(folder, 'profile.cjs'),
    logLevel: 'error',
  });
  const writer = join(folder, 'writer.cjs');
  await writeFile(writer, WRITER);
  return writer;
}

test('4 processes with 25 writes each keep 100 of 100', { timeout: 60_000 }, async () => {
  await using fresh = await freshFolder();
  const writer = await bundled(fresh.path);
  const config = join(fresh.path, 'config');
  const writers = ['0', '1', '2', '3'].map(n => run(process.execPath, [writer, config, '077', n, '25']));
  await Promise.all(writers);
  const store = await openProfileStore(hostIn(fresh.path), () => {});
  expect(store.list()).toHaveLength(100);
  expect((await store.key('w3-24')).expose()).toBe('sk_test_3_00000024');
  expect(await readdir(config)).toEqual(['config.json']);
});

test.each(['000', '022', '077'])('modes are right from creation under umask %s', async umask => {
  await using fresh = await freshFolder();
  const writer = await bundled(fresh.path);
  const config = join(fresh.path, 'deep', 'config');
  await run(process.execPath, [writer, config, umask, '0', '1']);
  expect([await modeOf(config), await modeOf(join(config, 'config.json'))]).toEqual(['700', '600']);
  expect(await readFile(join(config, 'config.json'), 'utf8')).toContain('"w0-0"');
});

const hasStrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

test.runIf(hasStrace)('the text is synced before the rename and the folder after it (needs strace)', async () => {
  await using fresh = await freshFolder();
  const writer = await bundled(fresh.path);
  const [config, trace] = [join(fresh.path, 'config'), join(fresh.path, 'trace')];
  const watched = ['-f', '-y', '-o', trace, '-e', 'trace=fsync,rename,renameat,renameat2'];
  await run('strace', [...watched, process.execPath, writer, config, '022', '0', '1']);
  const calls = (await readFile(trace, 'utf8')).split('\n');
  const steps = calls.flatMap(call => {
    if (/fsync\(\d+<[^>]*config\.json\.tmp-/.test(call)) return ['sync text'];
    if (/rename.*config\.json\.tmp-.*config\.json"/.test(call)) return ['rename'];
    return /fsync\(\d+<[^>]*\/config>/.test(call) ? ['sync folder'] : [];
  });
  expect(steps).toEqual(['sync text', 'rename', 'sync folder']);
});

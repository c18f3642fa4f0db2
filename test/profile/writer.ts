import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

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
const host = { folders, clock, random, pid: process.pid, platform: process.platform, env: {}, signal: AbortSignal.any([]) };
(async () => {
  const store = await openProfileStore(host, text => { throw new Error(text); });
  for (let n = 0; n < Number(count); n += 1) {
    const key = readKey('sk_test_' + writer + '_' + String(n).padStart(8, '0'));
    await store.save({ name: 'w' + writer + '-' + n, base_url: 'https://api.example.com/v1', key });
  }
})();
`;

export interface Writer {
  /** Runs one to its end: folder of the profiles, umask, its name, how many profiles it saves. */
  (config: string, umask: string, name: string, count: string): Promise<unknown>;
  readonly file: string;
}

/** Bundles the writer into the folder. */
export async function writerIn(folder: string): Promise<Writer> {
  const source = (name: string) => JSON.stringify(fileURLToPath(new URL(`../../src/profile/${name}`, import.meta.url)));
  await build({
    stdin: {
      contents: `export { openProfileStore } from ${source('store.ts')}; export { readKey } from ${source('parts.ts')};`,
      resolveDir: fileURLToPath(new URL('../..', import.meta.url)),
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // From where the engine looks for its package.
    define: { 'import.meta.url': JSON.stringify(import.meta.url) },
    outfile: join(folder, 'profile.cjs'),
    logLevel: 'error',
  });
  const file = join(folder, 'writer.cjs');
  await writeFile(file, WRITER);
  const start = (...words: readonly string[]) => run(process.execPath, [file, ...words]);
  return Object.assign(start, { file });
}

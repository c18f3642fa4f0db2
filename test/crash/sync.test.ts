/** SENT is on the disk before a byte of the request leaves, as the system sees it (A1, B4, I5; needs strace). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { program } from '../support/child.ts';
import { requires } from '../support/programs.ts';
import { ask } from '../support/sandbox-http.ts';
import type { Order } from './driver.ts';

const SOURCE = `
import { drive } from './test/crash/driver.ts';
await drive(JSON.parse(process.argv[2]));
`;

test.skipIf(requires('strace'))('written, synced, sent, in that order', async () => {
  await using child = await program(SOURCE);
  await using sandbox = await startSandbox({ wallet: 100, ids: 'counted', rateLimits: false });
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-sync-'));
  const { json: bins } = await ask(sandbox, { path: '/bins' });
  const key = sandbox.key.expose();
  const order: Order = { url: sandbox.url, key, folder, bin: bins.data[0].id, rows: 3, dieAt: 0, workers: 1 };
  const trace = join(folder, 'trace');
  const watched = ['-f', '-y', '-s', '400', '-o', trace, '-e', 'trace=write,writev,pwrite64,sendto,sendmsg,fdatasync'];
  const running = spawn('strace', [...watched, process.execPath, child.file, JSON.stringify(order)]);
  expect((await once(running, 'close'))[0]).toBe(0);
  const calls = (await readFile(trace, 'utf8')).split('\n').flatMap(call => {
    if (/write\w*\(\d+<[^>]*\/journal>.*SENT/.test(call)) return ['SENT'];
    // Other threads sync: a call may be told in two halves, and its end is what counts.
    if (/fdatasync\(\d+<[^>]*\/journal>\)\s*= 0|fdatasync resumed>\)\s*= 0/.test(call)) return ['synced'];
    return /"POST \/v1\/cards /.test(call) ? ['POST'] : [];
  });
  expect(calls.filter(call => call === 'POST')).toHaveLength(3);
  for (const [at, call] of calls.entries())
    if (call === 'POST') expect(calls.slice(at - 2, at)).toEqual(['SENT', 'synced']);
  await rm(folder, { recursive: true });
});

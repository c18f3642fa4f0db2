/** Two processes that take the same op up at once, 200 times: one does the work, the other is refused (I13). */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inputDigest } from '../../src/journal/wal/op-id.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { type Program, program } from '../support/child.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { journalFor, type Order, rowsOf } from './driver.ts';

const PAIRS = 200;
const ROWS = 3;
/** How long a create takes, ms: whoever has the lock still has it when the other asks for it. */
const SLOW_MS = 1_000;
/** Both wait at the same gate, so that their locks meet. */
const SOURCE = `
import { existsSync } from 'node:fs';
import { resume } from './test/crash/driver.ts';
const { gate, ...order } = JSON.parse(process.argv[2]);
process.stdout.write('ready ');
const pause = new Int32Array(new SharedArrayBuffer(4));
while (!existsSync(gate)) Atomics.wait(pause, 0, 0, 1);
try {
  await resume(order);
  process.stdout.write('through');
} catch (error) {
  if (error.kind !== 'guarded') throw error;
  process.stdout.write('refused');
}
`;

test('two resumes at once, 200 pairs of processes', { timeout: 900_000 }, async () => {
  await using child = await program(SOURCE);
  await using sandbox = await startSandbox({ wallet: 5000, ids: 'counted', rateLimits: false });
  await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: true, delayMs: SLOW_MS });
  proxy.fail('POST', /\/cards$/, ...Array.from({ length: PAIRS * ROWS }, () => 'late-answer' as const));
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-pairs-'));
  const { json: bins } = await ask(sandbox, { path: '/bins' });
  const key = sandbox.key.expose();
  const order: Order = { url: proxy.url, key, folder, bin: bins.data[0].id, rows: ROWS, dieAt: 0 };
  const journal = journalFor(order);
  const ends: string[] = [];
  let next = 0;
  const worker = async () => {
    for (let pair = next++; pair < PAIRS; pair = next++) {
      const rows = rowsOf(order);
      const plan = { command: 'cards create', rows, digest: inputDigest(rows) + pair, bulk: true, marker: true };
      const run = await journal.begin(plan);
      await run[Symbol.asyncDispose]();
      const gate = join(folder, `gate-${pair}`);
      const words = JSON.stringify({ ...order, op: run.op, aheadMs: 1_000, gate });
      const both = [meeting(child, words), meeting(child, words)];
      await Promise.all(both.map(({ ready }) => ready));
      await writeFile(gate, '');
      ends.push((await Promise.all(both.map(({ end }) => end))).sort().join(' and '));
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  const refused = ends.filter(end => end === 'refused and through').length;
  process.stdout.write(`${PAIRS} pairs, one refused in ${refused}; ${proxy.posts().length} creates sent\n`);
  expect(ends).toEqual(Array.from({ length: PAIRS }, () => 'refused and through'));
  expect(proxy.posts()).toHaveLength(PAIRS * ROWS);
  const { json: wallet } = await ask(sandbox, { path: '/wallet' });
  expect(Math.round((5000 - wallet.balance) * 100)).toBe(PAIRS * ROWS * 150);
  await rm(folder, { recursive: true });
});

/** One of the two: `ready` when it waits at the gate, `end` with what became of it. */
function meeting(child: Program, words: string): { ready: Promise<unknown>; end: Promise<string> } {
  const running = child.start(words);
  if (running.stdout === null) throw new Error('a child without standard output');
  let told = '';
  running.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const end = once(running, 'close').then(([code]) => {
    if (code !== 0) throw new Error(`the process ended with ${code}`);
    return told.replace('ready ', '');
  });
  return { ready: Promise.race([once(running.stdout, 'data'), end]), end };
}

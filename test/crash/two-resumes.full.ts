/** Two processes that take the same op up at once, 200 times: one does the work, the other is refused (I13). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inputDigest } from '../../src/journal/op-id.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { program } from '../support/child.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { journalFor, type Order, rowsOf } from './driver.ts';

const PAIRS = 200;
const ROWS = 3;
/** Both wait until the same moment, so that their locks meet. */
const SOURCE = `
import { resume } from './test/crash/driver.ts';
const { at, ...order } = JSON.parse(process.argv[2]);
while (Date.now() < at);
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
  await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: true });
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-pairs-'));
  const { json: bins } = await ask(sandbox, { path: '/bins' });
  const key = sandbox.key.expose();
  const order: Order = { url: proxy.url, key, folder, bin: bins.data[0].id, rows: ROWS, dieAt: 0 };
  const journal = journalFor(order);
  const ends = { refused: 0, through: 0 };
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const rows = rowsOf(order);
    const plan = { command: 'cards create', rows, digest: inputDigest(rows) + pair, bulk: true, marker: true };
    const run = await journal.begin(plan);
    await run[Symbol.asyncDispose]();
    const posts = proxy.posts().length;
    const words = JSON.stringify({ ...order, op: run.op, aheadMs: 1_000, at: Date.now() + 700 });
    const both = await Promise.all([child.run(words), child.run(words)]);
    for (const end of both) ends[end as keyof typeof ends] += 1;
    expect(both).toContain('through');
    // The second may come when the first is through; then it finds END and sends nothing either.
    expect(proxy.posts().length - posts).toBe(ROWS);
  }
  process.stdout.write(`${PAIRS} pairs: ${ends.refused} refused, ${2 * PAIRS - ends.refused} through\n`);
  expect(ends.refused).toBeGreaterThan(PAIRS / 2);
  const { json: wallet } = await ask(sandbox, { path: '/wallet' });
  expect(Math.round((5000 - wallet.balance) * 100)).toBe(PAIRS * ROWS * 150);
  await rm(folder, { recursive: true });
});

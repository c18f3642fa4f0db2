/** The process dies at any moment: what was answered stays, what was not is settled by asking again (J1, J4). */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { program } from '../support/child.ts';
import { ask } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';

const ROUNDS = [1, 2, 3, 4, 5];

/** Creates cards under `<round>-1`, `<round>-2`, ... four at a time, and tells each answer, until it is killed. */
const SOURCE = `
import { startSandbox } from './src/sandbox/serving/start.ts';
import { ask } from './test/support/sandbox-http.ts';
const [store, round] = process.argv.slice(2);
const sandbox = await startSandbox({ store, rateLimits: false, wallet: 100000 });
const bin_id = (await ask(sandbox, { path: '/bins' })).json.data[0].id;
console.log('ready');
let nth = 0;
const one = async () => {
  for (;;) {
    nth += 1;
    const idempotencyKey = round + '-' + nth;
    const answer = await ask(sandbox, { method: 'POST', path: '/cards', body: { bin_id, amount: 1 }, idempotencyKey });
    console.log(JSON.stringify([idempotencyKey, answer.status, answer.text]));
  }
};
await Promise.all([one(), one(), one(), one()]);
`;

it('keeps every answered card, and repeats its answer, through kills', { timeout: 180_000 }, async () => {
  await using child = await program(SOURCE);
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-kill-'));
  const store = join(folder, 'store.db');
  const told: [string, number, string][] = [];
  for (const round of ROUNDS) {
    const running = child.start(store, String(round));
    const lines: string[] = [];
    // Killed while the other three requests, and the next one, are under way.
    for await (const line of createInterface({ input: running.stdout ?? Readable.from([]) })) {
      if (lines.push(line) === 5 * round) running.kill('SIGKILL');
    }
    told.push(...lines.slice(1).map(line => JSON.parse(line) as [string, number, string]));
  }
  expect(told.length).toBeGreaterThan(10);

  await using sandbox = await startSandbox({ store, rateLimits: false });
  const bin_id = (await ask(sandbox, { path: '/bins' })).json.data[0].id;
  const body = { bin_id, amount: 1 };
  const repeat = (idempotencyKey: string) => ask(sandbox, { method: 'POST', path: '/cards', body, idempotencyKey });
  for (const [key, status, text] of told) {
    const answer = await repeat(key);
    expect([answer.status, answer.text, answer.headers['idempotent-replayed']]).toEqual([status, text, 'true']);
  }
  // Nobody knows what became of the requests that were under way: asked again, each has one effect, no 409.
  for (const round of ROUNDS) {
    const last = Math.max(...told.filter(([key]) => key.startsWith(`${round}-`)).map(([key]) => Number(key.slice(2))));
    for (let nth = last + 1; nth <= last + 4; nth += 1) expect((await repeat(`${round}-${nth}`)).status).toBe(201);
  }
  const status = await ask(sandbox, { path: '/_sandbox/v1/status' });
  expect(status.json.ledger_faults).toEqual([]);
  const { json: wallet } = await ask(sandbox, { path: '/wallet' });
  expect(wallet.balance + status.json.cards).toBe(100_000);
  await rm(folder, { recursive: true });
});

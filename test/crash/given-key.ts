/** Commands of several processes with one idempotency key or one intent: one is sent, the others say why they are not. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { type Program, program } from '../support/child.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROUNDS = 3;
const AT_ONCE = 6;
const GATE = 'gate-';

/** One process carries out its command of every round; all wait at the same gate. */
const SOURCE = `
import { existsSync, writeFileSync } from 'node:fs';
import { inputDigest } from './src/journal/wal/op-id.ts';
import { cents } from './src/core/money.ts';
import { journalFor } from './test/crash/driver.ts';
const { order, gate, amount, rounds, named } = JSON.parse(process.argv[2]);
process.stdout.write('ready ');
// Pauses of a lock keep no process alive.
const alive = setInterval(() => undefined, 1_000);
const pause = new Int32Array(new SharedArrayBuffer(4));
const carriedOut = async key => {
  const change = { row: 1, operation: 'cards.create', input: { bin_id: order.bin, amount: cents(amount) }, amount: cents(amount) };
  const row = named ? { ...change, intent: key } : change;
  const plan = { command: 'cards create', rows: [row], digest: inputDigest([row]), bulk: false, marker: true, ...(!named && { key }) };
  const run = await journalFor(order).begin(plan);
  const { outcome } = await run.perform(1);
  await run.finish();
  await run[Symbol.asyncDispose]();
  return outcome;
};
for (let round = 0; round < rounds; round += 1) {
  writeFileSync(gate + round + '-' + process.pid, '');
  while (!existsSync(gate + round)) Atomics.wait(pause, 0, 0, 1);
  process.stdout.write((await carriedOut('order-' + round).catch(error => error.kind)) + ' ');
}
clearInterval(alive);
`;

let child: Program;

export interface AtOnce {
  readonly what: string;
  /** Of the nth command, cents. */
  readonly amountOf: (nth: number) => number;
  /** An intent in place of a key. */
  readonly named: boolean;
}

export function sixAtOnce(cases: readonly AtOnce[]): void {
  beforeAll(async () => {
    child = await program(SOURCE);
  });
  afterAll(() => child[Symbol.asyncDispose]());

  test.each(cases)('six commands at once $what: one card a key', async ({ amountOf, named }) => {
    await using sandbox = await startSandbox({ wallet: 1000, ids: 'counted', rateLimits: false });
    await using proxy = await startFaultProxy({ target: sandbox.url });
    await using temporary = await temporaryFolder();
    const folder = temporary.path;
    const { json: bins } = await ask(sandbox, { path: '/bins' });
    const order = { url: proxy.url, key: sandbox.key.expose(), folder, bin: bins.data[0].id, rows: 1, dieAt: 0 };
    const gate = join(folder, GATE);
    const told = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, nth) => {
        const running = child.run(JSON.stringify({ order, gate, amount: amountOf(nth), rounds: ROUNDS, named }));
        if (nth === 0) for (let round = 0; round < ROUNDS; round += 1) await openWhenAllStandThere(folder, round);
        return (await running).trim().split(' ').slice(1);
      }),
    );
    const same = amountOf(0) === amountOf(1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const ends = told.map(each => each[round] ?? '').sort();
      if (!same) expect(ends.filter(end => end === 'done')).toHaveLength(1);
      // The same request again is told what became of it; another request, or one too early, sends nothing.
      for (const end of ends) expect(same ? ['done', 'guarded'] : ['done', 'guarded', 'usage']).toContain(end);
    }
    expect(proxy.posts()).toHaveLength(ROUNDS);
    expect(new Set(proxy.posts().map(({ key }) => key)).size).toBe(ROUNDS);
  });
}

/** Each process leaves a file of its own beside the gate before it waits there. */
async function openWhenAllStandThere(folder: string, round: number): Promise<void> {
  const standing = async () => (await readdir(folder)).filter(name => name.startsWith(`${GATE}${round}-`)).length;
  while ((await standing()) < AT_ONCE) await wait(5);
  await writeFile(join(folder, `${GATE}${round}`), '');
}

/** The whole sweep: SIGKILL at every system call that changes the store during five operations. */
import process from 'node:process';
import { expect, test } from 'vitest';
import { whyNoTrace } from '../support/strace.ts';
import { nameOf, openSweep } from './sweep.ts';

const missing = whyNoTrace();
if (missing !== undefined) process.stderr.write(`SKIPPED: ${missing}; no kill sweep of the store ran\n`);

test.skipIf(missing)('killed at every system call, the store loses nothing', { timeout: 1_800_000 }, async () => {
  await using sweep = await openSweep();
  const broken: string[] = [];
  const counts = new Map<string, number>();
  let kills = 0;
  let next = 1;
  const work = async () => {
    while (next <= sweep.calls.length) {
      const nth = next;
      next += 1;
      const struck = await sweep.strike(nth);
      broken.push(...struck.broken.map(what => `call ${nth}, ${sweep.calls[nth - 1]}: ${what}`));
      if (!struck.killed) continue;
      kills += 1;
      const call = nameOf(sweep.calls[nth - 1]);
      counts.set(call, (counts.get(call) ?? 0) + 1);
    }
  };
  await Promise.all([work(), work()]);
  const each = [...counts].map(([call, count]) => `${call} ${count}`).join(', ');
  process.stdout.write(
    `store swept: ${kills} kills of ${sweep.calls.length} calls (${each}), ${broken.length} broken\n`,
  );
  expect(broken).toEqual([]);
  expect(kills).toBeGreaterThan(sweep.calls.length * 0.9);
});

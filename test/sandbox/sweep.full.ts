/** The whole sweep: SIGKILL at every system call that changes the store or sends something during five operations. */
import process from 'node:process';
import { expect, test } from 'vitest';
import { requires } from '../support/programs.ts';
import { isAnswer, isSync, nameOf, openSweep, whyNoSends } from './sweep.ts';
import { OPERATIONS } from './sweep-asking.ts';

const missing = requires('strace');

test.skipIf(missing)('killed at every system call, the store loses nothing', { timeout: 1_800_000 }, async () => {
  await using sweep = await openSweep();
  const broken: string[] = [];
  const counts = new Map<string, number>();
  let kills = 0;
  const points = [
    ...sweep.calls.map((call, index) => ({ call, strike: () => sweep.strike(index + 1) })),
    ...sweep.sends.map((call, index) => ({ call, strike: () => sweep.strikeSend(index + 1) })),
  ];
  let next = 0;
  const work = async () => {
    for (let point = points[next++]; point !== undefined; point = points[next++]) {
      const { call, strike } = point;
      const struck = await strike();
      broken.push(...struck.broken.map(what => `${call}: ${what}`));
      if (!struck.killed) continue;
      kills += 1;
      const name = isAnswer(call) ? 'answers' : nameOf(call);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  };
  await Promise.all([work(), work()]);
  const each = [...counts].map(([call, count]) => `${call} ${count}`).join(', ');
  process.stdout.write(`store swept: ${kills} kills at ${points.length} calls (${each}), ${broken.length} broken\n`);
  expect(broken).toEqual([]);
  expect(counts.get('answers')).toBe(whyNoSends === undefined ? OPERATIONS.length : undefined);
  expect(kills).toBeGreaterThan(points.length * 0.9);
});

test.skipIf(missing)(
  'a sync that fails, each of them, and then a kill: every answer lasts',
  { timeout: 600_000 },
  async () => {
    await using sweep = await openSweep();
    const syncs = sweep.calls.filter(isSync).length;
    const broken: string[] = [];
    let lost = 0;
    for (let nth = 1; nth <= syncs; nth += 1) {
      const struck = await sweep.failSync(nth);
      broken.push(...struck.broken.map(what => `sync ${nth}: ${what}`));
      if (struck.killed) lost += 1;
    }
    process.stdout.write(
      `store with a failing sync: ${lost} of ${syncs} ended without an answer, ${broken.length} broken\n`,
    );
    expect(broken).toEqual([]);
    expect(lost).toBeGreaterThan(0);
  },
);

test.skipIf(missing)(
  'the sweep notices a store that cannot undo half a transaction',
  { timeout: 180_000 },
  async () => {
    await using torn = await openSweep({ journal: 'memory' });
    // The last writes before an operation's sync: some of its pages are there, some are not.
    const end = torn.calls.findLastIndex(call => call.startsWith('fsync'));
    const struck = [await torn.strike(end - 3), await torn.strike(end - 1)];
    expect(struck.flatMap(({ broken }) => broken).join('\n')).toMatch(/as it was left: I2 /);
  },
);

test.skipIf(missing)('every answer leaves after the log is synced', { timeout: 180_000 }, async () => {
  await using sweep = await openSweep();
  const trace = await sweep.trace();
  let unsynced = 0;
  let writes = 0;
  let answers = 0;
  for (const call of trace) {
    if (/^pwrite(?:64|v)\(\d+<[^>]*-wal>/.test(call)) [unsynced, writes] = [unsynced + 1, writes + 1];
    else if (/^f(?:data)?sync\(\d+<[^>]*-wal>.*= 0$/.test(call)) unsynced = 0;
    else if (/"HTTP\/1\.1 20/.test(call)) {
      answers += 1;
      expect(unsynced, `answer ${answers} left before ${unsynced} writes were synced`).toBe(0);
    }
  }
  expect(answers).toBeGreaterThanOrEqual(OPERATIONS.length);
  // A frame and its page, for each of them at least.
  expect(writes).toBeGreaterThan(2 * OPERATIONS.length);
});

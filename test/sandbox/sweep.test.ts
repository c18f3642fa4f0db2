/** A few points of the sweep by system call, and the proof that what was answered was on the disk; see sweep.full.ts. */
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requires } from '../support/programs.ts';
import { isAnswer, openSweep, type Sweep, whyNoSends } from './sweep.ts';
import { OPERATIONS } from './sweep-asking.ts';

const POINTS = 2;
const missing = requires('strace');

/** One for all that leave it as it is: to open one is to run it twice. */
let sweep: Sweep;
beforeAll(async () => {
  if (missing === undefined) sweep = await openSweep();
});
afterAll(() => sweep?.[Symbol.asyncDispose]());

test.skipIf(missing)('killed at a few of its system calls, the store loses nothing', { timeout: 240_000 }, async () => {
  const { length } = sweep.calls;
  // Spread over the whole run, so that opening, every operation and the last checkpoint have their turn.
  const points = Array.from({ length: POINTS }, (_, at) => 1 + Math.floor(((at + 0.5) * length) / POINTS));
  const struck = [];
  for (const nth of points) struck.push({ nth, ...(await sweep.strike(nth)) });
  expect(struck.flatMap(({ nth, broken }) => broken.map(what => `call ${nth}: ${what}`))).toEqual([]);
  expect(struck.filter(({ killed }) => killed).length).toBe(POINTS);
});

if (whyNoSends !== undefined) process.stderr.write(`SKIPPED: an answer is sent ${whyNoSends}; no kill at one ran\n`);

test.skipIf(missing ?? whyNoSends)(
  'killed as an answer is about to leave, its work is done',
  { timeout: 180_000 },
  async () => {
    const answers = sweep.sends.flatMap((send, index) => (isAnswer(send) ? [index + 1] : []));
    expect(answers).toHaveLength(OPERATIONS.length);
    expect(await sweep.strikeSend(answers.at(-1) ?? 0)).toEqual({ killed: true, broken: [] });
  },
);

test.skipIf(missing)('every answer leaves after the log is synced', { timeout: 180_000 }, async () => {
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

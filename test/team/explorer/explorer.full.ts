/** The same as `explorer.test.ts` in more and wider bounds: three operators, more kills, more lost answers, more time. */
import { describe, expect, test } from 'vitest';
import { BACKUP, CLASH, FAILOVER, FILES, NAMELESS, RESENDING, TWO } from './mutants.ts';
import { pageOf } from './report.ts';
import { search } from './search.ts';
import type { Bounds } from './world.ts';

const THREE = { operators: 3, wants: [1, 1, 1], commands: [1, 1, 1], clocks: [0, 0, 0] } as const;
const MOST_STATES = 6_000_000;

/** In the bounds of the mutants, or about as wide. */
const NARROW: Readonly<Record<string, Bounds>> = {
  'one change, keys ignored': TWO,
  'SENT behind the claim, keys ignored': { ...TWO, sentWithClaim: false, crashes: 0 },
  'two purchases, and a cap for one': { ...TWO, wants: [1, 2], cap: 1 },
  'one command twice, without a name, lost answers': { ...NAMELESS, lostAnswers: 1, ticks: 2 },
  '--resend-absent, nobody stands still': RESENDING,
  '--resend-absent, a clock that is fast': { ...RESENDING, clocks: [2, 0], crashes: 0 },
  'a standby without the last commit, everybody has pushed': FAILOVER,
  'a backup without the last commit, and a name that is used again': BACKUP,
  'two ops with one name behind a backup': CLASH,
  'one name in the files of a machine and in the journal, --keep-both': FILES,
};

const WIDE: Readonly<Record<string, Bounds>> = {
  'keys honoured': { ...TWO, keys: 'honoured', lostAnswers: 0 },
  'two commands each': { ...TWO, commands: [2, 2], ticks: 5 },
  'two commands each, keys honoured': {
    ...TWO,
    commands: [2, 2],
    keys: 'honoured',
    lostAnswers: 0,
  },
  'two commands each, SENT behind the claim, three lost answers': {
    ...TWO,
    commands: [2, 2],
    sentWithClaim: false,
    lostAnswers: 3,
  },
  'three operators': { ...TWO, ...THREE },
  'three operators, --resend-absent, wrong clocks': {
    ...RESENDING,
    ...THREE,
    clocks: [-2, 0, 2],
    crashes: 0,
    lostAnswers: 0,
    ticks: 6,
  },
  'three operators, two purchases and a cap for one': { ...TWO, ...THREE, wants: [1, 2, 1], cap: 1 },
  'two purchases without names': { ...NAMELESS, standsStill: true, cap: 2, ticks: 4 },
  'two purchases without names, lost answers': { ...NAMELESS, cap: 2, lostAnswers: 1, commands: [2, 2] },
  'a standby, kills and lost answers': { ...FAILOVER, crashes: 1, lostAnswers: 1 },
  'a standby, SENT behind the claim': { ...FAILOVER, sentWithClaim: false, crashes: 1 },
  'a standby, three operators': { ...FAILOVER, ...THREE, ticks: 3 },
  'a standby, one left out, two commands each': { ...FAILOVER, leavesOut: true, commands: [2, 2], ticks: 2 },
  'a standby, one left out': { ...FAILOVER, leavesOut: true },
  'a backup without the last SENT': { ...BACKUP, sentWithClaim: false, commands: [2, 1], ticks: 2 },
  'two ops with one name, keys honoured': { ...CLASH, keys: 'honoured' },
  'two ops with one name, three commands each': { ...CLASH, refusals: 1, commands: [3, 3], ticks: 3 },
  'a backup, two commands each': { ...BACKUP, refusals: 1, commands: [2, 2] },
  'a backup, kills and lost answers': { ...BACKUP, refusals: 1, crashes: 1, lostAnswers: 1 },
  'a backup, one left out': { ...BACKUP, leavesOut: true, refusals: 1, commands: [1, 2] },
  'a backup, SENT behind the claim, two commands each': {
    ...BACKUP,
    sentWithClaim: false,
    crashes: 1,
    commands: [2, 2],
  },
  'a backup, time to settle': { ...BACKUP, ticks: 5 },
  'a backup, three operators': { ...BACKUP, ...THREE },
  'files of two machines with one name': { ...FILES, files: ['unknown', 'done'] },
  'files of one machine, kills, two commands each': { ...FILES, crashes: 1, commands: [2, 2] },
};

describe('what a shared journal promises, in more bounds', () => {
  test.each([...Object.entries(NARROW), ...Object.entries(WIDE)])('%s', (what, bounds) => {
    const searched = search(bounds, undefined, MOST_STATES);
    process.stdout.write(pageOf(what, searched));
    expect(searched.broken).toBeUndefined();
    expect(searched.carriedOut).toBeGreaterThan(0);
    expect(searched.takenOver).toBeGreaterThan(0);
  });
});

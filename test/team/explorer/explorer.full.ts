/** The same as `explorer.test.ts` in wider bounds: three operators, more kills, more lost answers, more time. */
import { describe, expect, test } from 'vitest';
import { FAILOVER, NAMELESS, RESENDING, TWO } from './mutants.ts';
import { pageOf } from './report.ts';
import { search } from './search.ts';
import type { Bounds } from './world.ts';

const THREE = { operators: 3, wants: [1, 1, 1], commands: [1, 1, 1], clocks: [0, 0, 0] } as const;
const MOST_STATES = 6_000_000;

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
  'a standby, kills and lost answers': { ...FAILOVER, crashes: 1, lostAnswers: 1 },
  'a standby, SENT behind the claim': { ...FAILOVER, sentWithClaim: false, crashes: 1 },
  'a standby, three operators': { ...FAILOVER, ...THREE, ticks: 3 },
};

describe('what a shared journal promises, in wide bounds', () => {
  test.each(Object.entries(WIDE))('%s', (what, bounds) => {
    const searched = search(bounds, undefined, MOST_STATES);
    process.stdout.write(pageOf(what, searched));
    expect(searched.broken).toBeUndefined();
    expect(searched.takenOver).toBeGreaterThan(0);
  });
});

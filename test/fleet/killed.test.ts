/** Killed at boundaries of its journal, an apply is gone on with: no second card, no cent lost, nothing left to do. */
import { describe, expect, it } from 'vitest';
import { FLEETS, type Setting, sweep } from './killed.ts';

const WAYS: readonly Omit<Setting, 'fleet' | 'dieAt'>[] = [
  { honoured: true, journal: 'kept', goesOn: 'resume' },
  { honoured: true, journal: 'lost', goesOn: 'new plan' },
  { honoured: false, journal: 'kept', goesOn: 'new plan' },
];

/** The sharpest way with each fleet, and every way with the one whose steps depend on each other; `killed.full.ts` has all. */
const SWEEPS = (Object.keys(FLEETS) as Setting['fleet'][]).map(
  fleet => [fleet, fleet === 'a replacement' ? WAYS : WAYS.slice(-1)] as const,
);

describe.each(SWEEPS)('%s', (fleet, ways) => {
  it.each(ways)('%o', async way => {
    const { kills, broken } = await sweep({ fleet, ...way }, 30);
    expect(broken).toEqual([]);
    expect(kills).toBeGreaterThan(1);
  });
});

import { describe, expect, it } from 'vitest';
import { IN_BALANCES_ALONE, KINDS, missed } from './planted.ts';

/** `planted.full.ts` plants 500 of each. */
const EACH = 10;
const seeds = Array.from({ length: EACH }, (_, index) => index + 1);

describe('planted faults are named to the cent', () => {
  it.each(Object.keys(KINDS))('%s, all holds as listed', kind => {
    expect(seeds.map(seed => missed(kind, seed, { partialReversals: false })).filter(Boolean)).toEqual([]);
  });

  it.each(Object.keys(KINDS).filter(kind => !IN_BALANCES_ALONE.includes(kind)))(
    '%s, with partial reversals that no list shows',
    kind => {
      expect(seeds.map(seed => missed(kind, seed, { partialReversals: true })).filter(Boolean)).toEqual([]);
    },
  );

  it.each(IN_BALANCES_ALONE)('%s, with partial reversals, at the latest once every authorization has closed', kind => {
    const open = seeds.map(seed => missed(kind, seed, { partialReversals: true, untilClosed: true })).filter(Boolean);
    expect(open).toEqual([]);
  });
});

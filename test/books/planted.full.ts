import { expect, it } from 'vitest';
import { IN_BALANCES_ALONE, KINDS, missed } from './planted.ts';

const seeds = Array.from({ length: 500 }, (_, index) => index + 1);

it.each(Object.keys(KINDS))(
  '%s: 500 of 500, all holds as listed',
  kind => {
    expect(seeds.map(seed => missed(kind, seed, { partialReversals: false })).filter(Boolean)).toEqual([]);
  },
  600_000,
);

it.each(Object.keys(KINDS))(
  '%s: 500 of 500 with partial reversals, once they have closed where balances alone show it',
  kind => {
    const untilClosed = IN_BALANCES_ALONE.includes(kind);
    expect(seeds.map(seed => missed(kind, seed, { partialReversals: true, untilClosed })).filter(Boolean)).toEqual([]);
  },
  600_000,
);

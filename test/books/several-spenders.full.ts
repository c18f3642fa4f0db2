import { expect, it } from 'vitest';
import type { Counting } from './model.ts';
import { judgeMany } from './several-spenders.ts';

const COUNTINGS: Readonly<Record<string, Counting>> = {
  default: {},
  'total_spent gross': { gross: true },
  'cards_total_balance active only': { activeOnly: true },
  'balance with holds (ledger-balance)': { withHolds: true },
  'one record a purchase (auth-single)': { oneRecord: true },
};

it.each(
  Object.keys(COUNTINGS).flatMap(counting => [true, false].map(partialReversals => ({ counting, partialReversals }))),
)(
  'several other spenders: $counting, partial reversals: $partialReversals, 5,000 histories of four cuts',
  ({ counting, partialReversals }) => {
    const found = judgeMany(5_000, { partialReversals, counting: COUNTINGS[counting] ?? {} });
    expect(found).toMatchObject({ alarms: [], misnamed: [], checkpoints: 20_000 });
  },
  600_000,
);

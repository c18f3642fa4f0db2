import { expect, it } from 'vitest';
import { judgeMany } from './several-spenders.ts';

// `several-spenders.full.ts` has thousands, in each way to count.
it.each([true, false])(
  'several other spenders give no alarm and are named right, partial reversals: %s',
  partialReversals => {
    const found = judgeMany(60, { partialReversals });
    expect(found).toMatchObject({ alarms: [], misnamed: [], checkpoints: 240 });
    expect(found.provisional).toBeLessThan(found.checkpoints / 3);
  },
);

// Found by looking at 5,000 histories: each was called wrong, or named an amount that nobody moved.
it.each([
  [{ partialReversals: true }, [552, 668, 1023, 1053, 1351, 1683, 225, 4759, 4908]],
  [{ partialReversals: true, counting: { oneRecord: true } }, [529, 2246, 3738, 4467]],
])('no alarm and no wrong name: %o, lives %o', (spenders, seeds) => {
  for (const seed of seeds) expect(judgeMany(1, spenders, seed)).toMatchObject({ alarms: [], misnamed: [] });
});

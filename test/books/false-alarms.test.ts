import { describe, expect, it } from 'vitest';
import { alarms, LIVES } from './false-alarms.ts';

describe('books that are right', () => {
  // 4,000 histories; `false-alarms.full.ts` has many more.
  it.each(Object.keys(LIVES))(
    'no alarm: %s',
    life => {
      const histories = life === 'default' ? 2_500 : 250;
      const found = alarms(life, histories);
      expect(found.wrong).toEqual([]);
      expect(found.cuts).toBe(3 * histories);
      // The bound rule is exercised, and does not swallow everything.
      expect(found.provisional).toBeGreaterThan(0);
      expect(found.provisional).toBeLessThan(found.cuts / 2);
    },
    60_000,
  );

  // A row that is known late stands in the first cut already, and another one of the same card, unknown still, was done
  // since: neither explains the sums alone.
  it.each([827, 1204, 1240, 1428, 1791, 2191])('no alarm: two own rows of one card, life %s', seed => {
    expect(alarms('rows of unknown outcome, resolved later', 1, seed).wrong).toEqual([]);
  });
});

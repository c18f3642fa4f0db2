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
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dateText } from '../../src/sandbox/clock/clock.ts';

it('writes every time from the year 0 to 9999 as the language does', () => {
  const [first, last] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];
  fc.assert(
    fc.property(fc.integer({ min: first, max: last }), now => {
      expect(dateText(now)).toBe(new Date(now).toUTCString());
    }),
    { numRuns: 2_000, examples: [[first], [last], [0], [-1], [951_782_400_000]] },
  );
});

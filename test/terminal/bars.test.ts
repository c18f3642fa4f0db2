import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bars } from '../../src/terminal/charts.ts';

describe('bars', () => {
  it('are as long as the share of the largest', () => {
    expect(bars([240, 120, 10, 0.01], { unicode: true })).toEqual(['█'.repeat(24), '█'.repeat(12), '█', '▏']);
    expect(bars([240, 120, 10, 0.01], { unicode: false })).toEqual(['#'.repeat(24), '#'.repeat(12), '#', '#']);
  });

  it('are not drawn for what is not above zero or no money', () => {
    expect(bars([0, -5, undefined, 'x', 1 / 3, 1], { unicode: true }).slice(0, 5)).toEqual(['', '', '', '', '']);
  });

  it('are never longer than the largest nor out of order', () => {
    const amounts = fc.array(
      fc.integer({ min: 0, max: 10 ** 12 }).map(cents => cents / 100),
      { minLength: 2 },
    );
    fc.assert(
      fc.property(amounts, fc.boolean(), (values, unicode) => {
        const drawn = bars(values, { unicode });
        const longest = Math.max(...drawn.map(bar => bar.length));
        expect(longest).toBeLessThanOrEqual(24);
        expect(drawn[values.indexOf(Math.max(...values))]?.length).toBe(longest);
        for (const [index, value] of values.entries()) expect(drawn[index] === '').toBe(value === 0);
      }),
    );
  });
});

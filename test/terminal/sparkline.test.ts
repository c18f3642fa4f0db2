import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sparkline } from '../../src/terminal/charts.ts';

const points = (...spent: readonly (number | undefined)[]) =>
  spent.map(each => ({ spent: each ?? 0, moved: each !== undefined }));

describe('a sparkline', () => {
  it('is linear from zero, with signs for no movement and for more refunded than spent', () => {
    const course = points(1, 100, undefined, 200, 300, 400, 500, 600, 700, 800, -5, 0);
    expect(sparkline(course, { unicode: true }).text).toBe('▁▁·▂▃▄▅▆▇█▿▁');
    expect(sparkline(course, { unicode: false }).text).toBe('__ .-=+*#@v_');
    expect(sparkline(points(-5, undefined), { unicode: true }).text).toBe('▿·');
  });

  it('joins neighbours over thirty buckets and says how many', () => {
    expect(sparkline(points(...Array(30).fill(1)), { unicode: true }).joined).toBe(1);
    const sixty = points(...Array.from({ length: 61 }, (_, nth) => (nth === 60 ? 800 : nth < 3 ? 100 : undefined)));
    expect(sparkline(sixty, { unicode: true })).toEqual({ text: `▃${'·'.repeat(19)}█`, joined: 3 });
  });

  it('is never longer than thirty and shows the largest highest', () => {
    const course = fc.array(fc.record({ spent: fc.integer({ min: -1e9, max: 1e9 }), moved: fc.constant(true) }), {
      minLength: 1,
      maxLength: 400,
    });
    fc.assert(
      fc.property(course, given => {
        const { text, joined } = sparkline(given, { unicode: true });
        expect([...text].length).toBe(Math.ceil(given.length / joined));
        expect([...text].length).toBeLessThanOrEqual(30);
        if (joined === 1 && given.some(({ spent }) => spent > 7)) expect(text).toContain('█');
      }),
    );
  });
});

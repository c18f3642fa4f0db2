/** The memory of ids beside a set of texts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recentIds } from '../../src/client/recent-ids.ts';

function added() {
  const ids = recentIds();
  return (id: string) => {
    const bytes = Buffer.from(`xx${id}yy`);
    return ids.add(bytes, 2, bytes.length - 2);
  };
}

describe('recent ids', () => {
  test('are new once, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: fc.constantFrom(...'ab"é😀\u0000'), maxLength: 3 }), fc.string())),
        texts => {
          const add = added();
          const seen = new Set<string>();
          for (const text of texts) {
            expect(add(text)).toBe(!seen.has(text));
            seen.add(text);
          }
        },
      ),
    );
  });

  test('are known for 2,000 more at least, and forgotten some time after', () => {
    const add = added();
    const wrong: number[] = [];
    for (let index = 0; index < 10_000; index += 1) {
      if (!add(`txn_${index}`)) wrong.push(index);
      if (index >= 1_999 && add(`txn_${index - 1_999}`)) wrong.push(index);
    }
    expect(wrong).toEqual([]);
    expect(add('txn_0')).toBe(true);
  });

  test('may be long', () => {
    const add = added();
    const long = Array.from({ length: 100 }, (_, index) => 'x'.repeat(5_000) + index);
    expect(long.map(add)).not.toContain(false);
    expect(long.map(add)).not.toContain(true);
  });
});

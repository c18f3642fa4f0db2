import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPackedRows } from '../../src/cli/bulk/rows.ts';
import type { PlannedRow } from '../../src/journal/types.ts';
import { codePoint } from '../support/code-point.ts';

test('rows come back as they were, in order, as often as they are asked for', () => {
  const values = fc.dictionary(
    fc.oneof(fc.string(), fc.constant('__proto__')),
    fc.oneof(
      fc.string({ unit: codePoint }),
      fc.integer(),
      fc.array(fc.string()),
      fc.dictionary(fc.string(), fc.string()),
    ),
  );
  fc.assert(
    fc.property(fc.array(values, { maxLength: 20 }), fc.constantFrom(1, 40), (inputs, times) => {
      const make = (row: number, input: PlannedRow['input']): PlannedRow => ({ row, operation: 'cards.create', input });
      const all = Array.from({ length: times }, () => inputs).flat();
      const rows = all.map((input, index) => make(index * 2 + 1, input));
      const packed = createPackedRows(make);
      for (const row of rows) packed.push(row);
      expect(packed.rows.length).toBe(rows.length);
      const texts = rows.map(row => JSON.stringify(row));
      for (const _ of [1, 2]) expect([...packed.rows].map(row => JSON.stringify(row))).toEqual(texts);
      const [first] = packed.rows;
      expect(first === undefined ? undefined : JSON.stringify(first)).toEqual(texts[0]);
    }),
    { numRuns: 20 },
  );
});

/** CSV that this program prints is read back as it was, or refused: no label changes on the way. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCsvReader } from '../../src/bulk/input.ts';
import { plannedRow, type RowRules } from '../../src/cli/bulk/rows.ts';
import { csvLines } from '../../src/terminal/row-writers.ts';
import type { Column } from '../../src/terminal/view.ts';

const columns = ['bin_id', 'amount', 'label'].map(
  (field): Column => ({ field, title: field, kind: 'text', priority: 1 }),
);
const rules: RowRules = { operation: 'cards.create', form: 'csv', marker: true, bins: undefined, bestBin: undefined };

/** The label of the row that is read from what is printed for a card with this label; undefined when it is refused. */
async function readBack(label: string): Promise<unknown> {
  const printed = await csvLines([{ bin_id: 'bin_1', amount: 5, label }], { columns, raw: false, terminal: false });
  const reader = createCsvReader();
  const [record] = [...reader.push(printed), ...reader.end()];
  const fields = record?.fields ?? [];
  const cells = new Map(fields.map(({ text, ...at }, index) => [columns[index]?.field ?? '', { ...at, value: text }]));
  const row = plannedRow({ row: 1, line: 1, cells }, rules);
  return 'operation' in row ? row.input['label'] : undefined;
}

const HOSTILE = [
  "'",
  '=',
  '+',
  '-',
  '@',
  '\t',
  '\n',
  '\r',
  '"',
  ',',
  ';',
  '\\',
  'r',
  'x1b',
  'u{202e}',
  '\x1b',
  '\u202e',
  '\u200b',
  '\uff1d',
  ' ',
  'a',
  '\ud800',
  '\ud83d\ude00',
];

test('a label is read as it was, or refused', async () => {
  let [same, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...HOSTILE), { minLength: 1, maxLength: 12 }), async parts => {
      const label = parts.join('');
      const read = await readBack(label);
      if (read === undefined) refused += 1;
      else same += 1;
      expect([label, read ?? label]).toEqual([label, label]);
    }),
    { numRuns: 800 },
  );
  // Both happen, or nothing is shown by this.
  expect([same > 50, refused > 50]).toEqual([true, true]);
});

test.each([
  ['a\x1b[2Jb', undefined],
  ['\u202ex', undefined],
  ['=1+1', '=1+1'],
  ["'=1", "'=1"],
  ['C:\\temp', 'C:\\temp'],
  ['two\nlines', 'two\nlines'],
])('%j', async (label, read) => expect(await readBack(label)).toBe(read));

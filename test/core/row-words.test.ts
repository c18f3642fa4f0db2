import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLine } from '../../src/cli/parsing/tree.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { withoutCardNumbers } from '../../src/core/card-numbers.ts';
import { resolveCommand, rowsNamed, rowWords } from '../../src/core/row-words.ts';
import { isWhole } from '../support/whole.ts';
import { words } from '../support/words.ts';

const OP = 'op_00000000000000000000000001';

/** Rows that the printed command means. */
async function readBack(command: string): Promise<unknown> {
  const [, ...argv] = words(command);
  const line = await readLine(argv, REGISTRY);
  if (line.asks !== 'command') throw new Error(`${command} asks for ${line.asks}`);
  return (await line.parsed.values({ now: 0 }, async () => ''))['rows'];
}

/** Rows of a file as they stay unknown: single ones and stretches, with numbers of any length. */
const ROWS = fc
  .tuple(fc.constantFrom(1, 19, 990, 3990, 40_000), fc.array(fc.nat(3), { minLength: 1, maxLength: 60 }))
  .map(([first, steps]) => steps.map((_, index) => first + index + steps.slice(0, index).reduce((a, b) => a + b, 0)));

test.each([
  [[3], 'row 3', '3'],
  [[3, 7, 9], 'rows 3, 7 and 9', '3 7 9'],
  [[1, 2, 3], 'rows 1, 2 and 3', '1 2 3'],
  [[44, 45, 46, 47, 48, 49, 50, 51], 'rows 44 to 51', '44..51'],
  [[19, 20, 21, 22, 30], 'rows 19 to 22 and 30', '19..22 30'],
])('%j', (rows, said, typed) => {
  expect([rowsNamed(rows), rowWords(rows)]).toEqual([said, typed]);
});

test('no list of rows is taken for a card number, and its command means the same rows', async () => {
  const property = fc.asyncProperty(ROWS, async rows => {
    for (const as of ['done', 'not-done'] as const) {
      const command = resolveCommand(OP, rows, as);
      expect(withoutCardNumbers(command)).toBe(command);
      expect(await readBack(command)).toEqual(as === 'done' && rows.length > 20 ? undefined : rows);
    }
    expect(withoutCardNumbers(rowsNamed(rows))).toBe(rowsNamed(rows));
  });
  await fc.assert(property, { numRuns: isWhole ? 200 : 60 });
});

test.each(['3..', '..3', '7..3', '0..2', '1..1000001', '3-7'])('%s is no row', async text => {
  await expect(readBack(`cardwright ops resolve ${OP} ${text} --as done --note x`)).rejects.toThrow(/row/);
});

import { expect, it } from 'vitest';
import { alikeRows, joins, noteOfAlike } from '../../src/cli/bulk/results.ts';
import { CliError } from '../../src/core/errors.ts';
import type { RowOutcome } from '../../src/journal/types.ts';

const unknown = (row: number, second: number, why = 'no answer'): RowOutcome => {
  const message = `cards.fund was sent at 2026-11-23T22:16:0${second}Z but ${why}`;
  return { row, outcome: 'unknown', error: new CliError('outcome_unknown', { message }) };
};

it('rows that came to the same are one line, with the stretch of their times', () => {
  const rows = alikeRows(unknown(4, 3));
  for (const row of [3, 5, 6, 7, 9]) expect(joins(rows, unknown(row, row % 5))).toBe(true);
  expect(joins(rows, unknown(8, 3, 'another reason'))).toBe(false);
  expect(joins(rows, { ...unknown(8, 3), outcome: 'refused' })).toBe(false);
  expect(noteOfAlike(rows)).toBe(
    'rows 3 to 7 and 9  unknown: cards.fund was sent at 2026-11-23T22:16:00Z to 2026-11-23T22:16:04Z but no answer',
  );
});

it('a row alone is told as ever', () => {
  expect(noteOfAlike(alikeRows(unknown(12, 3)))).toBe(
    'row 12  unknown: cards.fund was sent at 2026-11-23T22:16:03Z but no answer',
  );
});

/** One row of a run as it is told: `row,outcome,card_id,last4,amount,error,request_id` (docs/design/cli.md, "Bulk"). */

import { toUsd } from '../../core/money.ts';
import type { RowOutcome } from '../../journal/types.ts';
import type { Column, Row } from '../../terminal/view.ts';
import { SHORT_ID } from '../listing.ts';

export const RESULT_COLUMNS: readonly Column[] = [
  { field: 'row', title: 'ROW', kind: 'integer', priority: 1 },
  { field: 'outcome', title: 'OUTCOME', kind: 'word', priority: 1 },
  { field: 'card_id', title: 'CARD', kind: 'id', priority: 1, shortTo: SHORT_ID },
  { field: 'last4', title: 'LAST4', kind: 'word', priority: 2, unlessEmpty: true },
  { field: 'amount', title: 'AMOUNT', kind: 'money', priority: 2, unlessEmpty: true },
  { field: 'error', title: 'ERROR', kind: 'text', priority: 2, unlessEmpty: true },
  { field: 'request_id', title: 'REQUEST', kind: 'text', priority: 4 },
];

/** Rows that were only looked at, with what a resume would do with each. */
export const LOOKED_COLUMNS: readonly Column[] = [
  ...RESULT_COLUMNS,
  { field: 'next', title: 'NEXT', kind: 'word', priority: 1 },
];

/** Rows of an operation as its journal has them: why one is not done, and what the last look saw. */
export const ITEM_COLUMNS: readonly Column[] = [
  ...RESULT_COLUMNS.map(column =>
    column.field === 'error' ? ({ ...column, field: 'reason', title: 'WHY' } as const) : column,
  ),
  { field: 'found', title: 'LAST LOOK', kind: 'text', priority: 3 },
];

/** `begun` is false for rows that a run stopped before. */
export function resultRow(outcome: RowOutcome & { readonly begun?: boolean }): Row {
  const { row, outcome: word, cardId, last4, amount, error, requestId } = outcome;
  return {
    row,
    outcome: word,
    card_id: cardId ?? null,
    last4: last4 ?? null,
    amount: amount === undefined ? null : toUsd(amount),
    error: outcome.begun === false ? 'not_begun' : errorWord(error),
    request_id: requestId ?? error?.facts.service?.request_id ?? null,
  };
}

/** The identifier a script can branch on; of a wrong row of the input what is wrong with it. */
function errorWord(error: RowOutcome['error']): string | null {
  if (error === undefined) return null;
  return error.kind === 'usage' ? error.message : (error.facts.service?.error ?? error.kind);
}

/** How operations and their rows are shown. Field names are ours; amounts are JSON numbers in USD. */
import type { OpDetail, OpRow, OpSummary } from '../../journal/types.ts';
import { toUsd } from '../../money.ts';
import type { Column, Row } from '../../terminal/view.ts';

export const OP_COLUMNS: readonly Column[] = [
  { field: 'op', title: 'OP', kind: 'id', priority: 1 },
  { field: 'command', title: 'COMMAND', kind: 'text', priority: 2 },
  { field: 'state', title: 'STATE', kind: 'word', priority: 1 },
  { field: 'rows', title: 'ROWS', kind: 'integer', priority: 3 },
  { field: 'amount', title: 'AMOUNT', kind: 'money', priority: 2 },
  { field: 'profile', title: 'PROFILE', kind: 'text', priority: 4 },
  { field: 'started_at', title: 'AGE', kind: 'time', priority: 3 },
];

export function summaryRow({ op, command, state, rows, counts, cents, profile, mode, started_at }: OpSummary): Row {
  return { op, command, state, rows, ...counts, amount: toUsd(cents), profile, mode, started_at };
}

export function detailRow({ rowsInDetail, origin, ...summary }: OpDetail): Row {
  return { ...summaryRow(summary), origin, items: rowsInDetail.map(itemRow) };
}

export function itemRow(row: OpRow): Row {
  const { cardId, amount, idempotencyKey, requestId, sentAt, checkedAt, state, ...rest } = row;
  const named = {
    outcome: state,
    card_id: cardId,
    amount: amount === undefined ? undefined : toUsd(amount),
    idempotency_key: idempotencyKey,
    request_id: requestId,
    sent_at: sentAt,
    checked_at: checkedAt,
  };
  return withoutUndefined({ ...rest, ...named });
}

function withoutUndefined(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
}

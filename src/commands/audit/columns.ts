import type { Column } from '../../terminal/view.ts';

export const AUDIT_COLUMNS: readonly Column[] = [
  { field: 'seq', title: 'LINE', kind: 'integer', priority: 1 },
  { field: 'at', title: 'AT', kind: 'time', priority: 1 },
  { field: 'event', title: 'EVENT', kind: 'word', priority: 1 },
  { field: 'profile', title: 'PROFILE', kind: 'text', priority: 2 },
  { field: 'mode', title: 'MODE', kind: 'word', priority: 3 },
  { field: 'operation', title: 'OPERATION', kind: 'word', priority: 1 },
  { field: 'card_id', title: 'CARD', kind: 'id', priority: 2 },
  { field: 'amount', title: 'AMOUNT', kind: 'money', priority: 2 },
  { field: 'outcome', title: 'OUTCOME', kind: 'word', priority: 1 },
  { field: 'of', title: 'OF', kind: 'integer', priority: 4 },
  { field: 'last4', title: 'LAST4', kind: 'id', priority: 4, wideOnly: true },
  { field: 'sink', title: 'INTO', kind: 'word', priority: 5, wideOnly: true },
  { field: 'rows', title: 'ROWS', kind: 'integer', priority: 5, wideOnly: true },
  { field: 'op', title: 'OP', kind: 'id', priority: 6, wideOnly: true },
];

import { command } from '../../cli/parsing/command.ts';
import { argument, OURS } from '../../cli/parsing/flag.ts';
import type { Shown } from '../../cli/shown.ts';
import { text } from '../../contract/field.ts';
import type { ResultOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import type { Column } from '../../terminal/view.ts';
import { runAdmin } from './simulate/run-admin.ts';

type Why = ResultOf<AdminOperations['transactions.why']>;

const COLUMNS: readonly Column[] = [
  { field: 'transaction', title: 'TRANSACTION', kind: 'id', priority: 1 },
  { field: 'outcome', title: 'OUTCOME', kind: 'word', priority: 1 },
  { field: 'decline_reason', title: 'REASON', kind: 'word', priority: 1 },
];

const CHECK_COLUMNS: readonly Column[] = [
  { field: 'check', title: 'CHECK', kind: 'word', priority: 1 },
  { field: 'result', title: 'RESULT', kind: 'word', priority: 1 },
  { field: 'left', title: 'COMPARED', kind: 'text', priority: 2, shrink: true },
  { field: 'right', title: 'WITH', kind: 'text', priority: 2, shrink: true },
];

/** What stands above the checks. */
function inWords({ outcome, decline_reason: reason, checks }: Why): string {
  if (outcome === 'approved') return 'Approved: every check held.';
  if (outcome === 'posted') return 'Posted without asking: settlements and refunds are never declined.';
  const failed = checks.find(({ result }) => result === 'fails');
  if (failed === undefined) return `Declined: ${reason}, forced by the simulation; no check was asked.`;
  if (failed.left == null) return `Declined: ${reason}. The values it was judged by were not kept.`;
  return `Declined: ${reason}: ${failed.left} against ${failed.right ?? ''}`;
}

function showWhy(why: Why): Shown {
  return {
    noun: 'transaction',
    idField: 'transaction',
    columns: COLUMNS,
    rows: { columns: CHECK_COLUMNS, rows: why.checks },
    blocks: [
      { kind: 'line', text: inWords(why) },
      { kind: 'table', columns: CHECK_COLUMNS, rows: why.checks },
    ],
  };
}

/** Which check of A-48 said no, and by which values. */
export const whyDeclined = command({
  path: 'sandbox why',
  summary: 'Show the checks that a purchase went through, and which one declined it',
  about: [
    'The checks stand in the order in which they are asked; the first that fails declines the purchase, and the rest are not asked. The values are those of that moment.',
    'Looking changes nothing in the sandbox.',
  ],
  operation: 'transactions.why',
  args: { transaction: argument(text({ doc: 'Transaction.', basis: OURS, names: 'transaction' })) },
  examples: [
    { does: 'In words', run: 'sandbox why txn_1' },
    { does: 'As data', run: 'sandbox why txn_1 --json' },
  ],
  run: (ctx, { transaction }) => runAdmin(ctx, 'transactions.why', { transaction_id: transaction }),
  show: showWhy,
});

import { columnsOf } from '../../cli/columns.ts';
import { command } from '../../cli/parsing/command.ts';
import type { ResultOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import { INVARIANT } from '../../contract/sandbox/ledger.ts';
import { CliError } from '../../core/errors.ts';
import type { Column } from '../../terminal/view.ts';
import { runAdmin } from './simulate/run-admin.ts';

type Checked = ResultOf<AdminOperations['ledger.check']>;

const COLUMNS: readonly Column[] = [
  { field: 'ok', title: 'WHOLE', kind: 'boolean', priority: 1 },
  { field: 'faults', title: 'FAULTS', kind: 'list', priority: 1 },
];

const INVARIANT_COLUMNS = columnsOf(INVARIANT, {
  id: { title: 'INVARIANT', priority: 1 },
  holds: { priority: 1 },
  says: { priority: 2, shrink: true },
});

function inWords({ ok, invariants }: Checked): string {
  if (ok) return `The books are whole: ${invariants.length} invariants hold.`;
  const broken = invariants.filter(({ holds }) => holds === false).map(({ id }) => id);
  return broken.length === 0 ? 'The file is damaged: nothing was asked of the books.' : `Broken: ${broken.join(', ')}`;
}

/** Whether the money is whole. */
export const checkSandbox = command({
  path: 'sandbox check',
  summary: 'Check every invariant of the ledger, one by one',
  about: ['Looks through files, ledger, events and stored answers, whatever their size.'],
  operation: 'ledger.check',
  ends: { check_failed: 'An invariant does not hold, or the file is damaged.' },
  examples: [
    { does: 'All of them', run: 'sandbox check' },
    { does: 'Their codes', run: "sandbox check --jq '.invariants[].id'" },
  ],
  run: ctx => runAdmin(ctx, 'ledger.check', {}),
  show: checked => ({
    noun: 'ledger',
    idField: 'ok',
    columns: COLUMNS,
    rows: { columns: INVARIANT_COLUMNS, rows: checked.invariants },
    blocks: [
      { kind: 'table', columns: INVARIANT_COLUMNS, rows: checked.invariants },
      { kind: 'line', text: inWords(checked) },
    ],
    failure: checked.ok
      ? undefined
      : new CliError('check_failed', {
          message: `the ledger does not add up: ${checked.faults.join('; ')}`,
          hint: 'cardwright sandbox reset',
        }),
  }),
});

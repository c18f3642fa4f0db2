import { command } from '../../../cli/parsing/command.ts';
import { OURS, optionalArgument } from '../../../cli/parsing/flag.ts';
import { text } from '../../../contract/field.ts';
import type { ResultOf } from '../../../contract/operation.ts';
import type { AdminOperations } from '../../../contract/sandbox/admin-calls.ts';
import { CliError } from '../../../core/errors.ts';
import type { Block, Column } from '../../../terminal/view.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { checkedName, snapshotName } from './shown.ts';

type Difference = ResultOf<AdminOperations['snapshots.diff']>;

const TABLE_COLUMNS: readonly Column[] = [
  { field: 'table', title: 'TABLE', kind: 'word', priority: 1 },
  { field: 'added', title: 'ADDED', kind: 'integer', priority: 1 },
  { field: 'removed', title: 'REMOVED', kind: 'integer', priority: 1 },
  { field: 'changed', title: 'CHANGED', kind: 'integer', priority: 1 },
];
const ACCOUNT_COLUMNS: readonly Column[] = [
  { field: 'account', title: 'ACCOUNT', kind: 'id', priority: 1 },
  { field: 'delta', title: 'DIFFERENCE', kind: 'money', priority: 1 },
];
const FIELD_COLUMNS: readonly Column[] = [
  { field: 'card_id', title: 'CARD', kind: 'id', priority: 1 },
  { field: 'field', title: 'FIELD', kind: 'word', priority: 1 },
  { field: 'from', title: 'WAS', kind: 'text', priority: 1, shrink: true },
  { field: 'to', title: 'IS', kind: 'text', priority: 1, shrink: true },
];

function blocksOf({ tables, accounts, cards }: Difference): readonly Block[] {
  if (tables.length === 0) return [{ kind: 'line', text: 'Nothing differs.' }];
  const fields = cards.flatMap(({ card_id, fields }) => fields.map(field => ({ card_id, ...field })));
  return [
    { kind: 'table', columns: TABLE_COLUMNS, rows: tables },
    ...(accounts.length === 0 ? [] : [{ kind: 'table', columns: ACCOUNT_COLUMNS, rows: accounts } as const]),
    ...(fields.length === 0 ? [] : [{ kind: 'table', columns: FIELD_COLUMNS, rows: fields } as const]),
  ];
}

function damaged(problems: readonly string[]): CliError {
  return new CliError('check_failed', {
    message: `nothing was compared: ${problems.join('; ')}`,
    hint: 'cardwright sandbox snapshot list',
    outcome: 'refused',
  });
}

/** What changed between two states of the sandbox. */
export const diffSnapshots = command({
  path: 'sandbox snapshot diff',
  summary: 'Show what differs between two snapshots, or a snapshot and now',
  about: [
    'By table, by account of the ledger and by field of each card; card numbers and security codes are left out. The differences of all accounts sum to 0. Looking changes nothing in the sandbox.',
  ],
  operation: 'snapshots.diff',
  ends: { check_failed: 'A snapshot is damaged; nothing was compared.' },
  args: {
    before: snapshotName,
    after: optionalArgument(
      text({ doc: 'The other snapshot; what the sandbox holds now when left out.', basis: OURS }),
    ),
  },
  examples: [
    { does: 'What happened since', run: 'sandbox snapshot diff before' },
    { does: 'Between two of them, as data', run: 'sandbox snapshot diff before before --json' },
  ],
  async run(ctx, { before, after }) {
    const difference = await runAdmin(ctx, 'snapshots.diff', {
      name: checkedName(before),
      to: after === undefined ? undefined : checkedName(after),
    });
    if (difference.problems.length > 0) throw damaged(difference.problems);
    return difference;
  },
  show: difference => ({
    noun: 'table',
    idField: 'table',
    columns: TABLE_COLUMNS,
    rows: { columns: TABLE_COLUMNS, rows: difference.tables },
    blocks: blocksOf(difference),
  }),
});

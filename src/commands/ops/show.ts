import { ITEM_COLUMNS } from '../../cli/bulk/result-row.ts';
import { command } from '../../cli/parsing/command.ts';
import type { Shown } from '../../cli/shown.ts';
import { dollars } from '../../core/money.ts';
import { requestIdOf } from '../../journal/approvals/request-id.ts';
import type { OpDetail, OpRow } from '../../journal/shown-ops.ts';
import type { Row } from '../../terminal/view.ts';
import { op } from './arguments.ts';
import { detailRow, itemRow, OP_COLUMNS, OP_DETAIL, SHARED_OP_COLUMNS } from './columns.ts';

/** Shows one operation: what was asked, what was sent when, what is known. */
export const showOp = command({
  path: 'ops show',
  summary: 'Show one operation: what was asked, sent and found',
  answers: { one: OP_DETAIL },
  reach: 'files',
  ends: { not_found: 'This machine knows no such operation.' },
  args: { op },
  examples: [
    { does: 'Every row of it', run: 'ops show op_00000000000000000000000001' },
    { does: 'As data, for a ticket', run: 'ops show op_00000000000000000000000001 --json' },
  ],
  run: async (ctx, { op }) => (await ctx.journal()).show(op),
  show: showDetail,
});

export function showDetail(detail: OpDetail): Shown {
  const { op, command: asked, state, started_at, profile, mode, origin, rowsInDetail, cents, hands } = detail;
  const [only] = rowsInDetail;
  const single = rowsInDetail.length === 1 && only !== undefined;
  return {
    data: detailRow(detail),
    noun: 'operation',
    idField: 'op',
    columns: hands === undefined ? OP_COLUMNS : SHARED_OP_COLUMNS,
    rows: { columns: ITEM_COLUMNS, rows: rowsInDetail.map(shownRow) },
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['Operation', op],
          ['Command', asked],
          ['State', state],
          ['Begun', started_at],
          ...(hands === undefined ? [] : [['Holder', `${hands.holder} on ${hands.host}`] as const]),
          ['Profile', `${profile}, ${{ sandbox: 'sandbox', test: 'TEST', live: 'LIVE' }[mode]}, ${origin}`],
          ['Amount', dollars(cents)],
          ...(single ? rowPairs(only) : []),
        ],
      },
      ...(single ? [] : [{ kind: 'table', columns: ITEM_COLUMNS, rows: rowsInDetail.map(shownRow) } as const]),
    ],
    notes: [...(single ? [] : detail.recorded), ...nextSteps(detail)],
  };
}

/** In a table an outcome that somebody has said is not to be taken for one that was seen. The data has `resolved`. */
function shownRow(row: OpRow): Row {
  const { resolved, operation } = row;
  if (resolved?.as !== 'done') return itemRow(row);
  const { who, at, note } = resolved;
  const by = who === undefined ? '' : ` by ${who} at ${at}`;
  return { ...itemRow(row), reason: `${operation} was declared done${by}: ${note}` };
}

function rowPairs(row: OpRow): [string, string][] {
  const pairs: [string, string | undefined][] = [
    ['Outcome', row.state],
    ['Card', row.cardId],
    ['Label', row.label],
    ['Intent', row.intent],
    ['Sent', row.sentAt],
    ['Why', row.reason],
    ['Checked', row.checks === undefined ? undefined : `${row.found} (${times(row.checks)}, last ${row.checkedAt})`],
    ['Resolved', row.resolved && resolvedText(row.resolved)],
    ['Key', row.idempotencyKey],
    ['Request', row.requestId],
  ];
  return pairs.filter((pair): pair is [string, string] => pair[1] !== undefined);
}

/** With who has recorded it, where that may be somebody else. */
function resolvedText({ as, who, at, note }: NonNullable<OpRow['resolved']>): string {
  return `${as}${who === undefined ? '' : ` by ${who} at ${at}`}: ${note}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function nextSteps({ op, state }: OpDetail): readonly string[] {
  if (state === 'pending') return [`What is asked of approvers: cardwright approvals show ${requestIdOf(op)}`];
  if (state !== 'unknown' && state !== 'open') return [];
  return [
    `Look and finish: cardwright ops resume ${op}`,
    `Record by hand that it happened: cardwright ops resolve ${op} --as done --note "why"`,
    `Record by hand that it did not: cardwright ops resolve ${op} --as not-done --note "why"`,
  ];
}

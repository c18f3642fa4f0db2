import { ITEM_COLUMNS } from '../../cli/bulk/result-row.ts';
import { command } from '../../cli/parsing/command.ts';
import type { Shown } from '../../cli/shown.ts';
import { dollars } from '../../core/money.ts';
import type { OpDetail, OpEvent, OpRow } from '../../journal/types.ts';
import type { Row } from '../../terminal/view.ts';
import { op } from './arguments.ts';
import { detailRow, itemRow, OP_DETAIL, SHARED_OP_COLUMNS } from './columns.ts';

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
  const { op, command: asked, state, started_at, profile, mode, origin, rowsInDetail, cents, heldBy } = detail;
  const [only] = rowsInDetail;
  const single = rowsInDetail.length === 1 && only !== undefined;
  return {
    data: detailRow(detail),
    noun: 'operation',
    idField: 'op',
    columns: SHARED_OP_COLUMNS,
    rows: { columns: ITEM_COLUMNS, rows: rowsInDetail.map(shownRow) },
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['Operation', op],
          ['Command', asked],
          ['State', state],
          ['Begun', started_at],
          [
            'Holder',
            `${heldBy.holder} on ${heldBy.host}${heldBy.leftMs > 0 ? `, working, lease ${Math.ceil(heldBy.leftMs / 1000)} s` : ''}`,
          ],
          ['Profile', `${profile}, ${{ sandbox: 'sandbox', test: 'TEST', live: 'LIVE' }[mode]}, ${origin}`],
          ['Amount', dollars(cents)],
          ...(single ? rowPairs(only) : []),
        ],
      },
      ...(single ? [] : [{ kind: 'table', columns: ITEM_COLUMNS, rows: rowsInDetail.map(shownRow) } as const]),
    ],
    notes: [...detail.objections, ...detail.events.map(eventText), ...nextSteps(detail)],
  };
}

/** In a table an outcome that somebody has said is not to be taken for one that was seen. The data has `resolved`. */
function shownRow(row: OpRow): Row {
  const { resolved, operation } = row;
  if (resolved?.as !== 'done') return itemRow(row);
  const { who, at, note } = resolved;
  return { ...itemRow(row), reason: `${operation} was declared done by ${who} at ${at}: ${note}` };
}

function rowPairs(row: OpRow): [string, string][] {
  const pairs: [string, string | undefined][] = [
    ['Outcome', row.state],
    ['Card', row.cardId],
    ['Label', row.label],
    ['Intent', row.intent],
    ['Sent', row.sentAt],
    ['Why', row.reason],
    [
      'Checked',
      row.found === undefined
        ? undefined
        : `${row.found}${row.checkedAt === undefined ? '' : ` (last ${row.checkedAt})`}`,
    ],
    ['Resolved', row.resolved && resolvedText(row.resolved)],
    ['Key', row.idempotencyKey],
    ['Request', row.requestId],
  ];
  return pairs.filter((pair): pair is [string, string] => pair[1] !== undefined);
}

function resolvedText({ as, who, at, note }: NonNullable<OpRow['resolved']>): string {
  return `${as} by ${who} at ${at}: ${note}`;
}

function eventText({ at, row, kind, text }: OpEvent): string {
  return `${at}  ${row === undefined ? '' : `row ${row} `}${kind} ${text}`;
}

function nextSteps({ op, state }: OpDetail): readonly string[] {
  if (state === 'pending') return [`It waits for approval: cardwright ops approve ${op}`];
  if (state !== 'unknown' && state !== 'open') return [];
  return [
    `Look and finish: cardwright ops resume ${op}`,
    `Record by hand that it happened: cardwright ops resolve ${op} --as done --note "why"`,
    `Record by hand that it did not: cardwright ops resolve ${op} --as not-done --note "why"`,
  ];
}

/** How operations and their rows are shown. Field names are ours; amounts are JSON numbers in USD. */
import { maybe, tells } from '../../cli/answer-fields.ts';
import { SHORT_ID } from '../../cli/columns.ts';
import { toUsd } from '../../core/money.ts';
import type { OpDetail, OpRow, OpState, OpSummary } from '../../journal/types.ts';
import type { Column, Row } from '../../terminal/view.ts';

/** Every state, in the order in which help lists them. */
export const OP_STATES = [
  'running',
  'pending',
  'open',
  'unknown',
  'unacknowledged',
  'finished',
  'rejected',
] as const satisfies readonly OpState[];

export const OP_COLUMNS: readonly Column[] = [
  { field: 'op', title: 'OP', kind: 'id', priority: 1, shortTo: SHORT_ID },
  { field: 'command', title: 'COMMAND', kind: 'text', priority: 2 },
  { field: 'state', title: 'STATE', kind: 'word', priority: 1 },
  { field: 'rows', title: 'ROWS', kind: 'integer', priority: 3 },
  { field: 'amount', title: 'AMOUNT', kind: 'money', priority: 1 },
  { field: 'profile', title: 'PROFILE', kind: 'text', priority: 4 },
  { field: 'started_at', title: 'AGE', kind: 'time', priority: 3 },
];

/** In a journal of several people. */
export const SHARED_OP_COLUMNS: readonly Column[] = [
  ...OP_COLUMNS,
  { field: 'holder', title: 'HOLDER', kind: 'text', priority: 3 },
  { field: 'host', title: 'HOST', kind: 'text', priority: 5 },
];

export function summaryRow({ op, command, state, rows, counts, cents, ...summary }: OpSummary): Row {
  const { profile, mode, started_at, heldBy } = summary;
  const { holder, host } = heldBy;
  return { op, command, state, rows, ...counts, amount: toUsd(cents), profile, mode, started_at, holder, host };
}

export function detailRow(detail: OpDetail): Row {
  const { rowsInDetail, origin, events, objections } = detail;
  const told = events.map(({ at, row, kind, text }) => withoutUndefined({ at, row, kind, text }));
  return { ...summaryRow(detail), origin, items: rowsInDetail.map(itemRow), events: told, objections };
}

export function itemRow(row: OpRow): Row {
  const { cardId, amount, idempotencyKey, requestId, sentAt, serviceSentAt: _, checkedAt, state, ...rest } = row;
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

/** An operation as data. */
export const OP_ROW = {
  op: tells.text('Id of the operation.'),
  command: tells.text('Words of the command.'),
  state: tells.word('Where it stands.', OP_STATES),
  rows: tells.count('Rows in all.'),
  done: tells.count('Rows that are done.'),
  refused: tells.count('Rows that were refused.'),
  unknown: tells.count('Rows sent without a trustworthy answer.'),
  not_sent: tells.count('Rows that were given up before they were sent.'),
  open: tells.count('Rows that may still be sent.'),
  amount: tells.usd('Sum of the rows, USD.'),
  profile: tells.text('Profile.'),
  mode: tells.word('Kind of key.', ['sandbox', 'test', 'live']),
  started_at: tells.time('When it began.'),
  holder: tells.text('User who works on it, or did last.'),
  host: tells.text('Machine of that user.'),
} as const;

export const OP_DETAIL = {
  ...OP_ROW,
  origin: tells.text('Address of the service.'),
  items: tells.rows(
    {
      row: tells.count('Number of the row, from 1.'),
      outcome: tells.word('Where it stands.', ['open', 'done', 'refused', 'unknown', 'not_sent']),
      operation: tells.text('Operation of the contract.'),
      card_id: maybe(tells.text('Card.')),
      last4: maybe(tells.text('Its last four digits.')),
      amount: maybe(tells.usd('Amount, USD.')),
      label: maybe(tells.text('Label.')),
      intent: maybe(tells.text("The caller's own name for it.")),
      idempotency_key: maybe(tells.text('Key it is sent under.')),
      request_id: maybe(tells.text('Identifier of the request.')),
      sent_at: maybe(tells.time('When bytes last left.')),
      reason: maybe(tells.text('Why it was not done.')),
      checked_at: maybe(tells.time('When its effect was looked for last.')),
      found: maybe(tells.text('Result of the last look.')),
      resolved: maybe(tells.json('What a person recorded: as, note, at, who.')),
      duplicate: maybe(tells.texts('Cards made for this one row, when there are several.')),
    },
    'The rows.',
  ),
  events: tells.rows(
    {
      at: tells.time('When it happened.'),
      row: maybe(tells.count('Row that it is about.')),
      kind: tells.text('resumed, resolved, approved, rejected.'),
      text: tells.text('Who, and why.'),
    },
    'What happened to it beside its rows.',
  ),
  objections: tells.texts('What its verification objected to.'),
} as const;

/** How requests are shown. Amounts are JSON numbers in USD. */

import { maybe, tells } from '../../cli/answer-fields.ts';
import { SHORT_ID } from '../../cli/columns.ts';
import { cents, toUsd } from '../../core/money.ts';
import { type CheckedRequest, requestFile } from '../../journal/approvals/request-file.ts';
import type { StoredRequest } from '../../journal/approvals/review.ts';
import {
  type ShownFact,
  shownRequest,
  shownRisk,
  shownTargets,
  visible,
} from '../../journal/approvals/shown-request.ts';
import type { Block, Column, Row } from '../../terminal/view.ts';

export const REQUEST_COLUMNS: readonly Column[] = [
  { field: 'id', title: 'ID', kind: 'id', priority: 1, shortTo: SHORT_ID },
  { field: 'command', title: 'COMMAND', kind: 'text', priority: 1 },
  { field: 'rows', title: 'ROWS', kind: 'integer', priority: 2 },
  { field: 'amount', title: 'AMOUNT', kind: 'money', priority: 1 },
  { field: 'state', title: 'STATE', kind: 'word', priority: 2 },
  { field: 'have', title: 'HAVE', kind: 'integer', priority: 3, wideOnly: true },
  { field: 'needed', title: 'NEEDED', kind: 'integer', priority: 3, wideOnly: true },
  { field: 'requested_by', title: 'ASKED BY', kind: 'text', priority: 1, shrink: true },
  { field: 'expires_at', title: 'EXPIRES', kind: 'time', priority: 1 },
  { field: 'intent', title: 'INTENT', kind: 'text', priority: 1, shrink: true, unlessEmpty: true },
];

/** One request whole: what an approver reads behind a pipe. */
export const SHOWN_COLUMNS: readonly Column[] = [
  ...REQUEST_COLUMNS,
  { field: 'rule', title: 'HELD BECAUSE', kind: 'text', priority: 3 },
  { field: 'account', title: 'ACCOUNT', kind: 'text', priority: 3 },
  { field: 'mode', title: 'MODE', kind: 'word', priority: 3 },
  { field: 'origin', title: 'ORIGIN', kind: 'text', priority: 3 },
  { field: 'requested_at', title: 'ASKED AT', kind: 'text', priority: 3 },
  { field: 'op', title: 'OPERATION', kind: 'text', priority: 3 },
];

export const STATES = ['pending', 'approved', 'used', 'rejected', 'expired', 'stale', 'closed'] as const;

export const REQUEST_ROW = {
  id: tells.text('Id of the request.'),
  op: tells.text('The operation that is held.'),
  command: tells.text('Words of the command.'),
  rows: tells.count('Rows in all.'),
  amount: tells.usd('Sum of the rows, USD.'),
  state: maybe(tells.word('Where it stands; of a file nobody knows.', STATES)),
  have: maybe(tells.count('Persons who have approved it.')),
  needed: tells.count('Persons who must approve it.'),
  approved_by: maybe(tells.texts('Who has approved it.')),
  intent: maybe(tells.text("The requester's own name for it.")),
  rule: tells.text('Why it is held.'),
  requested_by: tells.text('Who asked for it, and where.'),
  requested_at: tells.time('When.'),
  expires_at: tells.time('Until when it may be approved and sent.'),
} as const;

export const REQUEST_DETAIL = {
  ...REQUEST_ROW,
  account: tells.text('Account of the shared journal, or profile.'),
  mode: tells.word('Kind of key.', ['sandbox', 'test', 'live']),
  origin: tells.text('Address of the service.'),
  plan_sha256: tells.text('Digest of every request that would be sent.'),
  payload: tells.text('Base64 of the bytes that are signed.'),
  items: maybe(
    tells.rows(
      {
        row: tells.count('Number of the row, from 1.'),
        operation: tells.text('Operation of the contract.'),
        method: tells.text('Method of the request.'),
        path: tells.text('Its path.'),
        body: maybe(tells.text('Its body, as it would be sent.')),
        key: maybe(tells.text('Its idempotency key.')),
      },
      'Every request that would be sent; with --rows.',
    ),
  ),
} as const;

type AnyRequest = CheckedRequest & Partial<StoredRequest>;

export function requestRow({ payload, state, persons, needed = payload.needed }: AnyRequest): Row {
  return {
    id: payload.id,
    op: payload.op,
    command: payload.command,
    rows: payload.rows,
    amount: toUsd(cents(payload.cents)),
    ...(state !== undefined && { state }),
    ...(persons !== undefined && { have: persons.length }),
    needed,
    ...(persons !== undefined && { approved_by: persons }),
    ...(payload.intent !== undefined && { intent: payload.intent }),
    rule: payload.rule,
    requested_by: payload.requested_by,
    requested_at: payload.requested_at,
    expires_at: payload.expires_at,
  };
}

export function requestDetail(request: AnyRequest, rows: boolean): Row {
  const { account, mode, origin, plan_sha256 } = request.payload;
  const payload = Buffer.from(request.bytes).toString('base64');
  return {
    ...requestRow(request),
    account,
    mode,
    origin,
    plan_sha256,
    payload,
    ...(rows && { items: request.items.map(item => ({ ...item })) }),
  };
}

/** Lines for a person, all of them from the bytes that are signed and the requests that they fix. */
export function requestLines(request: CheckedRequest, most = MOST_SHOWN): readonly string[] {
  const facts = shownRequest(request.payload);
  const width = Math.max(...facts.map(([name]) => name.length));
  return [...facts, ...shownItems(request, most)].map(([name, words]) => `${name.padEnd(width)}  ${words}`);
}

function shownItems({ items }: CheckedRequest, most: number): readonly ShownFact[] {
  return items
    .slice(0, most)
    .map(({ row, method, path, body }) => [
      items.length === 1 ? 'Request' : `Request ${row}`,
      visible(`${method} ${path}${body === undefined ? '' : ` ${body}`}`),
    ]);
}

/** What the columns of a request do not hold, for a pipe: its cards, what speaks against it, the requests themselves. */
export function linesBelow(request: AnyRequest, rows: boolean): readonly ShownFact[] {
  const { payload, items } = request;
  const left = rows ? 0 : items.length - MOST_SHOWN;
  const facts: readonly ShownFact[] = [
    ...shownTargets(payload),
    ...shownRisk(payload),
    ...shownItems(request, rows ? Number.POSITIVE_INFINITY : MOST_SHOWN),
    ...(left > 0 ? [['More requests', `${left} rows: approvals show --rows`] as const] : []),
  ];
  return facts.map(([name, words]) => [name.toLowerCase().replaceAll(' ', '_'), words]);
}

/** Requests that are shown before a signature; the others are those of `approvals show --rows`. */
const MOST_SHOWN = 5;

export function requestBlocks(request: AnyRequest, rows: boolean): readonly Block[] {
  const { state, persons = [], needed = request.payload.needed } = request;
  const lines = requestLines(request, rows ? Number.POSITIVE_INFINITY : MOST_SHOWN);
  const by = persons.length === 0 ? '' : `, by ${persons.join(', ')}`;
  const standing = state === undefined ? [] : [`${state}: ${persons.length} of ${needed} approved${by}`];
  return [...lines, ...standing].map(text => ({ kind: 'line', text }) as const);
}

export function requestText(request: CheckedRequest): string {
  return requestFile(request);
}

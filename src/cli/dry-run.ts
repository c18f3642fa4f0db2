/** What a dry run shows: the requests that were not sent. */

import type { Operation } from '../contract/operation.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { PlannedRequest } from '../contract/service.ts';
import type { Row } from '../terminal/view.ts';
import type { Shown } from './context.ts';
import { PLANNED } from './docs/answers.ts';
import { columnsOf, rowsListing, SHORT_ID } from './listing.ts';

/** What tells one row of a file from another. */
const ASKED = { screenOnly: true, unlessEmpty: true } as const;
const COLUMNS = columnsOf(PLANNED, 'method path body.amount:2 body.label:2 body.bin_id:4 body:7+ idempotency_key:6', {
  method: { kind: 'word' },
  'body.amount': { ...ASKED, kind: 'money' },
  'body.label': { ...ASKED, shrink: true },
  'body.bin_id': { ...ASKED, shortTo: SHORT_ID },
  idempotency_key: 'KEY',
});
const NOTHING_SENT = 'Dry run: nothing was sent.';

/**
 * Of a run of rows or of ids from standard input a list, also of one request; otherwise one request is an object. The body
 * is parsed back so that JSON shows it as JSON.
 */
export function showPlanned(planned: readonly PlannedRequest[], { isList = planned.length !== 1 } = {}): Shown {
  const shown = { noun: 'request', idField: 'idempotency_key' };
  const [only] = planned;
  if (isList || only === undefined) {
    return { ...shown, columns: COLUMNS, listing: rowsListing(planned.map(rowOf), { footer: () => NOTHING_SENT }) };
  }
  return {
    ...shown,
    columns: COLUMNS.filter(({ screenOnly }) => screenOnly !== true),
    data: rowOf(only),
    notes: [NOTHING_SENT],
  };
}

function rowOf(request: PlannedRequest): Row {
  const { operation, method, path, idempotencyKey } = request;
  const body = bodyOf(request);
  const [, cardId] = /^\/cards\/([^/?]+)/.exec(path) ?? [];
  return {
    dry_run: true,
    operation,
    method,
    path,
    ...(cardId !== undefined && { card_id: decodeURIComponent(cardId) }),
    ...(body === undefined ? {} : { body }),
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  };
}

/** The body as it would be sent, a signing secret taken out. */
function bodyOf({ operation, body }: PlannedRequest): Record<string, unknown> | undefined {
  if (body === undefined) return undefined;
  const rows: Readonly<Record<string, Operation>> = OPERATIONS;
  const shape = (Object.hasOwn(rows, operation) ? rows[operation]?.body : undefined) ?? {};
  const members = Object.entries(JSON.parse(body) as Record<string, unknown>);
  return Object.fromEntries(members.map(([name, value]) => [name, shape[name]?.secret ? '[redacted]' : value]));
}

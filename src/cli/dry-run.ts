/** What a dry run shows: the requests that were not sent. */
import type { Shape } from '../contract/field.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { PlannedRequest } from '../contract/service.ts';
import type { Column, Listing, Row } from '../terminal/view.ts';
import type { Shown } from './shown.ts';

/** One request as an object, several as a list. The body is parsed back so that JSON shows it as JSON. */
export function showPlanned(planned: readonly PlannedRequest[]): Shown {
  const seen = planned.map(request => ({ ...request, body: bodyOf(request) }));
  const rows = seen.map(({ operation, method, path, body, idempotencyKey }) => ({
    dry_run: true,
    operation,
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  }));
  const columns: readonly Column[] = [
    { field: 'method', title: 'METHOD', kind: 'word', priority: 1 },
    { field: 'path', title: 'PATH', kind: 'text', priority: 1 },
    { field: 'body', title: 'BODY', kind: 'map', priority: 2 },
    { field: 'idempotency_key', title: 'KEY', kind: 'text', priority: 2 },
  ];
  const shown = { noun: 'request', idField: 'idempotency_key', columns };
  const [only] = rows;
  if (rows.length !== 1 || only === undefined) return { ...shown, listing: listed(rows) };
  const lines = seen.flatMap(({ method, path, body, idempotencyKey }) => [
    `${method} ${path}`,
    ...(body === undefined ? [] : [`  ${JSON.stringify(body)}`]),
    ...(idempotencyKey === undefined ? [] : [`  idempotency key ${idempotencyKey}`]),
  ]);
  return {
    ...shown,
    data: only,
    blocks: [...lines, NOTHING_SENT].map(text => ({ kind: 'line', text })),
  };
}

const NOTHING_SENT = 'Dry run: nothing was sent.';

function listed(rows: readonly Row[]): Listing {
  async function* batches() {
    yield rows;
  }
  return { batches: batches(), page: () => ({ total: rows.length }), footer: () => NOTHING_SENT };
}

/** The body as it would be sent, a signing secret taken out. */
function bodyOf({ operation, body }: PlannedRequest): Record<string, unknown> | undefined {
  if (body === undefined) return undefined;
  const row = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation as keyof typeof OPERATIONS] : undefined;
  const shape: Shape = row !== undefined && 'body' in row ? row.body : {};
  const members = Object.entries(JSON.parse(body) as Record<string, unknown>);
  return Object.fromEntries(members.map(([name, value]) => [name, shape[name]?.secret ? '[redacted]' : value]));
}

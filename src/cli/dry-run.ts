/** What a dry run shows: the requests that were not sent. */
import type { Shape } from '../contract/field.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { PlannedRequest } from '../contract/service.ts';
import type { Shown } from './command.ts';

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
  const lines = seen.flatMap(({ method, path, body, idempotencyKey }) => [
    `${method} ${path}`,
    ...(body === undefined ? [] : [`  ${JSON.stringify(body)}`]),
    ...(idempotencyKey === undefined ? [] : [`  idempotency key ${idempotencyKey}`]),
  ]);
  return {
    data: rows.length === 1 ? (rows[0] ?? {}) : rows,
    noun: 'request',
    idField: 'idempotency_key',
    columns: [
      { field: 'method', title: 'METHOD', kind: 'word', priority: 1 },
      { field: 'path', title: 'PATH', kind: 'text', priority: 1 },
      { field: 'body', title: 'BODY', kind: 'map', priority: 2 },
      { field: 'idempotency_key', title: 'KEY', kind: 'text', priority: 2 },
    ],
    blocks: [...lines, 'Dry run: nothing was sent.'].map(text => ({ kind: 'line', text })),
  };
}

/** The body as it would be sent, a signing secret taken out. */
function bodyOf({ operation, body }: PlannedRequest): Record<string, unknown> | undefined {
  if (body === undefined) return undefined;
  const row = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation as keyof typeof OPERATIONS] : undefined;
  const shape: Shape = row !== undefined && 'body' in row ? row.body : {};
  const members = Object.entries(JSON.parse(body) as Record<string, unknown>);
  return Object.fromEntries(members.map(([name, value]) => [name, shape[name]?.secret ? '[redacted]' : value]));
}

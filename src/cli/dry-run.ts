/** What a dry run shows: the requests that were not sent. */
import type { Shape } from '../contract/field.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { PlannedRequest } from '../contract/service.ts';
import type { Rows } from '../journal/types.ts';
import type { Column, Listing, Row } from '../terminal/view.ts';
import type { Shown } from './shown.ts';

const COLUMNS: readonly Column[] = [
  { field: 'method', title: 'METHOD', kind: 'word', priority: 1 },
  { field: 'path', title: 'PATH', kind: 'text', priority: 1 },
  { field: 'body', title: 'BODY', kind: 'map', priority: 2 },
  { field: 'idempotency_key', title: 'KEY', kind: 'text', priority: 2 },
];
const NOTHING_SENT = 'Dry run: nothing was sent.';
/** Requests that are shown together. */
const BATCH = 256;

/** One request as an object, several as a list. The body is parsed back so that JSON shows it as JSON. */
export function showPlanned(planned: Rows<PlannedRequest>): Shown {
  const shown = { noun: 'request', idField: 'idempotency_key', columns: COLUMNS };
  const [only] = planned;
  if (planned.length !== 1 || only === undefined) return { ...shown, listing: listed(planned) };
  const { method, path, idempotencyKey } = only;
  const body = bodyOf(only);
  const lines = [
    `${method} ${path}`,
    ...(body === undefined ? [] : [`  ${JSON.stringify(body)}`]),
    ...(idempotencyKey === undefined ? [] : [`  idempotency key ${idempotencyKey}`]),
  ];
  return {
    ...shown,
    data: rowOf(only),
    blocks: [...lines, NOTHING_SENT].map(text => ({ kind: 'line', text, whole: true })),
  };
}

function rowOf(request: PlannedRequest): Row {
  const { operation, method, path, idempotencyKey } = request;
  const body = bodyOf(request);
  return {
    dry_run: true,
    operation,
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  };
}

function listed(planned: Rows<PlannedRequest>): Listing {
  async function* batches() {
    let batch: Row[] = [];
    for (const request of planned) {
      batch.push(rowOf(request));
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  }
  return { batches: batches(), page: () => ({ total: planned.length }), footer: () => NOTHING_SENT };
}

/** The body as it would be sent, a signing secret taken out. */
function bodyOf({ operation, body }: PlannedRequest): Record<string, unknown> | undefined {
  if (body === undefined) return undefined;
  const row = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation as keyof typeof OPERATIONS] : undefined;
  const shape: Shape = row !== undefined && 'body' in row ? row.body : {};
  const members = Object.entries(JSON.parse(body) as Record<string, unknown>);
  return Object.fromEntries(members.map(([name, value]) => [name, shape[name]?.secret ? '[redacted]' : value]));
}

/** What a dry run shows: the requests that were not sent. */

import type { Shape } from '../contract/field.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { PlannedRequest } from '../contract/service.ts';
import { MARKER_KEY } from '../journal/names.ts';
import type { Rows } from '../journal/types.ts';
import { type Column, copiedLine, type Listing, type Row } from '../terminal/view.ts';
import type { Shown } from './context.ts';
import { columnsOf, SHORT_ID } from './listing.ts';

const [METHOD, PATH, BODY, KEY]: readonly [Column, Column, Column, Column] = [
  { field: 'method', title: 'METHOD', kind: 'word', priority: 1 },
  { field: 'path', title: 'PATH', kind: 'text', priority: 1 },
  { field: 'body', title: 'BODY', kind: 'map', priority: 7, wideOnly: true },
  { field: 'idempotency_key', title: 'KEY', kind: 'text', priority: 6 },
];
const COLUMNS: readonly Column[] = [METHOD, PATH, BODY, KEY];
/** Values that tell one row of a file from another are the last to go on a narrow screen. */
const ASKED_FIRST: readonly string[] = ['amount', 'label'];
const NOTHING_SENT = 'Dry run: nothing was sent.';
/** Requests that are shown together. */
const BATCH = 256;

/**
 * Of a run of rows or of ids from standard input a list, also of one request; otherwise one request is an object. The body
 * is parsed back so that JSON shows it as JSON.
 */
export function showPlanned(planned: Rows<PlannedRequest>, { isList = planned.length !== 1 } = {}): Shown {
  const shown = { noun: 'request', idField: 'idempotency_key', columns: COLUMNS };
  const [only] = planned;
  if (isList || only === undefined) {
    return { ...shown, columns: [METHOD, PATH, ...askedColumns(planned), BODY, KEY], listing: listed(planned) };
  }
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
    blocks: [...lines, NOTHING_SENT].map(text => copiedLine(text)),
  };
}

/** A column for each value that the first requests ask for. */
function askedColumns(planned: Rows<PlannedRequest>): readonly Column[] {
  const asked = new Map<string, Column>();
  let looked = 0;
  for (const request of planned) {
    for (const [name, value] of Object.entries(bodyOf(request) ?? {})) {
      const isOurs = name === 'metadata' && Object.keys(Object(value)).every(key => key === MARKER_KEY);
      if (!isOurs && !asked.has(name)) asked.set(name, askedColumn(request.operation, name));
    }
    looked += 1;
    if (looked === BATCH) break;
  }
  const rank = (name: string) => (ASKED_FIRST.includes(name) ? ASKED_FIRST.indexOf(name) : ASKED_FIRST.length);
  return [...asked].sort(([a], [b]) => rank(a) - rank(b)).map(([, column]) => column);
}

function askedColumn(operation: string, name: string): Column {
  const field = `body.${name}`;
  const priority = ASKED_FIRST.includes(name) ? 2 : 4;
  const [known] = name in bodyShape(operation) ? columnsOf(bodyShape(operation), `${name}:${priority}`) : [];
  const column = known ?? { title: name.toUpperCase(), kind: 'text', priority };
  const short = name === 'bin_id' ? { shortTo: SHORT_ID } : {};
  return { ...column, ...short, field, screenOnly: true, ...(name === 'label' && { shrink: true }) };
}

function bodyShape(operation: string): Shape {
  const row = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation as keyof typeof OPERATIONS] : undefined;
  return row !== undefined && 'body' in row ? row.body : {};
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
  const shape = bodyShape(operation);
  const members = Object.entries(JSON.parse(body) as Record<string, unknown>);
  return Object.fromEntries(members.map(([name, value]) => [name, shape[name]?.secret ? '[redacted]' : value]));
}

/** A logged request as it is told. */
import { isoTime } from '../rules/dates.ts';
import type { RequestRow } from '../store/requests.ts';

export function wireRequest(row: RequestRow) {
  const {
    request_id,
    at,
    operation,
    method,
    path,
    query,
    status,
    error,
    replayed,
    fault,
    idempotency_key,
    card_id,
    body,
  } = row;
  return {
    request_id,
    at: isoTime(at),
    operation,
    method,
    path,
    query,
    status,
    error,
    replayed: replayed === 1,
    fault,
    idempotency_key,
    card_id,
    body: body === null ? null : (JSON.parse(body) as Readonly<Record<string, unknown>>),
  };
}

/** requests, requests.verify: what was asked of the service. */
import { pageFacts } from '../handlers/paging.ts';
import { instantOf } from '../rules/dates.ts';
import { keptKey } from '../service/kept-parts.ts';
import type { MomentHandler, StoreMoment } from '../service/service.ts';
import { wireRequest } from '../service/wire-request.ts';
import {
  countRequests,
  fitsRequest,
  KEPT_REQUESTS,
  pageOfRequests,
  type RequestFilter,
  type RequestRow,
} from '../store/requests.ts';

const MOST_IDS = 20;

export const listRequests: MomentHandler<'requests'> = async (moment, input) => {
  const { page = 1, per_page: limit = 100 } = input;
  const { rows, total } = await newestRequests(moment, filterOf(input), { limit, offset: (page - 1) * limit });
  return { data: rows.map(wireRequest), page: pageFacts(page, limit, total) };
};

export const verifyRequests: MomentHandler<'requests.verify'> = async (moment, input) => {
  const span = { limit: MOST_IDS, offset: 0 };
  const { rows, total: count } = await newestRequests(moment, filterOf(input.match ?? {}), span);
  const ids = rows.map(row => row.request_id);
  return { ok: count === input.times, count, expected: input.times, request_ids: ids };
};

function filterOf({ since, ...rest }: Omit<RequestFilter, 'since'> & { readonly since?: string | undefined }) {
  const { operation, idempotency_key: key, card_id, status } = rest;
  // As the log has it: a key that may hold a card number is masked there.
  const idempotency_key = key === undefined ? undefined : keptKey(key);
  return { operation, idempotency_key, card_id, status, since: since === undefined ? undefined : instantOf(since) };
}

/**
 * Newest first. Those that wait in this process come first and stay there: written now, they would get other numbers
 * than they get when nobody looks. They push as many stored ones out as they will when they are written.
 */
async function newestRequests(
  { sql, account, parts }: StoreMoment,
  filter: RequestFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly RequestRow[]; readonly total: number }> {
  const kept = parts.requestLog.waiting.slice(-KEPT_REQUESTS);
  const waiting = kept.filter(row => fitsRequest(row, filter)).toReversed();
  const newest = KEPT_REQUESTS - kept.length;
  const total = waiting.length + (await countRequests(sql, account, { filter, newest }));
  const first = waiting.slice(offset, offset + limit);
  const span = { limit: limit - first.length, offset: Math.max(0, offset - waiting.length) };
  const stored = span.limit === 0 ? [] : await pageOfRequests(sql, account, { filter, newest, ...span });
  return { rows: [...first, ...stored], total };
}

/** requests, requests.verify: what was asked of the service. */

import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import type { Call } from '../calls/handler.ts';
import { pageFacts } from '../handlers/paging.ts';
import { instantOf } from '../rules/dates.ts';
import type { ServiceParts } from '../service/service.ts';
import { wireRequest } from '../service/wire-request.ts';
import { countRequests, pageOfRequests, type RequestFilter } from '../store/requests.ts';

type Requests = AdminOperations['requests'];
type Verify = AdminOperations['requests.verify'];

const MOST_IDS = 20;

export async function listRequests(parts: ServiceParts, input: Call<Requests>['input']): Promise<ReplyOf<Requests>> {
  const { page = 1, per_page: limit = 100 } = input;
  const filter = filterOf(input);
  const { account, store, requestLog } = parts;
  await requestLog.flush(parts);
  return store.read(async sql => {
    const total = await countRequests(sql, account, filter);
    const rows = await pageOfRequests(sql, account, { filter, limit, offset: (page - 1) * limit });
    return { data: rows.map(wireRequest), page: pageFacts(page, limit, total) };
  });
}

export async function verifyRequests(parts: ServiceParts, input: Call<Verify>['input']): Promise<ReplyOf<Verify>> {
  const { account, store, requestLog } = parts;
  const filter = filterOf(input.match ?? {});
  await requestLog.flush(parts);
  return store.read(async sql => {
    const count = await countRequests(sql, account, filter);
    const rows = await pageOfRequests(sql, account, { filter, limit: MOST_IDS, offset: 0 });
    const ids = rows.map(row => row.request_id);
    return { ok: count === input.times, count, expected: input.times, request_ids: ids };
  });
}

function filterOf({ since, ...rest }: Omit<RequestFilter, 'since'> & { readonly since?: string | undefined }) {
  const { operation, idempotency_key, card_id, status } = rest;
  return { operation, idempotency_key, card_id, status, since: since === undefined ? undefined : instantOf(since) };
}

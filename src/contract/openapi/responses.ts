/** Answers of the OpenAPI document: what an operation returns, and every error it can meet, by status. */
import type { Basis } from '../basis.ts';
import { ENVELOPES, FIXED_HEADERS, HEADERS } from '../envelopes.ts';
import { type JsonSchema, marks } from '../json-schema.ts';
import type { Operation } from '../operation.ts';
import { REFUSALS, type Refusal, type RefusalName } from '../refusals.ts';
import { schemaRef } from './schemas.ts';

/** Refusals any request can meet: of the key, of the rate limit, of the service itself. */
const EVERYWHERE: readonly RefusalName[] = [
  'unauthorized',
  'forbidden',
  'environment_mismatch',
  'rate_limited',
  'internal_error',
  'service_unavailable',
];
/** Of what was sent: a body that is none, a key of the wrong form. A body may come with every method. */
const ANY_REQUEST: readonly RefusalName[] = ['invalid_request'];
const WITH_BODY: readonly RefusalName[] = ['payload_too_large', 'unsupported_media_type'];
const WITH_KEY: readonly RefusalName[] = ['idempotency_key_reused', 'idempotency_in_progress'];
/** Of routes that are not in the document; kept among the components, so that every identifier is told. */
const WITHOUT_OPERATION: readonly RefusalName[] = ['route_not_found', 'method_not_allowed'];

const SHARED_NAMES: Readonly<Record<string, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'RateLimited',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** The answer of an operation that was carried out, in its envelope. */
export function successResponse({ method, returns }: Operation): JsonSchema {
  const { kind, shape, basis } = returns;
  const replayed = method === 'POST' ? { [HEADERS.idempotent_replayed.name]: headerRef('IdempotentReplayed') } : {};
  const common = { headers: { ...everyHeader(), ...replayed }, ...marks(basis) };
  if (kind === 'none') return { description: 'Done; no body.', ...common };
  const schema = kind === 'one' ? schemaRef(shape, 'answer') : listSchema(returns);
  const description = { one: 'Done.', list: 'The whole list.', page: 'One page of the list.', raw: 'Anything.' }[kind];
  return { description, content: { 'application/json': { schema } }, ...common };
}

function listSchema({ kind, shape, basis }: Operation['returns']): JsonSchema {
  const { array, paging } = ENVELOPES;
  const data = { type: 'array', items: schemaRef(shape, 'answer'), ...marks(basis) };
  const meta = { $ref: '#/components/schemas/PageMeta', ...marks(paging.basis) };
  const isPage = kind === 'page';
  return {
    type: 'object',
    properties: { [array.name]: data, ...(isPage && { [paging.container]: meta }) },
    required: isPage ? [array.name, paging.container] : [array.name],
    additionalProperties: false,
    ...marks(basis),
  };
}

/** Error answers of an operation by status; those all operations share are references. */
export function errorResponses(row: Operation): Record<string, JsonSchema> {
  const names = new Set<RefusalName>([
    ...EVERYWHERE,
    ...ANY_REQUEST,
    ...(row.body ? WITH_BODY : []),
    ...(row.method === 'POST' ? WITH_KEY : []),
    ...(row.fails ?? []),
  ]);
  const answers = [...byStatus(names)].map(([status, ids]) => {
    const shared = SHARED_NAMES[status];
    return [status, shared ? { $ref: `#/components/responses/${shared}` } : errorResponse(ids)] as const;
  });
  return Object.fromEntries(answers);
}

/** The answers `errorResponses` refers to, and those of routes the document has not. */
export function sharedResponses(): Record<string, JsonSchema> {
  const shared = [...byStatus(new Set(EVERYWHERE))].map(
    ([status, ids]) => [SHARED_NAMES[status] ?? status, errorResponse(ids)] as const,
  );
  const [route = 'route_not_found', method = 'method_not_allowed'] = WITHOUT_OPERATION;
  return {
    ...Object.fromEntries(shared),
    RouteNotFound: errorResponse([route]),
    MethodNotAllowed: errorResponse([method]),
  };
}

/** Identifiers by status, each list in the order of the table of refusals. */
function byStatus(names: ReadonlySet<RefusalName>): Map<string, RefusalName[]> {
  const grouped = new Map<string, RefusalName[]>();
  for (const name of Object.keys(REFUSALS) as RefusalName[]) {
    if (!names.has(name)) continue;
    const status = String(REFUSALS[name].status);
    grouped.set(status, [...(grouped.get(status) ?? []), name]);
  }
  return grouped;
}

function errorResponse(names: readonly RefusalName[]): JsonSchema {
  return {
    description: names.map(name => `\`${name}\`: ${REFUSALS[name].when}.`).join(' '),
    headers: { ...everyHeader(), ...errorHeaders(names) },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    'x-error-ids': [...names],
    ...marks(basisOf(names)),
  };
}

/** Stated when one of them is; the assumption is that of the first that is not. Each one's own is in section 7. */
function basisOf(names: readonly RefusalName[]): Basis {
  const bases = names.map((name): Basis => (REFUSALS[name] as Refusal).basis);
  return { ...bases.find(basis => basis.assumed !== undefined), ...bases.find(basis => basis.stated !== undefined) };
}

function errorHeaders(names: readonly RefusalName[]): JsonSchema {
  const waits = ['rate_limited', 'idempotency_in_progress', 'service_unavailable'];
  return {
    ...(names.some(name => waits.includes(name)) && { [HEADERS.retry_after.name]: headerRef('RetryAfter') }),
    ...(names.includes('unauthorized') && { [FIXED_HEADERS.www_authenticate.name]: headerRef('Authenticate') }),
    ...(names.includes('method_not_allowed') && { [FIXED_HEADERS.allow.name]: headerRef('Allow') }),
  };
}

function everyHeader(): JsonSchema {
  return {
    [HEADERS.request_id.name]: headerRef('RequestId'),
    [FIXED_HEADERS.rate_limit_limit.name]: headerRef('RateLimitLimit'),
    [FIXED_HEADERS.rate_limit_remaining.name]: headerRef('RateLimitRemaining'),
    [FIXED_HEADERS.rate_limit_reset.name]: headerRef('RateLimitReset'),
  };
}

function headerRef(name: string): JsonSchema {
  return { $ref: `#/components/headers/${name}` };
}

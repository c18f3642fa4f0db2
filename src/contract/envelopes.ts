/** How lists and single objects may be wrapped; what the client accepts when reading (A-20, A-21, reading rule 5). */
import { assumed, type Basis, stated } from './basis.ts';

export const ENVELOPES = {
  array: {
    basis: stated('4', 'A-20'),
    name: 'data',
    also: ['items', 'results', 'cards', 'transactions', 'webhooks', 'bins', 'challenges', 'addresses'],
  },
  paging: {
    basis: assumed('A-21'),
    container: 'meta',
    also: ['pagination', 'page_info', 'page'],
    hasMore: ['has_more', 'hasMore'],
    nextPage: ['next_page'],
    nextCursor: ['next_cursor'],
    totalHeader: 'x-total-count',
  },
  single: { basis: stated('4', 'A-33'), also: ['data', 'card', 'wallet', 'webhook', 'details'] },
} as const;

/** A header, what it says, and the schema of its value: text when left out. */
const header = (name: string, basis: Basis, doc: string, schema: object = { type: 'string' }) => ({
  name,
  basis,
  doc,
  schema,
});
const COUNT = { type: 'integer', minimum: 0 };

/** Headers whose names an override may change, by the override's key. */
export const HEADERS = {
  authorization: header('Authorization', stated('5'), 'An API key.'),
  idempotency_key: header('X-Idempotency-Key', stated('5', 'A-90'), 'A unique text of the client, for safe retries.'),
  idempotent_replayed: header(
    'Idempotent-Replayed',
    assumed('A-94'),
    'The answer was given before, to a request with the same key.',
    { type: 'string', enum: ['true'] },
  ),
  request_id: header('X-Request-Id', assumed('A-122'), 'Identifier of the request, as in error bodies.'),
  retry_after: header('Retry-After', assumed('A-122'), 'Seconds to wait before the next try.', COUNT),
  webhook_signature: header(
    'X-Webhook-Signature',
    stated('6', 'A-75'),
    'HMAC-SHA256 of the exact body with the secret of the subscription, in lowercase hex.',
    { type: 'string', pattern: '^[0-9a-f]{64}$' },
  ),
  webhook_id: header('X-Webhook-Id', assumed('A-76'), 'Identifier of the event.'),
  webhook_attempt: header('X-Webhook-Attempt', assumed('A-76'), 'Number of the attempt, from 1.', {
    type: 'integer',
    minimum: 1,
  }),
  webhook_timestamp: header('X-Webhook-Timestamp', assumed('A-76'), 'When it was sent. Not signed.'),
} as const;

export type HeaderName = keyof typeof HEADERS;

/** Headers whose names HTTP or the interface fixes; no override can change them. */
export const FIXED_HEADERS = {
  content_type: header('Content-Type', stated('5'), 'What the body is.'),
  www_authenticate: header('WWW-Authenticate', assumed('A-102'), 'How to authenticate.'),
  allow: header('Allow', assumed('A-106'), 'Methods of the route.'),
  rate_limit_limit: header('X-RateLimit-Limit', assumed('A-122'), 'Requests a minute.', COUNT),
  rate_limit_remaining: header('X-RateLimit-Remaining', assumed('A-122'), 'Requests left now.', COUNT),
  rate_limit_reset: header('X-RateLimit-Reset', assumed('A-122'), 'When one is free again.', COUNT),
} as const;

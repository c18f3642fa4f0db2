/** How lists and single objects may be wrapped; what the client accepts when reading (A-20, A-21, reading rule 5). */
import { assumed, stated } from './basis.ts';

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

/** Header names; those an override may change carry the override's key in `HEADERS`. */
export const HEADERS = {
  authorization: { name: 'Authorization', basis: stated('5') },
  idempotency_key: { name: 'X-Idempotency-Key', basis: stated('5', 'A-90') },
  idempotent_replayed: { name: 'Idempotent-Replayed', basis: assumed('A-94') },
  request_id: { name: 'X-Request-Id', basis: assumed('A-122') },
  retry_after: { name: 'Retry-After', basis: assumed('A-122') },
  webhook_signature: { name: 'X-Webhook-Signature', basis: stated('6', 'A-75') },
  webhook_id: { name: 'X-Webhook-Id', basis: assumed('A-76') },
  webhook_attempt: { name: 'X-Webhook-Attempt', basis: assumed('A-76') },
  webhook_timestamp: { name: 'X-Webhook-Timestamp', basis: assumed('A-76') },
} as const;

export type HeaderName = keyof typeof HEADERS;

/** Header names that HTTP or the interface fixes; no override can change them. */
export const FIXED_HEADERS = {
  content_type: { name: 'Content-Type', basis: stated('5') },
  www_authenticate: { name: 'WWW-Authenticate', basis: assumed('A-102') },
  allow: { name: 'Allow', basis: assumed('A-106') },
  rate_limit_limit: { name: 'X-RateLimit-Limit', basis: assumed('A-122') },
  rate_limit_remaining: { name: 'X-RateLimit-Remaining', basis: assumed('A-122') },
  rate_limit_reset: { name: 'X-RateLimit-Reset', basis: assumed('A-122') },
} as const;

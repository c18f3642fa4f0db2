/** How lists and single objects may be wrapped; what the client accepts when reading (A-20, A-21, reading rule 5). */
import { assumed, stated } from './basis.ts';

export const ENVELOPES = {
  array: {
    basis: stated('4', assumed('A-20', 'the envelope is stated for BINs and 3DS challenges only')),
    name: 'data',
    also: ['items', 'results', 'cards', 'transactions', 'webhooks', 'bins', 'challenges', 'addresses'],
  },
  paging: {
    basis: assumed('A-21', 'the envelope around lists is not shown'),
    container: 'meta',
    also: ['pagination', 'page_info', 'page'],
    hasMore: ['has_more', 'hasMore'],
    nextPage: ['next_page'],
    nextCursor: ['next_cursor'],
    totalHeader: 'x-total-count',
  },
  single: {
    basis: stated('4', assumed('A-33', 'only some operations state a bare object')),
    also: ['data', 'card', 'wallet', 'webhook', 'details'],
  },
} as const;

/** Header names; those an override may change carry the override's key in `HEADERS`. */
export const HEADERS = {
  authorization: { name: 'Authorization', basis: stated('5') },
  idempotency_key: {
    name: 'X-Idempotency-Key',
    basis: stated('5', assumed('A-90', 'which operations honour it is not shown')),
  },
  idempotent_replayed: {
    name: 'Idempotent-Replayed',
    basis: assumed('A-94', 'how a replay is marked is not shown'),
  },
  request_id: { name: 'X-Request-Id', basis: assumed('A-122', 'no response headers are shown') },
  retry_after: { name: 'Retry-After', basis: assumed('A-122', 'no response headers are shown') },
  webhook_signature: {
    name: 'X-Webhook-Signature',
    basis: stated('6', assumed('A-75', 'the name of the header is not shown')),
  },
  webhook_id: { name: 'X-Webhook-Id', basis: assumed('A-76', 'other headers are not shown') },
  webhook_attempt: { name: 'X-Webhook-Attempt', basis: assumed('A-76', 'other headers are not shown') },
  webhook_timestamp: { name: 'X-Webhook-Timestamp', basis: assumed('A-76', 'other headers are not shown') },
} as const;

export type HeaderName = keyof typeof HEADERS;

/** Header names that HTTP or the interface fixes; no override can change them. */
export const FIXED_HEADERS = {
  content_type: { name: 'Content-Type', basis: stated('5') },
  www_authenticate: { name: 'WWW-Authenticate', basis: assumed('A-102', 'the answer to a wrong key is not shown') },
  allow: { name: 'Allow', basis: assumed('A-106', 'the answer to a wrong method is not shown') },
  rate_limit_limit: { name: 'X-RateLimit-Limit', basis: assumed('A-122', 'no response headers are shown') },
  rate_limit_remaining: { name: 'X-RateLimit-Remaining', basis: assumed('A-122', 'no response headers are shown') },
  rate_limit_reset: { name: 'X-RateLimit-Reset', basis: assumed('A-122', 'no response headers are shown') },
} as const;

/**
 * Interface 7: the identifiers of the service's errors. The sandbox answers with them; the client decides by
 * them first and by the HTTP status second, never by the message (reading rule 10).
 */
import type { ErrorKind } from '../core/errors.ts';
import { assumed, type Basis, stated } from './basis.ts';

export interface Refusal {
  /** HTTP status the sandbox sends. */
  readonly status: number;
  /** Kind of our error, hence the exit code. */
  readonly kind: ErrorKind;
  readonly when: string;
  readonly basis: Basis;
  /** Other spellings read as this one. */
  readonly also?: readonly string[];
  /** Stored for an idempotency key and replayed. */
  readonly storedForKey?: true;
  /** Every operation may give it; the others are given by those that name them in `fails`. */
  readonly everywhere?: true;
  /** It says that the card is in this state already. */
  readonly saysState?: 'frozen' | 'active' | 'terminated';
}

type More = Omit<Refusal, 'status' | 'kind' | 'when' | 'basis'>;

const refusal = (status: number, kind: ErrorKind, when: string, basis: Basis, more?: More): Refusal => ({
  ...{ status, kind, when, basis },
  ...more,
});
/** Of the request itself: any operation may give it. */
const general = (status: number, kind: ErrorKind, when: string, basis: Basis, more?: More) =>
  refusal(status, kind, when, basis, { ...more, everywhere: true });
/** Of what the account holds: stored for the key. */
const business = (status: number, kind: ErrorKind, when: string, basis: Basis, more?: More) =>
  refusal(status, kind, when, basis, { ...more, storedForKey: true });

/** Status, our kind of error, and when the service says it. */
export const REFUSALS = {
  insufficient_funds: business(
    400,
    'insufficient_funds',
    'the wallet balance is too low for create or fund',
    stated('7'),
  ),
  invalid_request: general(
    400,
    'refused',
    'malformed JSON, a field missing, ill-typed, out of range or unknown',
    assumed('A-101'),
    { also: ['validation_error'] },
  ),
  unauthorized: general(
    401,
    'not_authenticated',
    'the key is missing, malformed, unknown or revoked',
    assumed('A-102'),
  ),
  forbidden: general(403, 'not_authenticated', 'the key lacks the scope', assumed('A-103')),
  environment_mismatch: general(403, 'not_authenticated', 'a live key at the sandbox', assumed('A-103')),
  not_found: business(404, 'not_found', 'unknown card or webhook, or one of another account', assumed('A-104'), {
    also: ['card_not_found', 'webhook_not_found', 'resource_not_found'],
  }),
  route_not_found: general(404, 'not_found', 'no such route', assumed('A-104')),
  bin_not_found: business(404, 'not_found', 'create with an unknown BIN', assumed('A-105')),
  method_not_allowed: general(405, 'refused', 'the route has no such method', assumed('A-106')),
  card_already_frozen: business(409, 'refused', 'freeze on a frozen card', assumed('A-107'), { saysState: 'frozen' }),
  card_not_frozen: business(409, 'refused', 'unfreeze on an active card', assumed('A-107'), { saysState: 'active' }),
  card_terminated: business(409, 'refused', 'a write or details on a terminated card', assumed('A-108'), {
    also: ['card_already_terminated'],
    saysState: 'terminated',
  }),
  card_expired: business(409, 'refused', 'fund an expired card', assumed('A-109')),
  insufficient_card_funds: business(400, 'refused', 'withdraw above the balance of the card', assumed('A-110')),
  idempotency_key_reused: refusal(422, 'internal', 'the same key with another body', assumed('A-111')),
  idempotency_in_progress: refusal(409, 'outcome_unknown', 'the same key is still being worked on', assumed('A-111')),
  payload_too_large: general(413, 'refused', 'a body over 64 KiB', assumed('A-112')),
  unsupported_media_type: general(415, 'refused', 'a body that is not JSON', assumed('A-112')),
  rate_limited: refusal(429, 'rate_limited', 'over a rate limit', assumed('A-113'), { also: ['too_many_requests'] }),
  internal_error: refusal(500, 'outcome_unknown', 'a fault of the service', assumed('A-114')),
  service_unavailable: refusal(503, 'outcome_unknown', 'shutdown, or the store is busy', assumed('A-114')),
} as const;

/**
 * Identifiers by which a service says that it has seen this very request before: they refuse the repetition, and
 * say nothing about the first. Compared in lower case, without separators.
 */
const SEEN_BEFORE =
  /^duplicated?(?:entry)?$|duplicated?(?:request|transaction|operation|payment|transfer|key|call|submission|idempot)|(?:request|transaction|operation|transfer|payment|key)?already(?:processed|executed|submitted|received|used)|repeatedrequest|replayed/;

/** Whether an identifier speaks of a request that was seen before. */
export function speaksOfRepetition(identifier: string | undefined): boolean {
  return identifier !== undefined && SEEN_BEFORE.test(identifier.toLowerCase().replace(/[^a-z]/g, ''));
}

export type RefusalName = keyof typeof REFUSALS;

/** The known identifier that a spelling stands for. */
export function refusalNamed(identifier: string | undefined): RefusalName | undefined {
  const word = identifier?.trim().toLowerCase();
  const rows = Object.entries(REFUSALS) as [RefusalName, Refusal][];
  return rows.find(([name, row]) => name === word || row.also?.includes(word ?? ''))?.[0];
}

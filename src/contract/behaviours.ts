/** What the service does beside its fields and operations: rules by topic, stated or assumed, for `contract show`. */
import { DAY, HOUR, SECOND } from '../core/durations.ts';
import { type AssumptionId, assumed, type Basis, type Section, stated } from './basis.ts';
import {
  DELIVERY_ATTEMPTS,
  DELIVERY_GIVEN_UP,
  DELIVERY_RETRIES,
  DELIVERY_TIMEOUT,
  KEY_RETENTION,
  READ_LAG,
  spanText,
} from './spans.ts';

interface Behaviour {
  readonly section: Section;
  readonly about: string;
  readonly rule: string;
  readonly basis: Basis;
}

/** The section states it, but for what the assumption fills. */
const states = (section: Section, about: string, id: AssumptionId, rule: string): Behaviour => ({
  ...{ section, about, rule },
  basis: stated(section, id),
});

/** The section leaves it open. */
const leaves = (section: Section, about: string, id: AssumptionId, rule: string): Behaviour => ({
  ...{ section, about, rule },
  basis: assumed(id),
});

export const BEHAVIOURS: readonly Behaviour[] = [
  states('2', 'amounts', 'A-139', 'JSON numbers in USD with at most two decimals; more is invalid_request'),
  states('2', 'timestamps', 'A-137', 'ISO 8601 in UTC, seconds, with Z'),
  leaves('2', 'ids', 'A-130', 'opaque; here a prefix such as card_ and 24 characters'),
  leaves('2.1', 'card numbers', 'A-136', '16 digits, Luhn-valid, from ranges nobody issues'),
  leaves(
    '2.5',
    'transaction records',
    'A-40',
    'one record a message; settlements and refunds point to their authorization',
  ),
  leaves('2.5', 'record status', 'A-45', 'settlements and refunds are completed, declines are declined'),
  leaves('3', 'negative card', 'A-157', 'terminating takes what is missing from the wallet, which may fall below 0'),
  leaves('3', 'expired card', 'A-165', 'keeps status and money; authorizations decline, funding is refused'),
  leaves('4', 'list order', 'A-22', 'newest first: created_at, then id, both descending'),
  leaves('4', 'page past the end', 'A-23', 'an empty list, not an error'),
  leaves('4', 'bad page or per_page', 'A-24', 'invalid_request, never clamped'),
  leaves('4', 'unknown query names', 'A-27', 'ignored; the client sends listed ones only'),
  leaves('4', 'list of deposits', 'A-13', 'no such operation; deposits show in the wallet and in two events'),
  leaves(
    '4',
    'readings after a change',
    'A-170',
    `show it within ${READ_LAG / SECOND} s: a new card in the list, a state, a balance, the wallet`,
  ),
  states('5', 'bearer token', 'A-102', 'every request carries Authorization: Bearer <API_KEY>'),
  states('5', 'key prefixes', 'A-103', 'sk_live_ is a production key, sk_test_ a sandbox key'),
  states('5', 'environments', 'A-167', 'one base address; the prefix of the key decides'),
  states('5', 'idempotency scope', 'A-91', 'account, method, path and key together'),
  states('5', 'idempotency fingerprint', 'A-92', 'SHA-256 of method, path and canonical JSON body'),
  states('5', 'idempotency retention', 'A-93', `a key is remembered for ${KEY_RETENTION / HOUR} hours`),
  states('5', 'same key, same body', 'A-94', 'the same status and bytes again, marked as a replay'),
  states('5', 'same key, other body', 'A-95', '422 idempotency_key_reused'),
  states('5', 'same key, still running', 'A-96', '409 idempotency_in_progress, repeat after one second'),
  states(
    '5',
    'answers kept for a key',
    'A-97',
    'successes and business refusals reached after validation; nothing else',
  ),
  states('5', 'keeping and effect', 'A-99', 'one transaction, so that there is exactly one effect'),
  states('6', 'signature', 'A-75', 'HMAC-SHA256 of the exact body, lowercase hex, compared in constant time'),
  leaves('6', 'replayed events', 'A-77', 'the signature cannot stop them: drop ids that were seen'),
  leaves(
    '6',
    'delivery success',
    'A-78',
    `2xx within ${spanText(DELIVERY_TIMEOUT)}; redirects fail, 410 disables the subscription`,
  ),
  leaves(
    '6',
    'delivery retries',
    'A-79',
    `${DELIVERY_ATTEMPTS} attempts: after ${DELIVERY_RETRIES.map(spanText).join(', ')}`,
  ),
  leaves('6', 'delivery disable', 'A-80', `after ${DELIVERY_GIVEN_UP / DAY} days of nothing but failures`),
  leaves('6', 'delivery order', 'A-81', 'not guaranteed'),
  leaves('6', 'events a change', 'A-82', 'one, recorded with the change; one delivery a matching subscription'),
  leaves(
    '7',
    'order of checks',
    'A-115',
    'route, method, key, rate limit, size and type, idempotency, body, resource, state, money',
  ),
  states('8', 'details pacing', 'A-123', 'the client itself keeps below 30 a minute, over all its processes'),
  states('9', 'version', 'A-168', 'the path segment /v1; fields, enum values and events may be added at any time'),
];

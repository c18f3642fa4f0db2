/** What the service does beside its fields and operations: rules by topic, stated or assumed, for `contract show`. */
import { DAY, HOUR } from '../core/durations.ts';
import { assumed, type Basis, type Section, stated } from './basis.ts';
import {
  DELIVERY_ATTEMPTS,
  DELIVERY_GIVEN_UP,
  DELIVERY_RETRIES,
  DELIVERY_TIMEOUT,
  KEY_RETENTION,
  spanText,
} from './spans.ts';

interface Behaviour {
  readonly section: Section;
  readonly about: string;
  readonly rule: string;
  readonly basis: Basis;
}

const notShown = (id: Parameters<typeof assumed>[0], what: string) => assumed(id, `${what} not shown`);
const delivery = (id: Parameters<typeof assumed>[0]) => notShown(id, 'delivery retries and timeouts are');
const keys = (id: Parameters<typeof assumed>[0]) =>
  stated('5', notShown(id, 'which operations honour a key, and for how long, is'));

export const BEHAVIOURS = [
  {
    section: '2',
    about: 'amounts',
    rule: 'JSON numbers in USD with at most two decimals; more is invalid_request',
    basis: stated('2', notShown('A-139', 'the number of decimals is')),
  },
  {
    section: '2',
    about: 'timestamps',
    rule: 'ISO 8601 in UTC, seconds, with Z',
    basis: stated('2', notShown('A-137', 'the exact form is')),
  },
  {
    section: '2',
    about: 'ids',
    rule: 'opaque; here a prefix such as card_ and 24 characters',
    basis: notShown('A-130', 'the form of ids is'),
  },
  {
    section: '2.1',
    about: 'card numbers',
    rule: '16 digits, Luhn-valid, from ranges nobody issues',
    basis: notShown('A-136', 'which numbers the sandbox hands out is'),
  },
  {
    section: '2.5',
    about: 'transaction records',
    rule: 'one record a message; settlements and refunds point to their authorization',
    basis: notShown('A-40', 'the record is'),
  },
  {
    section: '2.5',
    about: 'record status',
    rule: 'settlements and refunds are completed, declines are declined',
    basis: notShown('A-45', 'the lifecycle is'),
  },
  {
    section: '3',
    about: 'negative card',
    rule: 'terminating takes what is missing from the wallet, which may fall below 0',
    basis: notShown('A-157', 'what becomes of a negative balance is'),
  },
  {
    section: '3',
    about: 'expired card',
    rule: 'keeps status and money; authorizations decline, funding is refused',
    basis: notShown('A-165', 'what expiry does is'),
  },
  {
    section: '4',
    about: 'list order',
    rule: 'newest first: created_at, then id, both descending',
    basis: notShown('A-22', 'the order of lists is'),
  },
  {
    section: '4',
    about: 'page past the end',
    rule: 'an empty list, not an error',
    basis: notShown('A-23', 'what lies past the end is'),
  },
  {
    section: '4',
    about: 'bad page or per_page',
    rule: 'invalid_request, never clamped',
    basis: notShown('A-24', 'what a value out of range does is'),
  },
  {
    section: '4',
    about: 'unknown query names',
    rule: 'ignored; the client sends listed ones only',
    basis: notShown('A-27', 'what an unlisted parameter does is'),
  },
  {
    section: '4',
    about: 'list of deposits',
    rule: 'no such operation; deposits show in the wallet and in two events',
    basis: assumed('A-13', 'none is listed'),
  },
  {
    section: '4',
    about: 'readings after a change',
    rule: 'show it within 8.75 s: a new card in the list, a state, a balance, the wallet',
    basis: notShown('A-170', 'how far a reading may be behind is'),
  },
  {
    section: '5',
    about: 'bearer token',
    rule: 'every request carries Authorization: Bearer <API_KEY>',
    basis: stated('5', notShown('A-102', 'the answer to a wrong key is')),
  },
  {
    section: '5',
    about: 'key prefixes',
    rule: 'sk_live_ is a production key, sk_test_ a sandbox key',
    basis: stated('5', notShown('A-103', 'the answer to a key of the other environment is')),
  },
  {
    section: '5',
    about: 'environments',
    rule: 'one base address; the prefix of the key decides',
    basis: stated('5', notShown('A-167', 'whether the environments differ in address is')),
  },
  {
    section: '5',
    about: 'idempotency scope',
    rule: 'account, method, path and key together',
    basis: keys('A-91'),
  },
  {
    section: '5',
    about: 'idempotency fingerprint',
    rule: 'SHA-256 of method, path and canonical JSON body',
    basis: keys('A-92'),
  },
  {
    section: '5',
    about: 'idempotency retention',
    rule: `a key is remembered for ${KEY_RETENTION / HOUR} hours`,
    basis: keys('A-93'),
  },
  {
    section: '5',
    about: 'same key, same body',
    rule: 'the same status and bytes again, marked as a replay',
    basis: keys('A-94'),
  },
  { section: '5', about: 'same key, other body', rule: '422 idempotency_key_reused', basis: keys('A-95') },
  {
    section: '5',
    about: 'same key, still running',
    rule: '409 idempotency_in_progress, repeat after one second',
    basis: keys('A-96'),
  },
  {
    section: '5',
    about: 'answers kept for a key',
    rule: 'successes and business refusals reached after validation; nothing else',
    basis: keys('A-97'),
  },
  {
    section: '5',
    about: 'keeping and effect',
    rule: 'one transaction, so that there is exactly one effect',
    basis: keys('A-99'),
  },
  {
    section: '6',
    about: 'signature',
    rule: 'HMAC-SHA256 of the exact body, lowercase hex, compared in constant time',
    basis: stated('6', notShown('A-75', 'the header that carries it is')),
  },
  {
    section: '6',
    about: 'replayed events',
    rule: 'the signature cannot stop them: drop ids that were seen',
    basis: assumed('A-77', 'the signature covers the payload alone'),
  },
  {
    section: '6',
    about: 'delivery success',
    rule: `2xx within ${spanText(DELIVERY_TIMEOUT)}; redirects fail, 410 disables the subscription`,
    basis: delivery('A-78'),
  },
  {
    section: '6',
    about: 'delivery retries',
    rule: `${DELIVERY_ATTEMPTS} attempts: after ${DELIVERY_RETRIES.map(spanText).join(', ')}`,
    basis: delivery('A-79'),
  },
  {
    section: '6',
    about: 'delivery disable',
    rule: `after ${DELIVERY_GIVEN_UP / DAY} days of nothing but failures`,
    basis: delivery('A-80'),
  },
  {
    section: '6',
    about: 'delivery order',
    rule: 'not guaranteed',
    basis: notShown('A-81', 'the order of events is'),
  },
  {
    section: '6',
    about: 'events a change',
    rule: 'one, recorded with the change; one delivery a matching subscription',
    basis: notShown('A-82', 'how often an event is sent is'),
  },
  {
    section: '7',
    about: 'order of checks',
    rule: 'route, method, key, rate limit, size and type, idempotency, body, resource, state, money',
    basis: notShown('A-115', 'which error wins is'),
  },
  {
    section: '8',
    about: 'details pacing',
    rule: 'the client itself keeps below 30 a minute, over all its processes',
    basis: stated('8', assumed('A-123', 'the rate is stated; who keeps it is ours')),
  },
  {
    section: '9',
    about: 'version',
    rule: 'the path segment /v1; fields, enum values and events may be added at any time',
    basis: stated('9', notShown('A-168', 'the policy for new versions is')),
  },
] as const satisfies readonly Behaviour[];

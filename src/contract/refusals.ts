/**
 * Interface 7: the identifiers of the service's errors. The sandbox answers with them; the client decides by
 * them first and by the HTTP status second, never by the message (reading rule 10).
 */
import type { ErrorKind } from '../core/errors.ts';
import { centsOf } from '../core/money.ts';
import { assumed, type Basis, stated } from './basis.ts';
import type { Operation } from './operation.ts';

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

/** Statuses that services give before anything is executed. */
const BEFORE_EXECUTION: readonly number[] = [401, 403, 404, 405, 407, 413, 415, 429, 431];

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

// What a refused write proves by itself. A no that cannot be true of this operation, or is not the service's own, may follow the
// effect.

/**
 * `definite`: nothing was executed. `plausible`: nothing was, unless its effect shows. `none`: it proves nothing, and neither
 * does an effect that does not show yet.
 */
type RefusalWeight = 'definite' | 'plausible' | 'none';

export interface RefusalFacts {
  readonly row: Operation;
  readonly status: number;
  readonly refusal?: RefusalName | undefined;
  /** JSON by its content type and its content, with an identifier (interface 2.7). */
  readonly inServiceForm: boolean;
  /** It says that the key was used with another body. */
  readonly saysKeyReused: boolean;
  /** The key is the caller's own, who may have used it before. */
  readonly keyOfCaller: boolean;
}

interface RefusalRule {
  readonly when: string;
  readonly weight: RefusalWeight;
  /** A clause for the error: why it is not believed as it stands. */
  readonly because?: string;
  readonly holds: (facts: RefusalFacts) => boolean;
}

/** The first that holds decides; the last one always does. */
export const REFUSAL_RULES: readonly RefusalRule[] = [
  {
    when: 'it is not in the form of an error of the service: no JSON, or no identifier',
    weight: 'none',
    because: 'that is no error of the service, so something on the way may have said it',
    holds: ({ inServiceForm }) => !inServiceForm,
  },
  {
    when: 'it says that the key was used with another body, and the caller has chosen the key',
    weight: 'plausible',
    holds: ({ saysKeyReused, keyOfCaller }) => saysKeyReused && keyOfCaller,
  },
  {
    when: 'it says that the key was used with another body, and the key was made for this request',
    weight: 'none',
    because: 'no other request has had this key',
    holds: ({ saysKeyReused }) => saysKeyReused,
  },
  {
    when: 'it says that the card is in the wanted state already',
    weight: 'none',
    because: 'reading the card does not show that state',
    holds: ({ row, refusal }) => saysWantedState(row, refusal),
  },
  {
    when: '`not_found` of an operation whose row does not name it',
    weight: 'plausible',
    holds: ({ row, refusal }) => refusal === 'not_found' && !belongsTo(row, refusal),
  },
  {
    when: 'a word of the contract that this operation cannot give',
    weight: 'none',
    because: 'that is no answer to this operation',
    holds: ({ row, refusal }) => refusal !== undefined && !belongsTo(row, refusal),
  },
  {
    when: 'a word of the contract for this operation, or for all',
    weight: 'definite',
    holds: ({ refusal }) => refusal !== undefined,
  },
  {
    when: '401 or 403 in a word that the contract does not know',
    weight: 'definite',
    holds: ({ status }) => status === 401 || status === 403,
  },
  {
    when: 'of `api`, where the contract knows no such operation: a status that is given before anything is executed',
    weight: 'definite',
    holds: ({ row, status }) => row.raw === true && BEFORE_EXECUTION.includes(status),
  },
  { when: 'any other word that the contract does not know', weight: 'plausible', holds: () => true },
];

/** The rule for a refused write; its weight holds for a first sending alone. */
export function ruleFor(facts: RefusalFacts): RefusalRule {
  const rule = REFUSAL_RULES.find(({ holds }) => holds(facts));
  if (rule === undefined) throw new RangeError('no rule holds');
  return rule;
}

/** Whether a refusal says what was read just before it, in cents: the change was impossible, and nobody need look for its effect. */
export function isExplained(
  refusal: RefusalName | undefined,
  { transfer }: Pick<Operation, 'transfer'>,
  amount: number,
  {
    card,
    wallet,
    status,
  }: { card?: number | undefined; wallet?: number | undefined; status?: string | undefined } = {},
): boolean {
  if (refusal === 'card_terminated') return status === 'terminated';
  if (refusal !== 'insufficient_funds' && refusal !== 'insufficient_card_funds') return false;
  const there = transfer === 'to-wallet' ? card : wallet;
  return there !== undefined && there < amount;
}

/** Whether a BIN as it is listed says why a create was refused: nobody lists it, or `limit`, in cents, is above what it takes (2.2). */
export function isExplainedByBin(
  refusal: RefusalName | undefined,
  limit: number | undefined,
  bin: { readonly max_monthly?: number | null | undefined } | undefined,
): boolean {
  if (refusal === 'bin_not_found') return bin === undefined;
  const most = typeof bin?.max_monthly === 'number' ? centsOf(bin.max_monthly) : undefined;
  return refusal === 'invalid_request' && limit !== undefined && most !== undefined && limit > most;
}

function saysWantedState({ leadsTo }: Operation, refusal: RefusalName | undefined): boolean {
  const saysState = refusal && REFUSALS[refusal].saysState;
  return saysState !== undefined && saysState === leadsTo?.value;
}

function belongsTo({ raw, fails = [] }: Operation, refusal: RefusalName): boolean {
  const { everywhere } = REFUSALS[refusal];
  // An operation that nobody knows may give any of them.
  if (everywhere === true || raw === true || fails.includes(refusal)) return true;
  // Some services use one word for an empty wallet and an empty card.
  return refusal === 'insufficient_funds' && fails.includes('insufficient_card_funds');
}

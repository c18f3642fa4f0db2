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

const notListed = (id: Parameters<typeof assumed>[0]) => assumed(id, 'the complete list of identifiers is not shown');

export const REFUSALS = {
  insufficient_funds: {
    status: 400,
    kind: 'insufficient_funds',
    when: 'the wallet balance is too low for create or fund',
    basis: stated('7'),
    storedForKey: true,
  },
  invalid_request: {
    status: 400,
    kind: 'refused',
    when: 'malformed JSON, a field missing, ill-typed, out of range or unknown',
    basis: notListed('A-101'),
    everywhere: true,
    also: ['validation_error'],
  },
  unauthorized: {
    status: 401,
    kind: 'not_authenticated',
    when: 'the key is missing, malformed, unknown or revoked',
    basis: notListed('A-102'),
    everywhere: true,
  },
  forbidden: {
    status: 403,
    kind: 'not_authenticated',
    when: 'the key lacks the scope',
    basis: notListed('A-103'),
    everywhere: true,
  },
  environment_mismatch: {
    status: 403,
    kind: 'not_authenticated',
    when: 'a live key at the sandbox',
    basis: notListed('A-103'),
    everywhere: true,
  },
  not_found: {
    status: 404,
    kind: 'not_found',
    when: 'unknown card or webhook, or one of another account',
    basis: notListed('A-104'),
    also: ['card_not_found', 'webhook_not_found', 'resource_not_found'],
    storedForKey: true,
  },
  route_not_found: {
    status: 404,
    kind: 'not_found',
    when: 'no such route',
    basis: notListed('A-104'),
    everywhere: true,
  },
  bin_not_found: {
    status: 404,
    kind: 'not_found',
    when: 'create with an unknown BIN',
    basis: notListed('A-105'),
    storedForKey: true,
  },
  method_not_allowed: {
    status: 405,
    kind: 'refused',
    when: 'the route has no such method',
    basis: notListed('A-106'),
    everywhere: true,
  },
  card_already_frozen: {
    status: 409,
    kind: 'refused',
    when: 'freeze on a frozen card',
    basis: notListed('A-107'),
    saysState: 'frozen',
    storedForKey: true,
  },
  card_not_frozen: {
    status: 409,
    kind: 'refused',
    when: 'unfreeze on an active card',
    basis: notListed('A-107'),
    saysState: 'active',
    storedForKey: true,
  },
  card_terminated: {
    status: 409,
    kind: 'refused',
    when: 'a write or details on a terminated card',
    basis: notListed('A-108'),
    saysState: 'terminated',
    also: ['card_already_terminated'],
    storedForKey: true,
  },
  card_expired: {
    status: 409,
    kind: 'refused',
    when: 'fund an expired card',
    basis: notListed('A-109'),
    storedForKey: true,
  },
  insufficient_card_funds: {
    status: 400,
    kind: 'refused',
    when: 'withdraw above the balance of the card',
    basis: notListed('A-110'),
    storedForKey: true,
  },
  idempotency_key_reused: {
    status: 422,
    kind: 'internal',
    when: 'the same key with another body',
    basis: notListed('A-111'),
  },
  idempotency_in_progress: {
    status: 409,
    kind: 'outcome_unknown',
    when: 'the same key is still being worked on',
    basis: notListed('A-111'),
  },
  payload_too_large: {
    status: 413,
    kind: 'refused',
    when: 'a body over 64 KiB',
    basis: notListed('A-112'),
    everywhere: true,
  },
  unsupported_media_type: {
    status: 415,
    kind: 'refused',
    when: 'a body that is not JSON',
    basis: notListed('A-112'),
    everywhere: true,
  },
  rate_limited: {
    status: 429,
    kind: 'rate_limited',
    when: 'over a rate limit',
    basis: notListed('A-113'),
    also: ['too_many_requests'],
  },
  internal_error: {
    status: 500,
    kind: 'outcome_unknown',
    when: 'a fault of the service',
    basis: notListed('A-114'),
  },
  service_unavailable: {
    status: 503,
    kind: 'outcome_unknown',
    when: 'shutdown, or the store is busy',
    basis: notListed('A-114'),
  },
} as const satisfies Record<string, Refusal>;

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
  {
    when: 'any other word that the contract does not know',
    weight: 'plausible',
    holds: () => true,
  },
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
  const { saysState }: Partial<Refusal> = refusal === undefined ? {} : REFUSALS[refusal];
  return saysState !== undefined && saysState === leadsTo?.value;
}

function belongsTo({ raw, fails = [] }: Operation, refusal: RefusalName): boolean {
  const { everywhere }: Refusal = REFUSALS[refusal];
  // An operation that nobody knows may give any of them.
  if (everywhere === true || raw === true || fails.includes(refusal)) return true;
  // Some services use one word for an empty wallet and an empty card.
  return refusal === 'insufficient_funds' && fails.includes('insufficient_card_funds');
}

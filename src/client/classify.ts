/**
 * Status, identifier and effect to the class of an outcome. The class drives all that follows
 * (docs/design/reliability.md, section 1).
 */
import type { Operation } from '../contract/operation.ts';
import { type RefusalRule, ruleFor } from '../contract/refusal-weight.ts';
import { BEFORE_EXECUTION, REFUSALS, type RefusalName, speaksOfRepetition } from '../contract/refusals.ts';
import type { ErrorKind, Outcome } from '../core/errors.ts';
import { isWrite } from './encode.ts';

export type OutcomeClass =
  | 'done'
  | 'unverified'
  | 'not_sent'
  | 'refused'
  | 'throttled'
  | 'in_progress'
  | 'ambiguous'
  | 'read_failed'
  | 'unreadable';

export type FailureClass = Exclude<OutcomeClass, 'done' | 'unverified'>;

export interface Classified {
  readonly class: FailureClass;
  readonly kind: ErrorKind;
  readonly outcome?: Outcome;
  /** Asking the very same again may help and can do no harm. */
  readonly again: boolean;
  /** The service has no such route, as far as can be told. */
  readonly routeMissing?: true;
  readonly refusal?: RefusalName;
  /** Of a write that is `refused`: what that proves, where nothing of it was sent before. */
  readonly rule?: RefusalRule;
}

export interface ErrorFacts {
  readonly row: Operation;
  readonly status: number;
  /** Identifier in the body, as sent. */
  readonly identifier?: string | undefined;
  readonly refusal?: RefusalName | undefined;
  /** The body is an error of an API, not something of a proxy on the way. */
  readonly fromApi: boolean;
  /** It came as JSON by its content type. */
  readonly isJson: boolean;
  /** As in `CallOptions`. */
  readonly keyOfCaller?: boolean | undefined;
}

/** No answer came. Before the send event nothing can have happened; after it a write may have. */
export function classifySilence(row: Operation, sent: boolean): Classified {
  if (!sent) return { class: 'not_sent', kind: 'unreachable', outcome: 'not_sent', again: true };
  return isWrite(row) ? AMBIGUOUS : { class: 'read_failed', kind: 'unreachable', again: true };
}

/** A 2xx answer that cannot be used. A write that was cut or lacks something is `unverified`, not here. */
export function classifyUnusable(row: Operation, cut: boolean): Classified {
  if (isWrite(row)) return AMBIGUOUS;
  if (cut) return { class: 'read_failed', kind: 'unreachable', again: true };
  return { class: 'unreadable', kind: 'contract_mismatch', again: false };
}

const AMBIGUOUS: Classified = { class: 'ambiguous', kind: 'outcome_unknown', outcome: 'unknown', again: false };

/** 4xx numbers that do not say whether it was executed. */
const UNDECIDED: readonly number[] = [408, 499];
/** Repeating a read cannot change these. */
const PERMANENT: readonly number[] = [501, 505];

/** An answer outside 2xx: identifier first, status second, never the message (reading rule 10). */
export function classifyError(facts: ErrorFacts): Classified {
  const { row, status, identifier, refusal } = facts;
  // A network on the way repeats requests too: the first may have been carried out.
  if (isWrite(row) && refusal === undefined && speaksOfRepetition(identifier)) return AMBIGUOUS;
  const routeMissing = isRouteMissing(facts) ? { routeMissing: true as const } : {};
  const named = refusal === undefined ? {} : { refusal };
  if (status === 429 || (refusal === 'rate_limited' && status >= 400)) {
    return { class: 'throttled', kind: 'rate_limited', outcome: 'refused', again: false, ...named };
  }
  if (speaksOfRunningKey(facts)) {
    return { class: 'in_progress', kind: 'outcome_unknown', outcome: 'unknown', again: false, ...named };
  }
  const definite = status >= 400 && status < 500 && !UNDECIDED.includes(status);
  const undecided = !definite || (isWrite(row) && !facts.fromApi && !BEFORE_EXECUTION.includes(status));
  if (undecided && isWrite(row)) return { ...AMBIGUOUS, ...routeMissing, ...named };
  if (undecided) {
    const again = (status >= 500 && status < 600 && !PERMANENT.includes(status)) || UNDECIDED.includes(status);
    return { class: 'read_failed', kind: 'unreachable', again, ...routeMissing, ...named };
  }
  const rule = isWrite(row) ? { rule: ruleOf(facts) } : {};
  return {
    class: 'refused',
    kind: refusedKind(facts),
    outcome: 'refused',
    again: false,
    ...routeMissing,
    ...named,
    ...rule,
  };
}

function ruleOf({ row, status, identifier, refusal, isJson, keyOfCaller = false }: ErrorFacts): RefusalRule {
  const inServiceForm = isJson && identifier !== undefined;
  return ruleFor({ row, status, refusal, inServiceForm, saysKeyReused: keyReused(identifier), keyOfCaller });
}

function refusedKind({ row, status, identifier, refusal }: ErrorFacts): ErrorKind {
  // Some services use one word for an empty wallet and an empty card.
  const ofCard = row.fails?.includes('insufficient_card_funds') && refusal === 'insufficient_funds';
  if (ofCard) return 'refused';
  if (keyReused(identifier)) return 'internal';
  const kind = refusal === undefined ? undefined : REFUSALS[refusal].kind;
  if (kind !== undefined && kind !== 'outcome_unknown') return kind;
  if (status === 401 || status === 403) return 'not_authenticated';
  return status === 404 ? 'not_found' : 'refused';
}

/** 409 is also the status of a reused key in some services: another matter, and our bug. */
function speaksOfRunningKey({ status, identifier, refusal }: ErrorFacts): boolean {
  if (refusal === 'idempotency_in_progress') return status >= 400 && status < 500;
  if (status !== 409 || refusal !== undefined || identifier === undefined) return false;
  return /idempot|in_?progress|concurrent/i.test(identifier) && !keyReused(identifier);
}

function keyReused(identifier: string | undefined): boolean {
  return identifier !== undefined && /idempot.*(?:reus|mismatch|conflict|different)/i.test(identifier);
}

/** 405, 501, or 404 with an identifier that names no resource (reading rule 2). */
function isRouteMissing({ row, status, refusal }: ErrorFacts): boolean {
  if (status === 405 || status === 501 || refusal === 'route_not_found' || refusal === 'method_not_allowed')
    return true;
  if (status !== 404) return false;
  if (refusal === undefined) return true;
  // "not found" where nothing was named can only mean the route.
  return refusal === 'not_found' && row.params === undefined && !namesResource(row);
}

function namesResource(row: Operation): boolean {
  return Object.values({ ...row.query, ...row.body }).some(field => field.names !== undefined);
}

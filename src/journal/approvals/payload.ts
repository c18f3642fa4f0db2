/** What an approver signs: one operation of one journal, with the digest of every request that it would send. */
import { createHash } from 'node:crypto';
import { CliError } from '../../core/errors.ts';
import { canonicalJson, readCanonicalJson } from './canonical-json.ts';
import { requestIdOf } from './request-id.ts';

/** Card or new card of one row, for showing. */
export interface ApprovalTarget {
  readonly row: number;
  readonly card_id?: string | undefined;
  readonly last4?: string | undefined;
  readonly label?: string | undefined;
  readonly bin_id?: string | undefined;
}

/** Money in cents; times ISO 8601 UTC. */
export interface ApprovalPayload {
  readonly type: 'cardwright-approval';
  readonly v: 1;
  /** `apr_` and the same characters as in `op`. */
  readonly id: string;
  /** Random name of the journal that holds the operation. */
  readonly journal: string;
  /** Account of a shared journal; the profile of a local one. */
  readonly account: string;
  readonly origin: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  readonly op: string;
  readonly intent?: string | undefined;
  readonly command: string;
  readonly rows: number;
  readonly cents: number;
  readonly largest_cents: number;
  readonly irreversible: boolean;
  /** The first 20. */
  readonly targets: readonly ApprovalTarget[];
  readonly plan_sha256: string;
  /** The card of a single change that cannot be undone, as it was when it was asked for. */
  readonly before?: CardBefore | undefined;
  /** Why it is held, in words. */
  readonly rule: string;
  /** Persons who must agree. */
  readonly needed: number;
  readonly requested_by: string;
  /** Key of the requester, where there is one: it counts for nothing. */
  readonly requester_key?: string | undefined;
  readonly requested_at: string;
  readonly expires_at: string;
}

export interface CardBefore {
  readonly status: string;
  readonly balance_cents: number;
}

/** What is sent for one row, without anything that is only kept beside it. */
export interface PlannedItem {
  readonly row: number;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string | undefined;
  readonly key?: string | undefined;
}

export const MOST_TARGETS = 20;

/** Texts of what is signed have one spelling. */
export function oneSpelling(text: string): string {
  return text.toWellFormed().normalize('NFC');
}

export function payloadText(payload: ApprovalPayload): string {
  return canonicalJson(payload);
}

/** Throws `check_failed` for bytes that are no request in its one spelling. */
export function readPayload(bytes: Uint8Array): ApprovalPayload {
  try {
    const value = readCanonicalJson(bytes);
    if (!isPayload(value)) throw new TypeError('it lacks members of a request');
    return value;
  } catch (thrown) {
    throw new CliError('check_failed', {
      message: `what is to be signed cannot be relied on: ${(thrown as Error).message}`,
      reason: 'approval_form',
      hint: 'cardwright approvals list',
      outcome: 'not_sent',
      cause: thrown,
    });
  }
}

/** Fixes exactly what will be sent: operation, method, path, body and idempotency key of every row, in order. */
export function planDigest(items: Iterable<PlannedItem>): string {
  const hash = createHash('sha256');
  for (const { row, operation, method, path, body, key } of items) {
    hash.update(`${JSON.stringify([row, operation, method, path, body ?? null, key ?? null])}\n`);
  }
  return hash.digest('hex');
}

const TEXTS = [
  'id',
  'journal',
  'account',
  'origin',
  'mode',
  'op',
  'command',
  'plan_sha256',
  'rule',
  'requested_by',
  'requested_at',
  'expires_at',
] as const;
const NUMBERS = ['rows', 'cents', 'largest_cents', 'needed'] as const;

function isPayload(value: unknown): value is ApprovalPayload {
  if (typeof value !== 'object' || value === null) return false;
  const members = value as Readonly<Record<string, unknown>>;
  const { type, v, targets, irreversible, op, id, expires_at: expires } = members;
  return (
    type === 'cardwright-approval' &&
    v === 1 &&
    TEXTS.every(name => typeof members[name] === 'string') &&
    NUMBERS.every(name => typeof members[name] === 'number' && members[name] >= 0) &&
    typeof irreversible === 'boolean' &&
    Array.isArray(targets) &&
    targets.every(target => typeof target === 'object' && target !== null) &&
    id === requestIdOf(String(op)) &&
    !Number.isNaN(Date.parse(String(expires)))
  );
}

/** The functions of the schema that hold, approve and release operations, as calls. */
import type { PostgresSession } from '../postgres/client.ts';
import type {
  AccountRules,
  Entering,
  Facts,
  Holder,
  JournalHead,
  NotTaken,
  OverCap,
  ShownRows,
  Taken,
} from './calls.ts';

export interface AccountApprover {
  readonly person: string;
  /** base64 of 32 bytes. */
  readonly key: string;
  /** Login roles of the person. */
  readonly roles: readonly string[];
  /** ms UTC; null while it may approve. */
  readonly removed_ms: number | null;
}

/** What a request is made and judged by. */
export interface AccountStanding {
  /** Login role of the caller. */
  readonly role: string;
  /** Of the server, ms UTC. */
  readonly clock_ms: number;
  /** Cents that the caller has moved today without approval, with those that may still be. */
  readonly left_today: number;
  readonly rule: AccountRules;
  readonly approvers: readonly AccountApprover[];
}

export interface RequestStanding {
  readonly state: 'open' | 'used' | 'rejected' | 'expired' | 'stale';
  /** ms UTC; null while it is not used. */
  readonly used_ms: number | null;
  /** Texts of the approvals that were kept. */
  readonly approvals: readonly string[];
}

interface Answering extends Entering {
  readonly op: string;
  readonly host: string;
}

export interface Approving extends Answering {
  readonly keyid: string;
  readonly envelope: string;
}

export interface Denying extends Answering {
  readonly by: string;
  /** Number of the segment with DENIED and END. */
  readonly n: number;
  readonly shown: ShownRows;
  readonly why: 'rejected' | 'expired' | 'stale';
}

export interface Releasing extends Entering, Holder {
  readonly op: string;
  /** Ids of the keys whose signatures fit. */
  readonly keys: readonly string[];
}

export type Released =
  | Taken
  | NotTaken
  | OverCap
  /** Somebody has released it before; it is taken up like any other. */
  | { readonly verdict: 'used' }
  | { readonly verdict: 'expired' }
  | { readonly verdict: 'unapproved'; readonly have: number; readonly needed: number };

type With<T> = T & { readonly head: JournalHead };

export interface ApprovalStatements {
  approve(
    call: Approving,
    facts: Facts,
  ): Promise<With<{ readonly verdict: 'approved' | 'absent' | 'over' | 'expired' | 'untrusted' | 'own' | 'other' }>>;
  deny(
    call: Denying,
    bytes: Uint8Array,
    facts: Facts,
  ): Promise<With<{ readonly verdict: 'denied' | 'absent' | 'over' | 'other' }>>;
  release(call: Releasing, bytes: Uint8Array, facts: Facts): Promise<With<Released>>;
  approvalStanding(account: string): Promise<AccountStanding>;
  /** Undefined where nothing was asked of anybody. */
  requestOf(account: string, op: string): Promise<RequestStanding | undefined>;
}

/** One answer of one statement, as JSON. */
export type OneAnswer = <T>(text: string, values: Parameters<PostgresSession['call']>[1]) => Promise<T>;

export function approvalStatements(one: OneAnswer, members: (facts: Facts) => string): ApprovalStatements {
  const json = JSON.stringify;
  return {
    approve: (told, facts) => one('select cardwright.approve($1, $2)', [json(told), members(facts)]),
    deny: (told, bytes, facts) => one('select cardwright.deny($1, $2, $3)', [json(told), bytes, members(facts)]),
    release: (told, bytes, facts) => one('select cardwright.release($1, $2, $3)', [json(told), bytes, members(facts)]),
    approvalStanding: account => one('select cardwright.approval_standing($1)', [account]),
    async requestOf(account, op) {
      const standing = await one<RequestStanding | null>('select cardwright.request_of($1, $2)', [account, op]);
      return standing ?? undefined;
    },
  };
}

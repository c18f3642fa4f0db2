/** What commands ask of approvals and of the administration of a journal; who opens them is composition. */
import type { Approver } from '../approvals/request.ts';
import type { Secret } from '../core/secret.ts';
import type { ChainFlaw } from '../journal/chain.ts';
import type { OpDetail } from '../journal/types.ts';

/** An op that waits for persons. */
export interface HeldRequest {
  readonly op: string;
  readonly command: string;
  readonly changes: number;
  /** Cents. */
  readonly total: number;
  readonly needed: number;
  /** Who has approved it. */
  readonly persons: readonly string[];
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
  /** Every fact that is signed: name and words. */
  readonly facts: readonly (readonly [name: string, words: string])[];
  /** The first changes, as requests. */
  readonly requests: readonly string[];
}

/** The key that this user approves with. */
export interface OwnKey {
  readonly person: string;
  readonly keyid: string;
  /** `person ed25519 key`. */
  readonly line: string;
  /** Where it lies: a path, or `keychain`. */
  readonly place: string;
  /** It is among the approvers of the journal of this run. */
  readonly isListed: boolean;
}

export interface Approvals {
  /** Throws `usage` for an op that waits for nobody, `check_failed` where the journal was changed by something else. */
  review(op: string): Promise<HeldRequest>;
  /** Signs what was reviewed. `passphrase` is asked when there is a key. Throws `guarded` where it would not count. */
  approve(op: string, passphrase: () => Promise<Secret>): Promise<HeldRequest>;
  reject(op: string, reason: string): Promise<OpDetail>;
  createKey(passphrase: Secret, place: 'file' | 'keychain'): Promise<OwnKey>;
  /** Throws `usage` where there is none. */
  ownKey(): Promise<OwnKey>;
  approvers(): Promise<readonly Approver[]>;
}

export interface InitWishes {
  /** List the API key of this run. */
  readonly key: boolean;
  /** `max_per_day=500.00`; `none` as a value takes a rule away. */
  readonly limits: readonly string[];
  /** `person ed25519 key`. */
  readonly approvers: readonly string[];
}

export interface JournalState {
  readonly place: string;
  readonly shared: boolean;
  readonly journal: string | undefined;
  readonly account: string | undefined;
  /** The API key of this run is listed; undefined for a journal of one machine. */
  readonly keyListed: boolean | undefined;
  /** Number of the last audit line, and the highest that this machine has seen. */
  readonly auditLine: number | undefined;
  readonly seenLine: number | undefined;
  readonly unfinished: number;
  /** Sessions that hold the account at this moment: whoever waits longer than a second waits for one of them. */
  readonly lockedBy: readonly string[];
  /** Limits that the journal sets: `max_per_day $500.00`. */
  readonly limits: readonly string[];
  readonly approvers: readonly string[];
}

export interface JournalCheck {
  readonly place: string;
  readonly account: string;
  readonly lines: number;
  readonly flaws: readonly ChainFlaw[];
  /** Cards at the service whose mark no operation of the journal knows. */
  readonly strangers: readonly { readonly card_id: string; readonly marker: string }[];
}

export interface JournalAdmin {
  /** Resolves to what was done, a sentence each. */
  init(address: string, wishes: InitWishes): Promise<readonly string[]>;
  status(): Promise<JournalState>;
  check(): Promise<JournalCheck>;
  /** Goes on with the journal as it is. `agree` is asked with what a person must know before. Resolves to what was done. */
  accept(how: {
    readonly setAside: boolean;
    readonly agree: (found: JournalCheck | undefined) => Promise<void>;
  }): Promise<readonly string[]>;
  leave(role: string): Promise<readonly string[]>;
}

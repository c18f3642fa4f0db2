/** Where requests are looked at and answered. What keeps them, and the key of an approver, is handed in. */
import type { Secret } from '../../core/secret.ts';
import type { CheckedRequest } from './request-file.ts';

export type RequestState = 'pending' | 'approved' | 'used' | 'rejected' | 'expired' | 'stale' | 'closed';

/** A request of the journal as it stands. */
export interface StoredRequest extends CheckedRequest {
  readonly state: RequestState;
  /** Persons whose approval counts. */
  readonly persons: readonly string[];
  readonly needed: number;
}

export interface ApprovalReview {
  /** Requests of the journal, newest first; those that are over only with `all`. */
  list(wanted: { readonly all: boolean }): Promise<readonly StoredRequest[]>;
  /** Throws `usage` for an id that the journal does not know, `check_failed` for rows that are not those asked for. */
  find(id: string): Promise<StoredRequest>;
  /** Throws `guarded` for a request that is over, or that the key must not approve. */
  refuse(request: CheckedRequest): Promise<void>;
  /** Whether the person of the key of this machine has approved it before. */
  hasApproved(request: StoredRequest): Promise<boolean>;
  /** Signs with the key of this machine; resolves to the text of the approval. Throws as `refuse`. */
  sign(request: CheckedRequest, passphrase: Secret): Promise<string>;
  /** Keeps an approval in the journal. Throws as `countedApprovals` refuses it. */
  keep(request: CheckedRequest, approval: string): Promise<StoredRequest>;
  /** Ends a request. Throws `guarded` for one that is over. */
  reject(id: string, reason: string): Promise<StoredRequest>;
  /** Makes the key of this machine; resolves to its place. Throws `usage` where there is one. */
  createKey(passphrase: Secret): Promise<string>;
  /** The line of that key for the file of approvers. */
  keyLine(): Promise<ApproverKey>;
}

export interface ApproverKey {
  /** Name that the line proposes for the person. */
  readonly person: string;
  readonly keyid: string;
  readonly line: string;
}

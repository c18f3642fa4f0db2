/** Which persons have approved a request, by signatures over its very bytes. */
import { CliError } from '../../core/errors.ts';
import { type Approver, isRequester } from './approvers.ts';
import { isSignedBy, readEnvelope } from './envelope.ts';
import type { ApprovalPayload } from './payload.ts';

/** An approval as it came, with the name that an error gives it. */
export interface GivenApproval {
  readonly name: string;
  readonly text: string;
  /** The journal has it: it was one of an approver when it came. */
  readonly isKept?: true;
}

export interface ApprovalQuestion {
  readonly payload: ApprovalPayload;
  /** What was signed, or was to be. */
  readonly bytes: Uint8Array;
  readonly approvers: readonly Approver[];
  /** Those who were approvers. */
  readonly removed?: readonly Approver[];
}

/** One approval that counts. */
export interface CountedApproval {
  readonly person: string;
  readonly text: string;
}

export interface Counted {
  readonly approvals: readonly CountedApproval[];
  /** Why others do not count: a mistake, or an attack. */
  readonly refused: readonly CliError[];
  /** Persons whose approval was kept and counts no longer: they are no approvers now. */
  readonly removed: readonly string[];
}

/** The persons, each once, by whatever number of keys. */
export function countedApprovals(asked: ApprovalQuestion, given: readonly GivenApproval[]): Counted {
  const approvals = new Map<string, CountedApproval>();
  const refusals: CliError[] = [];
  const removed = new Set<string>();
  for (const { name, text, isKept } of given) {
    try {
      const gone = isKept === true ? removedSigner(asked, { name, text }) : undefined;
      if (gone !== undefined) removed.add(gone);
      else for (const person of personsOf(asked, { name, text })) approvals.set(person, { person, text });
    } catch (thrown) {
      if (!(thrown instanceof CliError)) throw thrown;
      refusals.push(thrown);
    }
  }
  return { approvals: [...approvals.values()], refused: refusals, removed: [...removed] };
}

/** The person who has signed these bytes and is no approver now. */
function removedSigner({ bytes, approvers, removed = [] }: ApprovalQuestion, { name, text }: GivenApproval) {
  const { payload: signed, signatures } = readEnvelope(text, name);
  if (Buffer.compare(signed, bytes) !== 0) return undefined;
  return removed.find(({ keyid, key }) => {
    const isOf = signatures.some(each => each.keyid === keyid && isSignedBy(key, bytes, each.sig));
    return isOf && !approvers.some(each => each.keyid === keyid);
  })?.person;
}

/** Throws `check_failed` for other bytes and for a signature that is none, `guarded` for a key that must not count. */
function personsOf({ payload, bytes, approvers }: ApprovalQuestion, { name, text }: GivenApproval): readonly string[] {
  const { payload: signed, signatures } = readEnvelope(text, name);
  if (Buffer.compare(signed, bytes) !== 0) {
    throw refused('check_failed', 'approval_other', {
      message: `${name} approves something else than ${payload.id}: its bytes are not those of the request`,
      op: payload.op,
    });
  }
  return signatures.map(({ keyid, sig }) => {
    // Never a key that the approval itself brings along.
    const approver = approvers.find(each => each.keyid === keyid);
    if (approver === undefined) {
      throw refused('guarded', 'approval_untrusted', {
        message: `${name} is signed with the key ${shownId(keyid)}, which is not among the approvers`,
        op: payload.op,
      });
    }
    if (!isSignedBy(approver.key, bytes, sig)) {
      throw refused('check_failed', 'approval_signature', {
        message: `the signature of ${approver.person} in ${name} does not fit`,
        op: payload.op,
      });
    }
    if (isRequester(approver, approvers, payload)) {
      throw refused('guarded', 'approval_own', {
        message: `${name} is the approval of ${approver.person}, who asked for it; nobody approves his own request`,
        op: payload.op,
      });
    }
    return approver.person;
  });
}

/** An id of a stranger's making. */
function shownId(keyid: string): string {
  return JSON.stringify(keyid.slice(0, 32));
}

function refused(
  kind: 'guarded' | 'check_failed',
  reason: string,
  { message, op }: { readonly message: string; readonly op: string },
): CliError {
  return new CliError(kind, { message, reason, hint: `cardwright ops show ${op}`, outcome: 'not_sent', op });
}

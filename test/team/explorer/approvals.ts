/**
 * Every list of signatures that a request can be given, and whether the program's own count lets it be sent. Persons, keys
 * and the requester are real: the signatures are made and checked.
 */

import type { Approver } from '../../../src/journal/approvals/approvers.ts';
import { readApprover } from '../../../src/journal/approvals/approvers.ts';
import { type ApprovalQuestion, countedApprovals } from '../../../src/journal/approvals/counted.ts';
import { type ApprovalPayload, payloadText } from '../../../src/journal/approvals/payload.ts';
import { type Signer, signer } from '../approver.ts';

const PAYLOAD: ApprovalPayload = {
  type: 'cardwright-approval',
  v: 1,
  id: 'apr_00000000000000000000000000',
  journal: 'jrn_explored',
  account: 'main',
  origin: 'https://api.example.com',
  mode: 'live',
  op: 'op_00000000000000000000000000',
  command: 'cards fund',
  rows: 1,
  cents: 500_000,
  largest_cents: 500_000,
  irreversible: false,
  targets: [],
  plan_sha256: '',
  rule: 'approve_above',
  needed: 2,
  requested_by: 'ana@desk',
  requested_at: '2026-11-23T10:00:00Z',
  expires_at: '2026-11-24T10:00:00Z',
};

interface NamedKey {
  readonly name: string;
  readonly person: string;
  readonly signer: Signer;
}

/** ana asks; ben has two keys, cem one, and a stranger has one that nobody has named. */
const KEYS: readonly NamedKey[] = [
  { name: 'the key of ana', person: 'ana', signer: signer('ana') },
  { name: 'the first key of ben', person: 'ben', signer: signer('ben') },
  { name: 'the second key of ben', person: 'ben', signer: signer('ben') },
  { name: 'the key of cem', person: 'cem', signer: signer('cem') },
  { name: 'a key that nobody knows', person: 'nobody', signer: signer('nobody') },
];

export const TRUSTED: readonly Approver[] = KEYS.filter(({ person }) => person !== 'nobody').map(
  ({ signer: { line } }) => readApprover(line) as Approver,
);

/** Whom each key belongs to is left out: a key is a person. */
export const KEYS_ALONE: readonly Approver[] = TRUSTED.map(approver => ({ ...approver, person: approver.keyid }));

export interface Counting {
  readonly lists: number;
  readonly released: number;
  /** The first and shortest list that lets a request be sent which two others have not agreed to. */
  readonly broken: readonly string[] | undefined;
}

/** Lists of at most `most` signatures, the short ones first. */
export function countAll(approvers: readonly Approver[], most: number): Counting {
  const bytes = Buffer.from(payloadText(PAYLOAD));
  const asked: ApprovalQuestion = { payload: PAYLOAD, bytes, approvers };
  const given = KEYS.map(({ name, signer: each }) => ({ name, text: each.approves(bytes) }));
  let [lists, released] = [0, 0];
  let broken: readonly string[] | undefined;
  let open: readonly (readonly number[])[] = [[]];
  for (let length = 0; length <= most; length += 1) {
    for (const list of open) {
      lists += 1;
      const counted = countedApprovals(
        asked,
        list.flatMap(at => given[at] ?? []),
      );
      if (counted.approvals.length < PAYLOAD.needed) continue;
      released += 1;
      const others = new Set(
        list.flatMap(at => KEYS[at]?.person ?? []).filter(person => person === 'ben' || person === 'cem'),
      );
      if (others.size < PAYLOAD.needed) broken ??= list.map(at => `signed with ${KEYS[at]?.name}`);
    }
    open = open.flatMap(list => KEYS.map((_, at) => [...list, at]));
  }
  return { lists, released, broken };
}

/** Persons who approve in a shared journal: a key each, and the line that an admin adds. */
import { generateKeyPairSync } from 'node:crypto';
import { approverLine, keyIdOf } from '../../src/journal/approvals/approvers.ts';
import { publicBytes, signEnvelope } from '../../src/journal/approvals/envelope.ts';
import type { TestAccount } from './test-account.ts';

export interface Signer {
  readonly line: string;
  readonly keyid: string;
  /** The text of an approval of these bytes. */
  approves(bytes: Uint8Array): string;
}

export function signer(person: string): Signer {
  const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
  const bytes = publicBytes(publicKey);
  const keyid = keyIdOf(bytes);
  return {
    line: approverLine(person, bytes),
    keyid,
    approves: payload => signEnvelope(payload, { keyid, key }),
  };
}

/** bob and cyd may approve in the account; their keys are added apart. */
export async function addApproverRoles({ admin }: Pick<TestAccount, 'admin'>): Promise<void> {
  await admin(`add_member('bob', '{read,approve}')`);
  await admin(`add_member('cyd', '{approve}')`);
}

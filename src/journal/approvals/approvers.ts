/**
 * Who may approve: a file with one key a line, `person ed25519 key`, and after it `users=name,name` where the person has
 * other names on machines and in journals. The person is what counts, however many keys there are.
 */
import { createHash } from 'node:crypto';
import { CliError } from '../../core/errors.ts';
import { base64 } from './envelope.ts';

export interface Approver {
  readonly person: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
  readonly keyid: string;
  /** Names of the same person as a user of a machine or a role of a journal. */
  readonly users: readonly string[];
}

const PERSON = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const KEY_BYTES = 32;

export function keyIdOf(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16);
}

/** The line of a key. */
export function approverLine(person: string, key: Uint8Array): string {
  return `${person} ed25519 ${Buffer.from(key).toString('base64')}`;
}

/** Throws `guarded` naming the line that cannot be read: with an approver left out, another rule would hold. */
export function readApprovers(text: string, path: string): readonly Approver[] {
  const approvers: Approver[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const words = line.trim();
    if (words === '' || words.startsWith('#')) continue;
    const approver = readApprover(words);
    if (approver === undefined) throw unreadable(`${path}:${index + 1}: a line is "person ed25519 key"`);
    if (approvers.some(({ keyid }) => keyid === approver.keyid))
      throw unreadable(`${path}:${index + 1}: this key stands there twice`);
    approvers.push(approver);
  }
  return approvers;
}

/** Undefined for a line of another form. */
export function readApprover(line: string): Approver | undefined {
  const [person = '', kind, encoded, names, ...more] = line.split(/\s+/);
  const key = base64(encoded);
  const users = names === undefined ? [] : /^users=(.+)$/.exec(names)?.[1]?.split(',');
  if (!PERSON.test(person) || kind !== 'ed25519' || key?.length !== KEY_BYTES || users === undefined || more.length > 0)
    return undefined;
  return { person, key, keyid: keyIdOf(key), users };
}

/** Whether the approver is the person who asked, by name or by key. */
export function isRequester(
  { person, keyid, users }: Approver,
  approvers: readonly Approver[],
  asked: { readonly requested_by: string; readonly requester_key?: string | undefined },
): boolean {
  const [user = ''] = asked.requested_by.split('@');
  if (keyid === asked.requester_key || [person, ...users].some(name => name === user || name === asked.requested_by))
    return true;
  // Another key of whoever owns the key of the requester.
  return approvers.some(other => other.keyid === asked.requester_key && other.person === person);
}

function unreadable(why: string): CliError {
  return new CliError('guarded', {
    message: `the approvers cannot be read: ${why}`,
    reason: 'approvers_file',
    hint: 'cardwright approvals key show -q',
    outcome: 'not_sent',
  });
}

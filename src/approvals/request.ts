/**
 * What other persons must agree to before it is sent, and who has agreed: the bytes that are signed, signatures over them,
 * and the persons that count. Nothing here reads or writes.
 */
import { createHash, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { CliError } from '../core/errors.ts';
import { cents, dollars } from '../core/money.ts';

/** What is signed. Text is as the journal has it; amounts are cents; times are ISO 8601 UTC. */
export interface ApprovalRequest {
  readonly type: 'cardwright-approval';
  readonly v: 1;
  /** Id of the journal: an approval counts in no other one. */
  readonly journal: string;
  readonly account: string;
  readonly op: string;
  readonly command: string;
  /** How many changes, and the digest of all that they will send (`changesDigest`). */
  readonly changes: number;
  readonly changes_sha256: string;
  readonly total_cents: number;
  readonly why: string;
  /** What it is for, in the words of who asks. */
  readonly purpose?: string;
  readonly requested_by: string;
  /** Persons who must agree. */
  readonly needed: number;
  readonly expires_at: string;
}

/** One change of an op as it will be sent. */
export interface SignedChange {
  readonly n: number;
  readonly operation: string;
  /** JSON of method, path and body, as the journal has it. */
  readonly request: string;
  readonly amount: number;
  /** What a created card is marked with. */
  readonly marker: string | null;
  /** The name of the purchase, where it has one. */
  readonly intent: string | null;
}

/** Somebody who may approve. The person is what counts, however many keys there are. */
export interface Approver {
  readonly person: string;
  /** 32 bytes of ed25519. */
  readonly key: Uint8Array;
  readonly keyid: string;
}

/** A signature as the journal keeps it. */
export interface Approval {
  readonly keyid: string;
  /** Base64 of 64 bytes. */
  readonly signature: string;
}

export interface Counted {
  /** Persons whose approval counts, each once. */
  readonly persons: readonly string[];
  /** Why others do not: a removed key, or a forged signature. */
  readonly refused: readonly string[];
}

/** RFC 8785 of whole numbers and well-formed text, which is all that is signed here. Throws `TypeError` for anything else. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
  if (typeof value === 'string' && value.isWellFormed()) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) throw new TypeError(`${String(value)} has no canonical text here`);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`).join(',')}}`;
}

/** Digest of everything that the changes of an op will send, in their order. */
export function changesDigest(changes: readonly SignedChange[]): string {
  // A line at a time: there may be a hundred thousand.
  const digest = createHash('sha256');
  for (const { n, operation, request, amount, marker, intent } of changes)
    digest.update(`${canonicalJson([n, operation, request, amount, marker, intent])}\n`);
  return digest.digest('hex');
}

/** The request in a text that is written in the one canonical form. Throws `check_failed` for every other text. */
export function readRequest(text: string, op: string): ApprovalRequest {
  try {
    const request = JSON.parse(text) as ApprovalRequest;
    const isOurs = request.type === 'cardwright-approval' && request.v === 1 && request.op === op;
    if (isOurs && canonicalJson(request) === text) return request;
  } catch {
    // Falls through to the one refusal.
  }
  throw forged(op, 'its request for approval is not one that cardwright has written');
}

/** Throws `check_failed` where the changes of the op are not those that were asked for. */
export function checkChanges(request: ApprovalRequest, changes: readonly SignedChange[]): void {
  if (request.changes === changes.length && request.changes_sha256 === changesDigest(changes)) return;
  throw forged(request.op, 'its changes are not those that approval was asked for');
}

function forged(op: string, why: string): CliError {
  return new CliError('check_failed', {
    message: `${op} was changed in the journal by something else than cardwright: ${why}. Nothing was sent`,
    reason: 'approval_changed',
    hint: `cardwright ops reject ${op} --reason changed`,
    outcome: 'not_sent',
    op,
  });
}

/** Signs the very bytes of the request. */
export function signRequest(text: string, key: KeyObject): Approval {
  const keyid = keyIdOf(publicBytes(createPublicKey(key)));
  return { keyid, signature: sign(null, Buffer.from(text), key).toString('base64') };
}

/** Persons who have signed these very bytes with a key that may approve; the one who has asked never counts. */
export function countApprovals(
  text: string,
  approvals: readonly Approval[],
  { approvers, requester }: { readonly approvers: readonly Approver[]; readonly requester: string | undefined },
): Counted {
  const persons = new Set<string>();
  const refused: string[] = [];
  for (const { keyid, signature } of approvals) {
    const approver = approvers.find(each => each.keyid === keyid);
    if (approver === undefined) refused.push(`the key ${keyid} is not among the approvers`);
    else if (!isSigned(text, signature, approver.key)) refused.push(`the signature of ${approver.person} does not fit`);
    else if (approver.person === requester)
      refused.push(`${approver.person} has asked for it, and approves no request of their own`);
    else persons.add(approver.person);
  }
  return { persons: [...persons], refused };
}

function isSigned(text: string, signature: string, key: Uint8Array): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64'));
}

/** The 32 bytes of a public key of ed25519. */
export function publicBytes(key: KeyObject): Uint8Array {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

export function keyIdOf(key: Uint8Array): string {
  return hash('sha256', key).slice(0, 16);
}

/** The line of a key: `person ed25519 key`. */
export function approverLine(person: string, key: Uint8Array): string {
  return `${person} ed25519 ${Buffer.from(key).toString('base64')}`;
}

/** Undefined for a line of another form. */
export function readApproverLine(line: string): Approver | undefined {
  const [, person, encoded] =
    /^([A-Za-z0-9][A-Za-z0-9._@-]{0,63})\s+ed25519\s+([A-Za-z0-9+/]{43}=)$/.exec(line.trim()) ?? [];
  if (person === undefined || encoded === undefined) return undefined;
  const key = Buffer.from(encoded, 'base64');
  return { person, key, keyid: keyIdOf(key) };
}

/** Approvers of a file or a list, one line each; `#` begins a comment. Throws `guarded` naming the line that cannot be read. */
export function readApprovers(text: string, path: string): readonly Approver[] {
  const approvers: Approver[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue;
    const approver = readApproverLine(line);
    if (approver !== undefined && !approvers.some(({ keyid }) => keyid === approver.keyid)) approvers.push(approver);
    else {
      const why = approver === undefined ? 'a line is "person ed25519 key"' : 'this key stands there twice';
      throw new CliError('guarded', {
        message: `the approvers cannot be read: ${path}:${index + 1}: ${why}`,
        reason: 'approvers_file',
        hint: 'cardwright ops keys show',
        outcome: 'not_sent',
      });
    }
  }
  return approvers;
}

/** What a person who approves reads: every fact that is signed. Letters that could look like others are escapes. */
export function shownRequest(request: ApprovalRequest): readonly (readonly [name: string, words: string])[] {
  return [
    ['Command', visible(request.command)],
    ['Changes', String(request.changes)],
    ['Amount', dollars(cents(request.total_cents))],
    ...(request.purpose === undefined ? [] : [['For', visible(request.purpose)] as const]),
    ['Account', visible(request.account)],
    ['Held because', visible(request.why)],
    ['Asked by', visible(request.requested_by)],
    ['Persons needed', String(request.needed)],
    ['Expires', visible(request.expires_at)],
    ['Operation', visible(request.op)],
  ];
}

/** Letters of other scripts look like ours, and direction marks reorder a line: all of them are escapes here. */
export function visible(text: string): string {
  return text.replace(/[^\x20-\x7e]|\\/gu, each =>
    each === '\\' ? '\\\\' : `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** What a command ends with whose op waits: 17, with what a person runs. */
export function pendingError(
  request: ApprovalRequest,
  text: string,
  { persons, refused, needed }: Counted & { readonly needed: number },
): CliError {
  const { op, expires_at, why } = request;
  const have = persons.length;
  const known = have === 0 ? 'nobody has' : `${persons.join(', ')} ${have === 1 ? 'has' : 'have'}`;
  const who = needed === 1 ? 'a person approves it' : `${needed} persons approve it`;
  return new CliError('pending_approval', {
    message: `${op} is held until ${who}; ${known}`,
    notes: [
      why,
      `The request stands until ${expires_at}. A person approves it at a terminal: cardwright ops approve ${op}`,
      `Then the same command, or cardwright ops resume ${op}, sends it.`,
      `This ends it, and nothing is sent: cardwright ops reject ${op} --reason "why"`,
      ...refused.map(each => `An approval does not count: ${each}.`),
    ],
    reason: 'approval',
    hint: `cardwright ops approve ${op}`,
    outcome: 'not_sent',
    op,
    approval: {
      id: op,
      needed,
      have,
      expires_at,
      command: `cardwright ops approve ${op}`,
      payload: Buffer.from(text).toString('base64'),
      render: shownRequest(request),
    },
  });
}

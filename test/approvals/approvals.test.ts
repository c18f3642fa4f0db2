import { type createPrivateKey, generateKeyPairSync, randomBytes, scryptSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKey, openKey, readPublicKey } from '../../src/approvals/keys.ts';
import {
  type ApprovalRequest,
  type Approver,
  approverLine,
  canonicalJson,
  changesDigest,
  countApprovals,
  keyIdOf,
  pendingError,
  publicBytes,
  readApproverLine,
  readApprovers,
  type SignedChange,
  shownRequest,
  signRequest,
} from '../../src/approvals/request.ts';
import { Secret } from '../../src/core/secret.ts';

const changes: SignedChange[] = [
  {
    n: 1,
    operation: 'cards.create',
    request: '{"method":"POST","path":"/cards","body":"{}"}',
    amount: 150_000,
    marker: 'op_1.1',
    intent: null,
  },
  {
    n: 2,
    operation: 'cards.create',
    request: '{"method":"POST","path":"/cards","body":"{}"}',
    amount: 1,
    marker: 'op_1.2',
    intent: 'order-2',
  },
];
const request: ApprovalRequest = {
  type: 'cardwright-approval',
  v: 1,
  journal: 'j1',
  account: 'https://api.example.com live',
  op: 'op_1',
  command: 'cards create',
  changes: 2,
  changes_sha256: changesDigest(changes),
  total_cents: 150_001,
  why: 'approve_above of profile team is $1000.00, and $1500.01 are asked for',
  requested_by: 'ana',
  needed: 2,
  expires_at: '2026-12-01T00:00:00Z',
};
const text = canonicalJson(request);

function person(name: string): Approver & { readonly privateKey: ReturnType<typeof createPrivateKey> } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicBytes(publicKey);
  return { person: name, key, keyid: keyIdOf(key), privateKey };
}

test('the canonical form is that of RFC 8785', () => {
  // Sections 3.2.2 and 3.2.3 of the RFC, without fractions, which are refused here.
  expect(
    canonicalJson({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 }),
  ).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
  expect(canonicalJson({ b: ['\u0001/"\\', true, null], a: {} })).toBe('{"a":{},"b":["\\u0001/\\"\\\\",true,null]}');
  for (const wrong of [0.5, -0, 2 ** 53, Number.NaN, '\ud800', undefined, 1n])
    expect(() => canonicalJson(wrong)).toThrow(TypeError);
});

test('a key is opened by its passphrase alone', () => {
  const scrypt = (word: Parameters<typeof scryptSync>[0], salt: Parameters<typeof scryptSync>[1], length: number) =>
    scryptSync(word, salt, length, { N: 2, r: 1, p: 1 });
  const kept = createKey(new Secret('correct horse'), { random: count => randomBytes(count), scrypt });
  const key = openKey(kept, 'here', new Secret('correct horse'), scrypt);
  const { publicKey, keyid } = readPublicKey(kept, 'here');
  const approver = { person: 'bo', key: publicKey, keyid };
  expect(countApprovals(text, [signRequest(text, key)], { approvers: [approver], requester: 'ana' }).persons).toEqual([
    'bo',
  ]);
  expect(() => openKey(kept, 'here', new Secret('another'), scrypt)).toThrow(
    expect.objectContaining({ kind: 'not_confirmed' }),
  );
  expect(() => readPublicKey('{}', 'here')).toThrow(expect.objectContaining({ kind: 'check_failed' }));
});

test('approvers are read line by line, and nobody is left out in silence', () => {
  const bo = person('bo');
  const line = approverLine('bo', bo.key);
  expect(readApproverLine(line)).toEqual({ person: 'bo', key: Buffer.from(bo.key), keyid: bo.keyid });
  expect(readApprovers(`# team\n\n${line}\n`, 'approvers').map(({ person: name }) => name)).toEqual(['bo']);
  for (const wrong of ['bo ed25519 AAAA', `bo rsa ${line.split(' ')[2]}`, `${line} more`, `${line}\n${line}`])
    expect(() => readApprovers(wrong, 'approvers')).toThrow(expect.objectContaining({ kind: 'guarded' }));
});

test('what a person reads hides no letter, and what waits says who has agreed and what to run', () => {
  const shown = shownRequest({ ...request, command: 'cards \u202ecreate' });
  expect(shown.find(([name]) => name === 'Command')?.[1]).toBe('cards \\u{202e}create');
  expect(shown).toContainEqual(['Amount', '$1,500.01']);
  const error = pendingError(request, text, { persons: ['bo'], refused: [], needed: 2 });
  expect(error.kind).toBe('pending_approval');
  expect(error.facts).toMatchObject({
    op: 'op_1',
    hint: 'cardwright ops approve op_1',
    approval: { id: 'op_1', needed: 2, have: 1 },
  });
});

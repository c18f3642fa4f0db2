/** The bytes that are signed, and an approved operation whose process was killed. */
import { generateKeyPairSync, scryptSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { keyIdOf, readApprovers } from '../../src/journal/approvals/approvers.ts';
import { canonicalJson, readCanonicalJson } from '../../src/journal/approvals/canonical-json.ts';
import { isSignedBy, publicBytes, readEnvelope, signEnvelope } from '../../src/journal/approvals/envelope.ts';
import { visible } from '../../src/journal/approvals/shown-request.ts';
import { createKeyFile, openKeyFile, readKeyFile } from '../../src/journal/approvals/signing-key.ts';
import type { ApprovalGate } from '../../src/journal/runs/approval-gate.ts';
import { bench, createRow, planOf } from './bench.ts';

const text = fc.string({ unit: 'grapheme' }).map(each => each.normalize('NFC'));
const value = fc.letrec(tie => ({
  any: fc.oneof(fc.maxSafeInteger(), fc.boolean(), fc.constant(null), text, tie('list'), tie('members')),
  list: fc.array(tie('any'), { maxLength: 4 }),
  members: fc.dictionary(text, tie('any'), { maxKeys: 4 }),
})).any;

describe('the text that is signed', () => {
  test('has one spelling, which is read back as it was', () => {
    fc.assert(
      fc.property(value, each => {
        const written = canonicalJson(each);
        expect(canonicalJson(readCanonicalJson(Buffer.from(written)))).toBe(written);
      }),
    );
  });

  test.each([
    '{"b":1,"a":2}',
    '{"a":1,"a":1}',
    '{"a": 1}',
    '{"a":1e3}',
    '{"a":1.5}',
    '{"a":-0}',
    '{"a":"e\u0301"}',
    '{"a":"\\u0061"}',
    '\ufeff{"a":1}',
    '{"a":1}\n',
    '{"a":9007199254740993}',
    '{',
  ])('%j is refused', spelling => {
    expect(() => readCanonicalJson(Buffer.from(spelling))).toThrow(TypeError);
  });

  test('is signed whole: one bit more or less and the signature does not fit', () => {
    const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
    const bytes = publicBytes(publicKey);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), fc.nat(), (payload, at) => {
        const { signatures } = readEnvelope(signEnvelope(payload, { keyid: keyIdOf(bytes), key }), 'it');
        const sig = signatures[0]?.sig ?? new Uint8Array();
        const other = Uint8Array.from(payload);
        const place = at % (payload.length * 8);
        other[place >> 3] = (other[place >> 3] ?? 0) ^ (1 << (place & 7));
        expect(isSignedBy(bytes, payload, sig)).toBe(true);
        expect(isSignedBy(bytes, other, sig)).toBe(false);
      }),
      { numRuns: 50 },
    );
  });
});

describe('what is shown', () => {
  test('is ASCII alone, and nothing of it is lost', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), each => {
        const shown = visible(each);
        expect(shown).toMatch(/^[\x20-\x7e]*$/);
        const back = shown.replace(/\\\\|\\u\{([0-9a-f]+)\}/g, (_, code) =>
          code === undefined ? '\\' : String.fromCodePoint(Number.parseInt(code, 16)),
        );
        expect(back).toBe(each);
      }),
    );
  });
});

describe('the key of an approver', () => {
  const random = (count: number) => new Uint8Array(count).fill(7);
  test('opens with its passphrase alone, and its file tells nothing of it', () => {
    const file = createKeyFile(new Secret('correct horse'), { random, scrypt: scryptSync });
    expect(openKeyFile(file, 'key', new Secret('correct horse'), scryptSync).keyid).toBe(
      readKeyFile(file, 'key').keyid,
    );
    expect(() => openKeyFile(file, 'key', new Secret('correct horse '), scryptSync)).toThrow('another one');
    expect(file).not.toContain('horse');
  });

  test.each(['bo', 'bo rsa AAAA', 'bo ed25519 AAAA', 'b/o ed25519 AAAA', 'bo ed25519 AAAA= users='])(
    'a line %j of the approvers is refused whole',
    line => {
      expect(() => readApprovers(`# who\n${line}\n`, 'approvers')).toThrow('approvers:2');
    },
  );
});

describe('an op that is held', () => {
  const gate = (given: readonly string[]): ApprovalGate => ({
    judge: (_, begin) => begin('{}'),
    async verify({ plan: { op } }) {
      if (given.length === 0) throw new Error(`nobody has approved ${op}`);
      return { persons: given, envelopes: given };
    },
    foresee: async () => 'all is held',
    isApproved: async () => given.length > 0,
    recheck: async () => undefined,
    flaw: async () => undefined,
    pending: async ({ plan: { op } }) => new Error(op) as never,
  });

  test('is sent once, also when it is killed between the use of its approval and the send', async () => {
    const persons: string[] = [];
    await using b = await bench({ approvals: gate(persons) });
    const refused = await b.journal.begin(planOf([createRow(b.bin)])).catch((thrown: Error) => thrown.message);
    const op = String(refused);
    expect(op).toMatch(/^op_/);
    expect(await b.journal.list()).toMatchObject([{ op, state: 'pending', counts: { open: 1 } }]);
    await expect(b.journal.resume(op)).rejects.toThrow('nobody has approved');
    await expect(b.journal.begin(planOf([createRow(b.bin)]))).rejects.toMatchObject({ kind: 'pending_approval' });
    persons.push('bo');
    // As a process that is killed leaves it: APPROVED is durable, nothing was sent.
    const killed = await b.journal.resume(op);
    expect(killed.approvedBy).toEqual(['bo']);
    await killed[Symbol.asyncDispose]();
    expect(await b.journal.list()).toMatchObject([{ op, state: 'open' }]);
    // It is settled as any op is, and nobody is asked again.
    persons.pop();
    await using run = await b.journal.resume(op);
    expect(await run.perform(1)).toMatchObject({ outcome: 'done' });
    expect((await run.finish()).ended).toBe(true);
  });
});

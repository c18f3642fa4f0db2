/** An approval as a file: DSSE, a signature over the type and the bytes of what was asked for. */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { CliError } from '../../core/errors.ts';

export const PAYLOAD_TYPE = 'application/vnd.cardwright.approval+json';

export interface Envelope {
  readonly payload: Uint8Array;
  readonly signatures: readonly Signature[];
}

export interface Signature {
  /** First 16 hexadecimal digits of SHA-256 of the public key. */
  readonly keyid: string;
  readonly sig: Uint8Array;
}

/** DSSE's pre-authentication encoding: the lengths keep the type and the payload apart. */
export function signedBytes(payload: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload]);
}

/** The text of an approval file, signed with an ed25519 key. */
export function signEnvelope(payload: Uint8Array, { keyid, key }: { keyid: string; key: KeyObject }): string {
  const sig = sign(null, signedBytes(payload), key);
  const document = {
    payloadType: PAYLOAD_TYPE,
    payload: Buffer.from(payload).toString('base64'),
    signatures: [{ keyid, sig: sig.toString('base64') }],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** Throws `check_failed` for a text that is no such file. `name` is what the user calls it. */
export function readEnvelope(text: string, name: string): Envelope {
  const document = parsed(text);
  const { payloadType, payload, signatures } = document ?? {};
  const bytes = base64(payload);
  const read = Array.isArray(signatures) ? signatures.map(signatureIn) : [];
  if (payloadType !== PAYLOAD_TYPE || bytes === undefined || read.length === 0 || read.includes(undefined)) {
    throw new CliError('check_failed', {
      message: `${name} is no approval of cardwright`,
      reason: 'approval_form',
      hint: 'cardwright approvals approve --help',
      outcome: 'not_sent',
    });
  }
  return { payload: bytes, signatures: read as Signature[] };
}

/** Whether the key has signed exactly these bytes. `publicKey` is the 32 bytes of an ed25519 key. */
export function isSignedBy(publicKey: Uint8Array, payload: Uint8Array, sig: Uint8Array): boolean {
  return verify(null, signedBytes(payload), publicKeyOf(publicKey), sig);
}

/** SubjectPublicKeyInfo of ed25519 (RFC 8410) before the 32 bytes of the key. */
const SPKI_ED25519 = Buffer.from('302a300506032b6570032100', 'hex');

function publicKeyOf(bytes: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_ED25519, bytes]), format: 'der', type: 'spki' });
}

/** The 32 bytes of a public key. */
export function publicBytes(key: KeyObject): Uint8Array {
  return key.export({ format: 'der', type: 'spki' }).subarray(SPKI_ED25519.length);
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function signatureIn(value: unknown): Signature | undefined {
  const { keyid, sig } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const bytes = base64(sig);
  return typeof keyid === 'string' && bytes !== undefined ? { keyid, sig: bytes } : undefined;
}

/** Undefined for other text; what decodes otherwise than it encodes has a second spelling. */
export function base64(value: unknown): Buffer | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const bytes = Buffer.from(value, 'base64');
  return bytes.toString('base64') === value ? bytes : undefined;
}

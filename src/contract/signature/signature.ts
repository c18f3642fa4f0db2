/**
 * Signatures of webhook payloads (interface 6): HMAC-SHA256 over the exact bytes, lowercase hex. Receivers, the
 * sandbox and `webhooks verify` share this file, so that nobody signs what another cannot check.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../core/secret.ts';

/** How a signature may differ from what is documented and still be read. */
export type Deviation = 'list' | 'prefix' | 'upper_case' | 'base64' | 'decoded_secret';

export interface SignatureMatch {
  /** Place of the secret among those handed in. */
  readonly secret: number;
  /** Empty for a signature exactly as documented. */
  readonly deviations: readonly Deviation[];
}

interface Received {
  readonly digest: Buffer;
  readonly deviations: readonly Deviation[];
}

interface Key {
  readonly bytes: Buffer;
  readonly deviations: readonly Deviation[];
}

const DIGEST_BYTES = 32;
/** Bytes of a key behind `whsec_`; services give 24 or more. */
const SHORTEST_KEY = 16;
/** A header of more text or more entries is no signature; the limits keep the work small. */
const LONGEST_HEADER = 4_096;
const MOST_SIGNATURES = 16;

/** The signature of `bytes` as documented: 64 lowercase hex digits. */
export function sign(bytes: Uint8Array, secret: Secret): string {
  return hmac(bytes, Buffer.from(secret.expose())).toString('hex');
}

/**
 * The secret that made one of the received signatures, or undefined. Tries the secret's text first and what its
 * `whsec_` part decodes to second; a match as documented wins over one that deviates. Digests are compared in
 * constant time, every one with every secret.
 */
export function matchSignature(
  bytes: Uint8Array,
  received: string,
  secrets: readonly Secret[],
): SignatureMatch | undefined {
  const candidates = readSignatures(received);
  const matches: SignatureMatch[] = [];
  for (const [secret, text] of secrets.entries()) {
    for (const key of keysOf(text)) {
      const expected = hmac(bytes, key.bytes);
      for (const { digest, deviations } of candidates) {
        if (timingSafeEqual(digest, expected)) {
          matches.push({ secret, deviations: [...deviations, ...key.deviations] });
        }
      }
    }
  }
  return matches.reduce<SignatureMatch | undefined>(
    (best, match) => (best && best.deviations.length <= match.deviations.length ? best : match),
    undefined,
  );
}

/** Digests of a header value: one, or a list with commas or spaces, each perhaps behind `sha256=` or `v1=`. */
function readSignatures(received: string): readonly Received[] {
  if (received.length > LONGEST_HEADER) return [];
  const entries = received.split(/[,;\s]+/).filter(entry => entry !== '');
  const listed: readonly Deviation[] = entries.length > 1 ? ['list'] : [];
  return entries.slice(0, MOST_SIGNATURES).flatMap(entry => {
    const bare = entry.replace(/^(?:sha256|v1)=/i, '');
    const read = digestOf(bare);
    if (read === undefined) return [];
    const prefix: readonly Deviation[] = bare === entry ? [] : ['prefix'];
    return [{ digest: read.digest, deviations: [...listed, ...prefix, ...read.deviations] }];
  });
}

function digestOf(text: string): Received | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) {
    return { digest: Buffer.from(text, 'hex'), deviations: /[A-F]/.test(text) ? ['upper_case'] : [] };
  }
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  // Node reads both alphabets; 43 characters hold 32 bytes and two spare bits.
  const digest = Buffer.from(text, 'base64');
  return digest.length === DIGEST_BYTES ? { digest, deviations: ['base64'] } : undefined;
}

function keysOf(secret: Secret): readonly Key[] {
  const text = secret.expose();
  const literal: Key = { bytes: Buffer.from(text), deviations: [] };
  const rest = /^whsec_([A-Za-z0-9+/_-]+)={0,2}$/.exec(text)?.[1];
  const decoded = rest === undefined ? undefined : Buffer.from(rest, 'base64');
  // A short key, or one of zero bytes, which signs as the empty one does, is no secret.
  if (decoded === undefined || decoded.length < SHORTEST_KEY || !decoded.some(byte => byte !== 0)) return [literal];
  return [literal, { bytes: decoded, deviations: ['decoded_secret'] }];
}

function hmac(bytes: Uint8Array, key: Buffer): Buffer {
  return createHmac('sha256', key).update(bytes).digest();
}

/**
 * Signatures of webhook payloads (interface 6): HMAC-SHA256 over the exact bytes, lowercase hex. Receivers, the
 * sandbox and `webhooks verify` share this file, so that nobody signs what another cannot check.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { jsonOrUndefined } from '../../core/objects.ts';
import { Secret } from '../../core/secret.ts';
import { HEADERS } from '../envelopes.ts';

/** How a signature may differ from what is documented and still be read: what that means to a strict receiver. */
export const DEVIATIONS = {
  list: 'It stands in a list: a strict receiver would compare the whole text.',
  prefix: 'It stands behind a prefix such as sha256=, which is no part of the digest.',
  upper_case: 'Its hex digits are upper case; documented is lower case.',
  base64: 'It is base64; documented is hex.',
  decoded_secret: 'The secret was decoded after whsec_; documented is the secret as the text it is.',
} as const;
type Deviation = keyof typeof DEVIATIONS;

/** Bytes of a digest that was received, or of a key, and how they differ from what is documented. */
interface Read {
  readonly bytes: Buffer;
  readonly deviations: readonly Deviation[];
}

const DIGEST_BYTES = 32;
/** Bytes of a key behind `whsec_`; services give 24 or more. */
const SHORTEST_KEY = 16;
/** A header of more text or more entries is no signature; the limits keep the work small. */
const LONGEST_HEADER = 4_096;
const MOST_SIGNATURES = 16;

/**
 * Checks the signature of exactly these bytes against every secret. `secret` is the place of the one that matched, `deviations` are
 * none for a signature exactly as documented. `explanations` are the usual mistakes that explain it, each but a missing or unreadable
 * signature certain; none for another secret. Never throws.
 */
export function verifyPayload(bytes: Uint8Array, signature: string, secrets: readonly Secret[]) {
  const match = matchSignature(bytes, signature, secrets);
  if (match !== undefined) return { verified: true, ...match } as const;
  return { verified: false, explanations: explainMismatch(bytes, signature, secrets) } as const;
}

/** The signature of `bytes` as documented: 64 lowercase hex digits. */
export function sign(bytes: Uint8Array, secret: Secret): string {
  return hmac(bytes, Buffer.from(secret.expose())).toString('hex');
}

/**
 * The secret that made one of the received signatures, or undefined. Tries the secret's text first and what its
 * `whsec_` part decodes to second; a match as documented wins over one that deviates. Digests are compared in
 * constant time, every one with every secret. `secret` is its place among those handed in.
 */
export function matchSignature(bytes: Uint8Array, received: string, secrets: readonly Secret[]) {
  const candidates = readSignatures(received);
  const matches: { readonly secret: number; readonly deviations: readonly Deviation[] }[] = [];
  for (const [secret, text] of secrets.entries()) {
    for (const key of keysOf(text)) {
      const expected = hmac(bytes, key.bytes);
      for (const { bytes: digest, deviations } of candidates) {
        if (timingSafeEqual(digest, expected)) {
          matches.push({ secret, deviations: [...deviations, ...key.deviations] });
        }
      }
    }
  }
  return matches.sort((one, other) => one.deviations.length - other.deviations.length)[0];
}

/** Digests of a header value: one, or a list with commas or spaces, each perhaps behind `sha256=` or `v1=`. */
function readSignatures(received: string): readonly Read[] {
  if (received.length > LONGEST_HEADER) return [];
  const entries = received.split(/[,;\s]+/).filter(entry => entry !== '');
  const listed: readonly Deviation[] = entries.length > 1 ? ['list'] : [];
  return entries.slice(0, MOST_SIGNATURES).flatMap(entry => {
    const bare = entry.replace(/^(?:sha256|v1)=/i, '');
    const read = digestOf(bare);
    if (read === undefined) return [];
    const prefix: readonly Deviation[] = bare === entry ? [] : ['prefix'];
    return [{ bytes: read.bytes, deviations: [...listed, ...prefix, ...read.deviations] }];
  });
}

function digestOf(text: string): Read | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) {
    return { bytes: Buffer.from(text, 'hex'), deviations: /[A-F]/.test(text) ? ['upper_case'] : [] };
  }
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  // Node reads both alphabets; 43 characters hold 32 bytes and two spare bits.
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === DIGEST_BYTES ? { bytes, deviations: ['base64'] } : undefined;
}

function keysOf(secret: Secret): readonly Read[] {
  const text = secret.expose();
  const literal: Read = { bytes: Buffer.from(text), deviations: [] };
  const rest = /^whsec_([A-Za-z0-9+/_-]+)={0,2}$/.exec(text)?.[1];
  const decoded = rest === undefined ? undefined : Buffer.from(rest, 'base64');
  // A short key, or one of zero bytes, which signs as the empty one does, is no secret.
  if (decoded === undefined || decoded.length < SHORTEST_KEY || !decoded.some(byte => byte !== 0)) return [literal];
  return [literal, { bytes: decoded, deviations: ['decoded_secret'] }];
}

function hmac(bytes: Uint8Array, key: Buffer): Buffer {
  return createHmac('sha256', key).update(bytes).digest();
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Names other services use. */
const USUAL = ['X-Signature', 'Webhook-Signature', 'Signature', 'X-Hub-Signature-256'];

/**
 * The signature among headers whose names are lower case, undefined when there is none. With `name` only that header
 * counts; without, the assumed one, the usual ones, else the only one that speaks of a signature.
 */
export function signatureIn(headers: Headers, name?: string): string | undefined {
  const names = name === undefined ? [HEADERS.webhook_signature.name, ...USUAL] : [name];
  for (const each of names) {
    const value = textOf(headers[each.toLowerCase()]);
    if (value !== undefined) return value;
  }
  const speaking = name === undefined ? Object.keys(headers).filter(each => /signature/i.test(each)) : [];
  return speaking.length === 1 ? textOf(headers[speaking[0] ?? '']) : undefined;
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(',') : value;
}

// Why a signature does not match: the usual mistakes, each proved by a match once it is undone.

/** Each with one sentence for a person. */
const MISTAKES = {
  no_signature: 'The signature is empty.',
  not_a_digest: 'The signature is not 64 hex digits, alone, in a list or behind a prefix.',
  newline_added: 'The payload has a line end too many: it was signed without.',
  newline_removed: 'The payload was signed with a line end that is missing here.',
  line_ends_changed: 'Line ends were changed between LF and CRLF.',
  json_written_again: 'The payload was parsed and written again: use the bytes as they came, before any JSON parser.',
  secret_has_space_around: 'White space around the secret is part of it on one side only.',
} as const;
type Mistake = keyof typeof MISTAKES;

const explained = (mistake: Mistake) => ({ mistake, says: MISTAKES[mistake] });
export type Explanation = ReturnType<typeof explained>;

/**
 * What explains that `received` matches none of the secrets; empty when nothing we know does. Each but the first two
 * is certain: with that one mistake undone the signature matches.
 */
export function explainMismatch(
  bytes: Uint8Array,
  received: string,
  secrets: readonly Secret[],
): readonly Explanation[] {
  const given = received.trim();
  if (given === '') return [explained('no_signature')];
  const found = [...bodyMistakes(bytes, given, secrets), ...secretMistakes(bytes, given, secrets)];
  return found.length > 0 || digestLooking(given) ? found : [explained('not_a_digest')];
}

function bodyMistakes(bytes: Uint8Array, received: string, secrets: readonly Secret[]): Explanation[] {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const matches = (body: string) => matchSignature(Buffer.from(body), received, secrets) !== undefined;
  const unixEnds = text.replaceAll('\r\n', '\n');
  const tries: readonly (readonly [Mistake, readonly string[]])[] = [
    ['newline_added', [text.replace(/\n$/, ''), text.replace(/\r?\n$/, ''), text.trimEnd()]],
    ['newline_removed', [`${text}\n`, `${text}\r\n`]],
    ['line_ends_changed', [unixEnds, unixEnds.replaceAll('\n', '\r\n')]],
    ['json_written_again', writtenAgain(text)],
  ];
  // Writing JSON again also undoes a line end around it; the smaller mistake, which stands first, is the one that was made.
  const found = tries.find(([, bodies]) => bodies.some(body => body !== text && matches(body)));
  return found === undefined ? [] : [explained(found[0])];
}

/** The JSON of a text in the forms that the usual libraries write. */
function writtenAgain(text: string): readonly string[] {
  const value = jsonOrUndefined(text.replace(/^\ufeff/, ''));
  if (value === undefined) return [];
  const compact = JSON.stringify(value);
  const plain = [compact, JSON.stringify(value, null, 2), JSON.stringify(value, null, 4), spaced(compact)];
  const escaped = plain.map(form =>
    form.replace(/[\u0080-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  return [...plain, ...escaped, ...plain.map(form => form.replaceAll('/', '\\/'))];
}

/** A space after each comma and colon outside of texts. */
function spaced(compact: string): string {
  return compact.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, part => (part.length === 1 ? `${part} ` : part));
}

function secretMistakes(bytes: Uint8Array, received: string, secrets: readonly Secret[]): Explanation[] {
  const around = secrets.flatMap(secret => {
    const text = secret.expose();
    return [text.trim(), `${text}\n`].filter(other => other !== text && other !== '').map(other => new Secret(other));
  });
  return matchSignature(bytes, received, around) === undefined ? [] : [explained('secret_has_space_around')];
}

function digestLooking(received: string): boolean {
  return /(?:^|[,;\s=])(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)(?:$|[,;\s])/.test(received);
}

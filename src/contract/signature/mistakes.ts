/** Why a signature does not match: the usual mistakes, each proved by a match once it is undone. */
import { createHash, createHmac } from 'node:crypto';
import { Secret } from '../../core/secret.ts';
import { matchSignature } from './signature.ts';

export type Mistake =
  | 'no_signature'
  | 'not_a_digest'
  | 'other_algorithm'
  | 'no_secret_used'
  | 'newline_added'
  | 'newline_removed'
  | 'line_ends_changed'
  | 'byte_order_mark'
  | 'json_written_again'
  | 'secret_has_space_around';

export interface Explanation {
  readonly mistake: Mistake;
  /** One sentence for a person. */
  readonly says: string;
}

const BOM = '\ufeff';

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
  if (given === '') return [{ mistake: 'no_signature', says: 'The signature is empty.' }];
  const found = [...bodyMistakes(bytes, given, secrets), ...secretMistakes(bytes, given, secrets)];
  if (found.length > 0) return found;
  const other = otherMaker(bytes, given, secrets);
  if (other !== undefined) return [other];
  return digestLooking(given)
    ? []
    : [{ mistake: 'not_a_digest', says: 'The signature is not 64 hex digits, alone, in a list or behind a prefix.' }];
}

function bodyMistakes(bytes: Uint8Array, received: string, secrets: readonly Secret[]): Explanation[] {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const matches = (body: string) => matchSignature(Buffer.from(body), received, secrets) !== undefined;
  const lineEnds = [text.replaceAll('\r\n', '\n'), text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n')];
  const tries: readonly (readonly [Mistake, string, readonly string[]])[] = [
    [
      'newline_added',
      'The payload has a line end too many: it was signed without.',
      [text.replace(/\n$/, ''), text.replace(/\r?\n$/, ''), text.trimEnd()],
    ],
    ['newline_removed', 'The payload was signed with a line end that is missing here.', [`${text}\n`, `${text}\r\n`]],
    ['line_ends_changed', 'Line ends were changed between LF and CRLF.', lineEnds],
    [
      'byte_order_mark',
      'A byte order mark was added or removed at the beginning.',
      [text.startsWith(BOM) ? text.slice(1) : BOM + text],
    ],
    [
      'json_written_again',
      'The payload was parsed and written again: use the bytes as they came, before any JSON parser.',
      writtenAgain(text),
    ],
  ];
  const found = tries
    .filter(([, , bodies]) => bodies.some(body => body !== text && matches(body)))
    .map(([mistake, says]) => ({ mistake, says }));
  // Writing JSON again also undoes a line end or a mark around it; the smaller mistake is the one that was made.
  return found.length > 1 ? found.filter(({ mistake }) => mistake !== 'json_written_again') : found;
}

/** The JSON of a text in the forms that the usual libraries write. */
function writtenAgain(text: string): readonly string[] {
  const value = parsed(text);
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function secretMistakes(bytes: Uint8Array, received: string, secrets: readonly Secret[]): Explanation[] {
  const around = secrets.flatMap(secret => {
    const text = secret.expose();
    return [text.trim(), `${text}\n`].filter(other => other !== text && other !== '').map(other => new Secret(other));
  });
  if (matchSignature(bytes, received, around) === undefined) return [];
  return [
    { mistake: 'secret_has_space_around', says: 'White space around the secret is part of it on one side only.' },
  ];
}

/** Another hash than SHA-256, or a plain hash without the secret. */
function otherMaker(bytes: Uint8Array, received: string, secrets: readonly Secret[]): Explanation | undefined {
  const bare = received.replace(/^\w{1,8}=(?=.)/, '');
  const isOne = (digest: Buffer) => [digest.toString('hex'), digest.toString('base64')].includes(bare);
  for (const name of ['sha1', 'sha512', 'md5']) {
    const made = secrets.some(secret => isOne(createHmac(name, secret.expose()).update(bytes).digest()));
    if (made) return { mistake: 'other_algorithm', says: `The signature was made with ${name}, not with SHA-256.` };
  }
  if (!isOne(createHash('sha256').update(bytes).digest())) return undefined;
  return {
    mistake: 'no_secret_used',
    says: 'The signature is a plain SHA-256 of the payload: no secret went into it.',
  };
}

function digestLooking(received: string): boolean {
  return /(?:^|[,;\s=])(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)(?:$|[,;\s])/.test(received);
}

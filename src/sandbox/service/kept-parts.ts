/** What of a request is kept: no secret, no card number, and for each part that is not as it was sent the reason. */
import type { Shape } from '../../contract/field.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { NotKept, NotKeptReason } from '../../contract/sandbox/not-kept.ts';
import { withoutCardNumbers } from '../../core/card-numbers.ts';
import { Refused } from '../calls/handler.ts';
import type { ParsedRequest } from '../http/request.ts';
import type { RequestRow } from '../store/requests.ts';

type Parts = Pick<
  RequestRow,
  'path' | 'query' | 'idempotency_key' | 'request_headers' | 'body' | 'body_bytes' | 'not_kept'
>;

/** The columns of a logged request that were written by its sender. */
export function keptParts(parsed: ParsedRequest): Parts {
  const { route, path, queryText, keySent, headers } = parsed;
  const notKept: NotKept[] = [];
  const key = keySent === undefined ? null : keptKey(keySent);
  const kept = {
    path: textPart('path', path, notKept),
    query: queryText === '' ? null : keptQuery(route.row.query ?? {}, queryText, notKept),
    idempotency_key: key,
    request_headers: keptHeaders(headers),
    body: keptBody(parsed, notKept),
    body_bytes: bytesOf(headers),
  };
  if (keySent !== undefined && key !== keySent) {
    notKept.push({ part: 'idempotency_key', why: keySent.length > LIMITS.idempotencyKey.max ? 'too_long' : 'secret' });
  }
  return { ...kept, not_kept: JSON.stringify(notKept.slice(0, MOST_NAMED)) };
}

/** So many parts are named: a body may have thousands of fields that nobody knows. */
const MOST_NAMED = 40;

/** Length of the body: 0 without one, null where it was not announced. */
function bytesOf({ 'content-length': length, 'transfer-encoding': encoding }: ParsedRequest['headers']): number | null {
  if (encoding !== undefined) return null;
  const bytes = Number(length ?? 0);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** Headers that say how a request was made. */
const KEPT_HEADERS = [
  'accept',
  'accept-encoding',
  'content-length',
  'content-type',
  'transfer-encoding',
  'user-agent',
  'x-idempotency-key',
  'x-sandbox-fault',
] as const;

function keptHeaders(headers: ParsedRequest['headers']): string {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') kept[name] = name === 'x-idempotency-key' ? keptKey(value) : cleanText(value);
  }
  return JSON.stringify(kept);
}

/** Keys and tokens as they are made; a shorter `sandbox_` is a word of somebody's own. */
const KEY_SECRETS: readonly [RegExp, string][] = [
  [/(sk_(?:live|test)_|whsec_)[A-Za-z0-9_+/=-]+/g, '$1[redacted]'],
  [/(sandbox_)[A-Za-z0-9_-]{32,}/g, '$1[redacted]'],
  [/\b(Bearer|Basic)(?:\s|%20)+\S+/gi, '$1 [redacted]'],
];

/**
 * An idempotency key as the log has it. It is no secret and is kept exactly: what is sent again under another key is done
 * again. Only a key that holds a secret or what may be a card number is masked; its last four digits keep such keys apart.
 */
export function keptKey(key: string): string {
  const clean = KEY_SECRETS.reduce((left, [found, instead]) => left.replace(found, instead), key);
  const masked = withoutCardNumbers(clean);
  const mark = masked === clean ? '' : `~${clean.replace(/\D/g, '').slice(-4)}`;
  return `${masked.slice(0, LIMITS.idempotencyKey.max)}${mark}`.replaceAll('\0', '').toWellFormed();
}

const LONGEST = 200;
/** Short, and of no characters but those every engine stores. */
const PLAIN = /^[\x20-\x7e]{0,200}$/;
const MOST_ENTRIES = 20;

function textPart(part: string, text: string, notKept: NotKept[]): string {
  const kept = cleanText(text);
  if (kept !== text) notKept.push({ part, why: whyOf(text) });
  return kept;
}

const whyOf = (text: string): NotKeptReason => (withoutFoundSecrets(text) === text ? 'too_long' : 'secret');

/** Values of the query that the row knows, in the order in which they came; of others the names. */
function keptQuery(shape: Shape, text: string, notKept: NotKept[]): string {
  const before = notKept.length;
  const given = [...new URLSearchParams(text)];
  const kept = given.slice(0, MOST_ENTRIES).map(([name, value]): [string, string] => {
    const part = `query.${cleanText(name)}`;
    if (Object.hasOwn(shape, name)) return [name, textPart(part, value, notKept)];
    notKept.push({ part, why: 'unknown_field' });
    return [cleanText(name), '[redacted]'];
  });
  if (given.length > MOST_ENTRIES) notKept.push({ part: 'query', why: 'too_long' });
  return notKept.length === before && PLAIN.test(text) ? text : new URLSearchParams(kept).toString();
}

/** JSON of the fields the row knows, but for secrets; of an address only where it leads to. Null for none. */
function keptBody({ route, body, bodyRead, headers }: ParsedRequest, notKept: NotKept[]): string | null {
  if (bodyRead === undefined) {
    const isTooLong = body instanceof Refused && body.refusal === 'payload_too_large';
    if (bytesOf(headers) !== 0) notKept.push({ part: 'body', why: isTooLong ? 'too_long' : 'not_json' });
    return null;
  }
  const shape = route.row.body ?? {};
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(bodyRead)) {
    if (Object.hasOwn(shape, name) && !shape[name]?.secret) kept[name] = bodyField(name, value, notKept);
    else if (notKept.length < MOST_NAMED) {
      notKept.push({ part: `body.${cleanText(name)}`, why: Object.hasOwn(shape, name) ? 'secret' : 'unknown_field' });
    }
  }
  return Object.keys(kept).length === 0 ? null : JSON.stringify(kept);
}

function bodyField(name: string, value: unknown, notKept: NotKept[]): unknown {
  const part = `body.${name}`;
  if (typeof value === 'string' && name !== 'url') return textPart(part, value, notKept);
  const kept = name === 'url' ? originOf(value) : keptValue(value);
  if (typeof value === 'object' || kept !== value) {
    const [sent, left] = [JSON.stringify(value), JSON.stringify(kept)];
    if (sent !== left) notKept.push({ part, why: name === 'url' ? 'address' : whyOf(sent) });
  }
  return kept;
}

function keptValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, MOST_ENTRIES).map(entry => cleanText(textOf(entry)));
  const entries = Object.entries(value).slice(0, MOST_ENTRIES);
  return Object.fromEntries(entries.map(([name, entry]) => [cleanText(name), cleanText(textOf(entry))]));
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** A path or a query of an address may be a password of its own. */
export function originOf(value: unknown): string {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value).origin : '[no address]';
}

const SECRETS: readonly [RegExp, string][] = [
  [/(sk_(?:live|test)_|whsec_|sandbox_)[A-Za-z0-9_+/=-]+/g, '$1[redacted]'],
  [/\b(Bearer|Basic)(?:\s|%20)+\S+/gi, '$1 [redacted]'],
  // Card numbers, also those a check digit does not prove.
  [/(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g, '[redacted]'],
];

/** Whatever one of them finds has this in it, which is looked for in one go: most texts hold no secret. */
const HINT = /sk_|whsec_|sandbox_|bearer|basic|\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d[ -]?\d/i;

/** Text that may be stored: no secret, no character an engine refuses, not too long. */
export function cleanText(text: string): string {
  if (PLAIN.test(text) && !HINT.test(text)) return text;
  return withoutFoundSecrets(text).slice(0, LONGEST).replaceAll('\0', '').toWellFormed();
}

/** The text without secrets and card numbers, however long. */
export function withoutFoundSecrets(text: string): string {
  if (!HINT.test(text)) return text;
  return SECRETS.reduce((left, [pattern, instead]) => left.replace(pattern, instead), text);
}

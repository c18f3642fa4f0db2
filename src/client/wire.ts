/**
 * What the wire tells beside a body: why an exchange failed, in a user's words with the code to search for, and the headers of an
 * answer - request id, waits, clock, deprecation.
 */
import { isUtf8 } from 'node:buffer';
import { MINUTE } from '../core/durations.ts';

export type WireHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface WireFailure {
  /** One clause without a full stop: `connection refused by 127.0.0.1:4010 (ECONNREFUSED)`. */
  readonly text: string;
  /** The answer passed its limit, and will do so again. */
  readonly isTooLarge?: boolean;
  /** Nobody listens at the address. */
  readonly nobody?: boolean;
  readonly cause: unknown;
}

/** What ended an exchange; its text already says everything. */
export class WireProblem extends Error {
  override readonly name = 'WireProblem';
  readonly isTooLarge: boolean;
  constructor(message: string, isTooLarge = false) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/** `30 s`, `0.5 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

const NOT_TRUSTED = 'the TLS certificate of PLACE is not trusted';

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused by PLACE',
  ENOENT: 'nothing listens at PLACE',
  EACCES: 'no permission to connect to PLACE',
  ENOTFOUND: 'the name of PLACE cannot be resolved',
  EAI_AGAIN: 'the name of PLACE cannot be resolved at the moment',
  EHOSTUNREACH: 'no route to PLACE',
  ENETUNREACH: 'no network connection to PLACE',
  ECONNRESET: 'PLACE reset the connection',
  EPIPE: 'PLACE closed the connection',
  ETIMEDOUT: 'no connection to PLACE within the time limit',
  UND_ERR_SOCKET: 'PLACE closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'no connection to PLACE within the time limit',
  UND_ERR_HEADERS_TIMEOUT: 'PLACE did not start to answer within the time limit',
  UND_ERR_HEADERS_OVERFLOW: 'PLACE sent more than 16 KiB of headers',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer of PLACE was cut off',
  CERT_HAS_EXPIRED: 'the TLS certificate of PLACE has expired',
  CERT_NOT_YET_VALID: 'the TLS certificate of PLACE is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the TLS certificate presented is not for PLACE',
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
};

/**
 * Describes whatever the HTTP library threw. Its own messages are never shown: they may quote headers.
 *
 * @param place host and port, or what stands for a socket.
 * @param issuer of the certificate that was shown: often the operator's own proxy.
 */
export function describeFailure(thrown: unknown, place: string, issuer?: string): WireFailure {
  if (thrown instanceof WireProblem) return { text: thrown.message, isTooLarge: thrown.isTooLarge, cause: thrown };
  const code = codeOf(thrown);
  // The parser gives a code to some of its errors only.
  const isParsers = code?.startsWith('HPE_') === true || (thrown instanceof Error && thrown.name === 'HTTPParserError');
  const words = isParsers
    ? 'PLACE does not speak correct HTTP'
    : (WORDS[code ?? ''] ?? 'the connection to PLACE failed');
  const issued = /TLS certificate/.test(words) && issuer !== undefined ? `issued by ${issuer}` : undefined;
  const facts = [code, issued].filter(Boolean).join(', ');
  const text = words.replace('PLACE', () => place);
  return { text: facts ? `${text} (${facts})` : text, nobody: code === 'ECONNREFUSED', cause: thrown };
}

/** Several addresses of one name fail together; the first code stands for all. */
function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code, errors, cause } = thrown as { code?: unknown; errors?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return codeOf(Array.isArray(errors) ? errors[0] : cause);
}

const MAX_CLOCK_SKEW_MS = 5 * MINUTE;

/** One header as text; a repeated one joined with commas. `name` in any case. */
export function headerText(headers: WireHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return value === undefined ? undefined : textOf(value);
}

/** Bytes arrive as characters up to U+00FF; what is UTF-8 is read as that, as everybody who prints it will. */
export function textOf(value: string | readonly string[]): string {
  const text = typeof value === 'string' ? value : value.join(', ');
  if (!/[\x80-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : text;
}

/**
 * Milliseconds of `Retry-After`: seconds, or an HTTP date against the answer's own `Date`, so that a wrong
 * clock here does not matter. Undefined when negative, unreadable or absent.
 */
export function retryAfterMs(headers: WireHeaders, name: string): number | undefined {
  const text = headerText(headers, name)?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const until = httpDate(text);
  const now = httpDate(headerText(headers, 'date'));
  return until === undefined || now === undefined || until < now ? undefined : until - now;
}

/** Answers of one second carry the same date, and reading it is not cheap. */
let lastRead: { readonly text: string; readonly time: number | undefined } = { text: '', time: undefined };

/** Only the form with a weekday is a date in HTTP; `Date.parse` alone also reads `-5`. */
function httpDate(text: string | undefined): number | undefined {
  if (text === undefined || text === lastRead.text) return text === undefined ? undefined : lastRead.time;
  const parsed = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  const time = Number.isNaN(parsed) ? undefined : parsed;
  lastRead = { text, time };
  return time;
}

/** The clock of who answered, undefined when it does not say. */
export function dateOf(headers: WireHeaders): number | undefined {
  return httpDate(headerText(headers, 'date'));
}

/** What the headers of an answer should be warned about, whatever its status. */
export function headerWarnings(headers: WireHeaders, nowMs: number | undefined): string[] {
  const warnings: string[] = [];
  const date = httpDate(headerText(headers, 'date'));
  if (date !== undefined && nowMs !== undefined && Math.abs(date - nowMs) > MAX_CLOCK_SKEW_MS) {
    const minutes = Math.round(Math.abs(date - nowMs) / MINUTE);
    warnings.push(`the clock of the service is ${minutes} min ${date > nowMs ? 'ahead of' : 'behind'} this machine's`);
  }
  for (const name of ['Deprecation', 'Sunset']) {
    const value = headerText(headers, name);
    if (value !== undefined) warnings.push(`the service announces ${name}: ${value.slice(0, 80)}`);
  }
  return warnings;
}

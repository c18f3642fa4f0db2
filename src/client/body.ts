/**
 * What came, before it is judged: headers (request id, waits, clock, deprecation; ), then the body from bytes to
 * JSON, within limits and without trust (docs/design/reliability.md, section 2).
 */
import { isUtf8 } from 'node:buffer';
import { MINUTE } from '../core/durations.ts';
import type { WireFailure } from './failure.ts';
import type { WireHeaders } from './transport.ts';

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

export const MAX_LIST_BYTES = 8 << 20;
export const MAX_BYTES = 256 << 10;
const MAX_DEPTH = 64;

export type Body =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'html'; readonly title: string | undefined }
  | { readonly kind: 'text' }
  /** `cut`: reading again may help. `text` is a clause about what is wrong, never the content. */
  | { readonly kind: 'damaged'; readonly cut: boolean; readonly text: string };

interface ReceivedBody {
  readonly headers: WireHeaders;
  readonly bytes: Uint8Array;
  readonly failure?: WireFailure | undefined;
}

// Strips one byte order mark; `fatal` refuses what would silently become U+FFFD.
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a received body. Never throws and never quotes more than a title. */
export function readBody({ headers, bytes, failure }: ReceivedBody): Body {
  const damaged = (text: string, cut = false): Body => ({ kind: 'damaged', cut, text });
  if (failure !== undefined) return damaged(failure.text, !failure.isTooLarge);
  const encoding = headerText(headers, 'content-encoding')?.trim() || 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    return damaged(`the answer is encoded as ${JSON.stringify(encoding.slice(0, 40))}, which was not requested`);
  }
  const text = attempted(() => UTF8.decode(bytes));
  if (text === undefined) return damaged('the answer is not UTF-8 text');
  if (text.trim() === '') return { kind: 'empty' };
  const type = headerText(headers, 'content-type') ?? '';
  if (/^text\/html|^application\/xhtml/i.test(type) || /^\s*<(?:!doctype html|html)/i.test(text)) {
    const title = /<title[^>]{0,200}>([^<]{0,400})/i.exec(text.slice(0, 20_000))?.[1];
    return { kind: 'html', title: title?.replace(/\s+/g, ' ').trim().slice(0, 80) || undefined };
  }
  const value = attempted((): unknown => JSON.parse(text));
  if (value === undefined) return { kind: 'text' };
  if (isTooDeep(value, MAX_DEPTH)) return damaged(`the answer is nested deeper than ${MAX_DEPTH} levels`);
  return { kind: 'json', value };
}

/** Undefined for what cannot be read; a parser's message quotes the text, so it goes no further. */
function attempted<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (typeof inner === 'object' && isTooDeep(inner, levels - 1)) return true;
  }
  return false;
}

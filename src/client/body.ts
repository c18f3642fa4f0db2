/** What a body is: bytes to JSON, within limits, without trust (docs/design/reliability.md, section 4). */
import type { WireFailure } from './failure.ts';
import { headerText } from './headers.ts';
import type { WireHeaders } from './transport.ts';

export const MAX_LIST_BYTES = 8 << 20;
export const MAX_BYTES = 256 << 10;
const MAX_DEPTH = 64;

export type Body =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'html'; readonly title: string | undefined }
  | { readonly kind: 'text'; readonly sample: string }
  /** `cut`: reading again may help. `text` is a clause about what is wrong, never the content. */
  | { readonly kind: 'damaged'; readonly cut: boolean; readonly text: string };

export interface ReceivedBody {
  readonly headers: WireHeaders;
  readonly bytes: Uint8Array;
  readonly failure?: WireFailure;
}

/** Reads a received body. Never throws and never quotes more than a title or 200 characters for debugging. */
export function readBody({ headers, bytes, failure }: ReceivedBody): Body {
  if (failure !== undefined) return { kind: 'damaged', cut: failure.reason !== 'too_large', text: failure.text };
  const encoding = headerText(headers, 'content-encoding')?.trim() || 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    return damaged(`the answer is encoded as ${JSON.stringify(encoding.slice(0, 40))}, which was not requested`);
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) return damaged('the answer is not UTF-8 text');
  if (text.trim() === '') return { kind: 'empty' };
  const type = headerText(headers, 'content-type') ?? '';
  if (/^text\/html|^application\/xhtml/i.test(type) || /^\s*<(?:!doctype html|html)/i.test(text)) {
    return { kind: 'html', title: titleOf(text) };
  }
  const value = parseJson(text);
  if (value === NOT_JSON) return { kind: 'text', sample: text.slice(0, 200) };
  if (isTooDeep(value, MAX_DEPTH)) return damaged(`the answer is nested deeper than ${MAX_DEPTH} levels`);
  return { kind: 'json', value };
}

const damaged = (text: string): Body => ({ kind: 'damaged', cut: false, text });

// Strips one byte order mark; `fatal` refuses what would silently become U+FFFD.
const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

const NOT_JSON = Symbol('not JSON');

/** The parser's message quotes the text, so it goes no further. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
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

function titleOf(html: string): string | undefined {
  const found = /<title[^>]{0,200}>([^<]{0,400})/i.exec(html.slice(0, 20_000))?.[1];
  return found?.replace(/\s+/g, ' ').trim().slice(0, 80) || undefined;
}

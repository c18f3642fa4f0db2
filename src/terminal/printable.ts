/**
 * Foreign text made inert. Everything that can move a cursor, reorder a line or hide in it becomes a visible
 * escape: C0, C1, DEL, bidi controls, zero-width and other default-ignorable characters, tag characters, line
 * separators, lone surrogates. Joiners and variation selectors stay where they belong to an emoji.
 */

import { EMOJI } from '../core/text.ts';

const INVISIBLE = String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u{fff9}-\u{fffb}]`;
/** Made when a text needs them: V8 takes half a millisecond to read properties of Unicode. */
let patterns: { readonly unsafe: RegExp; readonly emojiOrUnsafe: RegExp } | undefined;

function visible(character: string): string {
  if ('\n\r\t'.includes(character)) return JSON.stringify(character).slice(1, -1);
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** Each half of a character beyond 16 bits by itself. */
function jsonEscape(character: string): string {
  return character.replace(/[\s\S]/g, half => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** In linear time; what is `kept` stays as it is. */
function escapeUnsafe(text: string, kept: string, escaped: (character: string) => string): string {
  // Lines of ASCII, which nearly all output is.
  if (!/[^\n -~]/.test(text) && (kept.includes('\n') || !text.includes('\n'))) return text;
  // The emoji come first, so a joiner inside one is passed over and any other joiner is caught.
  patterns ??= { unsafe: new RegExp(INVISIBLE, 'u'), emojiOrUnsafe: new RegExp(`${EMOJI}|${INVISIBLE}`, 'gu') };
  const { unsafe, emojiOrUnsafe } = patterns;
  if (!unsafe.test(text)) return text;
  return text.replace(emojiOrUnsafe, match => {
    const first = String.fromCodePoint(match.codePointAt(0) ?? 0);
    return unsafe.test(first) && !kept.includes(match) ? escaped(match) : match;
  });
}

/** One line that cannot act on a terminal. Newline, tab and return become `\n`, `\t`, `\r`. */
export const printable = (text: string): string => escapeUnsafe(text, '', visible);

/** `printable` with its newlines: for text that is ours in shape and foreign in parts. */
export const printableLines = (text: string): string => escapeUnsafe(text, '\n', visible);

/** `printable` with its newlines and tabs: for a cell in quotes, whose readers take both as text. */
export const printableCell = (text: string): string => escapeUnsafe(text, '\n\t', visible);

/** How `printableCell` writes a character that is not shown as it is. */
const ESCAPE = /\\(?:r|x([0-9a-f]{2})|u\{([0-9a-f]{1,6})\})/g;

/** The first escape of a text that `printableCell` may have written for a character; undefined without one. */
export function escapeIn(text: string): string | undefined {
  for (const [written, short, long] of text.matchAll(ESCAPE)) {
    const code = Number.parseInt(short ?? long ?? 'd', 16);
    if (code <= 0x10ffff && printableCell(String.fromCodePoint(code)) === written) return written;
  }
  return undefined;
}

/** JSON text with the same characters as `\u` escapes, so that it parses to the same value. */
export const printableJson = (json: string): string => escapeUnsafe(json, '\n', jsonEscape);

/** What an expression yielded, JSON or raw text, for a terminal. Tabs stay: `@tsv` makes them. */
export const printableYield = (text: string): string => escapeUnsafe(text, '\n\t', jsonEscape);

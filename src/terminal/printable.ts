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

function escapeUnsafe(text: string, show: (character: string) => string): string {
  if (!/[^ -~]/.test(text)) return text;
  // The emoji come first, so a joiner inside one is passed over and any other joiner is caught.
  patterns ??= { unsafe: new RegExp(INVISIBLE, 'u'), emojiOrUnsafe: new RegExp(`${EMOJI}|${INVISIBLE}`, 'gu') };
  const { unsafe, emojiOrUnsafe } = patterns;
  if (!unsafe.test(text)) return text;
  return text.replace(emojiOrUnsafe, match => {
    const first = String.fromCodePoint(match.codePointAt(0) ?? 0);
    if (unsafe.test(first)) return show(match);
    return match;
  });
}

/** Lines of ASCII, which nearly all output is. */
function isPlain(text: string): boolean {
  return !/[^\n -~]/.test(text);
}

/** One line that cannot act on a terminal. Newline, tab and return become `\n`, `\t`, `\r`. Linear time. */
export function printable(text: string): string {
  return escapeUnsafe(text, visible);
}

/** `printable` with its newlines: for text that is ours in shape and foreign in parts. */
export function printableLines(text: string): string {
  return isPlain(text) ? text : escapeUnsafe(text, character => (character === '\n' ? character : visible(character)));
}

/** `printable` with its newlines and tabs: for a cell in quotes, whose readers take both as text. */
export function printableCell(text: string): string {
  return escapeUnsafe(text, character => (character === '\n' || character === '\t' ? character : visible(character)));
}

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
export function printableJson(json: string): string {
  if (isPlain(json)) return json;
  return escapeUnsafe(json, character => (character === '\n' ? character : jsonEscape(character)));
}

/** What an expression yielded, JSON or raw text, for a terminal. Tabs stay: `@tsv` makes them. */
export function printableYield(text: string): string {
  return text.split('\t').map(printableJson).join('\t');
}

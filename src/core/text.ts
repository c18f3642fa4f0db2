/** Text of files and pipes: UTF-8, with or without a byte order mark. Anything else is refused. */
import { usage } from './errors.ts';

/** Decodes bytes as they come; `end` tells whether a character was cut off. Both throw `usage`. `name` is what the user called it. */
export class Utf8Reader {
  readonly #name: string;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #isBegun = false;

  constructor(name: string) {
    this.#name = name;
  }

  push(bytes: Uint8Array): string {
    if (!this.#isBegun && isUtf16(bytes)) {
      throw usage(
        `${this.#name} is UTF-16 text; save it as UTF-8 (a spreadsheet calls that "CSV UTF-8") and try again`,
      );
    }
    this.#isBegun ||= bytes.length > 0;
    return this.#decoded(bytes, true);
  }

  end(): string {
    return this.#decoded(new Uint8Array(), false);
  }

  #decoded(bytes: Uint8Array, stream: boolean): string {
    try {
      return this.#decoder.decode(bytes, { stream });
    } catch {
      throw usage(`${this.#name} is not UTF-8 text; save it as UTF-8 and try again`);
    }
  }
}

/** A whole text. Throws `usage`. */
export function utf8Text(bytes: Uint8Array, name: string): string {
  const reader = new Utf8Reader(name);
  return reader.push(bytes) + reader.end();
}

/** What a spreadsheet calls "Unicode text": its byte order mark, or ASCII with every other byte empty. */
function isUtf16({ 0: first, 1: second, length }: Uint8Array): boolean {
  if (length < 2) return false;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || (first === 0) !== (second === 0);
}

// Text cells of CSV that a spreadsheet would run as a formula, guarded on the way out and back again on the way in.

/**
 * Text a spreadsheet would run, or text that already looks guarded and must survive the way back. Some take the
 * full-width and the small form of a sign for the sign, and pass over blanks before it.
 */
const FORMULA = /^'*(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/;

/** A CSV text cell that no spreadsheet runs as a formula. Numbers do not pass here. */
export function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Takes off what `guardFormula` put on, for reading our own CSV again. */
export function unguardFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

// A pattern a person writes for a whole text: `*` is any letters, also none; every other character is itself.

/** A test for whole texts, large and small letters apart. Takes time in proportion to the text, whatever the pattern. */
export function glob(pattern: string): (text: string) => boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text => text === first;
  return text => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
    const end = text.length - last.length;
    let from = first.length;
    for (const part of others) {
      const at = text.indexOf(part, from);
      if (at < 0 || at + part.length > end) return false;
      from = at + part.length;
    }
    return true;
  };
}

/**
 * Source of an expression (flag `u`) for one emoji: joiners and variation selectors belong to it. No emoji has more than three
 * joiners; longer chains would only upset the width of a table. (`\p{RGI_Emoji}` takes 20 ms to load.)
 */
export const EMOJI = String.raw`\p{ExtPict}[\u{fe0e}\u{fe0f}\p{EMod}]?(?:\u200d\p{ExtPict}[\u{fe0f}\p{EMod}]?){0,3}|[0-9#*]\u{fe0f}\u20e3`;

/** Text of files and pipes: UTF-8, with or without a byte order mark. Anything else is refused with its line. */
import { CliError } from './errors.ts';

/** Decodes bytes as they come; `end` tells whether a character was cut off. Both throw `usage`, with the line. `name` is what the user called it. */
export class Utf8Reader {
  readonly #name: string;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #lines = 1;
  #isBegun = false;
  /** The end of the last piece: a character may begin there. */
  #tail = new Uint8Array();

  constructor(name: string) {
    this.#name = name;
  }

  push(bytes: Uint8Array): string {
    if (!this.#isBegun && isUtf16(bytes)) {
      throw this.#refused('is UTF-16 text; save it as UTF-8 (a spreadsheet calls that "CSV UTF-8") and try again');
    }
    this.#isBegun ||= bytes.length > 0;
    const text = this.#decoded(() => this.#decoder.decode(bytes, { stream: true }), bytes);
    this.#lines += linesIn(text);
    this.#tail = bytes.slice(-LONGEST_CHARACTER);
    return text;
  }

  end(): string {
    return this.#decoded(() => this.#decoder.decode(), new Uint8Array());
  }

  #decoded(decode: () => string, bytes: Uint8Array): string {
    try {
      return decode();
    } catch {
      const line = this.#lines + faultyLine(this.#tail, bytes);
      throw this.#refused(`is not UTF-8 text (line ${line}); save it as UTF-8 and try again`);
    }
  }

  #refused(why: string): CliError {
    return new CliError('usage', { message: `${this.#name} ${why}`, outcome: 'not_sent' });
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

const LONGEST_CHARACTER = 4;

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Lines of a piece before its first fault, which may begin in the end of the piece before. */
function faultyLine(tail: Uint8Array, bytes: Uint8Array): number {
  // The first bytes of the tail may be those of a character that was read.
  const whole = Math.max(
    0,
    tail.findIndex(byte => (byte & 0xc0) !== 0x80),
  );
  const text = new TextDecoder().decode(Buffer.concat([tail.subarray(whole), bytes]));
  return linesIn(text.slice(0, text.indexOf('\ufffd'))) - linesIn(new TextDecoder().decode(tail.subarray(whole)));
}

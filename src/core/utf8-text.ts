/** Text of files and pipes: UTF-8, with or without a byte order mark. Anything else is refused with its line. */
import { CliError } from './errors.ts';

/** Decodes bytes as they come; `end` tells whether a character was cut off. Both throw `usage`, with the line. `name` is what the user called it. */
export class Utf8Reader {
  readonly #name: string;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #lines = 1;
  #isBegun = false;

  constructor(name: string) {
    this.#name = name;
  }

  push(bytes: Uint8Array): string {
    if (!this.#isBegun && isUtf16(bytes)) {
      throw this.#refused('is UTF-16 text; save it as UTF-8 (a spreadsheet calls that "CSV UTF-8") and try again');
    }
    this.#isBegun ||= bytes.length > 0;
    const text = this.#decoded(() => this.#decoder.decode(bytes, { stream: true }), bytes);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lines += 1;
    return text;
  }

  end(): string {
    return this.#decoded(() => this.#decoder.decode(), new Uint8Array());
  }

  #decoded(decode: () => string, bytes: Uint8Array): string {
    try {
      return decode();
    } catch {
      const line = this.#lines + faultyLine(bytes);
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

/** Lines before the first one that is no UTF-8. */
function faultyLine(bytes: Uint8Array): number {
  let [line, start] = [0, 0];
  // A piece may begin within a character.
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  for (; start < bytes.length; line += 1) {
    const end = bytes.indexOf(10, start);
    const stop = end < 0 ? bytes.length : end;
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(start, stop));
    } catch {
      return line;
    }
    start = stop + 1;
  }
  return 0;
}

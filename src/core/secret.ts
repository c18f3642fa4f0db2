/**
 * A value that must not appear by accident: an API key, a card number, a CVV, a one-time code, a webhook
 * secret. Printing, JSON and `util.inspect` all give `[redacted]`; only `expose()` yields the text, and a test
 * keeps the list of files that call it short.
 */
const inspect = Symbol.for('nodejs.util.inspect.custom');

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Call it at the last moment, at the one place that must send or show it. */
  expose(): string {
    return this.#text;
  }

  /** Enough to recognise it: prefix up to the last underscore and the last four characters. */
  hint(): string {
    const prefix = /^[a-z]+_(?:[a-z]+_)?/.exec(this.#text)?.[0] ?? '';
    return this.#text.length - prefix.length < 8 ? `${prefix}…` : `${prefix}…${this.#text.slice(-4)}`;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }

  [inspect](): string {
    return '[redacted]';
  }
}

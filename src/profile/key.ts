/** API keys: their form, and whether they are for production or for tests. */
import { CliError } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';

const KEY = /^sk_(?:live|test)_[A-Za-z0-9_-]{8,}$/;

/** The two kinds of key (service interface 6.3): production money or the service's own test environment. */
export type KeyMode = 'live' | 'test';

/**
 * An API key from a file, a variable or standard input. One trailing newline is dropped, everything else must
 * fit exactly, so that no header code ever sees a line break. Throws `usage` without a word of the input.
 */
export function readKey(text: string): Secret {
  const trimmed = text.replace(/\r?\n$/, '');
  if (!KEY.test(trimmed)) throw new CliError('usage', { message: `not an API key: ${whatIsWrong(trimmed)}` });
  return new Secret(trimmed);
}

/** The mode a key's prefix says. */
export function keyMode(key: Secret): KeyMode {
  return key.expose().startsWith('sk_live_') ? 'live' : 'test';
}

function whatIsWrong(text: string): string {
  if (text === '') return 'it is empty';
  if (/\s/.test(text)) return 'it contains spaces or line breaks';
  if (!/^sk_(?:live|test)_/.test(text)) return 'it must begin with sk_live_ or sk_test_';
  return 'after the prefix come at least 8 of A-Z, a-z, 0-9, _ and -';
}

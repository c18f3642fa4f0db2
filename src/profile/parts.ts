/** Names of profiles: which there may be, and how a wrong one is quoted. */
import { LOOPBACK } from '../contract/resources.ts';
import { type CliError, notSent, usage } from '../core/errors.ts';
import { GIVEN_NAME, GIVEN_NAME_RULE } from '../core/names.ts';
import { Secret } from '../core/secret.ts';

const LOOKS_LIKE_A_KEY = /sk_(?:live|test)_/i;

/** Names with a meaning of their own: the built-in sandbox, and the key that came from the environment. */
const RESERVED = ['sandbox', 'env'];

/**
 * What somebody typed, fit to stand in a message: in double quotes, every character outside printable ASCII
 * as `\u` escape, cut after `most` characters.
 */
export function quoted(text: string, most = 64): string {
  const shown = text.length > most ? `${text.slice(0, most)}...` : text;
  const visible = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(shown).replaceAll(/[^\x20-\x7e]/g, visible);
}

/**
 * Checks a profile name (docs/design/cli.md, "Keys and profiles") and returns it. The reserved names pass, because they
 * can be named to choose them. Throws `usage`.
 */
export function checkProfileName(text: string): string {
  // Somebody pasted a key where a name belongs: the message must not repeat it.
  if (LOOKS_LIKE_A_KEY.test(text)) {
    throw usage('a profile name is expected, and this looks like an API key (not shown)', 'cardwright profiles list');
  }
  if (!GIVEN_NAME.test(text)) {
    throw usage(`not a profile name: ${quoted(text)}; it has ${GIVEN_NAME_RULE}`, 'cardwright profiles list');
  }
  return text;
}

/** `not_found` with what leads on: the profiles there are, and how one of this name is made. Nothing was sent. */
export function unknownProfile(name: string, why = ''): CliError {
  return notSent('not_found', `there is no profile ${name}${why}`, {
    notes: [`To save a key under this name: cardwright login --profile ${name}`],
    hint: 'cardwright profiles list',
  });
}

/** Like `checkProfileName`, for a name under which something is saved: `sandbox` and `env` are `usage` too. */
export function checkNewProfileName(text: string): string {
  const name = checkProfileName(text);
  if (RESERVED.includes(name)) {
    throw usage(
      `the profile name ${name} is reserved: sandbox is the built-in profile, env the key of the environment`,
      'cardwright profiles list',
    );
  }
  return name;
}

// API keys: their form, and whether they are for production or for tests.

const KEY = /^sk_(?:live|test)_[A-Za-z0-9_-]{8,}$/;

/** The two kinds of key (service interface 6.3): production money or the service's own test environment. */
export type KeyMode = 'live' | 'test';

/**
 * An API key from a file, a variable or standard input. One trailing newline is dropped, everything else must
 * fit exactly, so that no header code ever sees a line break. Throws `usage` without a word of the input.
 */
export function readKey(text: string): Secret {
  const trimmed = text.replace(/\r?\n$/, '');
  if (!KEY.test(trimmed)) throw usage(`not an API key: ${whatIsWrong(trimmed)}`);
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

// Base addresses: https or this machine itself, and the origin that a key is bound to.

const SHAPE = /^(https?):\/\/([^/?#]*)([^?#]*)$/i;
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:[\]@]+)(?::\d{1,5})?$/i;
/** "Any address", and loopback or "any" of IPv4 written as IPv6, also end at this machine. */
const DISGUISED_LOOPBACK = /^0\.|^\[::(?:(?:ffff:)?(?:7f[0-9a-f]{2}|0):[0-9a-f]{1,4})?\]$/;
const IP_LITERAL = /^(?:\[.*\]|[\d.]+)$/;

/**
 * Checks the base address a key of this mode would be sent to: https, or http to 127.x.y.z, [::1] or localhost
 * (docs/design/security.md, section 7, "Origin"). Throws `usage` naming the broken rule, `guarded` for a live key and
 * an address of this machine. The typed text is not repeated: it may hold a password or a key. `href` has no slash at its
 * end; a key is bound to `origin`.
 */
export function checkBaseUrl(text: string, mode: KeyMode) {
  const { typedHost, typedPath, url } = parse(text);
  // A parser turns `127.1`, `0x7f.1`, percent signs and other alphabets into a host nobody typed.
  if (url.hostname !== typedHost.toLowerCase()) {
    const reading = IP_LITERAL.test(url.hostname) ? `; it is read as ${url.hostname}` : '';
    throw broken(`the host must be written in its plain form${reading}`);
  }
  if (url.hostname.endsWith('.')) throw broken('the host must not end in a dot');
  if (DISGUISED_LOOPBACK.test(url.hostname)) {
    throw broken('an address of this machine is written 127.0.0.1, [::1] or localhost');
  }
  if (url.pathname !== (typedPath || '/')) throw broken('the path must be written in its plain form');
  const literal = LOOPBACK.test(url.hostname);
  if (url.protocol === 'http:' && !literal) {
    throw broken('https is required; http only to 127.0.0.1, [::1] or localhost');
  }
  const loopback = literal || url.hostname.endsWith('.localhost');
  if (loopback && mode === 'live') {
    throw notSent('guarded', 'a live key is never sent to an address of this machine', 'cardwright help safety');
  }
  return { href: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, origin: url.origin, loopback };
}

function parse(text: string) {
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('\\')) {
    throw broken('only visible ASCII characters and no backslash');
  }
  if (/[?#]/.test(text)) throw broken('no ? and no #');
  const [, , authority, typedPath] = SHAPE.exec(text) ?? [];
  if (authority === undefined || typedPath === undefined) throw broken('it must begin with https://');
  if (authority.includes('@')) throw broken('no user name or password');
  const typedHost = AUTHORITY.exec(authority)?.[1];
  if (typedHost === undefined || !URL.canParse(text)) throw broken('host and port cannot be read');
  return { typedHost, typedPath, url: new URL(text) };
}

function broken(rule: string): CliError {
  return usage(`not a usable base address: ${rule}`, 'cardwright help environment');
}

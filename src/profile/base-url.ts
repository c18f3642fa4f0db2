/** Base addresses: https or this machine itself, and the origin that a key is bound to. */
import { CliError } from '../core/errors.ts';
import type { KeyMode } from './key.ts';

/** A checked base address. */
export interface BaseUrl {
  /** The whole address, without a slash at the end. */
  readonly href: string;
  /** Scheme, host and port: what a key is bound to. */
  readonly origin: string;
  /** The address names this machine. */
  readonly loopback: boolean;
}

const SHAPE = /^(https?):\/\/([^/?#]*)([^?#]*)$/i;
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:[\]@]+)(?::\d{1,5})?$/i;
const IPV4_LOOPBACK_AS_IPV6 = /^\[::(?:ffff:)?(?:7f[0-9a-f]{2}|0):[0-9a-f]{1,4}\]$/;
const IP_LITERAL = /^(?:\[.*\]|[\d.]+)$/;

/**
 * Checks the base address a key of this mode would be sent to: https, or http to 127.x.y.z, [::1] or localhost
 * (docs/design/security.md, section 7, "Origin"). Throws `usage` naming the broken rule, `guarded` for a live key and
 * an address of this machine. The typed text is not repeated: it may hold a password or a key.
 */
export function checkBaseUrl(text: string, mode: KeyMode): BaseUrl {
  const { typedHost, typedPath, url } = parse(text);
  // A parser turns `127.1`, `0x7f.1`, percent signs and other alphabets into a host nobody typed.
  if (url.hostname !== typedHost.toLowerCase()) {
    const reading = IP_LITERAL.test(url.hostname) ? `; it is read as ${url.hostname}` : '';
    throw broken(`the host must be written in its plain form${reading}`);
  }
  if (url.hostname.endsWith('.')) throw broken('the host must not end in a dot');
  if (isDisguisedLoopback(url.hostname)) {
    throw broken('an address of this machine is written 127.0.0.1, [::1] or localhost');
  }
  if (url.pathname !== (typedPath || '/')) throw broken('the path must be written in its plain form');
  const literal = isLoopbackLiteral(url.hostname);
  if (url.protocol === 'http:' && !literal) {
    throw broken('https is required; http only to 127.0.0.1, [::1] or localhost');
  }
  const loopback = literal || url.hostname.endsWith('.localhost');
  if (loopback && mode === 'live') {
    throw new CliError('guarded', {
      message: 'a live key is never sent to an address of this machine',
      hint: 'cardwright help safety',
      outcome: 'not_sent',
    });
  }
  return { href: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, origin: url.origin, loopback };
}

interface Parsed {
  readonly typedHost: string;
  readonly typedPath: string;
  readonly url: URL;
}

function parse(text: string): Parsed {
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

function isLoopbackLiteral(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** "Any address", and loopback or "any" of IPv4 written as IPv6, also end at this machine. */
function isDisguisedLoopback(host: string): boolean {
  return /^0\./.test(host) || host === '[::]' || IPV4_LOOPBACK_AS_IPV6.test(host);
}

function broken(rule: string): CliError {
  return new CliError('usage', {
    message: `not a usable base address: ${rule}`,
    hint: 'cardwright help environment',
  });
}

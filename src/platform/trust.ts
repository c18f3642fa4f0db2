/**
 * Whom TLS trusts: the usual authorities, those of the operator, and never nobody for a live key
 * (docs/design/security.md, E7, E8).
 */
import type { SecureContext } from 'node:tls';
import { notSent, usage } from '../core/errors.ts';
import type { Environment } from './host.ts';

/**
 * Holds `NODE_TLS_REJECT_UNAUTHORIZED=0`, which switches verification off for the whole process, against the key.
 * Returns a warning for a test key. Throws `guarded` for a live one: whoever is in between would get it.
 */
export function checkVerification(
  origin: URL,
  mode: 'sandbox' | 'test' | 'live',
  env: Environment,
): string | undefined {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0' || origin.protocol !== 'https:') return undefined;
  if (mode !== 'live') return 'NODE_TLS_REJECT_UNAUTHORIZED=0: the receiver of the key is not checked';
  throw notSent(
    'guarded',
    'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off certificate checks, and a live key is not sent without them',
    {
      notes: ['For a private authority set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to its certificate.'],
      hint: 'unset NODE_TLS_REJECT_UNAUTHORIZED',
    },
  );
}

/**
 * Node's authorities and those that `SSL_CERT_FILE` adds; undefined when it names none, for then Node's own list and
 * `NODE_EXTRA_CA_CERTS` hold. Reading so many certificates takes about 30 ms, so one context serves all connections of a
 * run. Throws `usage` for a file without a certificate.
 */
export async function trustedBy(
  env: Environment,
  readFile: (path: string) => Promise<string>,
): Promise<SecureContext | undefined> {
  const path = env['SSL_CERT_FILE'];
  if (!path) return undefined;
  // A list of our own replaces Node's, so what Node would have read by itself must be in it.
  const extra = env['NODE_EXTRA_CA_CERTS'];
  const [own, also] = await Promise.all([readFile(path), extra ? readFile(extra) : '']);
  if (!own.includes('-----BEGIN CERTIFICATE-----')) {
    throw usage(`SSL_CERT_FILE names ${JSON.stringify(path)}, but it contains no certificate`, 'unset SSL_CERT_FILE');
  }
  const { createSecureContext, rootCertificates } = await import('node:tls');
  return createSecureContext({ ca: [...rootCertificates, own, ...(also === '' ? [] : [also])] });
}

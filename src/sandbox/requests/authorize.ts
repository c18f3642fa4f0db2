/** Who may ask: the key for the service, the admin token for the admin surface (docs/design/sandbox.md, section 10). */
import { timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../core/secret.ts';
import { Refused } from '../calls/handler.ts';

const LIVE_PREFIX = 'sk_live_';

/** Throws `unauthorized`, or `environment_mismatch` for a live key, which is neither kept nor repeated. */
export type Authorize = (header: string | undefined) => void;

/** Lets in whoever shows this key. */
export function authorizerOf(key: Secret): Authorize {
  const expected = Buffer.from(key.expose());
  return header =>
    authorize(header, given => {
      const shown = Buffer.from(given);
      // How long a key is says nothing about which one it is.
      return shown.length === expected.length && timingSafeEqual(shown, expected);
    });
}

/** The key in a header of the form `Bearer key`. */
export const bearerIn = (header: string | undefined) => /^bearer +(\S+)$/i.exec(header ?? '')?.[1];

/** Throws `environment_mismatch` for a live key in a place whose text would be kept: an address, an idempotency key. */
export function refuseLiveKeys(texts: Iterable<string | undefined>): void {
  const found = 'A live key stands in the address, the idempotency key or the text of the request';
  for (const text of texts) if (text?.includes(LIVE_PREFIX)) throw liveKey(found);
}

/** The same for the members of a body or a query as they are read: a label, a note, an address, names too. */
export function refuseLiveKeysIn(members: object): void {
  for (const [name, value] of Object.entries(members)) {
    refuseLiveKeys([name, typeof value === 'string' ? value : undefined]);
    if (typeof value === 'object' && value !== null) refuseLiveKeysIn(value);
  }
}

function liveKey(found: string): Refused {
  return new Refused(
    'environment_mismatch',
    `${found}: this is the sandbox, which takes none. Nothing of it was kept.`,
  );
}

function authorize(header: string | undefined, fits: (given: string) => boolean): void {
  const given = bearerIn(header);
  if (given === undefined) {
    throw new Refused('unauthorized', 'Send the key as: Authorization: Bearer sk_test_...');
  }
  if (given.startsWith(LIVE_PREFIX)) throw liveKey('This is a live key');
  if (!fits(given)) {
    throw new Refused('unauthorized', 'The key is not known here.');
  }
}

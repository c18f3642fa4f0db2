/** Who may ask: the key for the service, the admin token for the control surface (docs/design/sandbox.md, section 10). */
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { isSameKey } from '../../core/key-print.ts';
import type { Secret } from '../../core/secret.ts';
import { Refused } from '../calls/handler.ts';
import { type Answer, replyAnswer } from '../http/answer.ts';
import type { ParsedRequest, Route } from '../http/request.ts';
import type { ServiceParts } from '../service/service.ts';

const LIVE_PREFIX = 'sk_live_';

/** Headers that must not be repeated: which of two counts is a matter of taste. */
const SINGLE = new Set(['host', 'authorization', 'x-idempotency-key', 'content-type', 'content-length']);

/** Throws `Refused` for other hosts, and for HTTP as nobody honest speaks it. */
export function refuseStrangers({ httpVersion, url, headers, rawHeaders }: IncomingMessage, hosts: readonly string[]) {
  const refuse = (message: string, status = 400) => new Refused('invalid_request', message, status);
  if (httpVersion !== '1.1') throw refuse('Only HTTP/1.1 is spoken here.');
  if (url?.startsWith('/') !== true) throw refuse('The target of a request must be a path.');
  const seen: string[] = [];
  // Names and values stand in turn.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.includes(name)) throw refuse(`The header ${name} is given twice.`);
    seen.push(name);
  }
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    throw refuse('A body may come chunked, and no other way.');
  }
  // Node would say so itself, without our mark.
  if (headers.host === undefined) throw refuse('A request names its host.');
  if (!hosts.includes(headers.host.toLowerCase())) throw refuse('This host is not served here.', 421);
}

/** The key in a header of the form `Bearer key`. */
export const bearerIn = (header: string | undefined) => /^bearer +(\S+)$/i.exec(header ?? '')?.[1];

/**
 * Throws `unauthorized`, `environment_mismatch` for a live key, which is neither kept nor repeated, and `forbidden` where
 * the token is one that opens accounts.
 */
export function admit(parts: ServiceParts, { name, surface }: Route, header: string | undefined): void {
  const given = bearerIn(header);
  if (given === undefined) throw new Refused('unauthorized', 'Send the key as: Authorization: Bearer sk_test_...');
  if (given.startsWith(LIVE_PREFIX)) throw liveKey('This is a live key');
  const expected = surface === 'service' ? parts.key : parts.adminToken;
  if (!isSameKey(given, expected.expose())) throw new Refused('unauthorized', 'The key is not known here.');
  if (parts.accounts === undefined || name === 'accounts.open') return;
  throw new Refused('forbidden', 'This token opens accounts; each account has a token of its own.');
}

/** Throws `environment_mismatch` for a live key in a place whose text would be kept: an address, an idempotency key. */
export function refuseLiveKeys(...texts: readonly (string | undefined)[]): void {
  const found = 'A live key stands in the address, the idempotency key or the text of the request';
  for (const text of texts) if (text?.includes(LIVE_PREFIX)) throw liveKey(found);
}

const liveKey = (found: string) =>
  new Refused('environment_mismatch', `${found}: this is the sandbox, which takes none. Nothing of it was kept.`);

// That a sandbox answers, and that it is ours. Whoever found its address in a file sends no key before the server has proved that it knows the admin token: the port may belong to another program by now.

/**
 * HMAC-SHA256, lowercase hex. The port is part of it, so that a program on another port cannot pass on the answer of
 * the real server as its own; over a socket it is empty.
 */
export function proofOf(
  adminToken: Secret,
  { nonce, port }: { readonly nonce: string; readonly port: string },
): string {
  return createHmac('sha256', adminToken.expose()).update(`cardwright sandbox health\n${port}\n${nonce}`).digest('hex');
}

/** Nothing is counted or written for it. Throws `StoreBusy` when the store does not answer. */
export async function healthAnswer(
  { store, version, adminToken }: ServiceParts,
  hosts: readonly string[],
  { query: { nonce } }: Pick<ParsedRequest, 'query'>,
): Promise<Answer> {
  const row = await store.read(sql => sql.get<{ instance: string }>('select instance from meta where one = 1'));
  const port = hosts[0]?.split(':')[1] ?? '';
  const proof = typeof nonce === 'string' && { proof: proofOf(adminToken, { nonce, port }) };
  return replyAnswer(ADMIN_OPERATIONS.health, { status: 'ok', version, instance: row?.instance ?? '', ...proof });
}

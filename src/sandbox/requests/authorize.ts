/** Who may ask: the key for the service, the admin token for the admin surface (docs/design/sandbox.md, section 10). */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { withoutCode } from '../../contract/events.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import { PAGE_HALF_HEADER } from '../../contract/sandbox/basis.ts';
import { PAGE_PATH, pageMay } from '../../contract/sandbox/page.ts';
import type { KeyAccess } from '../../contract/sandbox/state.ts';
import { digestOf } from '../../core/key-print.ts';
import { Secret } from '../../core/secret.ts';
import { Refused } from '../calls/handler.ts';
import { sandboxNow } from '../clock/clock.ts';
import { type Answer, errorAnswer, replyAnswer } from '../http/answer.ts';
import { bodyOf, type ParsedRequest, type Route } from '../http/request.ts';
import {
  browserRefusal,
  type InspectorSessions,
  isForPage,
  isFromPage,
  PAGE_HEADERS,
} from '../page/inspector-sessions.ts';
import { isoTime } from '../rules/dates.ts';
import type { ServiceParts } from '../service/service.ts';
import { type ApiKeyRow, allApiKeys, apiKeyByDigest } from '../store/requests.ts';

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

/** Refuses a live key anywhere in a body or a query: in a label, a note, an address, in names too. */
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

// What is refused before anything is looked at: other hosts, browsers, and HTTP as nobody honest speaks it.

/** A refusal by the server itself, not by the service; 421 has no word of the service. */
interface Turned {
  readonly status: 400 | 403 | 421;
  readonly error: 'invalid_request' | 'forbidden';
  readonly message: string;
}

/** Headers that must not be repeated: which of two counts is a matter of taste. */
const SINGLE = new Set(['host', 'authorization', 'x-idempotency-key', 'content-type', 'content-length']);

/** `door` is that of the inspector: closed, or missing, it changes nothing. */
export function turnedAway(
  request: IncomingMessage,
  hosts: readonly string[],
  door: InspectorSessions | undefined,
): Turned | undefined {
  if (request.httpVersion !== '1.1') return bad('Only HTTP/1.1 is spoken here.');
  if (request.url === undefined || !request.url.startsWith('/')) return bad('The target of a request must be a path.');
  const repeated = repeatedIn(request.rawHeaders);
  if (repeated !== undefined) return bad(`The header ${repeated} is given twice.`);
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    return bad('A body may come chunked, and no other way.');
  // Node would say so itself, without our mark.
  if (request.headers.host === undefined) return bad('A request names its host.');
  if (!hosts.includes(request.headers.host?.toLowerCase() ?? '')) {
    return { status: 421, error: 'invalid_request', message: 'This host is not served here.' };
  }
  const { method = '', url, headers } = request;
  if (door?.isOpen === true && url.startsWith(PAGE_PATH)) {
    const refusal = browserRefusal({ method, url, headers }, door);
    return refusal && { ...refusal, error: refusal.status === 403 ? 'forbidden' : 'invalid_request' };
  }
  if (isFromPage(request)) return { status: 403, error: 'forbidden', message: 'Web pages may not use the sandbox.' };
  return undefined;
}

function bad(message: string): Turned {
  return { status: 400, error: 'invalid_request', message };
}

/** The first header that must not be repeated and is; names and values stand in turn. */
function repeatedIn(rawHeaders: readonly string[]): string | undefined {
  const seen: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.includes(name)) return name;
    seen.push(name);
  }
  return undefined;
}

// keys, keys.create, and what a key that was made is good for.

export async function listKeys({ store }: ServiceParts): Promise<ReplyOf<AdminOperations['keys']>> {
  const rows = await store.read(sql => allApiKeys(sql));
  return { data: rows.map(shown), page: {} };
}

/** 256 random bits, whatever the seed: a key that can be foretold is none. */
export async function createKey(
  { store, clock, random }: ServiceParts,
  { access = 'full' }: { readonly access?: KeyAccess },
): Promise<ReplyOf<AdminOperations['keys.create']>> {
  const key = `sk_test_${Buffer.from(random.bytes(32)).toString('base64url')}`;
  const id = `key_${Buffer.from(random.bytes(12)).toString('hex')}`;
  const row = await store.write(async sql => {
    const created_at = await sandboxNow(sql, clock.now());
    const made: ApiKeyRow = { id, digest: digestOf(key), last4: key.slice(-4), access, created_at };
    await sql.insert('api_keys', made);
    return made;
  });
  return { ...shown(row), key: new Secret(key) };
}

/**
 * Lets in whoever shows a key that was made, as far as it reaches. Throws what `unknown` is for any other, and
 * `unauthorized` for a revoked one, `forbidden` where one that only reads would change or reveal something.
 */
export async function admitMadeKey(
  { store }: ServiceParts,
  { route, header, unknown }: { readonly route: Route; readonly header: string | undefined; readonly unknown: Refused },
): Promise<void> {
  const given = bearerIn(header);
  if (given === undefined || unknown.refusal !== 'unauthorized') throw unknown;
  const made = await store.read(sql => apiKeyByDigest(sql, digestOf(given)));
  if (made === undefined) throw unknown;
  if (made.access === 'revoked') throw new Refused('unauthorized', 'The key was revoked.');
  if (made.access === 'read_only' && route.row.effect !== 'read') {
    throw new Refused('forbidden', 'The key may read, and nothing else.');
  }
}

function shown({ id, last4, access, created_at }: ApiKeyRow) {
  return { id, last4, access, created_at: isoTime(created_at) };
}

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
async function healthOf({ store, version }: ServiceParts) {
  const row = await store.read(sql => sql.get<{ instance: string }>('select instance from meta where one = 1'));
  return { status: 'ok', version, instance: row?.instance ?? '' };
}

export async function healthAnswer(
  parts: ServiceParts,
  hosts: readonly string[],
  { query }: Pick<ParsedRequest, 'query'>,
): Promise<Answer> {
  const { nonce } = query;
  const port = hosts[0]?.split(':')[1] ?? '';
  const proof = typeof nonce === 'string' ? proofOf(parts.adminToken, { nonce, port }) : undefined;
  return replyAnswer(ADMIN_OPERATIONS.health, { ...(await healthOf(parts)), ...(proof !== undefined && { proof }) });
}

// Requests of the inspector's page: its files, its session, and what that session may ask.

/** A file of the page; undefined where the request is for something else. The gate let it in. */
export function pageFileAnswer(
  door: InspectorSessions | undefined,
  url: string,
  named: () => string,
): Answer | undefined {
  if (door?.isOpen !== true || !isForPage(url)) return undefined;
  const file = door.file(url === PAGE_PATH ? 'index.html' : url.slice(PAGE_PATH.length));
  if (file !== undefined) return { status: 200, headers: { 'Content-Type': file.type }, body: file.text };
  const message = 'The inspector has no such file.';
  return errorAnswer({ status: 404, error: 'route_not_found', message }, named());
}

/**
 * How to get in, for a person who typed the address of the server: nothing of the store, and as before no page. Once the
 * inspector is open, `/` leads to it. Undefined for every other request.
 */
export function wayIn(
  door: InspectorSessions | undefined,
  { method, url, headers }: IncomingMessage,
): Answer | undefined {
  const isTyped = headers['sec-fetch-site'] === 'none' && headers['sec-fetch-mode'] === 'navigate';
  if (door === undefined || method !== 'GET' || !isTyped || headers['sec-fetch-dest'] !== 'document') return undefined;
  if (url === '/' && door.isOpen) {
    return {
      status: 303,
      headers: { Location: `http://${door.host}${PAGE_PATH}`, 'Cache-Control': 'no-store' },
      body: '',
    };
  }
  const file = url === '/' || (url === PAGE_PATH && !door.isOpen) ? door.file('way-in.html') : undefined;
  if (file === undefined) return undefined;
  const policy = PAGE_HEADERS['Content-Security-Policy']
    ?.replace("script-src 'self'", `script-src ${hashIn(file.text, 'script')}`)
    .replace("style-src 'self'", `style-src ${hashIn(file.text, 'style')}`);
  const headersOfPage = { ...PAGE_HEADERS, 'Content-Security-Policy': policy ?? '', 'Content-Type': file.type };
  return { status: 404, headers: headersOfPage, body: file.text };
}

/** The digest of what stands between these tags, as a policy names it. */
function hashIn(html: string, tag: string): string {
  const text = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] ?? '';
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Throws `unauthorized` without a session, `forbidden` for what it may not ask. */
export function admitSession(door: InspectorSessions, headers: IncomingHttpHeaders, { name, row }: Route): void {
  const half = headers[PAGE_HALF_HEADER.toLowerCase()];
  const access = door.admitted(typeof half === 'string' ? half : undefined, headers.cookie);
  if (access === undefined) {
    throw new Refused('unauthorized', 'The session of this page is over. Open it again: cardwright sandbox open');
  }
  if (!pageMay(name, row.leavesNoTrace === true, access)) {
    const why = access === 'look' ? 'This session may look and change nothing.' : 'The page may not ask for this.';
    throw new Refused('forbidden', why);
  }
}

/** Whether a request that the gate let in came from the page. */
export function isOfPage(door: InspectorSessions | undefined, headers: IncomingHttpHeaders): door is InspectorSessions {
  return door?.isOpen === true && isFromPage({ headers });
}

/** What a page is told of events has no one-time code in it. */
export function withoutCodes(name: string, reply: unknown): unknown {
  if (name !== 'events') return reply;
  const { data, ...rest } = reply as { readonly data: readonly { readonly type: string; readonly body: string }[] };
  return { ...rest, data: data.map(event => ({ ...event, body: withoutCode(event.type, event.body) })) };
}

/** Throws `forbidden` for whoever is no page, `unauthorized` for another ticket than the one that waits. */
export function sessionAnswer(door: InspectorSessions | undefined, parsed: ParsedRequest): Answer {
  const { ticket } = bodyOf(parsed) as { readonly ticket: string };
  if (!isOfPage(door, parsed.headers)) throw new Refused('forbidden', 'A session is for the page of the inspector.');
  const redeemed = door.redeem(ticket);
  if (redeemed === undefined) {
    throw new Refused('unauthorized', 'This ticket is used or over. Make another: cardwright sandbox open');
  }
  const { half, cookie, access } = redeemed;
  const answer = replyAnswer(ADMIN_OPERATIONS['page.session'], { half, access });
  const kept = `${door.cookieName}=${cookie}; HttpOnly; SameSite=Strict; Path=${PAGE_PATH}`;
  return { ...answer, headers: { ...answer.headers, 'Set-Cookie': kept } };
}

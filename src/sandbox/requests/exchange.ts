/**
 * One request to one answer, step by step in the order of A-115: who asks, route, key, what was sent, then the work. A step
 * answers, refuses by throwing `Refused`, or leaves the request to the next one.
 */
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { OperationName } from '../../contract/calls.ts';
import { HEADERS } from '../../contract/envelopes.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { PAGE_PATH } from '../../contract/sandbox/page.ts';
import { isSameKey } from '../../core/key-print.ts';
import type { Secret } from '../../core/secret.ts';
import { isFull } from '../../engine/open.ts';
import { idOf } from '../calls/deterministic-ids.ts';
import { Refused } from '../calls/handler.ts';
import { sandboxNow } from '../clock/clock.ts';
import { FAULT_HEADER, faultInHeader, faultyAnswer } from '../faults/faults.ts';
import { type Answer, refusedAnswer, replyAnswer, withAllowance } from '../http/answer.ts';
import {
  findRoute,
  Gone,
  honouredKey,
  inputOf,
  type ParsedRequest,
  queryValues,
  type Route,
  readBody,
  refuseProblem,
  routesOf,
  surfaceOf,
} from '../http/request.ts';
import {
  admitSession,
  isOfPage,
  PAGE_HEADERS,
  pageAnswer,
  refuseBrowsers,
  sessionAnswer,
  withoutCodes,
} from '../page/inspector-sessions.ts';
import type { ServiceParts } from '../service/service.ts';
import { StoreBroken, StoreBusy } from '../store/sql.ts';
import { executeRequest, fingerprintOf, type Seen } from './execute.ts';

/** Answers requests; `hosts` are the names this server goes by. Rejects only when no answer may be given. */
export class Exchange {
  /** What it answers from. */
  readonly parts: ServiceParts;
  hosts: readonly string[] = [];
  readonly #stopping: AbortSignal;
  /** By surface and dialect; most commands speak to the service alone. */
  readonly #routes = new Map<string, readonly Route[]>();
  /** Scope and fingerprint of the requests this process is working on; others of the same key wait. */
  readonly #underWay = new Map<string, string>();

  constructor(parts: ServiceParts, stopping: AbortSignal) {
    this.parts = parts;
    this.#stopping = stopping;
  }

  async answer(request: IncomingMessage) {
    const seen: Seen = {};
    const { inspector, activeDialect } = this.parts;
    const found = await this.#answered(request, seen).catch((error: unknown) => this.#failed(error, seen));
    const isPage = inspector?.isOpen === true && request.url?.startsWith(PAGE_PATH) === true;
    const shown = isPage ? { ...found, headers: { ...PAGE_HEADERS, ...found.headers } } : found;
    const { allowance, now, appliedFault } = seen;
    const answer = activeDialect.dialect.bareHeaders === true ? shown : withAllowance(shown, allowance);
    return { answer, requestId: this.#named(seen), now, appliedFault };
  }

  async #answered(request: IncomingMessage, seen: Seen): Promise<Answer> {
    const { parts, hosts } = this;
    const { inspector } = parts;
    refuseStrangers(request, hosts);
    refuseBrowsers(inspector, request);
    const page = pageAnswer(inspector, request);
    if (page !== undefined) return page;
    const surface = surfaceOf(request.url ?? '');
    const kind = `${surface} ${parts.activeDialect.name}`;
    const routes = this.#routes.get(kind) ?? (await this.#routesOf(surface));
    this.#routes.set(kind, routes);
    const target = targetOf(routes, request);
    const { name, row, ofService, ofFile } = target.route;
    const isOpen = row.credential === 'none';
    if (!isOpen && isOfPage(inspector, request.headers)) admitSession(inspector, request.headers, target.route);
    else if (!isOpen) admit(parts, target.route, request.headers.authorization);
    if (ofFile !== undefined) return ofFile(request);
    const parsed = await this.#parsed(request, target);
    if (isOpen || name === 'stop' || row.leavesNoTrace === true) refuseProblem(parsed);
    if (name === 'page.session') return sessionAnswer(inspector, parsed);
    if (isOpen) return healthAnswer(parts, hosts, parsed);
    // Its end is nothing the store must take: that may be full, or held by another process.
    if (name === 'stop') return replyAnswer(row, await ofService?.({}));
    if (row.leavesNoTrace === true) return this.#looked(parsed, seen);
    return this.#executed(parsed, seen);
  }

  /** Most commands never ask the control surface, which is loaded for the first one that does. */
  async #routesOf(surface: Route['surface']): Promise<readonly Route[]> {
    if (surface === 'admin') return (await import('../admin/table.ts')).adminRoutes(this.parts);
    const { handlers, activeDialect } = this.parts;
    const { paths = {} } = activeDialect.dialect;
    const rows = Object.entries(OPERATIONS).map(([name, row]) => [name, { ...row, ...paths[name as OperationName] }]);
    const usual = handlers as Readonly<Record<string, unknown>> as Readonly<Record<string, Route['handler']>>;
    return routesOf('service', Object.fromEntries(rows), name => ({
      handler: activeDialect.serving(name, usual[name]),
    }));
  }

  async #parsed(
    request: IncomingMessage,
    { route, params, path, query }: ReturnType<typeof targetOf>,
  ): Promise<ParsedRequest> {
    const { headers } = request;
    const arrivedAt = this.parts.clock.monotonic();
    const header = headers[HEADERS.idempotency_key.name.toLowerCase()];
    const keySent = typeof header === 'string' ? header : undefined;
    const values = queryValues(route.row.query ?? {}, query);
    refuseLiveKeys(request.url, keySent, JSON.stringify([params, values]));
    const wish = route.surface === 'service' ? headers[FAULT_HEADER] : undefined;
    const fault = wish === undefined ? undefined : await faultInHeader(wish);
    let body: ParsedRequest['body'];
    let refused: ParsedRequest['refused'];
    let keyed: ParsedRequest['keyed'];
    try {
      body = await readBody(request);
      refuseLiveKeys(JSON.stringify(body));
      const key = honouredKey(route, this.parts.activeDialect.dialect.ignoresKeys ? undefined : keySent);
      if (key !== undefined) {
        // the account is part of the record's key already.
        const scope = `${route.row.method} ${path} ${key}`;
        const fingerprint = fingerprintOf(route.row.method, path, body);
        keyed = { scope, fingerprint, rival: this.#underWay.get(scope) };
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused = error;
    }
    const keyLast4 = String(headers.authorization).slice(-4);
    const sent = { path, query: values, queryText: query, headers, arrivedAt, keySent, keyLast4, body, refused };
    return { route, params, ...sent, keyed, fault };
  }

  /** One moment of the store, and nothing of it changes: no number, no timer, no fault, no line of a log. */
  async #looked(parsed: ParsedRequest, seen: Seen): Promise<Answer> {
    const { parts } = this;
    const { name, row, handler, ofService } = parsed.route;
    const input = inputOf(parsed);
    const reply = await parts.store.read((sql): unknown => {
      const now = sandboxNow(sql, parts.clock.now());
      // An answer carries the time of the sandbox, also one for which nothing else of the store is asked.
      seen.now = now;
      return handler?.({ sql, now, input });
    });
    const given = ofService === undefined ? reply : await ofService(input);
    return replyAnswer(row, isOfPage(parts.inspector, parsed.headers) ? withoutCodes(name, given) : given);
  }

  /** Done and counted, then told in the dialect of this server and as a fault wants it. */
  async #executed(parsed: ParsedRequest, seen: Seen): Promise<Answer> {
    const { keyed } = parsed;
    const isFirst = keyed !== undefined && keyed.rival === undefined;
    if (isFirst) this.#underWay.set(keyed.scope, keyed.fingerprint);
    try {
      const answer = await executeRequest(this.parts, parsed, { seen, stopping: this.#stopping });
      const { surface, name: operation, row } = parsed.route;
      const isAsItIs = answer === undefined || surface === 'admin';
      const spoken = isAsItIs ? answer : this.parts.activeDialect.spoken({ operation, row, answer });
      if (seen.appliedFault !== undefined) return faultyAnswer(seen.appliedFault, spoken, this.#named(seen));
      if (spoken === undefined) throw new Error(`${operation} has no answer`);
      return spoken;
    } finally {
      if (isFirst) this.#underWay.delete(keyed.scope);
    }
  }

  #failed(error: unknown, seen: Seen): Answer {
    const requestId = this.#named(seen);
    if (error instanceof Refused) return refusedAnswer(error, requestId);
    if (error instanceof StoreBusy) {
      const why = isFull(error.cause)
        ? 'The disk of the store is full; nothing of the request happened. Try again when it has room.'
        : 'The store is busy; nothing of the request happened.';
      return refusedAnswer(new Refused('service_unavailable', why), requestId);
    }
    // No trustworthy answer exists, or nobody is there to read it.
    if (error instanceof StoreBroken || error instanceof Gone) throw error;
    this.parts.onFault(error);
    return refusedAnswer(new Refused('internal_error', 'A fault of the sandbox. This is a bug.'), requestId);
  }

  nameByChance(): string {
    return idOf('req', Buffer.from(this.parts.random.bytes(20)).toString('hex'));
  }

  /** Requests that are refused before they are counted get random ids, so that they cost no write. */
  #named(seen: Seen): string {
    seen.requestId ??= this.nameByChance();
    return seen.requestId;
  }
}

/** The row that is asked for; a missing or wrong key comes before neither route nor method. */
function targetOf(routes: readonly Route[], { url = '', method = '' }: IncomingMessage) {
  const mark = url.indexOf('?');
  const [path, query] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
  return { ...findRoute(routes, method, path), path, query };
}

// Who may ask: the key for the service, the admin token for the control surface (docs/design/sandbox.md, section 10).

const LIVE_PREFIX = 'sk_live_';

/** Headers that must not be repeated: which of two counts is a matter of taste. */
const SINGLE = new Set(['host', 'authorization', 'x-idempotency-key', 'content-type', 'content-length']);

/** Throws `Refused` for other hosts, and for HTTP as nobody honest speaks it. */
function refuseStrangers({ httpVersion, url, headers, rawHeaders }: IncomingMessage, hosts: readonly string[]) {
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
function admit(parts: ServiceParts, { name, surface }: Route, header: string | undefined): void {
  const given = bearerIn(header);
  if (given === undefined) throw new Refused('unauthorized', 'Send the key as: Authorization: Bearer sk_test_...');
  if (given.startsWith(LIVE_PREFIX)) throw liveKey('This is a live key');
  const expected = surface === 'service' ? parts.key : parts.adminToken;
  if (!isSameKey(given, expected.expose())) throw new Refused('unauthorized', 'The key is not known here.');
  if (parts.accounts === undefined || name === 'accounts.open') return;
  throw new Refused('forbidden', 'This token opens accounts; each account has a token of its own.');
}

/** Throws `environment_mismatch` for a live key in a place whose text would be kept: an address, an idempotency key. */
function refuseLiveKeys(...texts: readonly (string | undefined)[]): void {
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
async function healthAnswer(
  { store, version, adminToken }: ServiceParts,
  hosts: readonly string[],
  { route: { row }, query: { nonce } }: ParsedRequest,
): Promise<Answer> {
  const statement = 'select instance from meta where one = 1';
  const { instance } = await store.read(sql => sql.one<{ instance: string }>(statement));
  const port = hosts[0]?.split(':')[1] ?? '';
  const proof = typeof nonce === 'string' && { proof: proofOf(adminToken, { nonce, port }) };
  return replyAnswer(row, { status: 'ok', version, instance, ...proof });
}

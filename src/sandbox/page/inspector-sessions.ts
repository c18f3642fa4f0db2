/**
 * The way into the inspector: tickets, sessions of two halves, and the files of the page. Nothing is there before the
 * first ticket. A cookie knows no port, and a script can read what it keeps itself: one half alone is worth nothing.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { withoutCode } from '../../contract/events.ts';
import { ADMIN_PATH, PAGE_HALF_HEADER } from '../../contract/sandbox/basis.ts';
import {
  MOST_SESSIONS,
  PAGE_PATH,
  type PageAccess,
  pageMay,
  SESSION_LIFE,
  TICKET_LIFE,
  WRONG_TICKETS,
} from '../../contract/sandbox/page.ts';
import { digestOf, isSameKey } from '../../core/key-print.ts';
import type { Clock, Randomness } from '../../platform/host.ts';
import { Refused } from '../calls/handler.ts';
import { type Answer, replyAnswer } from '../http/answer.ts';
import { bodyOf, type ParsedRequest, type Route } from '../http/request.ts';

/** A file of the page, as it is sent. */
interface PageFile {
  readonly type: string;
  readonly text: string;
}

/** Files by name; `index.html` is the page itself. */
export type PageFiles = Readonly<Record<string, PageFile>>;

interface PageHost {
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  readonly random: Randomness;
  /** Read when the page is first asked for. */
  readonly files: () => PageFiles;
}

/** What a ticket or both halves of a session open, by their digest, and until when: ms of the clock that never jumps. */
interface Pass {
  readonly digest: string;
  readonly access: PageAccess;
  readonly until: number;
}

export class InspectorSessions {
  readonly #host: PageHost;
  #files: PageFiles | undefined;
  #port: string | undefined;
  #ticket: (Pass & { wrong: number }) | undefined;
  #sessions: readonly Pass[] = [];
  #isOpen = false;
  #opened = 0;

  constructor(host: PageHost) {
    this.#host = host;
  }

  /** Told where the server listens. */
  listensAt(port: string): void {
    this.#port = port;
  }

  /** A ticket was made since the server began: from then on it tells browsers more than no. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The one name by which a browser reaches the page. */
  get host(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get cookieName(): string {
    return `cardwright-${this.#port}`;
  }

  /** A new ticket; one that waits is void. */
  ticket(access: PageAccess): { readonly ticket: string; readonly expiresAt: number } {
    const ticket = this.#secret();
    const { clock } = this.#host;
    this.#ticket = { digest: digestOf(ticket), access, until: clock.monotonic() + TICKET_LIFE, wrong: 0 };
    this.#isOpen = true;
    return { ticket, expiresAt: clock.now() + TICKET_LIFE };
  }

  /** Undefined for anything but the ticket that waits. */
  redeem(given: string) {
    const ticket = this.#waiting();
    if (ticket === undefined) return undefined;
    if (!isSameKey(digestOf(given), ticket.digest)) {
      ticket.wrong += 1;
      return undefined;
    }
    this.#ticket = undefined;
    this.#opened += 1;
    const [half, cookie] = [this.#secret(), this.#secret()];
    const until = this.#host.clock.monotonic() + SESSION_LIFE;
    const session = { digest: digestOf(`${half} ${cookie}`), access: ticket.access, until };
    this.#sessions = [...this.#sessions, session].slice(-MOST_SESSIONS);
    return { half, cookie, access: ticket.access };
  }

  /** What the session of these two halves may do; undefined where they belong to none, or to two. */
  admitted(half: string | undefined, cookies: string | undefined): PageAccess | undefined {
    const given = digestOf(`${half} ${cookieNamed(this.cookieName, cookies)}`);
    return this.#live().find(({ digest }) => isSameKey(given, digest))?.access;
  }

  /** Ends everything; resolves to the number of sessions there were. */
  end(): number {
    const { length } = this.#live();
    this.#sessions = [];
    this.#ticket = undefined;
    return length;
  }

  /** How many sessions there are and ever were, and whether a ticket waits. */
  get facts() {
    return { sessions: this.#live().length, opened: this.#opened, ticket_waits: this.#waiting() !== undefined };
  }

  /** A file of the page by its path; undefined where there is none. */
  file(name: string): PageFile | undefined {
    this.#files ??= this.#host.files();
    return Object.hasOwn(this.#files, name) ? this.#files[name] : undefined;
  }

  #waiting() {
    const { until = 0, wrong = 0 } = this.#ticket ?? {};
    if (until <= this.#host.clock.monotonic() || wrong >= WRONG_TICKETS) this.#ticket = undefined;
    return this.#ticket;
  }

  #live(): readonly Pass[] {
    const now = this.#host.clock.monotonic();
    this.#sessions = this.#sessions.filter(({ until }) => until > now);
    return this.#sessions;
  }

  /** 192 random bits. */
  #secret(): string {
    return Buffer.from(this.#host.random.bytes(24)).toString('base64url');
  }
}

/** Undefined where it is missing, and where it stands twice: which of two counts is a matter of taste. */
function cookieNamed(name: string, header: string | undefined): string | undefined {
  const found = (header ?? '').split(/\s*;\s*/).filter(part => part.startsWith(`${name}=`));
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined;
}

// What a browser may ask for once the inspector is open, by what it says itself about a request.

const POLICY = 'Content-Security-Policy';

/** Headers of every answer below `/_sandbox/`, once the inspector is open. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  [POLICY]: [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'clipboard-write=(self)',
};

/** Whether it came from a page of some browser, by the headers that no script can set. */
export function isFromPage({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  return headers.origin !== undefined || (site !== undefined && site !== 'none');
}

/** Whether a request that the gate let in came from the page. */
export function isOfPage(
  inspector: InspectorSessions | undefined,
  headers: IncomingHttpHeaders,
): inspector is InspectorSessions {
  return inspector?.isOpen === true && isFromPage({ headers });
}

/** Whether it is for the page or one of its files. */
const isForPage = (url: string) => url.startsWith(PAGE_PATH) && !url.startsWith(`${ADMIN_PATH}/`);

/**
 * Once the inspector is open a browser gets to the page, to a file of it, and from the page to a row that then asks for the
 * session; before that, and to anything else, nowhere. Throws `Refused`.
 */
export function refuseBrowsers(inspector: InspectorSessions | undefined, request: IncomingMessage): void {
  const { url = '', headers } = request;
  const isForInspector = inspector?.isOpen === true && url.startsWith(PAGE_PATH);
  const toPage = isForInspector && isForPage(url);
  if (!toPage && !isFromPage(request)) {
    if (!isForInspector || headers.authorization === undefined) return;
    const half = headers[PAGE_HALF_HEADER.toLowerCase()];
    if (half === undefined && headers.cookie?.includes(`${inspector.cookieName}=`) !== true) return;
    throw new Refused('invalid_request', 'A request has a token, or a session of the page: not both.');
  }
  if (isForInspector && headers.host !== inspector.host) {
    throw new Refused('invalid_request', `The inspector stands at http://${inspector.host} alone.`, 421);
  }
  if (isForInspector && (toPage ? isForFile(request) : isOwnData(request, inspector))) return;
  const isBrowser = isFromPage(request) || headers['sec-fetch-site'] !== undefined;
  throw new Refused('forbidden', isBrowser ? 'Web pages may not use the sandbox.' : HOW_TO_GET_IN);
}

/** For a program that asks for the page. */
const HOW_TO_GET_IN = 'The service answers below /v1. Its inspector is for a browser: cardwright sandbox open';

/** The page is gone to, from wherever; its files are for the page alone. */
function isForFile({ method, url, headers }: IncomingMessage): boolean {
  if (method !== 'GET') return false;
  if (url === PAGE_PATH) return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return headers['sec-fetch-site'] === 'same-origin';
}

function isOwnData({ method, headers }: IncomingMessage, inspector: InspectorSessions): boolean {
  const { origin, authorization } = headers;
  if (authorization !== undefined) return false;
  const isOwn = origin === undefined ? method === 'GET' : origin === `http://${inspector.host}`;
  return isOwn && headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-mode'] === 'same-origin';
}

// What a page is answered: its files, its session, and how to get in.

/** A file of the page, or the way to it; undefined where the request is for something else. Throws `route_not_found`. */
export function pageAnswer(inspector: InspectorSessions | undefined, request: IncomingMessage): Answer | undefined {
  const { url = '' } = request;
  if (inspector === undefined) return undefined;
  if (url === '/' || (url === PAGE_PATH && !inspector.isOpen)) return wayIn(inspector, request);
  if (!inspector.isOpen || !isForPage(url)) return undefined;
  const file = inspector.file(url === PAGE_PATH ? 'index.html' : url.slice(PAGE_PATH.length));
  if (file === undefined) throw new Refused('route_not_found', 'The inspector has no such file.');
  const policy = url === PAGE_PATH ? { [POLICY]: policyOf(file.text) } : {};
  // A browser asks for the icon whenever the address changes, with every page of a list.
  const kept = file.type === 'image/svg+xml' ? { 'Cache-Control': 'max-age=86400' } : {};
  return { status: 200, headers: { 'Content-Type': file.type, ...policy, ...kept }, body: file.text };
}

/**
 * For a person who typed the address of the server: how to get in, which is nothing of the store and no page. Once the
 * inspector is open, `/` leads to it. Throws `route_not_found` for everybody else.
 */
function wayIn(inspector: InspectorSessions, { method, headers }: IncomingMessage): Answer {
  const isTyped = headers['sec-fetch-site'] === 'none' && headers['sec-fetch-mode'] === 'navigate';
  const isPerson = method === 'GET' && isTyped && headers['sec-fetch-dest'] === 'document';
  const file = isPerson ? inspector.file('way-in.html') : undefined;
  if (file === undefined) throw new Refused('route_not_found', HOW_TO_GET_IN);
  if (inspector.isOpen) {
    const leads = { Location: `http://${inspector.host}${PAGE_PATH}`, 'Cache-Control': 'no-store' };
    return { status: 303, headers: leads, body: '' };
  }
  const policy = policyOf(file.text).replace("img-src 'self'", 'img-src data:');
  return { status: 404, headers: { ...PAGE_HEADERS, [POLICY]: policy, 'Content-Type': file.type }, body: file.text };
}

/** The policy for a page: its own script and style, which stand in it, are let through by their digests. */
function policyOf(html: string): string {
  let policy = PAGE_HEADERS[POLICY] ?? '';
  for (const [, tag = '', text = ''] of html.matchAll(/<(script|style)>([\s\S]*?)<\/\1>/g)) {
    const digest = createHash('sha256').update(text).digest('base64');
    policy = policy.replace(`${tag}-src 'self'`, `${tag}-src 'self' 'sha256-${digest}'`);
  }
  return policy;
}

/** Throws `forbidden` for whoever is no page, `unauthorized` for another ticket than the one that waits. */
export function sessionAnswer(inspector: InspectorSessions | undefined, parsed: ParsedRequest): Answer {
  const { ticket } = bodyOf(parsed) as { readonly ticket: string };
  if (!isOfPage(inspector, parsed.headers))
    throw new Refused('forbidden', 'A session is for the page of the inspector.');
  const redeemed = inspector.redeem(ticket);
  if (redeemed === undefined) {
    throw new Refused('unauthorized', 'This ticket is used or over. Make another: cardwright sandbox open');
  }
  const { half, cookie, access } = redeemed;
  const kept = `${inspector.cookieName}=${cookie}; HttpOnly; SameSite=Strict; Path=${PAGE_PATH}`;
  return { ...replyAnswer(parsed.route.row, { half, access }), headers: { 'Set-Cookie': kept } };
}

/** Throws `unauthorized` without a session, `forbidden` for what it may not ask. */
export function admitSession(inspector: InspectorSessions, headers: IncomingHttpHeaders, { name, row }: Route): void {
  const half = headers[PAGE_HALF_HEADER.toLowerCase()];
  const access = inspector.admitted(typeof half === 'string' ? half : undefined, headers.cookie);
  if (access === undefined) {
    throw new Refused('unauthorized', 'The session of this page is over. Open it again: cardwright sandbox open');
  }
  if (pageMay(name, row.leavesNoTrace === true, access)) return;
  const why = access === 'look' ? 'This session may look and change nothing.' : 'The page may not ask for this.';
  throw new Refused('forbidden', why);
}

/** What a page is told of events has no one-time code in it. */
export function withoutCodes(name: string, reply: unknown): unknown {
  if (name !== 'events') return reply;
  const { data, ...rest } = reply as { readonly data: readonly { readonly type: string; readonly body: string }[] };
  return { ...rest, data: data.map(event => ({ ...event, body: withoutCode(event.type, event.body) })) };
}

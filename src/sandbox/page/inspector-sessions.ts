/**
 * The way into the inspector: tickets, sessions of two halves, and the files of the page. Nothing is there before the
 * first ticket. A cookie knows no port, and a script can read what it keeps itself: one half alone is worth nothing.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ADMIN_PATH, PAGE_HALF_HEADER } from '../../contract/sandbox/basis.ts';
import {
  MOST_SESSIONS,
  PAGE_PATH,
  type PageAccess,
  SESSION_LIFE,
  TICKET_LIFE,
  WRONG_TICKETS,
} from '../../contract/sandbox/page.ts';
import type { Clock, Randomness } from '../../platform/host.ts';

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

/** What a session is made of, once. */
interface Redeemed {
  readonly half: string;
  readonly cookie: string;
  readonly access: PageAccess;
}

interface Ticket {
  readonly digest: Buffer;
  readonly access: PageAccess;
  /** By the clock that never jumps, ms. */
  readonly until: number;
  wrong: number;
}

interface Session {
  readonly cookie: Buffer;
  readonly half: Buffer;
  readonly access: PageAccess;
  readonly until: number;
}

export class InspectorSessions {
  readonly #host: PageHost;
  #files: PageFiles | undefined;
  #port: string | undefined;
  #ticket: Ticket | undefined;
  #sessions: Session[] = [];
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
  redeem(given: string): Redeemed | undefined {
    const ticket = this.#waiting();
    if (ticket === undefined) return undefined;
    if (!timingSafeEqual(digestOf(given), ticket.digest)) {
      ticket.wrong += 1;
      return undefined;
    }
    this.#ticket = undefined;
    this.#opened += 1;
    const [half, cookie] = [this.#secret(), this.#secret()];
    const until = this.#host.clock.monotonic() + SESSION_LIFE;
    const session = { half: digestOf(half), cookie: digestOf(cookie), access: ticket.access, until };
    this.#sessions = [...this.#sessions, session].slice(-MOST_SESSIONS);
    return { half, cookie, access: ticket.access };
  }

  /** What the session of these two halves may do; undefined where they belong to none, or to two. */
  admitted(half: string | undefined, cookies: string | undefined): PageAccess | undefined {
    const given = cookieNamed(this.cookieName, cookies);
    if (half === undefined || given === undefined) return undefined;
    const [left, right] = [digestOf(half), digestOf(given)];
    const isThis = (session: Session) => timingSafeEqual(session.half, left) && timingSafeEqual(session.cookie, right);
    return this.#live().find(isThis)?.access;
  }

  /** Ends everything; resolves to the number of sessions there were. */
  end(): number {
    const { length } = this.#live();
    this.#sessions = [];
    this.#ticket = undefined;
    return length;
  }

  /** Sessions that were ever made, those that are over too. */
  get opened(): number {
    return this.#opened;
  }

  get sessions(): number {
    return this.#live().length;
  }

  get ticketWaits(): boolean {
    return this.#waiting() !== undefined;
  }

  /** A file of the page by its path; undefined where there is none. */
  file(name: string): PageFile | undefined {
    this.#files ??= this.#host.files();
    return Object.hasOwn(this.#files, name) ? this.#files[name] : undefined;
  }

  #waiting(): Ticket | undefined {
    const ticket = this.#ticket;
    const isVoid =
      ticket === undefined || ticket.until <= this.#host.clock.monotonic() || ticket.wrong >= WRONG_TICKETS;
    if (isVoid) this.#ticket = undefined;
    return this.#ticket;
  }

  #live(): readonly Session[] {
    const now = this.#host.clock.monotonic();
    this.#sessions = this.#sessions.filter(({ until }) => until > now);
    return this.#sessions;
  }

  /** 192 random bits. */
  #secret(): string {
    return Buffer.from(this.#host.random.bytes(24)).toString('base64url');
  }
}

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** Undefined where it is missing, and where it stands twice: which of two counts is a matter of taste. */
function cookieNamed(name: string, header: string | undefined): string | undefined {
  const parts = (header ?? '').split(';').map(part => part.trim());
  const found = parts.filter(part => part.startsWith(`${name}=`));
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined;
}

// What a browser may ask for once the door of the inspector is open, by what it says itself about a request.

/** Headers of every answer below `/_sandbox/`, once the door is open. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
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

/** A request as the gate sees it. */
interface BrowserRequest {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** Why a browser gets no further. */
interface BrowserRefusal {
  readonly status: 400 | 403 | 421;
  readonly message: string;
}

const FORBIDDEN: BrowserRefusal = { status: 403, message: 'Web pages may not use the sandbox.' };

/** Whether it came from a page of some browser, by the headers that no script can set. */
export function isFromPage({ headers }: Pick<BrowserRequest, 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  return headers.origin !== undefined || (site !== undefined && site !== 'none');
}

/** Whether it is for the page or one of its files. */
export function isForPage(url: string): boolean {
  return url.startsWith(PAGE_PATH) && !url.startsWith(`${ADMIN_PATH}/`);
}

/** Undefined for what may go on: to the page, a file of it, or a row that then asks for the session. */
export function browserRefusal(request: BrowserRequest, door: InspectorSessions): BrowserRefusal | undefined {
  const { url, headers } = request;
  const toPage = isForPage(url);
  if (!toPage && !isFromPage(request)) return hasBothKinds(headers, door) ? BOTH_KINDS : undefined;
  if (headers.host !== door.host) return { status: 421, message: `The inspector stands at http://${door.host} alone.` };
  if (toPage) return isForFile(request) ? undefined : FORBIDDEN;
  return isOwnData(request, door) ? undefined : FORBIDDEN;
}

const BOTH_KINDS: BrowserRefusal = {
  status: 400,
  message: 'A request has a token, or a session of the page: not both.',
};

function hasBothKinds({ authorization, cookie, ...headers }: IncomingHttpHeaders, door: InspectorSessions): boolean {
  const isSession = headers[PAGE_HALF_HEADER.toLowerCase()] !== undefined || cookie?.includes(`${door.cookieName}=`);
  return authorization !== undefined && isSession === true;
}

/** The page is gone to, from wherever; its files are for the page alone. */
function isForFile({ method, url, headers }: BrowserRequest): boolean {
  if (method !== 'GET') return false;
  if (url === PAGE_PATH) return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return headers['sec-fetch-site'] === 'same-origin';
}

function isOwnData({ method, headers }: BrowserRequest, door: InspectorSessions): boolean {
  const { origin, authorization } = headers;
  if (authorization !== undefined) return false;
  const isOwn = origin === undefined ? method === 'GET' : origin === `http://${door.host}`;
  return isOwn && headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-mode'] === 'same-origin';
}

/** What a browser may ask for once the door of the inspector is open, by what it says itself about a request. */
import type { IncomingHttpHeaders } from 'node:http';
import { ADMIN_PATH, PAGE_HALF_HEADER } from '../../contract/sandbox/basis.ts';
import { PAGE_PATH } from '../../contract/sandbox/page.ts';
import type { PageDoor } from './door.ts';

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
export interface BrowserRequest {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** Why a browser gets no further. */
export interface BrowserRefusal {
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
export function browserRefusal(request: BrowserRequest, door: PageDoor): BrowserRefusal | undefined {
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

function hasBothKinds({ authorization, cookie, ...headers }: IncomingHttpHeaders, door: PageDoor): boolean {
  const isSession = headers[PAGE_HALF_HEADER.toLowerCase()] !== undefined || cookie?.includes(`${door.cookieName}=`);
  return authorization !== undefined && isSession === true;
}

/** The page is gone to, from wherever; its files are for the page alone. */
function isForFile({ method, url, headers }: BrowserRequest): boolean {
  if (method !== 'GET') return false;
  if (url === PAGE_PATH) return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return headers['sec-fetch-site'] === 'same-origin';
}

function isOwnData({ method, headers }: BrowserRequest, door: PageDoor): boolean {
  const { origin, authorization } = headers;
  if (authorization !== undefined) return false;
  const isOwn = origin === undefined ? method === 'GET' : origin === `http://${door.host}`;
  return isOwn && headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-mode'] === 'same-origin';
}

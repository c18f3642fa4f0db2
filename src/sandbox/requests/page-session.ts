/** Requests of the inspector's page: its files, its session, and what that session may ask. */
import type { IncomingHttpHeaders } from 'node:http';
import { withoutCode } from '../../contract/event-code.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { PAGE_HALF_HEADER } from '../../contract/sandbox/basis.ts';
import { PAGE_PATH, pageMay } from '../../contract/sandbox/page.ts';
import { Refused } from '../calls/handler.ts';
import { type Answer, errorAnswer, replyAnswer } from '../http/answer.ts';
import { bodyOf, type ParsedRequest } from '../http/request.ts';
import type { Route } from '../http/routing.ts';
import { isForPage, isFromPage } from '../page/browser-gate.ts';
import type { PageDoor } from '../page/door.ts';

/** A file of the page; undefined where the request is for something else. The gate let it in. */
export function pageFileAnswer(door: PageDoor | undefined, url: string, named: () => string): Answer | undefined {
  if (door?.isOpen !== true || !isForPage(url)) return undefined;
  const file = door.file(url === PAGE_PATH ? 'index.html' : url.slice(PAGE_PATH.length));
  if (file !== undefined) return { status: 200, headers: { 'Content-Type': file.type }, body: file.text };
  const message = 'The inspector has no such file.';
  return errorAnswer({ status: 404, error: 'route_not_found', message }, named());
}

/** Throws `unauthorized` without a session, `forbidden` for what it may not ask. */
export function admitSession(door: PageDoor, headers: IncomingHttpHeaders, { name, row }: Route): void {
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
export function isOfPage(door: PageDoor | undefined, headers: IncomingHttpHeaders): door is PageDoor {
  return door?.isOpen === true && isFromPage({ headers });
}

/** What a page is told of events has no one-time code in it. */
export function withoutCodes(name: string, reply: unknown): unknown {
  if (name !== 'events') return reply;
  const { data, ...rest } = reply as { readonly data: readonly { readonly type: string; readonly body: string }[] };
  return { ...rest, data: data.map(event => ({ ...event, body: withoutCode(event.type, event.body) })) };
}

/** Throws `forbidden` for whoever is no page, `unauthorized` for another ticket than the one that waits. */
export function sessionAnswer(door: PageDoor | undefined, parsed: ParsedRequest): Answer {
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

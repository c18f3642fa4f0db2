/** What is refused before anything is looked at: other hosts, browsers, and HTTP as nobody honest speaks it. */
import type { IncomingMessage } from 'node:http';
import { PAGE_PATH } from '../../contract/sandbox/page.ts';
import { browserRefusal, isFromPage } from '../page/browser-gate.ts';
import type { PageDoor } from '../page/door.ts';

/** A refusal by the server itself, not by the service; 421 has no word of the service. */
export interface Turned {
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
  door: PageDoor | undefined,
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

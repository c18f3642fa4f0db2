/** What is refused before anything is looked at: other hosts, browsers, and HTTP as nobody honest speaks it. */
import type { IncomingMessage } from 'node:http';

/** A refusal by the server itself, not by the service; 421 has no word of the service. */
export interface Turned {
  readonly status: 400 | 403 | 421;
  readonly error: 'invalid_request' | 'forbidden';
  readonly message: string;
}

/** Headers that must not be repeated: which of two counts is a matter of taste. */
const SINGLE = new Set(['host', 'authorization', 'x-idempotency-key', 'content-type', 'content-length']);

export function turnedAway(request: IncomingMessage, hosts: readonly string[]): Turned | undefined {
  if (request.httpVersion !== '1.1') return bad('Only HTTP/1.1 is spoken here.');
  if (request.url?.startsWith('/') !== true) return bad('The target of a request must be a path.');
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
  const site = request.headers['sec-fetch-site'];
  if (request.headers.origin !== undefined || (site !== undefined && site !== 'none')) {
    return { status: 403, error: 'forbidden', message: 'Web pages may not use the sandbox.' };
  }
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

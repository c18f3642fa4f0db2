/** A proxy between client and service that loses, breaks or delays single requests, and can take keys away. */
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** In the form of the service (interface 2.7): an answer in no form may follow the deed. */
const UNAUTHORIZED = JSON.stringify({
  error: 'unauthorized',
  message: 'no such key',
  code: 401,
  request_id: 'req_401',
});

export type Fault =
  /** It passes, and counts as one of those told. */
  | 'none'
  /** The connection is cut before the service sees the request. */
  | 'drop-before'
  /** The service does it, and the answer is lost. */
  | 'drop-after'
  /** The service does it, and a gateway answers instead. */
  | 'html-502'
  /** The service does it at once and is answered for only after `delayMs`. */
  | 'late-answer'
  /** The service does it at once and is answered for only after `release`. */
  | 'held-answer'
  /** Answered 401 by something on the way; the service sees nothing. */
  | 'unauthorized'
  /** Answered 429 with `Retry-After: 1`; the service sees nothing. */
  | 'throttled'
  /** The service does it, and something on the way counts it and answers 429 with `Retry-After: 1`. */
  | 'throttled-after';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: string;
}

export interface FaultProxy extends AsyncDisposable {
  /** With the path of the service, for a client. */
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** The next requests of that method and path end that way, one fault each. */
  fail(method: string, path: RegExp, ...faults: readonly Fault[]): void;
  /** POST requests seen so far. */
  posts(): readonly SeenRequest[];
  /** Resolves when it has seen so many of them. */
  posted(count: number): Promise<void>;
  /** The service has forgotten the keys it saw so far: they are new to it. Later ones it remembers. */
  forgetKeys(): void;
  /** Resolves when every client has hung up and the service has done what they asked for: nothing is on its way. */
  quiet(): Promise<void>;
  /** Resolves when the service has answered everything that it was let see. */
  answered(): Promise<void>;
  /** Nothing that was told before fails any more. */
  mend(): void;
  /** From now on so many requests are let through, and any more are answered 429; each call gives so many places anew. */
  allow(places: number): void;
  /** Lets held answers through, or has a gateway answer in their place. */
  release(how?: 'html-502'): void;
  /** How often each fault has come to pass; one that follows the deed counts when that is done. */
  happened(): Readonly<Partial<Record<Fault, number>>>;
}

export interface ProxySettings {
  /** Address of the service, version segment and all. */
  readonly target: string;
  /** The service never sees an idempotency key, as if it ignored them. */
  readonly stripKeys?: boolean;
  readonly delayMs?: number;
}

const KEY_HEADER = 'x-idempotency-key';

export async function startFaultProxy({ target, stripKeys = false, delayMs = 0 }: ProxySettings): Promise<FaultProxy> {
  const upstream = new URL(target);
  const seen: SeenRequest[] = [];
  const planned: { method: string; path: RegExp; fault: Fault }[] = [];
  const forgotten = new Set<string>();
  const happened: Partial<Record<Fault, number>> = {};
  const waiting: { count: number; resolve: () => void }[] = [];
  let handling = 0;
  let release: FaultProxy['release'] = () => undefined;
  const released = new Promise<'html-502' | undefined>(resolve => {
    release = resolve;
  });
  let places = Number.POSITIVE_INFINITY;

  const posts = () => seen.filter(({ method }) => method === 'POST');
  const connections = () => new Promise<number>(resolve => server.getConnections((_error, count) => resolve(count)));
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', async () => {
      const { method = '', url = '', headers } = incoming;
      const body = Buffer.concat(chunks);
      const key = headers[KEY_HEADER];
      seen.push({ method, path: url, key: typeof key === 'string' ? key : undefined, body: body.toString() });
      for (const { count, resolve } of waiting) if (posts().length >= count) resolve();
      const at = planned.findIndex(each => each.method === method && each.path.test(url));
      const [{ fault } = { fault: undefined }] = at === -1 ? [] : planned.splice(at, 1);
      const count = () => {
        if (fault !== undefined) happened[fault] = (happened[fault] ?? 0) + 1;
      };
      if (fault === 'drop-before' || fault === 'unauthorized' || fault === 'throttled') count();
      if (fault === 'drop-before') return void incoming.socket.destroy();
      // The clock of the world is the service's, not that of this proxy.
      outgoing.sendDate = false;
      if (fault === 'unauthorized') {
        return void outgoing.writeHead(401, { 'content-type': 'application/json' }).end(UNAUTHORIZED);
      }
      if (fault === 'throttled') return void outgoing.writeHead(429, { 'retry-after': '1' }).end();
      if (places <= 0) {
        happened.throttled = (happened.throttled ?? 0) + 1;
        return void outgoing.writeHead(429, { 'retry-after': '1' }).end();
      }
      places -= 1;
      handling += 1;
      const answer = await forward({ upstream, method, url, headers: keyed(headers, stripKeys, forgotten), body });
      handling -= 1;
      count();
      if (fault === 'drop-after') return void incoming.socket.destroy();
      if (fault === 'throttled-after') return void outgoing.writeHead(429, { 'retry-after': '1' }).end();
      const held = fault === 'held-answer' ? await released : undefined;
      if (fault === 'html-502' || held === 'html-502')
        return void outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<html></html>');
      const reply = () => outgoing.writeHead(answer.status, answer.headers).end(answer.body);
      if (fault === 'late-answer') setTimeout(reply, delayMs).unref();
      else reply();
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${upstream.pathname}`,
    seen,
    fail: (method, path, ...faults) => void planned.push(...faults.map(fault => ({ method, path, fault }))),
    posts,
    posted: count =>
      new Promise(resolve => {
        if (posts().length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    forgetKeys() {
      for (const { key } of seen) if (key !== undefined) forgotten.add(key);
    },
    async quiet() {
      while (handling > 0 || (await connections()) > 0) await wait(2);
    },
    async answered() {
      while (handling > 0) await wait(1);
    },
    mend() {
      planned.length = 0;
    },
    allow(count) {
      places = count;
    },
    release: how => release(how),
    happened: () => happened,
    [Symbol.asyncDispose]: () =>
      new Promise(resolve => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function keyed(headers: IncomingHttpHeaders, strip: boolean, forgotten: ReadonlySet<string>): IncomingHttpHeaders {
  const { [KEY_HEADER]: key, connection: _connection, ...rest } = headers;
  if (strip || typeof key !== 'string') return rest;
  return { ...rest, [KEY_HEADER]: forgotten.has(key) ? `${key}-anew` : key };
}

interface Forwarded {
  readonly upstream: URL;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function forward({ upstream, method, url, headers, body }: Forwarded): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port, host } = upstream;
    const request = send({ hostname, port, method, path: url, headers: { ...headers, host } }, response => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { connection: _connection, ...passed } = response.headers;
        resolve({ status: response.statusCode ?? 0, headers: passed, body: Buffer.concat(chunks) });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

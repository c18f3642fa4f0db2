/** A proxy between client and service that loses, breaks or delays single requests, and can take keys away. */
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  /** The service does it at once and is answered for only after `delayMs`. */
  | 'late-answer'
  /** The service does it at once and is answered for only after `release`. */
  | 'held-answer'
  /** Answered 401 by something on the way; the service sees nothing. */
  | 'unauthorized'
  /** Answered 429 with `Retry-After: 1`; the service sees nothing. */
  | 'throttled';

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
  /** Nothing that was told before fails any more. */
  mend(): void;
  /** Lets held answers through. */
  release(): void;
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
  const happened: Partial<Record<Fault, number>> = {};
  const waiting: { count: number; resolve: () => void }[] = [];
  let release: () => void = () => undefined;
  const released = new Promise<void>(resolve => {
    release = resolve;
  });

  const posts = () => seen.filter(({ method }) => method === 'POST');
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
      const answer = await forward({ upstream, method, url, headers: keyed(headers, stripKeys), body });
      count();
      if (fault === 'drop-after') return void incoming.socket.destroy();
      if (fault === 'held-answer') await released;
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
    mend() {
      planned.length = 0;
    },
    release: () => release(),
    happened: () => happened,
    [Symbol.asyncDispose]: () =>
      new Promise(resolve => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function keyed({ connection: _connection, ...headers }: IncomingHttpHeaders, strip: boolean): IncomingHttpHeaders {
  const { [KEY_HEADER]: _key, ...rest } = headers;
  return strip ? rest : headers;
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

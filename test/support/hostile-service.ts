/**
 * A card service that cannot be trusted, over real HTTP on loopback. Its books are true (`card-books.ts`), and it answers by
 * script: what it does and what it says are two things.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, connect, type Server as Listener } from 'node:net';
import {
  type Answered,
  type BookOptions,
  Books,
  type CardRequest,
  isWrite,
  refusal,
  requestOf,
  type View,
  type WriteOperation,
} from './card-books.ts';
import { selfSigned } from './certificate.ts';

export interface SeenRequest extends CardRequest {
  readonly number: number;
  readonly bearer: string;
  /** The play of the script that answered it; undefined where the service was honest. */
  play?: Play;
  /** Of the answer, sent or lost. */
  status?: number;
}

/** Where the connection is reset. */
export type LostAt = 'before-headers' | 'after-headers' | 'in-body';
export type Answer = 'honest' | { readonly lost: LostAt } | Answered | ((view: View) => Answered);

export interface Play {
  /**
   * `later`: it happens when `settle()` is called, as a queue behind a gateway does. `afterMs`: so long after the answer, by
   * the clock of the service.
   */
  readonly effect: 'done' | 'none' | 'later' | { readonly afterMs: number };
  readonly answer: Answer;
}

export interface Scripted {
  readonly operation: WriteOperation;
  /** Only requests it holds for; all when left out. */
  readonly where?: (request: SeenRequest) => boolean;
  /** One play for each request, in order; honest after the last. */
  readonly plays: readonly Play[];
}

export interface HostileService extends AsyncDisposable {
  /** Plain HTTP on loopback, for test keys. */
  readonly baseUrl: string;
  /** For live keys: TLS under a public name, reached through a proxy. Any key may come this way. */
  readonly publicUrl: string;
  /** What finds and trusts `publicUrl`; `SSL_CERT_FILE` must hold `certificate`. */
  readonly proxyUrl: string;
  readonly certificate: string;
  readonly requests: SeenRequest[];
  /** Empty books for the accounts of these keys; requests and scripts are forgotten. */
  reset(accounts: Readonly<Record<string, BookOptions>>): void;
  books(bearer: string): Books<SeenRequest>;
  script(...scripted: readonly Scripted[]): void;
  /** What was to happen later happens now. */
  settle(): void;
}

const PUBLIC_NAME = 'cards.example';

/** `now` is the clock of the service, ms since 1970: age of keys, dates of cards and of answers. */
export async function hostileService(options: { readonly now: () => number }): Promise<HostileService> {
  const { now } = options;
  const accounts = new Map<string, Books<SeenRequest>>();
  const requests: SeenRequest[] = [];
  let scripts: { scripted: Scripted; left: Play[] }[] = [];
  let later: { readonly at: number; readonly happen: () => void }[] = [];

  /** What was to happen by now happens. */
  const catchUp = (at: number): void => {
    const due = later.filter(each => each.at <= at);
    later = later.filter(each => each.at > at);
    for (const { happen } of due) happen();
  };

  const answer = (incoming: IncomingMessage, text: string, outgoing: ServerResponse): void => {
    const { headers, method = '', url = '' } = incoming;
    const key = headers['x-idempotency-key'];
    const bearer = (headers.authorization ?? '').replace(/^Bearer /, '');
    const request = requestOf(method, url, typeof key === 'string' ? key : undefined, text);
    const seen: SeenRequest = { ...request, number: requests.length + 1, bearer };
    requests.push(seen);
    catchUp(now());
    outgoing.sendDate = false;
    outgoing.setHeader('date', new Date(now()).toUTCString());
    const { answered, lost } = answerTo(seen);
    seen.status = answered.status;
    if (lost === undefined) send(outgoing, answered, `req_${seen.number}`);
    else lose(outgoing, lost, answered);
  };

  function answerTo(seen: SeenRequest): { readonly answered: Answered; readonly lost?: LostAt } {
    const books = accounts.get(seen.bearer);
    if (books === undefined) return { answered: refusal(401, 'unauthorized') };
    if (!isWrite(seen.operation)) return { answered: books.read(seen) };
    const fits = ({ scripted, left }: (typeof scripts)[number]) =>
      left.length > 0 && scripted.operation === seen.operation && (scripted.where?.(seen) ?? true);
    const play = scripts.find(fits)?.left.shift();
    if (play !== undefined) seen.play = play;
    const { effect, answer: said } = play ?? { effect: 'done', answer: 'honest' };
    const answered = effect === 'done' ? books.write(seen) : refusal(503, 'service_unavailable');
    if (effect !== 'done' && effect !== 'none') {
      const at = effect === 'later' ? Number.POSITIVE_INFINITY : now() + effect.afterMs;
      later.push({ at, happen: () => void books.write(seen, Math.min(at, now())) });
    }
    if (said === 'honest') return { answered };
    if (typeof said === 'function') return { answered: said(books.view(seen, answered)) };
    return 'lost' in said ? { answered, lost: said.lost } : { answered: said };
  }

  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming).then(text => answer(incoming, text, outgoing));
  });
  const { key, cert } = selfSigned('Hostile', [PUBLIC_NAME]);
  const secure = createSecure({ key, cert }, (incoming, outgoing) => {
    void bodyOf(incoming).then(text => answer(incoming, text, outgoing));
  });
  const securePort = await listening(secure);
  const proxy = tunnelTo(securePort);
  const [port, proxyPort] = [await listening(server), await listening(proxy)];
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    publicUrl: `https://${PUBLIC_NAME}/v1`,
    proxyUrl: `http://127.0.0.1:${proxyPort}`,
    certificate: cert,
    requests,
    reset(given) {
      accounts.clear();
      requests.length = 0;
      scripts = [];
      later = [];
      for (const [bearer, account] of Object.entries(given)) accounts.set(bearer, new Books(account, now));
    },
    books(bearer) {
      const books = accounts.get(bearer);
      if (books === undefined) throw new Error('no account of that key was opened');
      return books;
    },
    script(...scripted) {
      scripts.push(...scripted.map(each => ({ scripted: each, left: [...each.plays] })));
    },
    settle() {
      catchUp(Number.POSITIVE_INFINITY);
    },
    async [Symbol.asyncDispose]() {
      for (const each of [server, secure, proxy]) each.closeAllConnections();
      await Promise.all([server, secure, proxy].map(each => new Promise(closed => each.close(closed))));
    },
  };
}

function send(outgoing: ServerResponse, { status, body, text, type, headers }: Answered, requestId: string): void {
  const written = text ?? (body === undefined ? '' : JSON.stringify(body));
  outgoing.writeHead(status, {
    'x-request-id': requestId,
    ...(written === '' ? {} : { 'content-type': type ?? 'application/json' }),
    ...headers,
  });
  outgoing.end(written);
}

function lose(outgoing: ServerResponse, at: LostAt, { status, body }: Answered): void {
  const { socket } = outgoing;
  if (at === 'before-headers') return void socket?.destroy();
  const text = JSON.stringify(body ?? {});
  outgoing.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  if (at === 'after-headers') outgoing.flushHeaders();
  else outgoing.write(text.slice(0, Math.ceil(text.length / 2)));
  // What was written goes out first.
  setImmediate(() => socket?.destroy());
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
  return text;
}

/** A proxy whose every tunnel ends at that port of loopback; `onTunnel` is told where it was to lead. */
export function tunnelTo(port: number, onTunnel?: (target: string) => void): Server {
  const proxy = createServer();
  proxy.on('connect', ({ url = '' }, socket) => {
    onTunnel?.(url);
    const through = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(through).pipe(socket);
    });
    through.on('error', () => socket.destroy());
    through.on('close', () => socket.destroy());
    socket.on('error', () => through.destroy());
  });
  return proxy;
}

/** The port of loopback that it listens on from now. */
export async function listening(server: Listener): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

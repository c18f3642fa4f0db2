/**
 * HTTP/1.1 through undici, of which only the client and its connector are loaded, at the first request. One
 * request a connection at a time; nothing is repeated, redirected, inflated or cached here.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import type buildConnector from 'undici/lib/core/connect.js';
import type { Clock, Environment } from '../platform/host.ts';
import { setFlag } from '../platform/v8.ts';
import { describeFailure, noteIssuer, Stopped, TimeIsUp, TooLarge, type WireFailure } from './failure.ts';
import { openTunnel, proxyFor } from './proxy.ts';

const CONNECT_MS = 5_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** A socket idle for longer may be closed already on the other side; a write does not take the chance. */
const IDLE_FOR_WRITES_MS = 1_000;

export interface WireRequest {
  readonly method: string;
  /** Path and query on the origin. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly write: boolean;
  readonly maxBodyBytes: number;
  /** Most milliseconds, from the connection to the last byte of the body. */
  readonly totalMs: number;
  /** Most milliseconds until the answer begins. */
  readonly headersMs: number;
  /** Cut it off. */
  readonly signals: readonly AbortSignal[];
}

export type WireHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** How far a request came. `sent` is true from the moment its head is handed to the socket. */
export type Exchange =
  | { readonly status?: undefined; readonly sent: boolean; readonly failure: WireFailure }
  | {
      readonly status: number;
      readonly sent: true;
      readonly headers: WireHeaders;
      readonly bytes: Uint8Array;
      /** Set when the body did not arrive whole. */
      readonly failure?: WireFailure;
    };

export interface Transport {
  /** Host and port, or the path of the socket, for messages. */
  readonly place: string;
  exchange(request: WireRequest): Promise<Exchange>;
  /** What the service showed at the last TLS connection; undefined without one. */
  certificate(): Certificate | undefined;
  close(): Promise<void>;
}

export interface TransportSettings {
  readonly origin: URL;
  readonly socketPath?: string | undefined;
  readonly env: Environment;
  readonly clock: Clock;
  /** Certificates to trust in place of Node's own list. */
  readonly authorities?: readonly string[] | undefined;
  /** False inside another program, whose engine is not ours to set, and which does not end with the transport. */
  readonly isProgram?: boolean | undefined;
}

/** Answers that came in one piece are most of them. */
function whole(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/** One connection. It is thrown away after anything but a whole answer. */
interface Connection {
  readonly client: Client;
  idleSince: number;
  giveUp(error: Error): void;
}

interface Attempt {
  sent: boolean;
}

/** Nothing is loaded or connected before the first exchange. Throws `usage` for an unusable proxy variable. */
export function createTransport(settings: TransportSettings): Transport {
  const { origin, socketPath, clock, isProgram = true } = settings;
  // The path of a private socket is another one in each run, and nothing to act on.
  const place = socketPath === undefined ? origin.host : 'the sandbox';
  const proxy = socketPath === undefined ? proxyFor(origin, settings.env) : undefined;
  const idle: Connection[] = [];
  const attempts = new WeakMap<object, Attempt>();
  let dispatching: Attempt | undefined;
  let parts: Promise<Parts> | undefined;
  let shown: Certificate | undefined;

  const onCreate = (message: unknown) => {
    if (dispatching) attempts.set((message as { request: object }).request, dispatching);
  };
  const onSend = (message: unknown) => {
    const attempt = attempts.get((message as { request: object }).request);
    if (attempt) attempt.sent = true;
  };
  subscribe('undici:request:create', onCreate);
  subscribe('undici:client:sendHeaders', onSend);

  function checkout(parts: Parts, write: boolean): Connection {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (!write || clock.monotonic() - connection.idleSince <= IDLE_FOR_WRITES_MS) return connection;
      connection.giveUp(new Error('idle for too long'));
    }
    const onCertificate = (certificate: Certificate) => {
      shown = certificate;
    };
    return open({ ...parts, origin, socketPath, proxy, authorities: settings.authorities, onCertificate });
  }

  function exchangeOn(connection: Connection, request: WireRequest): Promise<Exchange> {
    const { signals, totalMs } = request;
    const attempt: Attempt = { sent: false };
    return new Promise(resolve => {
      let status = 0;
      let headers: WireHeaders = {};
      let size = 0;
      const chunks: Uint8Array[] = [];
      const time = AbortSignal.timeout(totalMs);
      const stops = [time, ...signals];
      const onStop = () => once(stopReason(stops, totalMs));
      const settle = (error: unknown) => {
        for (const stop of stops) stop.removeEventListener('abort', onStop);
        const failure = error === undefined ? undefined : describeFailure(error, place);
        if (failure === undefined) {
          connection.idleSince = clock.monotonic();
          idle.push(connection);
        } else connection.giveUp(error instanceof Error ? error : new Error('given up'));
        if (status === 0) resolve({ sent: attempt.sent, failure: failure ?? describeFailure(undefined, place) });
        else resolve({ status, sent: true, headers, bytes: whole(chunks), ...(failure && { failure }) });
      };
      const once = onlyOnce(settle);
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, code, received) => {
          if (code >= 200) [status, headers] = [code, received];
        },
        onResponseData: (_controller, chunk) => {
          size += chunk.length;
          if (size > request.maxBodyBytes) once(new TooLarge(request.maxBodyBytes));
          else chunks.push(chunk);
        },
        onResponseEnd: () => once(undefined),
        onResponseError: (_controller, error) => once(error),
      };
      // Every worker of a run may wait under one signal; Node takes more than ten listeners for a leak.
      if (signals.length > 0) setMaxListeners(0, ...signals);
      for (const stop of stops) stop.addEventListener('abort', onStop);
      dispatching = attempt;
      try {
        connection.client.dispatch(dispatchOptions(request), handler);
      } catch (error) {
        once(error);
      } finally {
        dispatching = undefined;
      }
    });
  }

  return {
    place,
    certificate: () => shown,
    async exchange(request) {
      parts ??= loadParts(isProgram);
      const loaded = await parts;
      const { signals, totalMs, write } = request;
      if (!signals.some(({ aborted }) => aborted)) return exchangeOn(checkout(loaded, write), request);
      return { sent: false, failure: describeFailure(stopReason(signals, totalMs), place) };
    },
    async close() {
      unsubscribe('undici:request:create', onCreate);
      unsubscribe('undici:client:sendHeaders', onSend);
      // The end of the program closes what is idle, without Node's own way there, which opens standard error.
      if (isProgram) return;
      await Promise.all(idle.splice(0).map(({ client }) => client.close()));
    },
  };
}

/** What ends an exchange that is stopped: its time, or the reason of the signal that came first. */
function stopReason(stops: readonly AbortSignal[], totalMs: number): Error {
  const reason: unknown = stops.find(({ aborted }) => aborted)?.reason;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? new TimeIsUp(totalMs) : new Stopped(reason);
}

function dispatchOptions(request: WireRequest): Dispatcher.DispatchOptions {
  return {
    method: request.method as Dispatcher.HttpMethod,
    path: request.path,
    headers: request.headers,
    body: request.body ?? null,
    headersTimeout: request.headersMs,
    // The total covers the body: a timeout between bytes lets one byte a while drip on for ever.
    bodyTimeout: 0,
  };
}

interface OpenFacts extends Parts {
  readonly origin: URL;
  readonly socketPath: string | undefined;
  readonly proxy: URL | undefined;
  readonly authorities: readonly string[] | undefined;
  readonly onCertificate: (certificate: Certificate) => void;
}

function open(facts: OpenFacts): Connection {
  const { Client, buildConnector, origin, socketPath, proxy, authorities, onCertificate } = facts;
  const connector = buildConnector({
    timeout: CONNECT_MS,
    ...(socketPath === undefined ? {} : { socketPath }),
    ...(authorities === undefined ? {} : { ca: [...authorities] }),
  });
  const opening = new Set<Closeable>();
  const direct: Connector = (options, callback) => {
    let issuer: string | undefined;
    const socket = connector(options, (error, connected) => {
      // Two calls: the callback's type is a pair, error or socket.
      if (error) callback(noteIssuer(error, issuer), null);
      else callback(null, connected);
    });
    // A socket that fails verification is destroyed before its error arrives, and its certificate with it.
    socket.prependOnceListener('secure', () => {
      const certificate = certificateOf(socket);
      issuer = certificate.issuer;
      onCertificate(certificate);
    });
    hold(opening, socket);
  };
  const client = new Client(origin.origin, {
    connect: proxy === undefined ? direct : throughProxy({ proxy, authorities }, direct, opening),
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  return {
    client,
    idleSince: 0,
    giveUp(error) {
      client.destroy(error, () => undefined);
      // A connection that is still being made is not undici's to close before it stands.
      for (const socket of opening) socket.destroy();
    },
  };
}

interface Parts {
  readonly Client: typeof import('undici/lib/dispatcher/client.js').default;
  readonly buildConnector: typeof import('undici/lib/core/connect.js').default;
}

/**
 * Node 20 waits at exit for V8 to finish optimising undici's WebAssembly parser: 60 ms of a 95 ms start. The
 * baseline compiler is enough here. The flag is set after the modules are loaded: before, it makes V8 drop the
 * code cache of Node's own modules, which costs 10 ms.
 */
async function loadParts(isProgram: boolean): Promise<Parts> {
  const [client, connect, v8] = await Promise.all([
    import('undici/lib/dispatcher/client.js'),
    import('undici/lib/core/connect.js'),
    import('node:v8'),
  ]);
  // Not in somebody else's process. Of the parser, whose bytes are ours, only what runs is checked.
  if (isProgram) {
    setFlag(v8, '--liftoff-only', '--no-liftoff-only --wasm-tier-up --wasm-dynamic-tiering');
    setFlag(v8, '--wasm-lazy-validation', '--no-wasm-lazy-validation');
  }
  return { Client: client.default, buildConnector: connect.default };
}

export interface Certificate {
  /** Organisation or name of who issued it. */
  readonly issuer: string | undefined;
  /** As the certificate says it: `Nov 20 14:03:11 2027 GMT`. */
  readonly validTo: string | undefined;
}

/** A connection that is being made. */
interface Closeable {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Kept until it closes by itself: a client that lives long connects many times. */
function hold(opening: Set<Closeable>, closeable: Closeable): void {
  opening.add(closeable);
  closeable.once('close', () => opening.delete(closeable));
}

type Connector = (options: ConnectorOptions, callback: ConnectorCallback) => void;
type ConnectorOptions = Parameters<ReturnType<typeof buildConnector>>[0];
type ConnectorCallback = Parameters<ReturnType<typeof buildConnector>>[1];

/** Connects to the proxy first and speaks TLS through its tunnel. */
function throughProxy(
  { proxy, authorities }: { readonly proxy: URL; readonly authorities: readonly string[] | undefined },
  direct: Connector,
  opening: Set<Closeable>,
): Connector {
  return (options, callback) => {
    const target = `${options.hostname.includes(':') ? `[${options.hostname}]` : options.hostname}:${options.port || 443}`;
    const done = onlyOnce(({ error, socket }: { error: Error | null; socket: Socket | null }) => {
      if (error) callback(error, null);
      else if (socket) direct({ ...options, httpSocket: socket }, callback);
    });
    const tunnel = { proxy, authorities, target, timeoutMs: CONNECT_MS };
    openTunnel({ ...tunnel, done: (error, socket) => done({ error, socket }) }).then(
      request => hold(opening, request),
      (error: unknown) => done({ error: error instanceof Error ? error : new Error('no tunnel'), socket: null }),
    );
  };
}

interface PeerCertificate {
  readonly issuer?: Readonly<Record<string, unknown>>;
  readonly valid_to?: unknown;
}

/** What the service showed of itself on a TLS socket. */
function certificateOf(socket: object): Certificate {
  const { getPeerCertificate } = socket as { getPeerCertificate?: () => PeerCertificate };
  const { issuer, valid_to: validTo } = getPeerCertificate?.call(socket) ?? {};
  const name = issuer?.['O'] ?? issuer?.['CN'];
  return {
    issuer: typeof name === 'string' ? name : undefined,
    validTo: typeof validTo === 'string' ? validTo : undefined,
  };
}

/** A function whose first call alone counts. */
function onlyOnce<T>(call: (value: T) => void): (value: T) => void {
  let called = false;
  return value => {
    if (called) return;
    called = true;
    call(value);
  };
}

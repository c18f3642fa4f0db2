/**
 * HTTP/1.1 through undici, of which only the client and its connector are loaded, at the first request. One
 * request a connection at a time; nothing is repeated, redirected, inflated or cached here.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Client, Dispatcher } from 'undici';
import type { Clock, Environment } from '../platform/host.ts';
import {
  type Certificate,
  type Closeable,
  type Connector,
  certificateOf,
  hold,
  onlyOnce,
  throughProxy,
} from './connector.ts';
import { CONNECT_MS, type Deadline } from './deadline.ts';
import { describeFailure, noteIssuer, TooLarge, type WireFailure } from './failure.ts';
import { proxyFor } from './proxy.ts';

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
  exchange(request: WireRequest, deadline: Deadline): Promise<Exchange>;
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
interface Lane {
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
  const idle: Lane[] = [];
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

  function takeLane({ Client, buildConnector }: Parts, write: boolean): Lane {
    for (let lane = idle.pop(); lane !== undefined; lane = idle.pop()) {
      if (!write || clock.monotonic() - lane.idleSince <= IDLE_FOR_WRITES_MS) return lane;
      lane.giveUp(new Error('idle for too long'));
    }
    const onCertificate = (certificate: Certificate) => {
      shown = certificate;
    };
    return openLane({
      Client,
      buildConnector,
      origin,
      socketPath,
      proxy,
      authorities: settings.authorities,
      onCertificate,
    });
  }

  function exchangeOn(lane: Lane, request: WireRequest, deadline: Deadline): Promise<Exchange> {
    const attempt: Attempt = { sent: false };
    return new Promise(resolve => {
      let status = 0;
      let headers: WireHeaders = {};
      let size = 0;
      const chunks: Uint8Array[] = [];
      const settle = (error: unknown) => {
        const failure = error === undefined ? undefined : failureOf(error, deadline, place);
        if (failure === undefined) {
          lane.idleSince = clock.monotonic();
          idle.push(lane);
        } else lane.giveUp(error instanceof Error ? error : new Error('given up'));
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
      deadline.onOver(() => once(deadline.reason() ?? new Error('stopped')));
      dispatching = attempt;
      try {
        lane.client.dispatch(dispatchOptions(request, deadline), handler);
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
    async exchange(request, deadline) {
      parts ??= loadParts(isProgram);
      const loaded = await parts;
      const stopped = () => ({ sent: false, failure: failureOf(deadline.reason(), deadline, place) });
      return deadline.isOver() ? stopped() : exchangeOn(takeLane(loaded, request.write), request, deadline);
    },
    async close() {
      unsubscribe('undici:request:create', onCreate);
      unsubscribe('undici:client:sendHeaders', onSend);
      // The end of the program closes what is idle, without Node's own way there, which opens standard error.
      if (isProgram) return;
      await Promise.all(idle.splice(0).map(lane => lane.client.close()));
    },
  };
}

/** A deadline that passed explains every error that follows from it. */
function failureOf(error: unknown, deadline: Deadline, place: string): WireFailure {
  const reason: unknown = deadline.isOver() ? deadline.reason() : error;
  const failure = describeFailure(reason, place);
  return deadline.isOver() && failure.reason === 'network'
    ? { text: 'stopped before the answer', reason: 'stopped', cause: reason }
    : failure;
}

function dispatchOptions(request: WireRequest, deadline: Deadline): Dispatcher.DispatchOptions {
  return {
    method: request.method as Dispatcher.HttpMethod,
    path: request.path,
    headers: request.headers,
    body: request.body ?? null,
    headersTimeout: deadline.headersMs,
    // The deadline covers the body: a timeout between bytes lets one byte a while drip on for ever.
    bodyTimeout: 0,
  };
}

interface LaneFacts extends Parts {
  readonly origin: URL;
  readonly socketPath: string | undefined;
  readonly proxy: URL | undefined;
  readonly authorities: readonly string[] | undefined;
  readonly onCertificate: (certificate: Certificate) => void;
}

function openLane(facts: LaneFacts): Lane {
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
  if (isProgram) for (const flag of ['--liftoff-only', '--wasm-lazy-validation']) v8.setFlagsFromString(flag);
  return { Client: client.default, buildConnector: connect.default };
}

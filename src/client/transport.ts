/**
 * HTTP/1.1 through undici, of which only the client and its connector are loaded, at the first request. One
 * request a connection at a time; nothing is repeated, redirected, inflated or cached here.
 */
import { setMaxListeners } from 'node:events';
import type { ClientRequest } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import querystring from 'node:querystring';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { buildConnector, Client } from 'undici';
import { CliError } from '../core/errors.ts';
import type { Clock, Environment } from '../platform/host.ts';
import { setFlag } from '../platform/v8.ts';
import { describeFailure, seconds, type WireFailure, type WireHeaders, WireProblem } from './wire.ts';

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

/** How far a request came. `sent` is true from the moment before its head is handed to the socket. */
export type Exchange =
  | { readonly status?: undefined; readonly sent: boolean; readonly failure: WireFailure }
  | {
      readonly status: number;
      readonly sent: true;
      readonly headers: WireHeaders;
      readonly bytes: Uint8Array;
      /** Set when the body did not arrive whole. */
      readonly failure?: WireFailure | undefined;
    };

/** What the service showed of itself at a TLS connection. */
export interface Certificate {
  /** Organisation or name of who issued it. */
  readonly issuer: string | undefined;
  /** What the certificate says: `Nov 20 14:03:11 2027 GMT`. */
  readonly validTo: string | undefined;
}

export type Transport = ReturnType<typeof createTransport>;

interface TransportSettings {
  readonly origin: URL;
  readonly socketPath?: string | undefined;
  readonly env: Environment;
  readonly clock: Clock;
  /** Whom TLS trusts, in place of Node's own list. */
  readonly secureContext?: SecureContext | undefined;
  /** False inside another program, whose engine is not ours to set, and which does not end with the transport. */
  readonly isProgram?: boolean | undefined;
}

/** One connection. It is thrown away after anything but a whole answer. */
interface Connection {
  readonly client: Client;
  idleSince: number;
  giveUp(error: Error): void;
}

/** Unlike the published type it returns the socket, which is how a connection attempt can be given up. */
type Connector = (...given: Parameters<buildConnector.connector>) => Socket | TLSSocket;
type Dial = (...given: Parameters<Connector>) => void;
/** The two parts of undici that are loaded; the package has types for its index alone. */
type ClientPart = { readonly default: typeof Client };
type ConnectPart = { readonly default: (options: buildConnector.BuildOptions) => Connector };

/** Nothing is loaded or connected before the first exchange. Throws `usage` for an unusable proxy variable. */
export function createTransport(settings: TransportSettings) {
  const { origin, socketPath, clock, secureContext, isProgram = true } = settings;
  // The path of a private socket is another one in each run, and nothing to act on.
  const place = socketPath === undefined ? origin.host : 'the sandbox';
  const proxy = socketPath === undefined ? proxyFor(origin, settings.env) : undefined;
  const idle: Connection[] = [];
  let loading: ReturnType<typeof loadParts> | undefined;
  let shown: Certificate | undefined;
  let restoreFlags = () => {};

  function open({ Client, buildConnector }: Awaited<ReturnType<typeof loadParts>>): Connection {
    const connect = buildConnector({
      timeout: CONNECT_MS,
      ...(socketPath === undefined ? {} : { socketPath }),
      ...(secureContext === undefined ? {} : { secureContext }),
    });
    /** A connection that is still being made is not undici's to close. */
    let dialled: { destroy(): unknown } | undefined;
    const direct: Dial = (options, callback) => {
      const socket = connect(options, callback);
      dialled = socket;
      // A socket that fails verification is destroyed before its error arrives, and its certificate with it.
      socket.prependOnceListener('secure', () => {
        shown = certificateOf(socket);
      });
    };
    const tunnelled: Dial = (options, callback) => {
      const host = options.hostname.includes(':') ? `[${options.hostname}]` : options.hostname;
      const tunnel = { target: `${host}:${options.port || 443}`, secureContext, timeoutMs: CONNECT_MS };
      const onDial = (request: { destroy(): unknown }) => {
        dialled = request;
      };
      openTunnel({ ...tunnel, proxy: proxy ?? origin, onDial }).then(
        socket => direct({ ...options, httpSocket: socket }, callback),
        (error: Error) => callback(error, null),
      );
    };
    const dial = proxy === undefined ? direct : tunnelled;
    const client = new Client(origin.origin, { connect: dial, pipelining: 1, maxHeaderSize: MAX_HEADER_BYTES });
    return {
      client,
      idleSince: 0,
      giveUp(error) {
        client.destroy(error, () => undefined);
        dialled?.destroy();
      },
    };
  }

  async function checkout(isWrite: boolean): Promise<Connection> {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (!isWrite || clock.monotonic() - connection.idleSince <= IDLE_FOR_WRITES_MS) return connection;
      connection.giveUp(new Error('idle for too long'));
    }
    loading ??= loadParts(isProgram);
    const parts = await loading;
    restoreFlags = () => {
      for (const restore of parts.restore.splice(0)) restore();
    };
    return open(parts);
  }

  function exchangeOn(connection: Connection, request: WireRequest): Promise<Exchange> {
    const { signals, totalMs, maxBodyBytes } = request;
    return new Promise(resolve => {
      let [sent, isOver, status, size] = [false, false, 0, 0];
      let headers: WireHeaders = {};
      const chunks: Uint8Array[] = [];
      const onTime = () => settle(new WireProblem(`no complete answer within ${seconds(totalMs)}`));
      const timer = setTimeout(onTime, totalMs);
      const onStop = () => settle(stopped());
      const settle = (error?: Error) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        for (const signal of signals) signal.removeEventListener('abort', onStop);
        const failure = error && describeFailure(error, place, shown?.issuer);
        restoreFlags();
        if (error === undefined) {
          connection.idleSince = clock.monotonic();
          idle.push(connection);
        } else connection.giveUp(error);
        const [bytes = new Uint8Array()] = chunks.length > 1 ? [Buffer.concat(chunks)] : chunks;
        if (status > 0) resolve({ status, sent: true, headers, bytes, failure });
        else resolve({ sent, failure: failure ?? describeFailure(undefined, place) });
      };
      // Every worker of a run may wait under one signal; Node takes more than ten listeners for a leak.
      if (signals.length > 0) setMaxListeners(0, ...signals);
      for (const signal of signals) signal.addEventListener('abort', onStop);
      const { method, path, body = null, headersMs: headersTimeout } = request;
      // The total covers the body: a timeout between bytes lets one byte a while drip on for ever.
      const options = { method, path, headers: request.headers, body, headersTimeout, bodyTimeout: 0 };
      try {
        connection.client.dispatch(options as Parameters<Client['dispatch']>[0], {
          // Called on a connection that stands, before anything is written to it.
          onRequestStart: () => {
            sent = true;
          },
          onResponseStart: (_controller, code, received) => {
            if (code >= 200) [status, headers] = [code, received];
          },
          onResponseData: (_controller, chunk) => {
            size += chunk.length;
            if (size <= maxBodyBytes) return void chunks.push(chunk);
            const limit = maxBodyBytes >= 1 << 20 ? `${maxBodyBytes >> 20} MiB` : `${maxBodyBytes >> 10} KiB`;
            settle(new WireProblem(`the answer is larger than the limit of ${limit}`, true));
          },
          onResponseEnd: () => settle(),
          onResponseError: (_controller, error) => settle(error),
        });
      } catch (error) {
        settle(error instanceof Error ? error : new Error('not dispatched'));
      }
    });
  }

  return {
    /** Of the last TLS connection; undefined without one. */
    certificate: () => shown,
    async exchange(request: WireRequest): Promise<Exchange> {
      const connection = await checkout(request.write);
      if (!request.signals.some(({ aborted }) => aborted)) return exchangeOn(connection, request);
      idle.push(connection);
      return { sent: false, failure: describeFailure(stopped(), place) };
    },
    async close(): Promise<void> {
      // The end of the program closes what is idle, without Node's own way there, which opens standard error.
      if (isProgram) return;
      await Promise.all(idle.splice(0).map(({ client }) => client.close()));
    },
  };
}

const stopped = () => new WireProblem('stopped before the answer');

/**
 * Node 20 waits at exit for V8 to finish optimising undici's WebAssembly parser: 60 ms of a 95 ms start. The baseline compiler
 * is enough for what the first answer needs of it. The flags are set after the modules are loaded and until that answer is read:
 * V8 takes no compiled code as long as they differ from those under which it was kept.
 */
async function loadParts(isProgram: boolean) {
  const [client, connect, v8] = await Promise.all([
    // @ts-expect-error No types.
    import('undici/lib/dispatcher/client.js') as Promise<ClientPart>,
    // @ts-expect-error No types.
    import('undici/lib/core/connect.js') as Promise<ConnectPart>,
    import('node:v8'),
  ]);
  // Not in somebody else's process. Of the parser, whose bytes are ours, only what runs is checked.
  const restore = isProgram
    ? [
        setFlag(v8, '--liftoff-only', '--no-liftoff-only --wasm-tier-up --wasm-dynamic-tiering'),
        setFlag(v8, '--wasm-lazy-validation', '--no-wasm-lazy-validation'),
      ]
    : [];
  return { Client: client.default, buildConnector: connect.default, restore };
}

interface PeerCertificate {
  readonly issuer?: Readonly<Record<string, unknown>>;
  readonly valid_to?: unknown;
}

function certificateOf(socket: object): Certificate {
  const { getPeerCertificate } = socket as { getPeerCertificate?: () => PeerCertificate };
  const { issuer, valid_to: validTo } = getPeerCertificate?.call(socket) ?? {};
  const name = issuer?.['O'] ?? issuer?.['CN'];
  return {
    issuer: typeof name === 'string' ? name : undefined,
    validTo: typeof validTo === 'string' ? validTo : undefined,
  };
}

// Proxies: the variables that every tool knows, loopback exempt, and a tunnel through one with CONNECT (docs/design/security.md, E9).

/**
 * The proxy for an https origin, undefined for a direct connection. Plain http goes to this machine only and
 * never through a proxy. Throws `usage` for an unusable address, without repeating it: it may hold a password.
 */
export function proxyFor(origin: URL, env: Environment): URL | undefined {
  if (origin.protocol !== 'https:' || isLoopback(origin.hostname)) return undefined;
  const name = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find(each => env[each]) ?? '';
  const text = env[name] ?? '';
  if (text === '' || isExempt(origin, env['no_proxy'] || env['NO_PROXY'] || '')) return undefined;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new CliError('usage', {
      message: `${name} is not an http or https address of a proxy`,
      hint: 'cardwright doctor',
      outcome: 'not_sent',
    });
  }
  return url;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** `*`, `host`, `.suffix`, `*.suffix`, an address or a range of addresses in CIDR; all but ranges with an optional port. */
function isExempt(origin: URL, list: string): boolean {
  const host = bare(origin.hostname);
  const port = origin.port || '443';
  return list.split(/[\s,]+/).some(entry => {
    if (entry === '*') return true;
    if (isIP(entry) !== 0 || entry.includes('/')) return isIP(host) !== 0 && isInRange(host, entry);
    const [, rule = '', onPort] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (onPort !== undefined && onPort !== port) return false;
    if (rule.startsWith('[')) return isIP(host) !== 0 && isInRange(host, bare(rule));
    const suffix = rule.replace(/^\*?\./, '');
    return suffix !== '' && (host === suffix || host.endsWith(`.${suffix}`));
  });
}

/** Without the brackets of an IPv6 address. */
const bare = (host: string) => host.replace(/^\[|\]$/g, '');

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Whether an address is the given one, or in a range such as `10.0.0.0/8`; a range that is none holds nothing. */
function isInRange(address: string, range: string): boolean {
  const [network = '', bits] = range.split('/');
  const most = isIP(network) === 6 ? 128 : 32;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (isIP(network) === 0 || !(prefix <= most)) return false;
  const addresses = new BlockList();
  addresses.addSubnet(network, prefix, familyOf(network));
  return addresses.check(address, familyOf(address));
}

interface TunnelRequest {
  readonly proxy: URL;
  /** Host and port the tunnel leads to. */
  readonly target: string;
  /** Whom TLS to an https proxy trusts, in place of Node's own list. */
  readonly secureContext: SecureContext | undefined;
  readonly timeoutMs: number;
  /** Gets what is being made, which can be destroyed. */
  readonly onDial: (request: ClientRequest) => void;
}

/**
 * Asks the proxy for a tunnel; resolves to a socket that is connected to the target. Nothing of the real request leaves before.
 * Ours and not undici's ProxyAgent: that one dials again without end when a proxy closes the connection, and its requests cannot
 * be given up while the tunnel is being made.
 */
export async function openTunnel({ proxy, target, secureContext, timeoutMs, onDial }: TunnelRequest): Promise<Socket> {
  const isTls = proxy.protocol === 'https:';
  const { request } = isTls ? await import('node:https') : await import('node:http');
  const host = bare(proxy.hostname);
  const connect = request({
    method: 'CONNECT',
    host,
    port: proxy.port || (isTls ? 443 : 80),
    path: target,
    agent: false,
    timeout: timeoutMs,
    headers: { host: target, ...credentials(proxy) },
    // Node takes the name for TLS from the header `host`, and that is the target's.
    ...(isTls && { servername: isIP(host) === 0 ? host : '', secureContext }),
  });
  onDial(connect);
  return new Promise((resolve, reject) => {
    const fail = (text: string) => reject(new WireProblem(text));
    connect.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      fail(`the proxy ${proxy.host} answered ${response.statusCode} to the request for a tunnel to ${target}`);
    });
    connect.once('timeout', () => connect.destroy(new WireProblem(`the proxy ${proxy.host} did not answer in time`)));
    connect.once('error', error => fail(`proxy: ${describeFailure(error, proxy.host).text}`));
    connect.end();
  });
}

function credentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  // A `%` that begins no escape is itself.
  const pair = `${querystring.unescape(username)}:${querystring.unescape(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

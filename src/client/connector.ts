/** Making a connection: through a proxy where there is one, held until it closes, with the certificate it showed. */
import type { Socket } from 'node:net';
import type buildConnector from 'undici/lib/core/connect.js';
import { CONNECT_MS } from './deadline.ts';
import { openTunnel, type TunnelRequest } from './proxy.ts';

export interface Certificate {
  /** Organisation or name of who issued it. */
  readonly issuer: string | undefined;
  /** As the certificate says it: `Nov 20 14:03:11 2027 GMT`. */
  readonly validTo: string | undefined;
}

/** A connection that is being made. */
export interface Closeable {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Kept until it closes by itself: a lane that lives long connects many times. */
export function hold(opening: Set<Closeable>, closeable: Closeable): void {
  opening.add(closeable);
  closeable.once('close', () => opening.delete(closeable));
}

export type Connector = (options: ConnectorOptions, callback: ConnectorCallback) => void;
type ConnectorOptions = Parameters<ReturnType<typeof buildConnector>>[0];
type ConnectorCallback = Parameters<ReturnType<typeof buildConnector>>[1];

/** Connects to the proxy first and speaks TLS through its tunnel. */
export function throughProxy(
  { proxy, authorities }: Pick<TunnelRequest, 'proxy' | 'authorities'>,
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
export function certificateOf(socket: object): Certificate {
  const { getPeerCertificate } = socket as { getPeerCertificate?: () => PeerCertificate };
  const { issuer, valid_to: validTo } = getPeerCertificate?.call(socket) ?? {};
  const name = issuer?.['O'] ?? issuer?.['CN'];
  return {
    issuer: typeof name === 'string' ? name : undefined,
    validTo: typeof validTo === 'string' ? validTo : undefined,
  };
}

/** A function whose first call alone counts. */
export function onlyOnce<T>(call: (value: T) => void): (value: T) => void {
  let called = false;
  return value => {
    if (called) return;
    called = true;
    call(value);
  };
}

/**
 * A tunnel through a proxy with CONNECT. Ours and not undici's ProxyAgent: that one dials again without end when
 * a proxy closes the connection, and its requests cannot be given up while the tunnel is being made.
 */
import { type ClientRequest, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { CONNECT_MS } from './deadline.ts';
import { ConnectionProblem, describeFailure } from './failure.ts';

export interface TunnelRequest {
  readonly proxy: URL;
  /** Host and port the tunnel leads to. */
  readonly target: string;
  /** Called once, with a socket that is connected to the target or with the error. */
  readonly done: (error: Error | null, socket: Socket | null) => void;
}

/** Asks the proxy for a tunnel. Nothing of the real request leaves before it stands; the result can be destroyed. */
export async function openTunnel({ proxy, target, done }: TunnelRequest): Promise<ClientRequest> {
  const https = proxy.protocol === 'https:';
  const request = https ? (await import('node:https')).request : httpRequest;
  const connect = request({
    method: 'CONNECT',
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (https ? 443 : 80),
    path: target,
    agent: false,
    timeout: CONNECT_MS,
    headers: { host: target, ...credentials(proxy) },
  });
  const fail = (text: string) => done(new ConnectionProblem(text), null);
  connect.once('connect', (response, socket) => {
    if (response.statusCode === 200) return done(null, socket as Socket);
    socket.destroy();
    return fail(`the proxy ${proxy.host} answered ${response.statusCode} to the request for a tunnel to ${target}`);
  });
  connect.once('timeout', () =>
    connect.destroy(new ConnectionProblem(`the proxy ${proxy.host} did not answer in time`)),
  );
  connect.once('error', error => fail(`proxy: ${describeFailure(error, proxy.host).text}`));
  connect.end();
  return connect;
}

function credentials(proxy: URL): Record<string, string> {
  if (proxy.username === '' && proxy.password === '') return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

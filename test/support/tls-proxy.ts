/** What stands in front of the servers of a team: TLS of its own, and one server after the other behind it. */
import { once } from 'node:events';
import { request as ask, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned } from './certificate.ts';

export interface TlsProxy extends AsyncDisposable {
  /** As clients name it: `localhost:40123`. */
  readonly host: string;
  /** PEM, for whoever trusts it. */
  readonly certificate: string;
  /** Ports of the servers behind it. */
  servers: readonly number[];
  /** Headers of the requests as they were passed on. */
  readonly passed: IncomingHttpHeaders[];
  /** Closes every connection to clients at once, as a killed proxy does. */
  cut(): void;
}

export async function tlsProxy(): Promise<TlsProxy> {
  const { key, cert } = selfSigned('proxy of the tests', ['localhost']);
  const passed: IncomingHttpHeaders[] = [];
  let turn = 0;
  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const headers = { ...request.headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' };
    passed.push(headers);
    turn += 1;
    const port = proxy.servers[turn % proxy.servers.length];
    const behind = ask({ port, host: '127.0.0.1', method: request.method, path: request.url, headers, agent: false });
    behind.on('response', answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    behind.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.on('close', () => behind.destroy());
    request.pipe(behind);
  };
  const server = createServer({ key, cert }, pass);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxy: TlsProxy = {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    certificate: cert,
    servers: [],
    passed,
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
  return proxy;
}

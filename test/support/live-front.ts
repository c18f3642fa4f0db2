/**
 * The sandbox dressed as a live service: TLS under a public name, reached through a CONNECT proxy on loopback, because a
 * live key goes to no address of this machine. What comes with any key is handed on with the sandbox's own.
 */
import { writeFile } from 'node:fs/promises';
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as secure } from 'node:https';
import { join } from 'node:path';
import { selfSigned } from './certificate.ts';
import { listening, tunnelTo } from './hostile-service.ts';

export const LIVE_ADDRESS = 'https://cards.example/v1';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

export interface LiveFront extends AsyncDisposable {
  /** Makes a program find it and trust it. */
  readonly env: { readonly HTTPS_PROXY: string; readonly SSL_CERT_FILE: string };
  readonly asked: Asked[];
  /** Targets of tunnels. */
  readonly tunnels: string[];
}

/** `folder` gets the certificate. */
export async function liveFront(
  behind: { readonly socketPath?: string; readonly key: { expose(): string } },
  folder: string,
): Promise<LiveFront> {
  const asked: Asked[] = [];
  const tunnels: string[] = [];
  const { key, cert } = selfSigned('Live Front', ['cards.example']);
  const handOn = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, headers });
    const own = { ...headers, host: 'localhost', authorization: `Bearer ${behind.key.expose()}` };
    const onward = ask({ socketPath: behind.socketPath, method, path: url, headers: own }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  };
  const front = secure({ key, cert }, handOn);
  const proxy = tunnelTo(await listening(front), target => tunnels.push(target));
  const port = await listening(proxy);
  const ca = join(folder, 'front.pem');
  await writeFile(ca, cert);
  return {
    env: { HTTPS_PROXY: `http://127.0.0.1:${port}`, SSL_CERT_FILE: ca },
    asked,
    tunnels,
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      proxy.closeAllConnections();
      await Promise.all([front, proxy].map(server => new Promise(closed => server.close(closed))));
    },
  };
}

/** A server between the program and the sandbox of a world: it is told of each request, and may change what is answered. */
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { READ_LAG } from '../../src/contract/spans.ts';
import type { World } from '../support/world.ts';

interface Manners {
  /** Told of each request, `POST /v1/cards`, before it goes on; headers may be taken out. */
  readonly request?: (line: string, headers: IncomingHttpHeaders, body: string) => Promise<unknown> | unknown;
  /** The text that is answered in place of that. */
  readonly answer?: (line: string, text: string) => string;
}

/** What a run needs to speak to it, and to wait no longer than a list is behind. */
export interface Front extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  readonly patient: { readonly env: Front['env']; readonly onPause: () => undefined; readonly longestPause: number };
}

export async function frontOf(
  { sandbox }: World,
  { request = () => undefined, answer = (_, text) => text }: Manners,
): Promise<Front> {
  const upstream = new URL(sandbox.url);
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url = '' } = incoming;
    const line = `${method} ${url.split('?')[0]}`;
    const body = await textOf(incoming);
    const headers = { ...incoming.headers, host: upstream.host };
    await request(line, headers, body);
    const to = { host: upstream.hostname, port: upstream.port, method, path: url, headers };
    send(to, async answered => {
      const text = answer(line, await textOf(answered));
      const { 'content-length': _, 'transfer-encoding': __, ...others } = answered.headers;
      outgoing.sendDate = false;
      outgoing.writeHead(answered.statusCode ?? 502, others).end(text);
    }).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_API_KEY: sandbox.key.expose(),
    CARDWRIGHT_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}${upstream.pathname}`,
  };
  return {
    env,
    patient: { env, onPause: () => undefined, longestPause: READ_LAG },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(closed => server.close(closed));
    },
  };
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}

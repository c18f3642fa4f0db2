/** A receiver of webhooks on loopback: keeps what came, byte for byte, and answers as it is told. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape
  readonly json: any;
}

/** A status, or whatever else is done to the response; never ending it hangs. */
export type Answering = number | ((response: ServerResponse, nth: number) => void);

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  answer: Answering;
  /** Resolves once `count` have come. */
  until(count: number): Promise<void>;
}

export async function receiver(first: Answering = 200): Promise<Receiver> {
  const received: Received[] = [];
  const waiting: { readonly count: number; readonly done: () => void }[] = [];
  const state: { answer: Answering } = { answer: first };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const bytes = Buffer.concat(parts);
      const { url: path = '', headers } = request;
      received.push({ path, headers, bytes, json: JSON.parse(bytes.toString()) });
      const { answer } = state;
      if (typeof answer === 'number') response.writeHead(answer).end();
      else answer(response, received.length);
      for (const { count, done } of waiting) if (received.length >= count) done();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    get answer() {
      return state.answer;
    },
    set answer(next) {
      state.answer = next;
    },
    until: count =>
      new Promise(done => {
        if (received.length >= count) done();
        else waiting.push({ count, done });
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

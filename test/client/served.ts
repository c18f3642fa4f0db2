/** A real HTTP server of a few lines, and a client that speaks to it. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createService } from '../../src/client/api.ts';
import type { ServiceSettings } from '../../src/client/request.ts';
import type { Operations, WriteName } from '../../src/contract/calls.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import type { Answered, Service } from '../../src/contract/service.ts';
import { CliError } from '../../src/core/errors.ts';
import { Secret } from '../../src/core/secret.ts';
import { directWrite } from '../../src/journal/direct.ts';
import type { Clock, Randomness } from '../../src/platform/host.ts';

export const KEY = 'sk_test_CANARYkey0123456789';

let skipped = 0;
/** Real time, but for pauses: they pass at once. */
export const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now() + skipped,
  sleep: async (ms, signal) => {
    skipped += ms;
    await sleep(0, undefined, signal ? { signal } : {});
  },
};
export const random: Randomness = { bytes: count => randomBytes(count), fraction: () => 0 };

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Served extends AsyncDisposable {
  readonly baseUrl: string;
  /** With it the program speaks to the service, under a test key. */
  readonly env: Readonly<Record<'CARDWRIGHT_PROFILE' | 'CARDWRIGHT_API_KEY' | 'CARDWRIGHT_BASE_URL', string>>;
  readonly seen: Seen[];
  close(): Promise<void>;
}

export type Handler = (seen: Seen, response: ServerResponse, request: IncomingMessage) => unknown;

export async function serve(handler: Handler, socketPath?: string): Promise<Served> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      handler(one, response, request);
    });
  });
  await new Promise<void>(resolve => {
    if (socketPath === undefined) server.listen(0, '127.0.0.1', resolve);
    else server.listen(socketPath, resolve);
  });
  const address = server.address();
  const host = typeof address === 'string' ? 'localhost' : `127.0.0.1:${(address as AddressInfo).port}`;
  const baseUrl = `http://${host}/v1`;
  const close = () =>
    new Promise<void>(resolve => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  const env = { CARDWRIGHT_PROFILE: '', CARDWRIGHT_API_KEY: KEY, CARDWRIGHT_BASE_URL: baseUrl };
  return { baseUrl, env, seen, close, [Symbol.asyncDispose]: close };
}

/** Plain sockets: what is done with each is told. */
export async function listen(
  onSocket: (socket: Socket) => void,
): Promise<{ port: number; sockets: Socket[]; close(): void }> {
  const sockets: Socket[] = [];
  const server = createSocketServer(socket => {
    sockets.push(socket.on('error', () => socket.destroy()));
    onSocket(socket);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, sockets, close };
}

export interface Spoken {
  readonly service: Service;
  readonly debug: string[];
  readonly warnings: string[];
  /** Makes a change that no journal keeps. */
  write(operation: WriteName, input: Readonly<Record<string, unknown>>): Promise<Answered<unknown>>;
}

export function speak(baseUrl: string, more: Partial<ServiceSettings<Operations>> = {}): Spoken {
  const debug: string[] = [];
  const warnings: string[] = [];
  const service = createService({
    table: OPERATIONS,
    connection: { baseUrl, key: async () => new Secret(KEY) },
    clock,
    random,
    env: {},
    userAgent: 'cardwright/0 test',
    mode: 'test',
    onDebug: line => debug.push(line),
    onWarning: text => warnings.push(text),
    ...more,
  });
  const write: Spoken['write'] = (operation, input) =>
    directWrite({
      ...{ service, operation, input, random, mode: 'test', keyOfCaller: false, clock: more.clock ?? clock },
      planned: service.plan(operation as never, input as never),
      signal: new AbortController().signal,
    });
  return { service, debug, warnings, write };
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export const CARD = {
  id: 'card_1',
  bin_id: 'bin_1',
  network: 'visa',
  last4: '4242',
  status: 'active',
  balance: 25.5,
  spending_limit: 1000,
  label: 'ads',
  allowed_categories: [],
  auto_freeze_at: null,
  metadata: {},
  created_at: '2026-01-01T00:00:00Z',
  expires_at: '2029-01-31T23:59:59Z',
};

export const WALLET = { balance: 900.25, currency: 'USD' };

/** What a call threw. */
export async function thrown(call: Promise<unknown>): Promise<CliError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('it did not throw');
}

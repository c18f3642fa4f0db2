/**
 * The receiver of deliveries: on this machine alone, the bytes first, then the signature, and only then anything else
 * (docs/design/security.md, H1 to H8, H12).
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliError } from '../core/errors.ts';
import { sameCommandWithout } from '../core/same-command.ts';

export interface Delivery {
  readonly bytes: Uint8Array;
  readonly headers: IncomingHttpHeaders;
}

export interface ReceiverSettings {
  /** Any free one for 0. */
  readonly port: number;
  /** Status of the answer to whole bytes; nothing else is done with them here. */
  readonly take: (delivery: Delivery) => Promise<number>;
  /** Told once, when it cannot receive any more. */
  readonly onGone: (error: CliError) => void;
}

export interface Receiver {
  readonly port: number;
  /** Answers what is running, then frees the port. */
  close(): Promise<void>;
}

const MAX_BYTES = 1024 * 1024;
const TIMES = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 } as const;

/** Opens the port on 127.0.0.1. Throws `unreachable` when it is taken. */
export async function openReceiver({ port, take, onGone }: ReceiverSettings): Promise<Receiver> {
  const server = createServer(TIMES, (request, response) => {
    answer(request, response, take).catch((error: unknown) => {
      request.destroy();
      onGone(gone('failed', error));
    });
  });
  await listening(server, port);
  server.on('error', error => onGone(gone('failed', error)));
  let closing = false;
  server.on('close', () => {
    if (!closing) onGone(gone('was closed', undefined));
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      closing = true;
      return new Promise(resolve => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  take: ReceiverSettings['take'],
): Promise<void> {
  if (request.method !== 'POST') return end(response, 405, { Allow: 'POST' });
  // A sender that leaves in the middle, or is too slow, is its own matter: it will come again.
  const bytes = await bodyOf(request).catch(() => 'broken off' as const);
  if (bytes === 'broken off') return void request.destroy();
  if (bytes === undefined) return end(response, 413, { Connection: 'close' });
  end(response, await take({ bytes, headers: request.headers }));
}

/** The whole body, undefined when it is too large. Rejects when it does not come whole. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length']) > MAX_BYTES) return undefined;
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function end(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'Content-Length': '0', ...headers }).end();
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => {
      const message = `cannot listen on port ${port} of 127.0.0.1: ${error.code ?? error.message}`;
      reject(new CliError('unreachable', { message, outcome: 'not_sent', hint: sameCommandWithout('--port') }));
    };
    server.once('error', refuse);
    server.listen({ host: '127.0.0.1', port }, () => {
      server.off('error', refuse);
      resolve();
    });
  });
}

function gone(what: string, cause: unknown): CliError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return new CliError('unreachable', { message: `the receiver ${what}${why}; no further event arrives`, cause });
}

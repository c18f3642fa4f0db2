/** The HTTP server of the sandbox: a socket or a loopback port, limits, and an orderly end (docs/design/sandbox.md, section 10). */
import { once } from 'node:events';
import { createReadStream, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AccountsServerOptions } from '../../contract/sandbox/admin.ts';
import { ADMIN_PATH, IMPORT_PATH } from '../../contract/sandbox/basis.ts';
import { CliError } from '../../core/errors.ts';
import { systemCode } from '../../files/private-files.ts';
import type { Host } from '../../platform/host.ts';
import { inNextTurn } from '../../platform/time.ts';
import { dateText } from '../clock/clock.ts';
import { sendFaulty } from '../faults/faults.ts';
import { errorAnswer, headersFor } from '../http/answer.ts';
import { Gone } from '../http/request.ts';
import { Exchange } from '../requests/exchange.ts';
import type { ServiceParts } from '../service/service.ts';
import { StoreBroken } from '../store/sql.ts';

/** A socket, or a port of 127.0.0.1; behind a proxy another address and its one public name. */
export type ListenAddress =
  | { readonly socketPath: string }
  | { readonly port: number; readonly behind?: AccountsServerOptions['behind'] };

/** The sandbox that a request is for, where a server has many; undefined for its own. Rejects when that cannot be opened. */
type AccountOf = (request: IncomingMessage) => Promise<ServiceParts | undefined>;

/** How long a client may take, ms, and how many there may be (docs/design/sandbox.md, section 10). */
export const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  /** How often the two are looked at. */
  connectionsCheckingInterval: 1_000,
  /** How long a connection may stand without a request. */
  keepAliveTimeout: 5_000,
  connections: 256,
};
export type ServerLimits = Readonly<typeof LIMITS>;
const TRANSFER_TIME = 900_000;

/** Serves until stopped, or until a commit fails and nothing true can be said any more. Throws `unreachable`. */
export async function serve(
  own: ServiceParts,
  place: ListenAddress,
  { connections, ...times }: ServerLimits = LIMITS,
  accountOf?: AccountOf,
) {
  const stopping = new AbortController();
  const nobody = new Exchange(own, stopping.signal);
  const exchanges = new Map<ServiceParts, Exchange>([[own, nobody]]);
  const exchangeFor = (parts: ServiceParts): Exchange => {
    const exchange = exchanges.get(parts) ?? new Exchange(parts, stopping.signal);
    exchange.hosts = nobody.hosts;
    exchanges.set(parts, exchange);
    return exchange;
  };
  const running = new Map<Promise<void>, IncomingMessage>();
  const server = createServer({ ...times, requireHostHeader: false }, (request, response) => {
    const done = answerOne(request, response);
    running.set(done, request);
    void done.finally(() => running.delete(done));
  });
  const answerOne = async (request: IncomingMessage, response: ServerResponse) => {
    let parts = own;
    // A file of a whole store takes longer to come in than any other request may.
    const isLong = request.url?.split('?', 1)[0] === ADMIN_PATH + IMPORT_PATH;
    if (isLong) server.requestTimeout = TRANSFER_TIME;
    try {
      parts = (await accountOf?.(request)) ?? own;
      await answerFor(exchangeFor(parts), request, response, isLong);
    } catch (error) {
      request.socket.destroy();
      if (error instanceof Gone) return;
      if (error instanceof StoreBroken) server.close().closeAllConnections();
      parts.onFault(error);
    } finally {
      if (isLong) server.requestTimeout = times.requestTimeout;
    }
  };
  const answerFor = async (exchange: Exchange, request: IncomingMessage, response: ServerResponse, isLong: boolean) => {
    const { activeDialect, clock } = exchange.parts;
    const { answer, requestId, now, appliedFault } = await exchange.answer(request);
    const { status, body, file } = answer;
    try {
      // The caller may have left while the work was done.
      if (response.closed) return;
      const handedOver = new Promise(resolve => response.once('close', resolve));
      const headers = headersFor(answer, requestId, activeDialect.dialect.bareHeaders);
      // Its clock may stand or run ahead; whoever judges an expiry must do so by this clock.
      if (now !== undefined) headers['Date'] = dateText(now);
      // What is left of the file stands in the way of another request on this connection.
      if (isLong && !request.complete) headers['Connection'] = 'close';
      if (appliedFault !== undefined) {
        await sendFaulty({ fault: appliedFault, response, answer, headers, clock, stopping: stopping.signal });
      } else if (file === undefined) response.writeHead(status, headers).end(body);
      else {
        await pipeline(createReadStream(file), response.writeHead(status, headers)).catch((error: unknown) => {
          throw LEFT.has(systemCode(error)) ? new Gone('the client went away') : error;
        });
      }
      // Until then stopping would cut the answer off.
      await handedOver;
    } finally {
      if (file !== undefined) rmSync(file, { force: true });
    }
  };
  server.maxConnections = connections;
  server.on('timeout', dropIdle);
  server.on('clientError', (error, found) => {
    const socket = found as Socket;
    // A request before it is worked on, and would take this for its answer.
    const isBefore = (request: IncomingMessage) => request.socket === socket && request.complete;
    if ([...running.values()].some(isBefore)) socket.destroy();
    else answerUnreadable(error, socket, nobody.nameByChance());
  });
  await listening(server, place);
  nobody.hosts = hostsOf(server, place);
  if ('port' in place) own.inspector?.listensAt(String((server.address() as AddressInfo).port));
  return {
    /** `http://localhost` over a socket, `http://127.0.0.1:<port>` else. */
    origin: `http://${nobody.hosts[0]}`,
    /** Finishes running requests and frees the place. */
    stop: async () => {
      const closed = new Promise(resolve => server.close(resolve));
      // What faults hold up is let go, and not executed any more.
      stopping.abort();
      server.closeIdleConnections();
      await Promise.all(running.keys());
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Codes of a response whose connection was closed by the other side, perhaps with the last byte, before it has ended. */
const LEFT: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/**
 * Ends a connection that stood for too long, unless a request is there that was not read yet: after a pause of this
 * process, or work that held it up, time is over first. Closed with that request in it the connection is reset, and
 * whoever sent it cannot know that nothing was done.
 */
function dropIdle(socket: Socket): void {
  const read = socket.bytesRead;
  // What has arrived is read before this.
  inNextTurn(() => {
    if (socket.bytesRead === read) socket.destroy();
  });
}

/** What could not be parsed, or came too slowly; there is no request to answer, but whoever sent it is told why. */
function answerUnreadable(error: Error, socket: Socket, requestId: string): void {
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const [status, message] =
    systemCode(error) === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ([408, 'The request came too slowly.'] as const)
      : ([400, 'This cannot be read as HTTP.'] as const);
  const answer = errorAnswer({ status, error: 'invalid_request', message }, requestId);
  const headers = { ...headersFor(answer, requestId), Connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${answer.body}`);
}

/** Throws `unreachable` where the place is taken. */
async function listening(server: Server, place: ListenAddress): Promise<void> {
  const at =
    'port' in place ? { host: place.behind?.bind ?? '127.0.0.1', port: place.port } : { path: place.socketPath };
  await once(server.listen(at), 'listening').catch((error: Error) => {
    const where = at.path ?? `port ${at.port} of ${at.host}`;
    throw new CliError('unreachable', {
      message: `the sandbox cannot listen on ${where}: ${systemCode(error) ?? error.message}`,
      hint: at.path === undefined ? 'cardwright sandbox start --port 0' : 'cardwright doctor',
      outcome: 'not_sent',
      cause: error,
    });
  });
}

function hostsOf(server: Server, place: ListenAddress): readonly string[] {
  if ('socketPath' in place) return ['localhost'];
  if (place.behind !== undefined) return [place.behind.host];
  const { port } = server.address() as AddressInfo;
  return [`127.0.0.1:${port}`, `localhost:${port}`];
}

// Where a sandbox listens that only this user reaches: a socket in a temporary folder of its own, or a pipe with a random name.

/** A socket in a folder of its own, which `remove` takes away; whoever listened there has taken the socket away. */
export function privateSocket({ pid, random, platform }: Pick<Host, 'random' | 'pid' | 'platform'>) {
  if (platform === 'win32') {
    const name = `${pid}-${Buffer.from(random.bytes(6)).toString('hex')}`;
    return { socketPath: `\\\\.\\pipe\\cardwright-${name}`, remove: () => undefined };
  }
  const own = mkdtempSync(join(tmpdir(), 'cw-'));
  return { socketPath: join(own, 'sandbox.sock'), remove: () => rmdirSync(own) };
}

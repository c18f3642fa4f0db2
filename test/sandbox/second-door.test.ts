/**
 * `::1` beside 127.0.0.1, where it is asked for: one server, one set of limits, one end
 * (docs/design/sandbox.md, section 10).
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/sandbox/serving/server.ts';
import { served } from '../support/served-sandbox.ts';
import { type RunningSandbox, startSandbox } from '../support/start-sandbox.ts';
import { world } from '../support/world.ts';

const hasIpv6 = Object.values(networkInterfaces()).some(found => found?.some(({ address }) => address === '::1'));
const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port);

/** Status of the health of whatever answers there, asked as a program does that takes `localhost` for that address. */
function health(port: number, host: '127.0.0.1' | '::1'): Promise<number | string> {
  return new Promise(resolve => {
    const asked = request(
      {
        host,
        port,
        path: '/_sandbox/v1/health?nonce=abcdefghijklmnop',
        agent: false,
        headers: { host: `localhost:${port}` },
      },
      answer => {
        resolve(answer.statusCode ?? 0);
        answer.resume();
      },
    );
    asked.on('error', error => resolve('code' in error ? String(error.code) : error.message)).end();
  });
}

const both = async (port: number) => [await health(port, '127.0.0.1'), await health(port, '::1')];

describe.runIf(hasIpv6)('on ::1 too', () => {
  it('answers programs that take localhost for it, on the same port, and ends with the rest', async () => {
    const sandbox = await startSandbox({ ipv6: true });
    const port = portOf(sandbox);
    expect(await both(port)).toEqual([200, 200]);
    const waits = connect({ host: '::1', port });
    await once(waits, 'connect');
    await sandbox.stop();
    if (!waits.closed) await once(waits, 'close');
    expect(await both(port)).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  });

  it('is not there unless it is asked for', async () => {
    await using sandbox = await startSandbox();
    expect(await both(portOf(sandbox))).toEqual([200, 'ECONNREFUSED']);
  });

  it('is a flag of sandbox start', async () => {
    await using here = await world();
    await using server = await served(here, 'sandbox start --json --data empty --ipv6');
    expect(await both(portOf(server.row))).toEqual([200, 200]);
  });

  it('both addresses together take 256 connections', async () => {
    await using sandbox = await startSandbox({ ipv6: true });
    const sockets = await Promise.all(
      Array.from({ length: LIMITS.connections }, (_, nth) => opened(sandbox, nth % 2 === 0 ? '::1' : '127.0.0.1')),
    );
    for (const host of ['::1', '127.0.0.1'] as const) {
      const more = await opened(sandbox, host);
      if (!more.closed) await once(more, 'close');
    }
    expect(sockets.filter(socket => socket.closed)).toEqual([]);
    for (const socket of sockets) socket.destroy();
  });

  it('a port that is taken there is told, and freed on the other address', async () => {
    const { port, other } = await takenOnIpv6Alone();
    await expect(startSandbox({ port, ipv6: true })).rejects.toMatchObject({
      kind: 'unreachable',
      message: `the sandbox cannot listen on port ${port} of ::1: EADDRINUSE`,
    });
    await (await startSandbox({ port })).stop();
    other.close();
  });
});

/** A port taken on ::1 and free on 127.0.0.1: taken on both first, because a port of ::1 alone may be in use on the other. */
async function takenOnIpv6Alone(): Promise<{ port: number; other: Server }> {
  for (;;) {
    const here = createServer().listen({ host: '127.0.0.1', port: 0 });
    await once(here, 'listening');
    const { port } = here.address() as { port: number };
    const other = createServer().listen({ host: '::1', port });
    const taken = await once(other, 'listening').then(
      () => true,
      () => false,
    );
    here.close();
    await once(here, 'close');
    if (taken) return { port, other };
  }
}

async function opened(sandbox: RunningSandbox, host: string): Promise<Socket> {
  const socket = connect({ host, port: portOf(sandbox) }).on('error', () => undefined);
  await once(socket, 'connect');
  return socket.resume();
}

/**
 * `::1` beside 127.0.0.1, where it is asked for: one server, one set of limits, one end
 * (docs/design/sandbox.md, section 10).
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { startSandbox } from '../support/start-sandbox.ts';

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
});

/** Who takes an export closes the connection as soon as the last byte has come, or earlier: neither is a fault of the server. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../support/start-sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Resolves to the bytes of the body that came, when `enough` says so; the connection is then closed at once. */
function taken(url: string, token: string, enough: (got: number, length: number) => boolean): Promise<number> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port) });
    let text = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('data', (part: Buffer) => {
      text = Buffer.concat([text, part]);
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text.toString('latin1', 0, Math.max(head, 0)))?.[1]);
      const got = text.length - head - 4;
      if (head < 0 || !enough(got, length)) return;
      socket.destroy();
      resolve(got);
    });
    socket.write(
      `GET /_sandbox/v1/export HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
  });
}

test.each([
  ['whole', (got: number, length: number) => got === length],
  ['in part', (got: number) => got > 0],
])('an export that is taken %s', async (_how, enough) => {
  await using folder = await temporaryFolder();
  const faults: unknown[] = [];
  {
    await using sandbox = await startSandbox({
      store: join(folder.path, 'store.db'),
      listen: 'tcp',
      onFault: error => void faults.push(error),
    });
    const token = sandbox.adminToken.expose();
    // More than a refusal has.
    for (let time = 0; time < 5; time += 1) expect(await taken(sandbox.url, token, enough)).toBeGreaterThan(1_000);
  }
  expect(faults).toEqual([]);
});

test('a connection is closed behind an import that was refused before all of it was read', async () => {
  await using sandbox = await startSandbox({ listen: 'tcp' });
  const { origin } = new URL(sandbox.url);
  const headers = {
    authorization: `Bearer ${sandbox.adminToken.expose()}`,
    'content-type': 'application/octet-stream',
  };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const asked = (path: string, body?: Uint8Array) =>
    new Promise<readonly unknown[]>((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      const sent = request(origin + path, { agent, method, headers }, answer => {
        answer.resume().on('end', () => resolve([answer.statusCode, answer.headers.connection]));
      });
      sent.on('error', reject).end(body);
    });
  const whole = Buffer.from(await (await fetch(`${origin}/_sandbox/v1/export`, { headers })).arrayBuffer());
  expect(await asked('/_sandbox/v1/import', whole)).toEqual([200, 'keep-alive']);
  expect(await asked('/_sandbox/v1/import', Buffer.concat([whole, Buffer.alloc(1_500_000)]))).toEqual([200, 'close']);
  expect(await asked('/_sandbox/v1/status')).toEqual([200, 'keep-alive']);
  agent.destroy();
});

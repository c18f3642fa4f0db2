/** What a server may ask of us before it is believed: SCRAM, and no password in any other way. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { openPostgres } from '../../src/postgres/client.ts';

const servers: { close(): void }[] = [];
afterEach(() => {
  for (const each of servers.splice(0)) each.close();
});

const message = (type: string, body: Buffer) => {
  const head = Buffer.alloc(5, type, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const authentication = (kind: number, ...more: Buffer[]) => {
  const number = Buffer.alloc(4);
  number.writeInt32BE(kind);
  return message('R', Buffer.concat([number, ...more]));
};
const OK = Buffer.concat([authentication(0), message('Z', Buffer.from('I'))]);

/** A server that answers the first packet with `first` and every later one with `later`; keeps what it was sent. */
async function server(first: Buffer, later: Buffer = Buffer.alloc(0)) {
  const seen: Buffer[] = [];
  const listening = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', data => {
      socket.write(seen.push(data) === 1 ? first : later);
    });
  });
  servers.push(listening);
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as { port: number };
  return { seen, address: { host: '127.0.0.1', port, user: 'ana', database: 'journal' } };
}

const PASSWORD = 'a-password-of-the-test';
const ways = { password: async () => PASSWORD, connectMs: 5_000, callMs: 5_000 };

it('sends no password in clear text or by md5, and says so', async () => {
  for (const [asked, words] of [
    [authentication(3), 'in clear text'],
    [authentication(5, Buffer.from([1, 2, 3, 4])), 'by md5'],
  ] as const) {
    const { seen, address } = await server(asked, OK);
    await expect(openPostgres(address, ways)).rejects.toThrow(words);
    // The greeting alone.
    expect(seen).toHaveLength(1);
  }
});

it('believes no server that ends SCRAM half way', async () => {
  const mechanisms = Buffer.from('SCRAM-SHA-256\0\0');
  const { seen, address } = await server(authentication(10, mechanisms), OK);
  await expect(openPostgres(address, ways)).rejects.toThrow('did not show that it knows the password');
  expect(Buffer.concat(seen).includes(PASSWORD)).toBe(false);
});

it('tells the server who asks, and nothing that a variable of the environment could add', async () => {
  const { seen, address } = await server(OK);
  const session = await openPostgres(address, ways);
  const parts = String(seen[0]?.subarray(8)).split('\0').filter(Boolean);
  expect(parts).toEqual([
    'user',
    'ana',
    'database',
    'journal',
    'application_name',
    'cardwright',
    'client_encoding',
    'UTF8',
  ]);
  const ended = session.end();
  for (const each of servers.splice(0)) each.close();
  await ended;
});

it('gives up a server that does not answer', async () => {
  const { address } = await server(Buffer.alloc(0));
  await expect(openPostgres(address, { ...ways, connectMs: 20 })).rejects.toThrow('timeout');
  const silent = await server(OK);
  const session = await openPostgres(silent.address, { ...ways, callMs: 20 });
  await expect(session.call('select 1', [])).rejects.toThrow('timeout');
  expect(session.alive).toBe(false);
});

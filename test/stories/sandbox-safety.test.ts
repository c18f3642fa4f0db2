/**
 * The port of `sandbox start`, as an attacker on this machine or in its browser sees it
 * (docs/design/sandbox.md, section 10).
 */
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedSandbox, served } from '../support/served-sandbox.ts';
import { type World, world } from '../support/world.ts';

let place: World;
let server: ServedSandbox;

beforeAll(async () => {
  place = await world();
  server = await served(place, 'sandbox start --json --data demo');
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});
const port = () => new URL(server.row.url).port;
describe('the port', () => {
  it('is open on 127.0.0.1 and on no other address of this machine', async () => {
    const others = Object.values(networkInterfaces())
      .flatMap(found => found ?? [])
      .filter(({ address, scopeid }) => address !== '127.0.0.1' && !scopeid)
      .map(({ address }) => address);
    const reached = await Promise.all(
      ['127.0.0.2', ...others].map(
        address =>
          new Promise(resolve => {
            const socket = connect({ port: Number(port()), host: address, timeout: 2_000 });
            const end = (how: string) => {
              socket.destroy();
              resolve(how);
            };
            socket
              .on('connect', () => end(`${address} is open`))
              .on('error', () => end('closed'))
              .on('timeout', () => end('closed'));
          }),
      ),
    );
    expect(reached.filter(how => how !== 'closed')).toEqual([]);
  });
});

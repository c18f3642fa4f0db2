/** The port that takes deliveries: on this machine alone, whole bodies alone (docs/design/security.md, H8, H12). */
import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { openListener } from '../../src/events/listener.ts';
import { SYSTEM_CLOCK } from '../../src/platform/time.ts';
import { isWhole } from '../support/whole.ts';

/** Whole bodies without a signature are refused, and counted. */
const taking = () =>
  openListener({
    port: 0,
    secrets: [new Secret('whsec_none')],
    signatureHeader: undefined,
    events: ['*'],
    clock: SYSTEM_CLOCK,
    onRefused: () => undefined,
    onHidden: () => undefined,
  });

it('is open on 127.0.0.1 and on no other address of this machine', async () => {
  const receiver = await taking();
  const others = Object.values(networkInterfaces())
    .flatMap(found => found ?? [])
    .filter(({ address, scopeid }) => address !== '127.0.0.1' && !scopeid)
    .map(({ address }) => address);
  for (const host of ['127.0.0.2', ...others]) {
    const socket = connect({ port: receiver.port, host });
    expect([host, ((await once(socket, 'error')) as [NodeJS.ErrnoException])[0].code]).toEqual([host, 'ECONNREFUSED']);
  }
  await receiver.close();
});

it('a body that breaks off is nobody’s, and the next one is taken', async () => {
  const receiver = await taking();
  const socket = connect({ port: receiver.port, host: '127.0.0.1' });
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{"half');
  await once(socket, 'ready');
  socket.destroy();
  const { status } = await fetch(`http://127.0.0.1:${receiver.port}/`, { method: 'POST', body: '{}' });
  expect([status, receiver.counts.refused]).toEqual([401, 1]);
  await receiver.close();
});

it.runIf(isWhole)('a body that drips is given up after 10 seconds', async () => {
  const receiver = await taking();
  const begun = performance.now();
  const socket = connect({ port: receiver.port, host: '127.0.0.1' }).setEncoding('utf8');
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n');
  const drip = setInterval(() => socket.write('a'), 100);
  let told = '';
  socket
    .on('error', () => undefined)
    .on('data', part => {
      told += part;
    });
  await once(socket, 'close');
  clearInterval(drip);
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect([told === '' || told.startsWith('HTTP/1.1 408'), receiver.counts.refused]).toEqual([true, 0]);
  await receiver.close();
});

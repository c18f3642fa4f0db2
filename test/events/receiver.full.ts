import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { openReceiver } from '../../src/events/listener.ts';

it('a body that drips is given up after 10 seconds', async () => {
  const taken: unknown[] = [];
  const receiver = await openReceiver({
    port: 0,
    take: async delivery => taken.push(delivery) && 200,
    onGone: error => expect.unreachable(error.message),
  });
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
  expect([told === '' || told.startsWith('HTTP/1.1 408'), taken]).toEqual([true, []]);
  await receiver.close();
});

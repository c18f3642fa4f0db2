/** Where a delivery may go, whatever a name says at another moment (docs/design/security.md, I9). */
import { expect, it, test } from 'vitest';
import { allowedAddress, isLoopback, post } from '../../../src/sandbox/delivery/send.ts';
import { realClock } from '../../support/clocks.ts';
import { receiver } from '../../support/receiver.ts';

it.each([
  ['http://hook.example/', '127.0.0.1', false],
  ['http://localhost.example/', '127.0.0.1', false],
  ['http://10.0.0.7/', '', false],
  ['http://[fd00::1]/', '', false],
  ['http://0.0.0.0/', '', false],
  ['http://2130706433/', '', true],
  ['http://127.1/', '', true],
  ['http://[::ffff:127.0.0.1]/', '', false],
  ['http://localhost/', '10.0.0.7', true],
])('%s, a name for %j: allowed %s, and no name is looked up', async (url, found, allowed) => {
  let lookups = 0;
  const resolve = async () => {
    lookups += 1;
    return found;
  };
  const asked = allowedAddress(new URL(url), { resolve, allowRemote: false });
  if (allowed) expect(isLoopback(await asked)).toBe(true);
  else await expect(asked).rejects.toThrow('is not this machine');
  expect(lookups).toBe(0);
});

it('elsewhere only where that was allowed, and over TLS', async () => {
  const asked = (url: string) =>
    allowedAddress(new URL(url), { resolve: async () => '192.0.2.1', allowRemote: true }).catch(String);
  const here = { resolve: async () => '::ffff:10.0.0.7', allowRemote: true };
  await expect(allowedAddress(new URL('http://hook.example/'), here)).rejects.toThrow('needs https');
  expect(await asked('https://hook.example/')).toBe('192.0.2.1');
  expect(await asked('http://hook.example/')).toContain('needs https');
});

test('a name is asked for once, and the answer is what is connected to', async () => {
  await using here = await receiver();
  const answers = ['127.0.0.1', '192.0.2.1'];
  let asked = 0;
  const { port } = new URL(here.url);
  const reply = await post(
    { url: `http://rebound.example:${port}/hook`, headers: {}, body: '{}' },
    {
      resolve: async () => answers[asked++] ?? '',
      allowRemote: true,
      clock: realClock,
      limit: 5_000,
      signal: new AbortController().signal,
    },
  );
  expect(reply).toMatchObject({ address: '127.0.0.1', status: 200 });
  expect([asked, here.received[0]?.headers.host]).toEqual([1, `rebound.example:${port}`]);
});

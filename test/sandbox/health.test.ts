/** That a sandbox is there and ours, before any key is shown to it. */
import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { fakeService } from '../support/fake-service.ts';
import { ask, askRaw } from '../support/sandbox-http.ts';

const NONCE = 'n'.repeat(32);
const health = (query = '') => ({ path: `/_sandbox/v1/health${query}`, headers: { authorization: '' } });

it('answers without a key, and proves over nonce and port that it knows the admin token', async () => {
  await using service = await fakeService();
  const { port } = new URL(service.url);
  const { status, json } = await ask(service, health(`?nonce=${NONCE}`));
  expect(status).toBe(200);
  const proof = createHmac('sha256', 'sandbox_right').update(`cardwright sandbox health\n${port}\n${NONCE}`);
  expect(json).toEqual({ status: 'ok', version: '1.2.3', instance: expect.any(String), proof: proof.digest('hex') });
  expect((await ask(service, health())).json).not.toHaveProperty('proof');
});

it('proves nothing over a nonce of any length, and stays behind the gate', async () => {
  await using service = await fakeService();
  expect((await ask(service, health(`?nonce=${'n'.repeat(129)}`))).status).toBe(400);
  expect((await ask(service, { ...health(), method: 'POST' })).status).toBe(405);
  const { host } = new URL(service.url);
  const raw = (lines: string[]) =>
    askRaw(service, `${['GET /_sandbox/v1/health HTTP/1.1', ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  expect(await raw(['Host: rebound.example'])).toMatch(/^HTTP\/1\.1 421 /);
  expect(await raw([`Host: ${host}`, 'Origin: http://localhost'])).toMatch(/^HTTP\/1\.1 403 /);
});

it('is not ended by request where nobody said how', async () => {
  await using service = await fakeService();
  const { status, json } = await ask(service, { path: '/_sandbox/v1/stop', method: 'POST' });
  expect([status, json.message]).toEqual([409, 'This sandbox is ended where it was started.']);
});

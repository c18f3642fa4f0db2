/** What a program forgot to hand in is told by name; a delivery without a signature is an ordinary answer. */
import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { CardwrightError, createClient, verifyWebhook } from '../../src/library/client.ts';

Object.assign(globalThis, { CARDWRIGHT_VERSION: '0.0.0-test' });

const baseUrl = 'http://127.0.0.1:1/v1';
const apiKey = 'sk_test_0123456789abcdef';
const secrets = ['secret'];
const payload = '{"id":"evt_1"}';

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const TIMEOUT = 'timeoutMs must be a whole number of milliseconds, from 1 to 86400000';

it.each([
  ['apiKey is missing', () => createClient({ baseUrl, apiKey: undefined } as never)],
  ['apiKey is missing', () => createClient({} as never)],
  ['baseUrl is missing', () => createClient({ apiKey } as never)],
  ['baseUrl must be text', () => createClient({ apiKey, baseUrl: 7 } as never)],
  ['the options of createClient is missing', () => createClient(undefined as never)],
  [TIMEOUT, () => createClient({ baseUrl, apiKey, timeoutMs: 0 } as never)],
  [TIMEOUT, () => createClient({ baseUrl, apiKey, timeoutMs: 0.5 } as never)],
  [TIMEOUT, () => createClient({ baseUrl, apiKey, timeoutMs: 86_400_001 } as never)],
  [TIMEOUT, () => createClient({ baseUrl, apiKey, timeoutMs: '5000' } as never)],
  [
    'jornal is not known here; known: baseUrl, apiKey, live, socketPath, timeoutMs, onWarning, journal, journalPasswordFile, journalFolder',
    () => createClient({ baseUrl, apiKey, jornal: '/folder' } as never),
  ],
  ['live must be true or false', () => createClient({ baseUrl, apiKey, live: 'true' } as never)],
  ['journal must be text', () => createClient({ baseUrl, apiKey, journal: 7 } as never)],
  ['payload is missing', () => verifyWebhook({ signature: 'a', secrets } as never)],
  ['payload must be text or bytes', () => verifyWebhook({ payload: {}, signature: 'a', secrets } as never)],
  ['signature must be text', () => verifyWebhook({ payload, signature: 7, secrets } as never)],
  ['secrets is missing', () => verifyWebhook({ payload, signature: 'a' } as never)],
  ['secrets must be a list of texts', () => verifyWebhook({ payload, signature: 'a', secrets: [undefined] } as never)],
  ['the delivery of verifyWebhook is missing', () => verifyWebhook(undefined as never)],
])('%s', (message, work) => {
  const error = thrownBy(work);
  expect(error).toBeInstanceOf(CardwrightError);
  expect(error).toMatchObject({ kind: 'usage', outcome: 'not_sent', message });
});

it('takes every option that there is, and what is undefined as left out', async () => {
  const left = { socketPath: undefined, onWarning: undefined, journal: undefined, nothing: undefined };
  await using one = createClient({ baseUrl, apiKey, ...left, timeoutMs: 1 } as never);
  await using other = createClient({ baseUrl, apiKey, live: false, timeoutMs: 86_400_000, onWarning: () => undefined });
  for (const client of [one, other])
    await expect(client.send('bins.list')).rejects.toMatchObject({ kind: 'unreachable' });
});

it.each([undefined, null, '', [], ['']])('a signature header that is %j is no signature', signature => {
  expect(verifyWebhook({ payload, signature, secrets })).toMatchObject({
    verified: false,
    mistakes: [{ mistake: 'no_signature' }],
  });
});

it('takes a header that came several times as the server hands it over', () => {
  const good = createHmac('sha256', 'secret').update(payload).digest('hex');
  expect(verifyWebhook({ payload, signature: ['00', good], secrets })).toMatchObject({ verified: true });
});

it('an operation without its input is told so, and one that needs none is sent', async () => {
  await using client = createClient({ baseUrl, apiKey });
  const send = client.send as (...given: unknown[]) => Promise<unknown>;
  await expect(send('wallet.get')).rejects.toMatchObject({ name: 'CardwrightError', kind: 'unreachable' });
  await expect(send('cards.get')).rejects.toMatchObject({ name: 'CardwrightError', kind: 'usage' });
  await expect(send('cards.get', null)).rejects.toMatchObject({ name: 'CardwrightError', kind: 'usage' });
  await expect(send('wallet.get', {}, null)).rejects.toMatchObject({ name: 'CardwrightError', kind: 'unreachable' });
});

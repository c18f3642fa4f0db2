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

const OUTSIDE = 'is outside the limit: from 1 to 86400000';

it.each([
  ['apiKey is missing', () => createClient({ baseUrl, apiKey: undefined } as never)],
  ['apiKey is missing', () => createClient({} as never)],
  ['baseUrl is missing', () => createClient({ apiKey } as never)],
  ['baseUrl must be text', () => createClient({ apiKey, baseUrl: 7 } as never)],
  ['the options of createClient is missing', () => createClient(undefined as never)],
  [`timeoutMs 0 ${OUTSIDE}`, () => createClient({ baseUrl, apiKey, timeoutMs: 0 } as never)],
  ['timeoutMs must be a whole number', () => createClient({ baseUrl, apiKey, timeoutMs: 0.5 } as never)],
  [`timeoutMs 86400001 ${OUTSIDE}`, () => createClient({ baseUrl, apiKey, timeoutMs: 86_400_001 } as never)],
  ['timeoutMs must be a whole number', () => createClient({ baseUrl, apiKey, timeoutMs: '5000' } as never)],
  [
    'jornal is not known here; known: apiKey, baseUrl, live, socketPath, timeoutMs, journal, journalPasswordFile, journalFolder',
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

it.each([undefined, null, '', [], ['']])('a signature header that is %j is no signature', signature => {
  expect(verifyWebhook({ payload, signature, secrets })).toMatchObject({
    verified: false,
    mistakes: [{ mistake: 'no_signature' }],
  });
});

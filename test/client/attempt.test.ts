/** One sending of a write: how often it leaves, and what each answer proves by itself. */
import { afterEach, expect, test } from 'vitest';
import type { Attempt, AttemptOptions } from '../../src/contract/service.ts';
import { cents } from '../../src/core/money.ts';
import { CARD, type Handler, json, type Served, serve, speak } from './served.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

const FUND = { card_id: 'card_1', amount: cents(2_500) };
const CREATE = { bin_id: 'bin_1', amount: cents(2_500), label: 'ads' };
const BEFORE = { card: cents(1_000), wallet: cents(90_000) };
const DONE = { card_id: 'card_1', amount: 25, card_balance: 35, wallet_balance: 875 };
const now = Date.now();
const funding: AttemptOptions = { evidence: { before: BEFORE, alone: true, plannedAt: now } };
const creating: AttemptOptions = { evidence: { alone: true, plannedAt: now, mark: { key: 'cw', value: 'op_1.1' } } };
const made = { ...CARD, balance: 25, metadata: { cw: 'op_1.1' }, created_at: new Date(now).toISOString() };

async function sentOnce(
  operation: 'cards.fund' | 'cards.create' | 'cards.freeze',
  input: object,
  answer: Handler,
  options: AttemptOptions = {},
) {
  served = await serve(answer);
  const { service } = speak(served.baseUrl);
  const attempt = await service.attempt(service.plan(operation, input as never), input as never, options);
  expect(served.seen.map(({ method }) => method)).toEqual(['POST']);
  await service.close();
  return attempt;
}

const says =
  (status: number, body: unknown, headers?: Record<string, string>): Handler =>
  (_, response) =>
    json(response, status, body, headers);
const refuses = (status: number, word: string, headers?: Record<string, string>) =>
  says(status, { error: word, message: 'no', code: status, request_id: 'req_1' }, headers);
const html: Handler = (_, response) =>
  void response.writeHead(403, { 'content-type': 'text/html' }).end('<html><title>Blocked</title></html>');

test.each<[string, Handler, Partial<Attempt>]>([
  ['the effect', says(200, DONE), { class: 'done', balances: { card: cents(3_500), wallet: cents(87_500) } }],
  [
    'unchanged balances',
    says(200, { ...DONE, card_balance: 10 }),
    { class: 'ambiguous', balances: { card: cents(1_000), wallet: cents(87_500) } },
  ],
  ['{}', says(200, {}), { class: 'ambiguous' }],
  ['no content', (_, r) => void r.writeHead(204).end(), { class: 'ambiguous', status: 204 }],
  ['202', says(202, DONE), { class: 'ambiguous' }],
  ['a word of delay', says(200, { status: 'pending' }), { class: 'ambiguous' }],
  ['a failure in 200', says(200, { status: 'failed' }), { class: 'ambiguous' }],
  [
    'a word of the contract',
    refuses(400, 'insufficient_funds'),
    { class: 'refused', refusal: 'insufficient_funds', requestId: 'req_1' },
  ],
  ['401', refuses(401, 'what_key'), { class: 'refused' }],
  ['an unknown word with 422', refuses(422, 'not_this_way'), { class: 'refused', plausible: true }],
  ['an unknown word with 409', refuses(409, 'not_this_way'), { class: 'ambiguous' }],
  ['a word of another operation', refuses(404, 'bin_not_found'), { class: 'ambiguous', refusal: 'bin_not_found' }],
  ['a repetition', refuses(400, 'duplicate_request'), { class: 'ambiguous' }],
  ['a key that is worked on', refuses(409, 'idempotency_in_progress'), { class: 'ambiguous' }],
  ['a web page', html, { class: 'ambiguous', status: 403 }],
  ['429', refuses(429, 'rate_limited', { 'retry-after': '7' }), { class: 'throttled', retryAfterMs: 7_000 }],
  ['503', refuses(503, 'service_unavailable', { 'retry-after': '2' }), { class: 'ambiguous', retryAfterMs: 2_000 }],
  ['503 that is called a rate limit', refuses(503, 'rate_limited'), { class: 'ambiguous' }],
  ['a redirect', says(302, {}, { location: 'https://elsewhere.example/' }), { class: 'ambiguous', status: 302 }],
  ['silence', (_, r) => void r.destroy(), { class: 'ambiguous', status: undefined }],
])('%s is one request', async (_name, answer, expected) => {
  const attempt = await sentOnce('cards.fund', FUND, answer, funding);
  expect(attempt).toMatchObject(expected);
  expect(attempt.error === undefined).toBe(attempt.class === 'done');
});

test('a create tells the card that its answer named, believed or not', async () => {
  expect(await sentOnce('cards.create', CREATE, says(201, made), creating)).toMatchObject({
    class: 'done',
    made: 'card_1',
  });
  await served?.close();
  const other = { ...made, metadata: { cw: 'op_2.1' } };
  expect(await sentOnce('cards.create', CREATE, says(201, other), creating)).toMatchObject({
    class: 'ambiguous',
    made: 'card_1',
  });
});

test('"already frozen" proves nothing by itself', async () => {
  const attempt = await sentOnce('cards.freeze', { card_id: 'card_1' }, refuses(409, 'card_already_frozen'));
  expect(attempt).toMatchObject({ class: 'ambiguous', refusal: 'card_already_frozen' });
});

test('nobody listens, no key and a stop before the connection are not sent', async () => {
  const closed = await serve(says(200, DONE));
  await closed.close();
  const { service } = speak(closed.baseUrl);
  const planned = service.plan('cards.fund', FUND as never);
  expect(await service.attempt(planned, FUND)).toMatchObject({ class: 'not_sent', error: { kind: 'unreachable' } });
  const stopped = AbortSignal.abort(new Error('stop'));
  expect(await service.attempt(planned, FUND, { signal: stopped })).toMatchObject({ class: 'not_sent' });
  const { CliError } = await import('../../src/core/errors.ts');
  const key = () => Promise.reject(new CliError('not_authenticated', { message: 'no key' }));
  const without = speak(closed.baseUrl, { connection: { baseUrl: closed.baseUrl, key } }).service;
  const attempt = await without.attempt(planned, FUND);
  expect(attempt).toMatchObject({
    class: 'not_sent',
    error: { kind: 'not_authenticated', facts: { outcome: 'not_sent' } },
  });
});

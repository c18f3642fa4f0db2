/** The tolerant table of RELIABILITY, section 4, and the classes of section 1, on one read and one write. */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { cents } from '../../src/money.ts';
import { CARD, type Handler, json, KEY, type Served, serve, speak, thrown, WALLET } from './served.ts';

let served: Served;
afterEach(() => served?.close());

const fund = { card_id: 'card_1', amount: cents(500) };
const error = (id: string, message = 'no') => ({ error: id, message, code: 1, request_id: 'req_1' });
const html = (response: ServerResponse, status: number) =>
  response.writeHead(status, { 'content-type': 'text/html' }).end('<html><title> Log  in </title></html>');
const raw = (response: ServerResponse, status: number, bytes: Buffer | string, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(bytes);

interface Row {
  readonly name: string;
  readonly answer: Handler;
  /** Exit code of a read and of a write; 0 for success. */
  readonly read: number;
  readonly write: number;
  readonly reads?: number;
  readonly writes?: number;
}

const rows: Row[] = [
  { name: '400 insufficient_funds', answer: (_, r) => json(r, 400, error('insufficient_funds')), read: 10, write: 10 },
  { name: '422 insufficient_funds', answer: (_, r) => json(r, 422, error('insufficient_funds')), read: 10, write: 10 },
  { name: '400 invalid_request', answer: (_, r) => json(r, 400, error('invalid_request')), read: 6, write: 6 },
  { name: '422 validation_error', answer: (_, r) => json(r, 422, error('validation_error')), read: 6, write: 6 },
  { name: '400 unknown identifier', answer: (_, r) => json(r, 400, error('strange')), read: 6, write: 6 },
  {
    name: '400 error object',
    answer: (_, r) => json(r, 400, { error: { type: 'x', message: 'm' } }),
    read: 6,
    write: 6,
  },
  {
    name: '400 problem+json',
    answer: (_, r) => json(r, 400, { type: 'https://x/p/bad', title: 'Bad' }),
    read: 6,
    write: 6,
  },
  { name: '400 HTML', answer: (_, r) => html(r, 400), read: 6, write: 11 },
  { name: '400 no body', answer: (_, r) => raw(r, 400, ''), read: 6, write: 11 },
  { name: '400 of a gateway', answer: (_, r) => json(r, 400, { message: 'bad' }), read: 6, write: 11 },
  { name: '401', answer: (_, r) => json(r, 401, error('unauthorized')), read: 4, write: 4 },
  { name: '401 no body', answer: (_, r) => raw(r, 401, ''), read: 4, write: 4 },
  { name: '403 HTML', answer: (_, r) => html(r, 403), read: 4, write: 4 },
  { name: '400 unauthorized', answer: (_, r) => json(r, 400, error('unauthorized')), read: 4, write: 4 },
  { name: '404 not_found', answer: (_, r) => json(r, 404, error('not_found')), read: 5, write: 5 },
  { name: '404 HTML', answer: (_, r) => html(r, 404), read: 5, write: 5 },
  { name: '404 card_terminated', answer: (_, r) => json(r, 404, error('card_terminated')), read: 6, write: 6 },
  { name: '405', answer: (_, r) => raw(r, 405, ''), read: 6, write: 6 },
  { name: '407', answer: (_, r) => raw(r, 407, ''), read: 6, write: 6 },
  { name: '408', answer: (_, r) => json(r, 408, error('x')), read: 12, write: 11, reads: 3 },
  { name: '409 state', answer: (_, r) => json(r, 409, error('card_expired')), read: 6, write: 6 },
  {
    name: '409 in progress',
    answer: (_, r) => json(r, 409, error('idempotency_in_progress')),
    read: 11,
    write: 11,
    reads: 3,
    writes: 3,
  },
  {
    name: '409 key in use',
    answer: (_, r) => json(r, 409, error('idempotent_request_running')),
    read: 11,
    write: 11,
    reads: 3,
    writes: 3,
  },
  { name: '409 key reused', answer: (_, r) => json(r, 409, error('idempotency_key_reused')), read: 1, write: 1 },
  { name: '413 HTML', answer: (_, r) => html(r, 413), read: 6, write: 6 },
  { name: '422 key reused', answer: (_, r) => json(r, 422, error('idempotency_key_reused')), read: 1, write: 1 },
  { name: '429', answer: (_, r) => json(r, 429, error('rate_limited')), read: 7, write: 7, reads: 3, writes: 3 },
  { name: '429 no body', answer: (_, r) => raw(r, 429, ''), read: 7, write: 7, reads: 3, writes: 3 },
  {
    name: '503 rate_limited',
    answer: (_, r) => json(r, 503, error('too_many_requests')),
    read: 7,
    write: 7,
    reads: 3,
    writes: 3,
  },
  { name: '499', answer: (_, r) => json(r, 499, error('x')), read: 12, write: 11, reads: 3 },
  { name: '500', answer: (_, r) => json(r, 500, error('internal_error')), read: 12, write: 11, reads: 3 },
  {
    name: '500 that names funds',
    answer: (_, r) => json(r, 500, error('insufficient_funds')),
    read: 12,
    write: 11,
    reads: 3,
  },
  { name: '501', answer: (_, r) => raw(r, 501, ''), read: 12, write: 11, reads: 1 },
  { name: '502 HTML', answer: (_, r) => html(r, 502), read: 12, write: 11, reads: 3 },
  { name: '503', answer: (_, r) => json(r, 503, error('service_unavailable')), read: 12, write: 11, reads: 3 },
  { name: '600', answer: (_, r) => json(r, 600, {}), read: 12, write: 11, reads: 1 },
  ...[300, 301, 302, 303, 307, 308].map(status => ({
    name: `redirect ${status}`,
    answer: ((_, r) => raw(r, status, '', { location: 'https://evil.example/v1/x' })) as Handler,
    read: 12,
    write: 11,
    reads: 1,
  })),
  { name: '200 HTML', answer: (_, r) => html(r, 200), read: 13, write: 11 },
  { name: '200 text', answer: (_, r) => raw(r, 200, 'OK'), read: 13, write: 11 },
  { name: '200 empty', answer: (_, r) => raw(r, 200, ''), read: 13, write: 11 },
  { name: '200 half JSON', answer: (_, r) => raw(r, 200, '{"id":"card_1"'), read: 13, write: 11 },
  { name: '200 with error body', answer: (_, r) => json(r, 200, error('insufficient_funds')), read: 13, write: 11 },
  { name: '200 success false', answer: (_, r) => json(r, 200, { success: false }), read: 13, write: 11 },
  {
    name: '200 gzip',
    answer: (_, r) => raw(r, 200, gzipSync('{}'), { 'content-encoding': 'gzip' }),
    read: 13,
    write: 11,
  },
  { name: '200 bad UTF-8', answer: (_, r) => raw(r, 200, Buffer.from([0x7b, 0xff, 0x7d])), read: 13, write: 11 },
  { name: '200 too deep', answer: (_, r) => raw(r, 200, '['.repeat(70) + ']'.repeat(70)), read: 13, write: 11 },
  { name: '200 too large', answer: (_, r) => raw(r, 200, ' '.repeat(300_000)), read: 13, write: 11 },
  { name: '202', answer: (_, r) => json(r, 202, { id: 'card_1' }), read: 13, write: 11 },
  { name: '200 array', answer: (_, r) => json(r, 200, [CARD]), read: 13, write: 11 },
  {
    name: 'cut body',
    answer: (_, r) => {
      r.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      r.write('{"id":');
      setTimeout(() => r.destroy(), 5);
    },
    read: 12,
    write: 11,
    reads: 3,
  },
  { name: 'reset after send', answer: (_, r) => r.destroy(), read: 12, write: 11, reads: 3 },
];

describe.each(rows)('$name', ({ answer, read, write, reads = 1, writes = 1 }) => {
  test(`a read exits ${read}`, async () => {
    served = await serve(answer);
    const { service } = speak(served.baseUrl);
    const failed = await thrown(service.send('cards.get', { card_id: 'card_1' }));
    expect(failed.exitCode).toBe(read);
    expect(served.seen).toHaveLength(reads);
    expect(failed.facts.operation).toBe('cards.get');
    await service.close();
  });

  test(`a write exits ${write} and is sent ${writes} times`, async () => {
    served = await serve((seen, response, request) =>
      seen.method === 'POST' ? answer(seen, response, request) : response.destroy(),
    );
    const { service } = speak(served.baseUrl);
    const failed = await thrown(service.send('cards.fund', fund));
    expect(failed.exitCode).toBe(write);
    expect(served.seen.filter(({ method }) => method === 'POST')).toHaveLength(writes);
    expect(new Set(served.seen.map(({ headers }) => headers['x-idempotency-key'])).size).toBe(1);
    expect(failed.facts.idempotencyKey).toBe(served.seen[0]?.headers['x-idempotency-key']);
    expect(failed.facts.outcome).toBe(write === 11 ? 'unknown' : 'refused');
    expect(JSON.stringify([failed.message, failed.facts])).not.toContain(KEY);
    await service.close();
  });
});

describe('what an error tells', () => {
  test('the body of the service verbatim, the status, the wait', async () => {
    const body = error('insufficient_funds', 'Need $5.00');
    served = await serve((_, r) => json(r, 400, body, { 'retry-after': '3' }));
    const { facts } = await thrown(speak(served.baseUrl).service.send('cards.fund', fund, { key: 'mine' }));
    expect(facts).toMatchObject({ service: body, httpStatus: 400, idempotencyKey: 'mine', retryAfterMs: 3000 });
  });

  test('Retry-After as a date counts from the Date of the answer', async () => {
    const headers = { date: 'Wed, 21 Oct 2026 07:28:00 GMT', 'retry-after': 'Wed, 21 Oct 2026 07:28:10 GMT' };
    served = await serve((_, r) => json(r, 429, error('rate_limited'), headers));
    const waits: number[] = [];
    const clock = { now: () => Date.now(), monotonic: () => 0, sleep: sleepless(waits) };
    const failed = await thrown(speak(served.baseUrl, { clock }).service.send('wallet.get', {}));
    expect(failed.facts.retryAfterMs).toBe(10_000);
    expect(waits.filter(ms => ms === 10_000).length).toBeGreaterThanOrEqual(2);
  });

  test.each(['-5', 'soon', '', '1.5'])('Retry-After %j is ignored', async value => {
    served = await serve((_, r) => json(r, 429, error('rate_limited'), { 'retry-after': value }));
    const failed = await thrown(speak(served.baseUrl).service.send('wallet.get', {}));
    expect(failed.facts.retryAfterMs).toBeUndefined();
  });

  test('the request id of a header', async () => {
    served = await serve((_, r) => raw(r, 500, '', { 'x-request-id': 'req_h' }));
    const { facts } = await thrown(speak(served.baseUrl).service.send('cards.fund', fund));
    expect(facts.service?.request_id).toBe('req_h');
  });

  test('an assumed route that is not there: the override to write', async () => {
    served = await serve((_, r) => json(r, 404, error('route_not_found')));
    const { message, facts } = await thrown(speak(served.baseUrl).service.send('cards.freeze', { card_id: 'card_1' }));
    expect(message).toContain('no such route');
    expect(facts.hint).toContain('operations -> cards.freeze (now POST /cards/{card_id}/freeze)');
    expect(facts.hint).toContain('--contract');
  });

  test('an unknown card is no missing route', async () => {
    served = await serve((_, r) => json(r, 404, error('card_not_found')));
    const { facts } = await thrown(speak(served.baseUrl).service.send('cards.get', { card_id: 'card_1' }));
    expect(facts.hint).toBe('cardwright cards list');
  });

  test('a web page: its title and where it came from', async () => {
    served = await serve((_, r) => html(r, 200));
    const { message, facts } = await thrown(speak(served.baseUrl).service.send('wallet.get', {}));
    expect(message).toContain('"Log in"');
    expect(facts.hint).toContain('wrong base URL?');
  });

  test('a redirect: both origins', async () => {
    served = await serve((_, r) => raw(r, 307, '', { location: 'https://evil.example/v1' }));
    const { message } = await thrown(speak(served.baseUrl).service.send('wallet.get', {}));
    expect(message).toContain('https://evil.example');
    expect(message).toContain(new URL(served.baseUrl).origin);
  });

  test('withdraw: insufficient_funds speaks of the card', async () => {
    served = await serve((_, r) => json(r, 400, error('insufficient_funds')));
    const failed = await thrown(speak(served.baseUrl).service.send('cards.withdraw', fund));
    expect(failed.kind).toBe('refused');
  });
});

describe('writes that are confirmed by reading', () => {
  const frozen = { ...CARD, status: 'frozen' };
  const freezeThen =
    (answer: Handler, after: unknown = frozen): Handler =>
    (seen, response, request) =>
      seen.method === 'GET' ? json(response, 200, after) : answer(seen, response, request);

  test.each<[string, Handler]>([
    ['204', (_, r) => r.writeHead(204).end()],
    ['empty 200', (_, r) => raw(r, 200, '')],
    ['success', (_, r) => json(r, 200, { success: true })],
    ['202', (_, r) => json(r, 202, {})],
    ['HTML', (_, r) => html(r, 200)],
    ['another card', (_, r) => json(r, 200, { ...frozen, id: 'card_2' })],
    ['not frozen yet', (_, r) => json(r, 200, CARD)],
    ['part of a card', (_, r) => json(r, 200, { id: 'card_1', status: 'frozen', refunded_amount: 1 })],
  ])('freeze answered with %s', async (_name, answer) => {
    served = await serve(freezeThen(answer));
    const answered = await speak(served.baseUrl).service.send('cards.freeze', { card_id: 'card_1' });
    expect(answered).toMatchObject({ changed: true, reread: true, result: { id: 'card_1', status: 'frozen' } });
    expect(served.seen.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  test('still active: unknown', async () => {
    served = await serve(freezeThen((_, r) => r.writeHead(204).end(), CARD));
    const failed = await thrown(speak(served.baseUrl).service.send('cards.freeze', { card_id: 'card_1' }));
    expect(failed.kind).toBe('outcome_unknown');
  });

  test('202 is followed until the state shows', async () => {
    let reads = 0;
    served = await serve((seen, r) => {
      if (seen.method === 'POST') return json(r, 202, {});
      reads += 1;
      return json(r, 200, reads < 3 ? CARD : frozen);
    });
    const waits: number[] = [];
    const clock = { now: () => Date.now(), monotonic: () => 0, sleep: sleepless(waits) };
    await speak(served.baseUrl, { clock }).service.send('cards.freeze', { card_id: 'card_1' });
    expect(waits.filter(ms => ms >= 1000 && ms < 2000)).toHaveLength(2);
  });

  test.each(['card_already_frozen'])('%s is success without a change', async id => {
    served = await serve(freezeThen((_, r) => json(r, 409, error(id))));
    const answered = await speak(served.baseUrl).service.send('cards.freeze', { card_id: 'card_1' });
    expect(answered).toMatchObject({ changed: false, result: { status: 'frozen' } });
  });

  test('already terminated under another spelling and status', async () => {
    served = await serve(
      freezeThen((_, r) => json(r, 422, error('card_already_terminated')), { ...CARD, status: 'terminated' }),
    );
    const answered = await speak(served.baseUrl).service.send('cards.terminate', { card_id: 'card_1' });
    expect(answered).toMatchObject({ changed: false, result: { status: 'terminated' } });
  });

  test('"not frozen" of a terminated card stays a refusal', async () => {
    served = await serve(
      freezeThen((_, r) => json(r, 409, error('card_not_frozen')), { ...CARD, status: 'terminated' }),
    );
    const failed = await thrown(speak(served.baseUrl).service.send('cards.unfreeze', { card_id: 'card_1' }));
    expect(failed.facts).toMatchObject({ outcome: 'refused', service: { error: 'card_not_frozen' } });
  });

  test('an update is confirmed by what it sent', async () => {
    const hook = { id: 'wh_1', url: 'https://a.example', events: ['card.frozen', 'card.created'] };
    served = await serve(freezeThen((_, r) => r.writeHead(204).end(), hook));
    const { service } = speak(served.baseUrl);
    const events = ['card.created', 'card.frozen'];
    expect((await service.send('webhooks.update', { webhook_id: 'wh_1', events })).reread).toBe(true);
    const failed = await thrown(service.send('webhooks.update', { webhook_id: 'wh_1', url: 'https://b.example' }));
    expect(failed.kind).toBe('outcome_unknown');
    expect(served.seen[0]?.headers['x-idempotency-key']).toBeUndefined();
  });

  test.each<[string, Handler]>([
    ['204', (_, r) => r.writeHead(204).end()],
    ['empty 200', (_, r) => raw(r, 200, '')],
    ['deleted', (_, r) => json(r, 200, { id: 'wh_1', deleted: true })],
  ])('delete answered with %s is done', async (_name, answer) => {
    served = await serve(answer);
    const answered = await speak(served.baseUrl).service.send('webhooks.delete', { webhook_id: 'wh_1' });
    expect(answered).toMatchObject({ result: undefined, changed: true });
  });

  test.each<[string, Handler]>([
    ['deleted false', (_, r) => json(r, 200, { id: 'wh_1', deleted: false })],
    ['another id', (_, r) => json(r, 200, { id: 'wh_2', deleted: true })],
    ['a web page', (_, r) => html(r, 200)],
  ])('delete answered with %s is unknown', async (_name, answer) => {
    served = await serve(answer);
    const failed = await thrown(speak(served.baseUrl).service.send('webhooks.delete', { webhook_id: 'wh_1' }));
    expect(failed.kind).toBe('outcome_unknown');
  });

  test.each([{}, { success: true }, { card_id: 'card_1', amount: 5 }, { new_balance: 30.5 }, { card: CARD }])(
    'fund answered with %j: balances are read',
    async body => {
      served = await serve((seen, r) =>
        json(r, 200, seen.method === 'POST' ? body : seen.url.endsWith('wallet') ? WALLET : CARD),
      );
      const answered = await speak(served.baseUrl).service.send('cards.fund', fund);
      expect(answered).toMatchObject({ reread: true, result: { card_balance: 25.5, wallet_balance: 900.25 } });
    },
  );

  test.each([
    { card_id: 'card_2', amount: 5, card_balance: 1, wallet_balance: 2 },
    { card_id: 'card_1', amount: 6, card_balance: 1, wallet_balance: 2 },
  ])('fund answered about something else is unknown: %j', async body => {
    served = await serve((_, r) => json(r, 200, body));
    expect((await thrown(speak(served.baseUrl).service.send('cards.fund', fund))).kind).toBe('outcome_unknown');
  });

  test('a created card without its record is done, but cannot be printed', async () => {
    served = await serve((_, r) => json(r, 201, { id: 'card_9' }));
    const failed = await thrown(
      speak(served.baseUrl).service.send('cards.create', { bin_id: 'b', amount: cents(100) }),
    );
    expect(failed.kind).toBe('contract_mismatch');
    expect(failed.facts.outcome).toBe('done');
    expect(failed.message).toContain('card_9');
  });
});

/** Skips waits but for the deadline, which must not pass. */
function sleepless(waits: number[]) {
  return (ms: number, signal?: AbortSignal): Promise<void> => {
    waits.push(ms);
    if (ms < 20_000) return Promise.resolve();
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
  };
}

/**
 * The tolerant table of docs/design/reliability.md, section 3, and the outcomes of section 1, on one read; writes are `test/hostile/table`.
 */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { CARD, type Handler, json, type Served, serve, speak, thrown, WALLET } from './served.ts';

/** An error as the interface shows it. */
const error = (id: string, message = 'no') => ({ error: id, message, code: 1, request_id: 'req_1' });
const html = (response: ServerResponse, status: number) =>
  response.writeHead(status, { 'content-type': 'text/html' }).end('<html><title> Log  in </title></html>');
const raw = (response: ServerResponse, status: number, bytes: Buffer | string, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(bytes);

interface Row {
  readonly name: string;
  readonly answer: Handler;
  /** Exit code of a read. */
  readonly read: number;
  /** How often it is asked; once where it is left out. */
  readonly reads?: number;
}

const rows: readonly Row[] = [
  { name: '400 insufficient_funds', answer: (_, r) => json(r, 400, error('insufficient_funds')), read: 10 },
  { name: '400 invalid_request', answer: (_, r) => json(r, 400, error('invalid_request')), read: 6 },
  { name: '400 unknown identifier', answer: (_, r) => json(r, 400, error('strange')), read: 6 },
  {
    name: '400 error object',
    answer: (_, r) => json(r, 400, { error: { type: 'x', message: 'm' } }),
    read: 6,
  },
  { name: '400 HTML', answer: (_, r) => html(r, 400), read: 6 },
  { name: '400 no body', answer: (_, r) => raw(r, 400, ''), read: 6 },
  { name: '401', answer: (_, r) => json(r, 401, error('unauthorized')), read: 4 },
  { name: '403 HTML', answer: (_, r) => html(r, 403), read: 4 },
  { name: '400 unauthorized', answer: (_, r) => json(r, 400, error('unauthorized')), read: 4 },
  { name: '404 not_found', answer: (_, r) => json(r, 404, error('not_found')), read: 5 },
  { name: '404 card_terminated', answer: (_, r) => json(r, 404, error('card_terminated')), read: 6 },
  { name: '405', answer: (_, r) => raw(r, 405, ''), read: 6 },
  { name: '408', answer: (_, r) => json(r, 408, error('x')), read: 12, reads: 3 },
  { name: '409 state', answer: (_, r) => json(r, 409, error('card_expired')), read: 6 },
  { name: '409 key reused', answer: (_, r) => json(r, 409, error('idempotency_key_reused')), read: 1 },
  { name: '429', answer: (_, r) => json(r, 429, error('rate_limited')), read: 7, reads: 3 },
  { name: '500', answer: (_, r) => json(r, 500, error('internal_error')), read: 12, reads: 3 },
  {
    name: '500 that names funds',
    answer: (_, r) => json(r, 500, error('insufficient_funds')),
    read: 12,
    reads: 3,
  },
  { name: '501', answer: (_, r) => raw(r, 501, ''), read: 12, reads: 1 },
  { name: '502 HTML', answer: (_, r) => html(r, 502), read: 12, reads: 3 },
  { name: '503', answer: (_, r) => json(r, 503, error('service_unavailable')), read: 12, reads: 3 },
  { name: '600', answer: (_, r) => json(r, 600, {}), read: 12, reads: 1 },
  ...[300, 301, 302, 303, 307, 308].map(status => ({
    name: `redirect ${status}`,
    answer: ((_, r) => raw(r, status, '', { location: 'https://evil.example/v1/x' })) as Handler,
    read: 12,
    reads: 1,
  })),
  { name: '200 HTML', answer: (_, r) => html(r, 200), read: 13 },
  { name: '200 text', answer: (_, r) => raw(r, 200, 'OK'), read: 13 },
  { name: '200 empty', answer: (_, r) => raw(r, 200, ''), read: 13 },
  { name: '200 half JSON', answer: (_, r) => raw(r, 200, '{"id":"card_1"'), read: 13 },
  { name: '200 with error body', answer: (_, r) => json(r, 200, error('insufficient_funds')), read: 13 },
  { name: '200 success false', answer: (_, r) => json(r, 200, { success: false }), read: 13 },
  {
    name: '200 gzip',
    answer: (_, r) => raw(r, 200, gzipSync('{}'), { 'content-encoding': 'gzip' }),
    read: 13,
  },
  { name: '200 bad UTF-8', answer: (_, r) => raw(r, 200, Buffer.from([0x7b, 0xff, 0x7d])), read: 13 },
  { name: '200 too deep', answer: (_, r) => raw(r, 200, '['.repeat(70) + ']'.repeat(70)), read: 13 },
  { name: '200 too large', answer: (_, r) => raw(r, 200, ' '.repeat(300_000)), read: 13 },
  { name: '202', answer: (_, r) => json(r, 202, { id: 'card_1' }), read: 13 },
  { name: '200 array', answer: (_, r) => json(r, 200, [CARD]), read: 13 },
  {
    name: 'cut body',
    answer: (_, r) => {
      r.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      r.write('{"id":');
      setTimeout(() => r.destroy(), 5);
    },
    read: 12,
    reads: 3,
  },
  { name: 'reset after send', answer: (_, r) => r.destroy(), read: 12, reads: 3 },
];

let served: Served;
afterEach(() => served?.close());

const fund = { card_id: 'card_1', amount: cents(500) };
test.each(rows)('$name: a read exits $read', async ({ answer, read, reads = 1 }) => {
  served = await serve(answer);
  const { service } = speak(served.baseUrl);
  const failed = await thrown(service.send('cards.get', { card_id: 'card_1' }));
  expect(failed.exitCode).toBe(read);
  expect(served.seen).toHaveLength(reads);
  expect(failed.facts.operation).toBe('cards.get');
  await service.close();
});

describe('what an error tells', () => {
  test('the body of the service verbatim, the status, the wait', async () => {
    const body = error('insufficient_funds', 'Need $5.00');
    served = await serve((_, r) => json(r, 400, body, { 'retry-after': '3' }));
    const { facts } = await thrown(speak(served.baseUrl).service.send('cards.fund', fund, { key: 'mine' }));
    expect(facts).toMatchObject({ service: body, httpStatus: 400, idempotencyKey: 'mine', retryAfterMs: 3000 });
  });

  test('an assumed route that is not there: the override to write', async () => {
    served = await serve((_, r) => json(r, 404, error('route_not_found')));
    const { message, facts } = await thrown(speak(served.baseUrl).service.send('cards.freeze', { card_id: 'card_1' }));
    expect(message).toContain('no such route');
    expect(facts.hint).toContain('operations -> cards.freeze (now POST /cards/{card_id}/freeze)');
    expect(facts.hint).toContain('--contract');
  });

  test('a redirect: both origins', async () => {
    served = await serve((_, r) => raw(r, 307, '', { location: 'https://evil.example/v1' }));
    const { message } = await thrown(speak(served.baseUrl).service.send('wallet.get', {}));
    expect(message).toContain('https://evil.example');
    expect(message).toContain(new URL(served.baseUrl).origin);
  });
});

describe('writes that are confirmed by reading', () => {
  test('a created card of which the answer holds the id alone is read, and compared with what was asked for', async () => {
    const card = { ...CARD, id: 'card_9', bin_id: 'b', balance: 1, created_at: new Date().toISOString() };
    let shown: unknown = card;
    served = await serve(({ method, url }, r) =>
      json(r, 200, method === 'POST' ? { id: 'card_9' } : url.endsWith('wallet') ? WALLET : shown),
    );
    const { write } = speak(served.baseUrl);
    const create = () => write('cards.create', { bin_id: 'b', amount: cents(100) });
    expect(await create()).toMatchObject({ reread: true, result: card });
    for (const other of [{ ...card, balance: 2 }, { ...card, created_at: CARD.created_at }, { id: 'card_9' }]) {
      shown = other;
      expect((await thrown(create())).kind).toBe('outcome_unknown');
    }
  });

  test('a changed subscription is read: an answer may repeat what was asked', async () => {
    const hook = { id: 'wh_1', url: 'https://a.example/x', events: ['card.frozen'], status: 'active' };
    let kept = hook;
    served = await serve(({ method }, r) =>
      json(r, 200, method === 'PATCH' ? { ...hook, url: 'https://b.example/x' } : kept),
    );
    const { write } = speak(served.baseUrl);
    const update = () => write('webhooks.update', { webhook_id: 'wh_1', url: 'https://b.example/x' });
    const { kind, message } = await thrown(update());
    expect([kind, message]).toEqual(['outcome_unknown', expect.stringContaining('wh_1 does not show what was sent')]);
    kept = { ...hook, url: 'https://b.example/x' };
    expect((await update()).result).toMatchObject(kept);
  });

  test('a subscription must be the one that was asked for', async () => {
    const hook = { id: 'wh_1', url: 'https://a.example/x', events: ['card.frozen'] };
    let answer: unknown = { ...hook, secret: 'whsec_x' };
    let isThere = false;
    served = await serve(({ method }, r) => {
      isThere ||= method === 'POST' && answer !== undefined && !('secret' in (answer as object));
      json(r, 200, method === 'POST' ? answer : { data: isThere ? [hook] : [] });
    });
    const { write } = speak(served.baseUrl);
    const create = (url: string) => write('webhooks.create', { url, events: ['card.frozen'] });
    expect((await create('https://a.example/x')).result).toMatchObject(hook);
    expect((await thrown(create('https://b.example/x'))).kind).toBe('outcome_unknown');
    answer = { id: 'wh_1' };
    const lost = await thrown(create('https://a.example/x'));
    expect([lost.kind, lost.facts.hint]).toEqual(['outcome_unknown', 'cardwright webhooks list']);
    expect(lost.message).toContain('wh_1 has this address and these events, and its secret');
    // Typed again it makes no second one.
    expect((await thrown(create('https://a.example/x'))).kind).toBe('guarded');
  });
});

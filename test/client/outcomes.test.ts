/**
 * The tolerant table of docs/design/reliability.md, section 3, and the outcomes of section 1, on one read and one write.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { error, raw, rows } from './answers.ts';
import { CARD, json, KEY, type Served, serve, speak, thrown, WALLET } from './served.ts';

let served: Served;
afterEach(() => served?.close());

const fund = { card_id: 'card_1', amount: cents(500) };
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
    served = await serve((seen, response, request) => {
      if (seen.method === 'POST') return answer(seen, response, request);
      json(response, 200, seen.url.endsWith('wallet') ? WALLET : CARD);
    });
    const { service, write: change } = speak(served.baseUrl);
    const failed = await thrown(change('cards.fund', fund));
    expect(failed.exitCode).toBe(write);
    const sent = served.seen.filter(({ method }) => method === 'POST');
    expect(sent).toHaveLength(writes);
    expect(new Set(sent.map(({ headers }) => headers['x-idempotency-key'])).size).toBe(1);
    expect(failed.facts.idempotencyKey).toBe(sent[0]?.headers['x-idempotency-key']);
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

/**
 * The tolerant table of docs/design/reliability.md, section 3, and the outcomes of section 1, on one read and one write.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { error, html, raw, rows } from './answers.ts';
import { CARD, type Handler, json, KEY, type Served, serve, speak, thrown, WALLET } from './served.ts';

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

  test('withdraw: insufficient_funds speaks of the card', async () => {
    served = await serve((_, r) => json(r, 400, error('insufficient_funds')));
    const failed = await thrown(speak(served.baseUrl).service.send('cards.withdraw', fund));
    expect(failed.kind).toBe('refused');
  });
});

describe('writes that are confirmed by reading', () => {
  const frozen = { ...CARD, status: 'frozen' };
  const freezeThen = (answer: Handler, after: unknown = frozen, before: unknown = CARD): Handler => {
    let is = before;
    return (seen, response, request) => {
      if (seen.method === 'GET') return json(response, 200, is);
      is = after;
      return answer(seen, response, request);
    };
  };

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
    expect(served.seen.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
  });

  test.each<[string, Handler, object]>([
    ['the card', (_, r) => json(r, 200, frozen), { changed: false }],
    ['204', (_, r) => r.writeHead(204).end(), { changed: false }],
    ['a lost connection', (_, r) => r.destroy(), { changed: false }],
    ['200 and words of failure', (_, r) => json(r, 200, { status: 'failed' }), { kind: 'outcome_unknown' }],
  ])('freeze of a frozen card, answered with %s', async (_name, answer, told) => {
    served = await serve(freezeThen(answer, frozen, frozen));
    const sent = speak(served.baseUrl).service.send('cards.freeze', { card_id: 'card_1' });
    expect(await sent.catch((failed: unknown) => failed)).toMatchObject(told);
  });

  test('202 is followed until the state shows', async () => {
    let reads = -1;
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

  test('what is said of a state that cannot be read is not known to be so', async () => {
    served = await serve((seen, r) => (seen.method === 'GET' ? r.destroy() : json(r, 409, error('card_terminated'))));
    const { service } = speak(served.baseUrl, {
      clock: { now: () => Date.now(), monotonic: () => 0, sleep: sleepless([]) },
    });
    const failed = await thrown(service.send('cards.terminate', { card_id: 'card_1' }));
    expect(failed.facts).toMatchObject({ outcome: 'unknown', service: { error: 'card_terminated' } });
    expect(failed.facts.hint).toBe('cardwright cards get card_1');
  });

  test('"not frozen" of a terminated card is not believed as it stands', async () => {
    served = await serve(
      freezeThen((_, r) => json(r, 409, error('card_not_frozen')), { ...CARD, status: 'terminated' }),
    );
    const failed = await thrown(speak(served.baseUrl).service.send('cards.unfreeze', { card_id: 'card_1' }));
    expect(failed.facts).toMatchObject({ outcome: 'unknown', service: { error: 'card_not_frozen' } });
  });

  test.each<[string, Handler]>([
    ['204', (_, r) => r.writeHead(204).end()],
    ['empty 200', (_, r) => raw(r, 200, '')],
    ['deleted', (_, r) => json(r, 200, { id: 'wh_1', deleted: true })],
  ])(
    'delete answered with %s is done where it is not listed any more, and unknown where it is',
    async (_name, answer) => {
      for (const listed of [[], [{ id: 'wh_1', url: 'https://a.example', events: ['card.frozen'] }]]) {
        served = await serve((seen, r, request) =>
          seen.method === 'GET' ? json(r, 200, { data: listed }) : answer(seen, r, request),
        );
        const { service } = speak(served.baseUrl);
        const deleting = service.send('webhooks.delete', { webhook_id: 'wh_1' });
        if (listed.length === 0) expect(await deleting).toMatchObject({ result: undefined, changed: true });
        else expect((await thrown(deleting)).kind).toBe('outcome_unknown');
        await served.close();
      }
    },
  );

  test.each([{}, { success: true }, { card_id: 'card_1', amount: 5 }, { new_balance: 30.5 }, { card: CARD }])(
    'fund answered with %j: done where the balances from before and after show it',
    async body => {
      let funded = false;
      let carriesOut = true;
      served = await serve((seen, r) => {
        funded ||= seen.method === 'POST' && carriesOut;
        const card = { ...CARD, balance: funded ? 30.5 : 25.5 };
        const wallet = { ...WALLET, balance: funded ? 895.25 : 900.25 };
        json(r, 200, seen.method === 'POST' ? body : seen.url.endsWith('wallet') ? wallet : card);
      });
      const { service } = speak(served.baseUrl);
      const answered = await service.send('cards.fund', fund, { readsBalancesBefore: true });
      expect(answered).toMatchObject({ reread: true, result: { card_balance: 30.5, wallet_balance: 895.25 } });
      // Without balances from before there is nothing to compare with.
      expect((await thrown(service.send('cards.fund', fund))).kind).toBe('outcome_unknown');
      [funded, carriesOut] = [false, false];
      const failed = await thrown(service.send('cards.fund', fund, { readsBalancesBefore: true }));
      expect(failed.facts).toMatchObject({ outcome: 'unknown', operation: 'cards.fund' });
      expect(failed.message).toContain('the balance of the card has not changed');
    },
  );

  test.each([
    { card_id: 'card_2', amount: 5, card_balance: 1, wallet_balance: 2 },
    { card_id: 'card_1', amount: 6, card_balance: 1, wallet_balance: 2 },
  ])('fund answered about something else is unknown: %j', async body => {
    served = await serve((_, r) => json(r, 200, body));
    expect((await thrown(speak(served.baseUrl).service.send('cards.fund', fund))).kind).toBe('outcome_unknown');
  });

  test('a created card of which the answer holds the id alone is read, and compared with what was asked for', async () => {
    const card = { ...CARD, id: 'card_9', bin_id: 'b', balance: 1, created_at: new Date().toISOString() };
    let shown: unknown = card;
    served = await serve((seen, r) => json(r, 200, seen.method === 'POST' ? { id: 'card_9' } : shown));
    const { service } = speak(served.baseUrl);
    const create = () => service.send('cards.create', { bin_id: 'b', amount: cents(100) });
    expect(await create()).toMatchObject({ reread: true, result: card });
    for (const other of [{ ...card, balance: 2 }, { ...card, created_at: CARD.created_at }, { id: 'card_9' }]) {
      shown = other;
      expect((await thrown(create())).kind).toBe('outcome_unknown');
    }
  });

  test('a subscription must be the one that was asked for', async () => {
    const hook = { id: 'wh_1', url: 'https://a.example/x', events: ['card.frozen'] };
    let answer: unknown = { ...hook, secret: 'whsec_x' };
    served = await serve(({ method, url }, r) => {
      const read = url.endsWith('/webhooks') ? { data: [] } : hook;
      json(r, 200, method === 'POST' ? answer : read);
    });
    const { service } = speak(served.baseUrl);
    const create = (url: string) => service.send('webhooks.create', { url, events: ['card.frozen'] });
    expect((await create('https://a.example/x')).result).toMatchObject(hook);
    expect((await thrown(create('https://b.example/x'))).kind).toBe('outcome_unknown');
    answer = { id: 'wh_1' };
    const lost = await thrown(create('https://a.example/x'));
    expect([lost.kind, lost.facts.outcome]).toEqual(['contract_mismatch', 'done']);
    expect(lost.message).toContain('wh_1 exists, but its secret is lost');
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

/** Refused writes: which cost nothing, which are looked into and how often, and what they end in (reliability.md, section 1). */
import { afterEach, expect, test } from 'vitest';
import type { Clock } from '../../src/platform/host.ts';
import { CARD, type Handler, json, type Served, serve, speak, thrown } from './served.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

const error = (identifier: string) => ({ error: identifier, message: 'no', code: 409, request_id: 'req_1' });
const create = { bin_id: 'bin_1', amount: 2_500 } as never;
const hook = { id: 'wh_1', url: 'https://a.example/', events: ['card.frozen'] };
const subscribe = { url: 'https://a.example', events: ['card.frozen'] } as never;
const frozen = { ...CARD, status: 'frozen' };
/** Every pause between looks, until nothing more is expected to show. */
const PATIENT = [250, 500, 1_000, 2_000, 5_000];

/** Pauses pass at once and are kept; deadlines never end. */
function pausing(pauses: number[]): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep(ms, signal) {
      if (ms >= 20_000)
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      if (ms > 0) pauses.push(ms);
      return Promise.resolve();
    },
  };
}

async function serviceOf(handler: Handler, pauses: number[] = []) {
  served = await serve(handler);
  return speak(served.baseUrl, { clock: pausing(pauses) }).service;
}

function html(response: Parameters<Handler>[1], status: number): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end('<html><title>Blocked</title></html>');
}

const methods = () => served?.seen.map(({ method }) => method).join(' ');

test.each([
  [400, 'insufficient_funds', 'insufficient_funds'],
  [400, 'invalid_request', 'refused'],
  [401, 'what_key', 'not_authenticated'],
  [403, 'not_your_scope', 'not_authenticated'],
  [404, 'bin_not_found', 'not_found'],
])('%i %s of a create is believed at once, without a reading', async (status, word, kind) => {
  const pauses: number[] = [];
  const service = await serviceOf((_, r) => json(r, status, error(word)), pauses);
  expect((await thrown(service.send('cards.create', create))).kind).toBe(kind);
  expect([methods(), pauses]).toEqual(['POST', []]);
});

/** Refuses the write; the nth reading and all after it show the effect. */
function refusing(answer: Handler, shown: unknown, [before, from]: readonly [unknown, number]): Handler {
  let readings = -1;
  let wasSent = false;
  return (seen, response, request) => {
    if (seen.method !== 'GET') {
      wasSent = true;
      return answer(seen, response, request);
    }
    if (wasSent) readings += 1;
    return json(response, 200, readings >= from ? shown : before);
  };
}

const NEVER = 99;
const UNKNOWN = { kind: 'outcome_unknown', facts: { outcome: 'unknown', hint: 'cardwright cards get card_1' } };

test.each<[string, Handler, number, object, number]>([
  ['an odd word, and it shows', (_, r) => json(r, 422, error('not_this_way')), 3, { changed: false }, 3],
  ['an odd word, and it never shows', (_, r) => json(r, 422, error('not_this_way')), NEVER, { kind: 'refused' }, 5],
  ['a foreign word, and it shows', (_, r) => json(r, 404, error('bin_not_found')), 2, { changed: false }, 2],
  ['a foreign word, and it never shows', (_, r) => json(r, 404, error('bin_not_found')), NEVER, UNKNOWN, 5],
  ['a web page, and it shows', (_, r) => html(r, 403), 1, { changed: false }, 1],
  ['a web page, and it never shows', (_, r) => html(r, 403), NEVER, UNKNOWN, 5],
  ['"already frozen", which no reading shows', (_, r) => json(r, 409, error('card_already_frozen')), NEVER, UNKNOWN, 5],
])('freeze is refused by %s', async (_name, answer, from, ending, looks) => {
  const pauses: number[] = [];
  const service = await serviceOf(refusing(answer, frozen, [CARD, from]), pauses);
  const sent = service.send('cards.freeze', { card_id: 'card_1' });
  expect(await sent.catch((failed: unknown) => failed)).toMatchObject(ending);
  expect(pauses).toEqual(PATIENT.slice(0, looks));
});

test('a freeze whose answer was lost, and whose resend is refused, is done once the card shows it', async () => {
  let sent = 0;
  const lost: Handler = (_, r) => {
    sent += 1;
    return sent === 1 ? r.destroy() : json(r, 409, error('card_already_frozen'));
  };
  const service = await serviceOf(refusing(lost, frozen, [CARD, 4]));
  expect(await service.send('cards.freeze', { card_id: 'card_1' })).toMatchObject({ reread: true, result: frozen });
});

test.each<[string, Handler, number, string]>([
  ['an odd word, and none is listed', (_, r) => json(r, 422, error('not_this_way')), NEVER, 'refused'],
  ['an odd word, and one is listed late', (_, r) => json(r, 422, error('not_this_way')), 4, 'outcome_unknown'],
  ['a foreign word, and none is listed', (_, r) => json(r, 409, error('card_terminated')), NEVER, 'outcome_unknown'],
  ['a web page, and none is listed', (_, r) => html(r, 403), NEVER, 'outcome_unknown'],
])('a subscription is refused by %s', async (_name, answer, from, kind) => {
  const service = await serviceOf(refusing(answer, { data: [hook] }, [{ data: [] }, from]));
  const failed = await thrown(service.send('webhooks.create', subscribe));
  expect([failed.kind, kind === 'refused' || failed.facts.hint]).toEqual([
    kind,
    kind === 'refused' || 'cardwright webhooks list',
  ]);
});

test('an update of a subscription that a web page refuses is done where the subscription shows it', async () => {
  const update = { webhook_id: 'wh_1', url: 'https://b.example' } as never;
  const updated = { ...hook, url: 'https://b.example' };
  const service = await serviceOf(refusing((_, r) => html(r, 403), updated, [hook, 2]));
  expect(await service.send('webhooks.update', update)).toMatchObject({ reread: true, result: updated });
});

test('a key that is not accepted when the card is read sends no change of its state', async () => {
  const service = await serviceOf((_, r) => json(r, 401, error('unauthorized')));
  const failed = await thrown(service.send('cards.freeze', { card_id: 'card_1' }));
  expect([failed.kind, failed.facts.outcome, methods()]).toEqual(['not_authenticated', 'not_sent', 'GET']);
});

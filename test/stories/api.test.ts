/** `api`: a raw request is no way round a guard, the journal or the gate of card details. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, type Seen, type Served, serve } from '../client/served.ts';
import { errorOf, type World, world } from '../support/world.ts';

const NUMBER = '4000009471306822';
const CVV = '7391';
/** One card number in every dress a service could give it. */
const DRESSED = {
  number: NUMBER,
  holder: { value: NUMBER, check: CVV },
  spaced: '4000 0094 7130 6822',
  numeric: Number(NUMBER),
  text: `card ${NUMBER} is ready`,
  list: [NUMBER],
  cvv: CVV,
  otp: '739146',
  secret: 'whsec_0123456789abcdef0123456789abcdef',
  [NUMBER]: 1,
  last4: '6822',
  label: 'kept',
};

let service: Served;
let here: World;
let answer: (seen: Seen, response: ServerResponse) => void;
beforeEach(async () => {
  answer = (_seen, response) => json(response, 200, { ok: true });
  service = await serve((seen, response) => {
    // The clock of the world stands, and that of the server is the machine's.
    response.sendDate = false;
    answer(seen, response);
  });
  here = await world();
});
afterEach(async () => {
  await here[Symbol.asyncDispose]();
  await service.close();
});

const asTest = (line: string, stdin?: string) =>
  here.run(line, {
    ...(stdin !== undefined && { stdin }),
    env: { CARDWRIGHT_API_KEY: 'sk_test_0123456789abcdef', CARDWRIGHT_BASE_URL: service.baseUrl },
    onPause: () => undefined,
  });

it("a number that would be sent with other digits is refused; a body of one's own goes as it is", async () => {
  for (const value of ['12345678901234567890', '[1,{"ref":9007199254740993}]', '1e999']) {
    expect(await asTest(`api POST /other -F ref:=${value} --yes`)).toMatchObject({ code: 2 });
  }
  expect(service.seen).toHaveLength(0);
  const body = '{"ref":12345678901234567890}';
  expect((await asTest('api POST /other --input - --yes', body)).code).toBe(0);
  expect(service.seen.at(-1)?.body).toBe(body);
});

describe('what must not be seen', () => {
  it.each([
    'api GET /anything',
    'api GET /anything -i',
    'api GET /list --paginate --json',
    'api GET /list --paginate',
    'api GET /anything --json --debug',
    'api POST /anything -f a=b',
    'api GET /refused',
  ])('is in no byte of %s', async line => {
    answer = ({ url }, response) => {
      response.setHeader('X-Card', NUMBER);
      if (url.startsWith('/v1/refused'))
        return json(response, 400, { error: 'no', message: `card ${NUMBER}`, ...DRESSED });
      return json(response, 200, url.startsWith('/v1/list') ? { data: [{ id: 'a', ...DRESSED }] } : DRESSED);
    };
    const { all, code } = await asTest(line);
    expect(code).toBe(line.includes('refused') ? 6 : 0);
    for (const canary of [/4000 ?0094 ?7130 ?6822/, /\b7391\b/, /739146/, /whsec_0/, /sk_test_0/]) {
      expect(all).not.toMatch(canary);
    }
    if (code === 0) expect(all).toMatch(/kept/);
  });

  it.each([
    '/cards/card_1/details',
    '/cards/card_1/details/',
    '/cards//card_1/Details',
    '/cards/card_1/%64etails',
    '/cards/card_1/%44ETAILS?x=1',
  ])('card details are refused at %s, with every method', async path => {
    for (const method of ['GET', 'POST', 'PUT']) {
      expect(await asTest(`api ${method} ${path} --yes`)).toMatchObject({ code: 14, out: '' });
    }
    expect(service.seen).toEqual([]);
  });

  it.each([
    ['api GET /cards/%2e%2e/admin', ''],
    ['api GET /cards/..%2fadmin', ''],
    ['api GET /%5c%5cevil.example/x', ''],
    ['api GET /cards#x', ''],
    ['api GET /cards/%zz', ''],
    ['api POST /webhooks/wh_1/rotate -f secret=hush', ''],
    ['api POST /webhooks/wh_1/rotate --input -', '{"new":{"secret":"hush"}}'],
    ['api POST /cards --input -', '[1]'],
  ])('%s leaves nothing', async (line, stdin) => {
    const { code, all } = await asTest(line, stdin);
    expect([code, service.seen.length]).toEqual([2, 0]);
    expect(all).not.toContain('hush');
  });
});

describe('a change that is no operation', () => {
  it('is journaled, sent once with a key, and unknown without an answer', async () => {
    answer = (_seen, response) => response.destroy();
    const ran = await asTest('api POST /cards/card_1/boost -f speed=high --json');
    expect(ran).toMatchObject({ code: 11, out: '' });
    const error = errorOf(ran);
    expect(error).toMatchObject({ kind: 'outcome_unknown', outcome: 'unknown', operation: 'api.write' });
    expect(service.seen).toHaveLength(1);
    expect(ran.err).not.toContain('undefined');
    const [sent] = service.seen;
    expect(sent?.headers['x-idempotency-key']).toBe(error.idempotency_key);
    expect([sent?.method, sent?.url, sent?.body]).toEqual(['POST', '/v1/cards/card_1/boost', '{"speed":"high"}']);
    // Its twin could do it twice.
    expect((await asTest('api POST /cards/card_1/boost -f speed=high')).code).toBe(14);
    expect((await asTest(`ops resume ${error.op}`)).code).toBe(11);
    expect(service.seen).toHaveLength(1);
    expect((await asTest(`ops resolve ${error.op} 1 --as done --note seen`)).code).toBe(0);
  });

  it('is done with whatever the service says, also nothing', async () => {
    answer = (_seen, response) => void response.writeHead(204).end();
    expect(await asTest('api DELETE /things/1')).toMatchObject({ code: 0 });
    answer = (_seen, response) => json(response, 202, { state: 'later' });
    expect((await asTest('api DELETE /things/2')).code).toBe(11);
  });

  it('is refused where spending is limited, for nobody can count it', async () => {
    const login = `login --profile team --base-url ${service.baseUrl} --key-stdin`;
    expect((await here.run(login, { stdin: 'sk_test_0123456789abcdef' })).code).toBe(0);
    expect((await here.run('profiles set team max_per_day 100')).code).toBe(0);
    expect(await here.run('api POST /cards/card_1/boost -f a=b --profile team')).toMatchObject({ code: 14 });
    expect(await here.run('api POST /cards?a=b -f bin_id=bin_1 --profile team')).toMatchObject({ code: 2 });
    expect(service.seen).toEqual([]);
  });
});

it('a change that is an operation by an override is that operation', async () => {
  const { writeFile } = await import('node:fs/promises');
  const overrides = {
    operations: { 'cards.freeze': { method: 'PATCH', path: '/cards/{card_id}', body: { status: 'frozen' } } },
  };
  await writeFile(`${here.folder}/over.json`, JSON.stringify(overrides));
  const planned = async (line: string) =>
    JSON.parse((await asTest(`${line} --dry-run --json --contract over.json`)).out);
  expect(await planned('api PATCH /cards/card_1 -f status=frozen')).toMatchObject({
    operation: 'cards.freeze',
    body: { status: 'frozen' },
  });
  expect(await planned('api PATCH /cards/card_1 -f status=active')).toMatchObject({ operation: 'api.write' });
});

describe('the bytes of a body', () => {
  const RAW = '{ "amount": 25.00,\n  "bin_id": "bin_1", "metadata": {"order": "7"} }\n';
  const card = (body: string) => ({
    ...{ id: 'card_1', last4: '4242', status: 'active', network: 'visa', created_at: '2026-11-20T14:03:11Z' },
    ...{ expires_at: '2029-11-30T23:59:59Z', label: '', ...JSON.parse(body || '{}'), balance: 25 },
  });
  const posted = () => service.seen.filter(({ method }) => method !== 'GET').map(({ body }) => body);

  it('are those that were given, of an operation and of any other change', async () => {
    answer = ({ method, body, url }, response) => {
      const isFrozen = url.endsWith('/freeze') || method === 'GET';
      json(response, 201, { ...card(body), ...(isFrozen && { status: 'frozen' }) });
    };
    expect((await asTest('api POST /cards --input -', RAW)).code).toBe(0);
    expect((await asTest('api POST /things --input -', RAW)).code).toBe(0);
    expect((await asTest('api POST /cards/card_1/freeze --input -', '{}')).code).toBe(0);
    expect(posted()).toEqual([RAW, RAW, '{}']);
  });

  it('get the marker where it is asked for, and nowhere else', async () => {
    answer = ({ body, url }, response) => {
      const isRead = url.includes('/cards?') ? { data: [] } : { balance: 100, currency: 'USD' };
      json(response, 201, /wallet|\?/.test(url) ? isRead : card(body));
    };
    expect((await asTest('api POST /cards --marker --input -', RAW)).code).toBe(0);
    const sent = JSON.parse(posted()[0] ?? '');
    expect(sent).toEqual({
      amount: 25,
      bin_id: 'bin_1',
      metadata: { order: '7', cardwright: expect.stringMatching(/^op_\w+\.1$/) },
    });
    for (const line of [
      'api GET /cards --marker',
      'api POST /things -f a=b --marker',
      'api POST /cards/card_1/freeze --marker',
    ])
      expect(await asTest(line)).toMatchObject({ code: 2 });
    expect(posted()).toHaveLength(1);
  });

  it.each([
    '{"bin_id":"bin_1","amount":1,"amount":5000}',
    '{"bin_id":"bin_1","amount":1,"\\u0061mount":5000}',
    '{"bin_id":"bin_1","amount":1,"metadata":{"a:\\"b":"x","a:\\"b":"y"}}',
  ])('a member that stands twice could be read otherwise by the service: %s', async text => {
    expect(await asTest('api POST /cards --input -', text)).toMatchObject({ code: 2 });
    expect(await asTest('api POST /things --input -', text)).toMatchObject({ code: 2 });
    expect(service.seen).toEqual([]);
  });
});

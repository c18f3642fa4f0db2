/**
 * The way in to the page (docs/design/inspector.md, section 5). Each probe has a pair that differs in one thing and succeeds,
 * else it would prove nothing. Those that need a browser are in `browser-probes.full.ts`.
 */
import { expect, it } from 'vitest';
import { SESSION_LIFE, TICKET_LIFE, WRONG_TICKETS } from '../../../src/contract/sandbox/page.ts';
import { fakeService } from '../../support/fake-service.ts';
import { ask, askRaw } from '../../support/sandbox-http.ts';
import { startSandbox } from '../../support/start-sandbox.ts';
import { ADMIN, asPage, fromPage, going, redeem, sessionOf, ticketOf } from './probes.ts';

const PAGE = '/_sandbox/';
const INSTEAD = expect.stringMatching(/^(?!.*<title>page).*sandbox open/s);
const statusOf = (answer: string) => Number(answer.split(' ')[1]);
/** A clock that never jumps but when it is told to. */
const stopwatch = () => {
  let shown = 0;
  const pass = (ms: number) => {
    shown += ms;
  };
  return { now: () => shown, monotonic: () => shown, pass };
};

it('1: answers a browser without the page before the first ticket, and with it after it', async () => {
  await using service = await fakeService();
  const page = () => ask(service, { path: PAGE, headers: going() });
  // A program is told how to get in.
  const told = async (target: string) => {
    const { host } = new URL(service.url);
    const answer = await askRaw(service, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return [statusOf(answer), answer.includes('cardwright sandbox open')];
  };
  expect([await told('/'), await told(PAGE)]).toEqual([
    [404, true],
    [404, true],
  ]);
  const before = [
    (await page()).status,
    (await ask(service, { path: PAGE, headers: going({ 'sec-fetch-site': 'cross-site' }) })).status,
    (await ask(service, { path: `${ADMIN}/marks`, headers: fromPage(service) })).status,
  ];
  expect(before).toEqual([404, 403, 403]);
  // A person who typed the address is told so by a page, which is not the inspector.
  const instead = await page();
  expect([instead.headers['content-type'], instead.text]).toEqual([expect.stringContaining('text/html'), INSTEAD]);
  await ticketOf(service);
  expect([await told('/'), await told(PAGE)]).toEqual([
    [404, true],
    [403, true],
  ]);
  const { status, headers, text } = await page();
  expect([status, headers['content-type'], text]).toEqual([
    200,
    'text/html; charset=utf-8',
    expect.stringContaining('<title>page'),
  ]);
  expect(headers).toMatchObject({
    'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'; .*trusted-types 'none'$/),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
  const icon = await ask(service, { path: `${PAGE}icon.svg`, headers: fromPage(service) });
  expect(icon.headers['cache-control']).toBe('max-age=86400');
});

it('2: a sandbox without a port has no page', async () => {
  await using sandbox = await startSandbox({ listen: 'socket' });
  const { status, json } = await ask(sandbox, { method: 'POST', path: `${ADMIN}/page/tickets`, body: {} });
  expect([status, json.message]).toEqual([409, expect.stringContaining('cardwright sandbox start')]);
  expect((await ask(sandbox, { path: PAGE, headers: going() })).status).toBe(404);
});

it('3 to 8: the page stands at 127.0.0.1 and its port, spoken to in HTTP/1.1', async () => {
  await using service = await fakeService();
  await ticketOf(service);
  const { port } = new URL(service.url);
  const raw = async (hosts: readonly string[], target = PAGE, version = '1.1') => {
    const lines = [`GET ${target} HTTP/${version}`, ...hosts.map(host => `Host: ${host}`), 'Connection: close'];
    const how = ['Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];
    return statusOf(await askRaw(service, `${[...lines, ...how].join('\r\n')}\r\n\r\n`));
  };
  const here = `127.0.0.1:${port}`;
  expect(await raw([here])).toBe(200);
  expect(await raw([`rebound.example:${port}`])).toBe(421);
  expect(await raw([`localhost:${port}`])).toBe(421);
  expect(await raw(['127.0.0.1'])).toBe(421);
  expect(await raw([here, here])).toBe(400);
  expect(await raw([here], `http://${here}${PAGE}`)).toBe(400);
  expect(await raw([here], PAGE, '1.0')).toBe(400);
});

it('12 to 25, as the browser says it itself: only the page reads and writes, from its own origin', async () => {
  await using service = await fakeService();
  const session = await sessionOf(service);
  const marks = async (headers = {}) => (await asPage(service, session, { path: '/marks', headers })).status;
  expect(await marks()).toBe(200);
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-mode': 'cors' },
    { 'sec-fetch-mode': 'navigate' },
    { 'sec-fetch-mode': 'websocket' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': undefined, 'sec-fetch-mode': undefined },
  ])
    expect([headers, await marks(headers)]).toEqual([headers, 403]);
  const write = async (headers = {}, body: unknown = {}) =>
    (await asPage(service, session, { method: 'POST', path: '/ledger/check', body, headers })).status;
  expect(await write()).toBe(200);
  expect(await write({ origin: undefined })).toBe(403);
  expect(await write({ 'content-type': 'text/plain' })).toBe(415);
  expect(await write({ 'x-http-method-override': 'DELETE' })).toBe(200);
  const preflight = await asPage(service, session, { method: 'OPTIONS', path: '/ledger/check' });
  expect([preflight.status, Object.keys(preflight.headers).filter(name => name.startsWith('access-control'))]).toEqual([
    405,
    [],
  ]);
  const file = async (headers = {}) =>
    (await ask(service, { path: '/_sandbox/app.js', headers: { ...fromPage(service), origin: undefined, ...headers } }))
      .status;
  expect([
    await file(),
    await file({ 'sec-fetch-site': 'cross-site' }),
    await file({ 'sec-fetch-site': 'none' }),
  ]).toEqual([200, 403, 403]);
});

it('19: tells nobody which cards there are: no other page, and no session', async () => {
  await using service = await fakeService();
  const session = await sessionOf(service);
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  const { id } = (await ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 5 } })).json;
  const unknown = id.replace(/....$/, 'zzzz');
  const foreign = { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
  const asked = async (card: string) => {
    const { status, text, headers } = await asPage(service, session, { path: `/cards/${card}`, headers: foreign });
    const { 'x-request-id': _, date: __, ...rest } = headers;
    return { status, text: text.replace(/req_\w+/, 'req_'), rest };
  };
  const [known, other] = [await asked(id), await asked(unknown)];
  expect(known).toEqual(other);
  expect(known.status).toBe(403);
  const without = async (card: string) => (await asPage(service, {}, { path: `/cards/${card}/timeline` })).json.message;
  expect(await without(id)).toBe(await without(unknown));
  const own = async (card: string) => (await asPage(service, session, { path: `/cards/${card}` })).status;
  expect([await own(id), await own(unknown)]).toEqual([200, 404]);
});

it('26 to 28: a ticket is good once, for a minute, and for ten wrong tries', async () => {
  const pageClock = stopwatch();
  await using service = await fakeService({ pageClock });
  const used = await ticketOf(service);
  expect([(await redeem(service, used)).status, (await redeem(service, used)).status]).toEqual([200, 401]);
  const late = await ticketOf(service);
  pageClock.pass(TICKET_LIFE - 1);
  expect((await redeem(service, late)).status).toBe(200);
  const later = await ticketOf(service);
  pageClock.pass(TICKET_LIFE);
  expect((await redeem(service, later)).status).toBe(401);
  for (const [tries, status] of [
    [WRONG_TICKETS - 1, 200],
    [WRONG_TICKETS, 401],
  ] as const) {
    const right = await ticketOf(service);
    for (let nth = 0; nth < tries; nth += 1) expect((await redeem(service, `wrong${nth}`)).status).toBe(401);
    expect((await redeem(service, right)).status).toBe(status);
  }
  const [first, second] = [await ticketOf(service), await ticketOf(service)];
  expect([(await redeem(service, first)).status, (await redeem(service, second)).status]).toEqual([401, 200]);
});

it('29: takes a ticket in the body of the page alone', async () => {
  await using service = await fakeService();
  const ticket = await ticketOf(service);
  const body = {};
  const asked = { method: 'POST', path: `${ADMIN}/page/session?ticket=${ticket}`, body, headers: fromPage(service) };
  expect((await ask(service, asked)).status).toBe(400);
  const program = {
    method: 'POST',
    path: `${ADMIN}/page/session`,
    body: { ticket },
    headers: { authorization: undefined },
  };
  expect((await ask(service, program)).status).toBe(403);
  expect((await redeem(service, ticket)).status).toBe(200);
});

it('30 to 32: one half is worth nothing, nor are the halves of two sessions', async () => {
  await using service = await fakeService();
  const [one, other] = [await sessionOf(service), await sessionOf(service)];
  const marks = async (session: Partial<typeof one>) => (await asPage(service, session, { path: '/marks' })).status;
  expect([await marks(one), await marks(other)]).toEqual([200, 200]);
  expect(await marks({ cookie: one.cookie })).toBe(401);
  expect(await marks({ half: one.half })).toBe(401);
  expect(await marks({ cookie: one.cookie, half: other.half })).toBe(401);
  expect(await marks({ cookie: `${one.cookie}; ${one.cookie}`, half: one.half })).toBe(401);
  expect(await marks({ cookie: `other=1; ${one.cookie}`, half: one.half })).toBe(200);
});

it('33: a session ends by --end, after twelve hours, and when eight younger ones are there', async () => {
  const pageClock = stopwatch();
  await using service = await fakeService({ pageClock });
  const marks = async (session: { cookie: string; half: string }) =>
    (await asPage(service, session, { path: '/marks' })).status;
  const old = await sessionOf(service);
  pageClock.pass(SESSION_LIFE - 1);
  expect(await marks(old)).toBe(200);
  pageClock.pass(1);
  expect(await marks(old)).toBe(401);
  const sessions = [];
  for (let nth = 0; nth < 9; nth += 1) sessions.push(await sessionOf(service));
  expect(await Promise.all(sessions.map(marks))).toEqual([401, ...Array(8).fill(200)]);
  expect((await ask(service, { method: 'DELETE', path: `${ADMIN}/page/sessions` })).json).toEqual({ ended: 8 });
  expect(await marks(sessions[8] as (typeof sessions)[0])).toBe(401);
});

it('34: no key and no token is a ticket or a half, and no request has two kinds of credentials', async () => {
  await using service = await fakeService();
  const { cookie, half } = await sessionOf(service);
  const token = service.adminToken.expose();
  await ticketOf(service);
  for (const secret of [token, service.key.expose()]) {
    expect((await redeem(service, secret)).status).toBe(401);
    expect((await asPage(service, { cookie, half: secret }, { path: '/marks' })).status).toBe(401);
    const named = `${cookie.split('=')[0]}=${secret}`;
    expect((await asPage(service, { cookie: named, half }, { path: '/marks' })).status).toBe(401);
  }
  const authorization = `Bearer ${token}`;
  expect((await asPage(service, { cookie, half }, { path: '/marks', headers: { authorization } })).status).toBe(403);
  expect((await ask(service, { path: `${ADMIN}/marks`, headers: { cookie } })).status).toBe(400);
  expect((await ask(service, { path: `${ADMIN}/marks` })).status).toBe(200);
});

it('35: whoever may only look changes nothing', async () => {
  await using service = await fakeService();
  const [look, full] = [await sessionOf(service, 'look'), await sessionOf(service)];
  const rule = { match: {}, phase: 'before', action: { kind: 'status', code: 500 } };
  for (const [method, path, body] of [
    ['POST', '/ledger/check', {}],
    ['POST', '/clock/advance', { by: '1d' }],
    ['POST', '/faults', rule],
    ['POST', '/snapshots', { name: 'one' }],
    ['DELETE', '/faults', undefined],
    ['POST', '/reset', { data: 'empty' }],
    ['DELETE', '/page/sessions', undefined],
  ] as const) {
    expect([path, (await asPage(service, look, { method, path, body })).status]).toEqual([path, 403]);
    expect([path, (await asPage(service, full, { method, path, body })).status < 300]).toEqual([path, true]);
  }
});

it('36: a session never reaches the service, nor what the page has no need of', async () => {
  await using service = await fakeService();
  const session = await sessionOf(service);
  const headers = fromPage(service, { cookie: session.cookie, 'x-sandbox-page': session.half });
  expect((await ask(service, { path: '/wallet', headers })).status).toBe(403);
  for (const [method, path, body] of [
    ['POST', '/stop', {}],
    ['GET', '/openapi.json', undefined],
    ['GET', '/openapi-sandbox.json', undefined],
    ['GET', '/status', undefined],
    ['POST', '/page/tickets', {}],
    ['POST', '/webhooks/wh_1/rotate', {}],
    ['PUT', '/dialect', { dialect: 'default' }],
    ['DELETE', '/snapshots/one', undefined],
    ['GET', '/export', undefined],
    ['POST', '/import', undefined],
  ] as const)
    expect([path, (await asPage(service, session, { method, path, body })).status]).toEqual([path, 403]);
});

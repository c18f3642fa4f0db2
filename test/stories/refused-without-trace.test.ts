/**
 * A refusal in words that nobody knows, of writes that leave little or no trace: it may follow the deed
 * (docs/design/reliability.md, section 3).
 */
import { expect, test } from 'vitest';
import { json, serve } from '../client/served.ts';
import { errorOf, world } from '../support/world.ts';

interface Refusing extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  status: number;
  error: string;
  /** A subscription was made all the same, or none; `broken`: the list cannot be read. */
  list: readonly object[] | 'broken';
  /** What is listed before the first write. */
  before: readonly object[];
  writes: number;
}

/** Refuses every write, lists what it is told to. */
async function refusing(): Promise<Refusing> {
  const service = await serve(({ method }, response) => {
    const isRead = method === 'GET';
    if (!isRead) told.writes += 1;
    const list = told.writes === 0 ? told.before : told.list;
    if (!isRead) json(response, told.status, { error: told.error, message: told.error, code: told.status });
    else json(response, list === 'broken' ? 500 : 200, { data: list });
  });
  const told: Refusing = {
    ...{ env: service.env, status: 400, error: '', list: [], before: [], writes: 0 },
    [Symbol.asyncDispose]: service.close,
  };
  return told;
}

const ODD = [
  [400, 'not_this_way'],
  [409, 'conflict'],
  [410, 'gone_now'],
  [422, 'idempotency_key_reused'],
] as const;
const PROVED = [
  [400, 'invalid_request'],
  [400, 'insufficient_funds'],
  [401, 'what_key'],
  [404, 'no_route_here'],
  [413, 'too_much'],
] as const;

test('a change of a kind that nobody knows is unknown, and is not sent again', async () => {
  await using service = await refusing();
  await using here = await world({ env: service.env });
  for (const [index, [status, error]] of ODD.entries()) {
    Object.assign(service, { status, error, writes: 0 });
    const line = `api POST /transfers -f to=${index} --yes --json`;
    const first = await here.run(line);
    expect([error, first.code, errorOf(first).outcome]).toEqual([error, 11, 'unknown']);
    // The same again is a twin of what is not known.
    expect([error, (await here.run(line)).code, service.writes]).toEqual([error, 14, 1]);
  }
  for (const [index, [status, error]] of PROVED.entries()) {
    Object.assign(service, { status, error });
    const refused = await here.run(`api POST /payouts -f to=${index} --yes --json`);
    expect([error, errorOf(refused).outcome]).toEqual([error, 'refused']);
    expect([4, 5, 6, 10]).toContain(refused.code);
  }
});

test('a new webhook is unknown behind a refusal, where the list does not speak against it', async () => {
  await using service = await refusing();
  await using here = await world({ env: service.env });
  const line = 'webhooks create --url https://example.com/hook --event card.created --yes --json';
  const made = { id: 'wh_1', url: 'https://EXAMPLE.com/hook', events: ['card.created'], status: 'active' };
  for (const list of [[], [made], 'broken']) {
    Object.assign(service, { list, status: 409, error: 'not_this_way', writes: 0 });
    expect([list, (await here.run(line, { onPause: () => undefined })).code]).toEqual([list, 11]);
    Object.assign(service, { status: 400, error: 'invalid_request', writes: 0 });
    const code = Array.isArray(list) && list.length === 0 ? 6 : 11;
    expect([list, (await here.run(line, { onPause: () => undefined })).code]).toEqual([list, code]);
  }
});

test('a new webhook whose answer was lost is not made a second time by the same command', async () => {
  await using service = await refusing();
  await using here = await world({ env: service.env });
  const line = 'webhooks create --url https://example.com/hook --event card.created --yes --json';
  const made = { id: 'wh_1', url: 'https://example.com/hook', events: ['card.created'], status: 'active' };
  Object.assign(service, { list: [made], status: 502, error: 'bad_gateway' });
  expect((await here.run(line, { onPause: () => undefined })).code).toBe(11);
  const again = await here.run(line);
  expect([again.code, service.writes, again.err.includes('wh_1 has this address')]).toEqual([14, 1, true]);
});

const SUBSCRIBED = [{ id: 'wh_1', url: 'https://a.example' }];

test.each([
  ['is listed no more', 403, 'forbidden', SUBSCRIBED, [], 11],
  ['is listed still', 403, 'forbidden', SUBSCRIBED, SUBSCRIBED, 4],
  ['was never there', 404, 'not_found', [], [], 5],
  ['is said not to be there, and is gone', 404, 'not_found', SUBSCRIBED, [], 0],
  ['is said not to be there, and is listed', 404, 'not_found', SUBSCRIBED, SUBSCRIBED, 5],
] as const)('a deleted webhook that %s, %i', async (_name, status, error, before, list, code) => {
  await using service = await refusing();
  await using here = await world({ env: service.env });
  Object.assign(service, { before, list, status, error });
  expect((await here.run('webhooks delete wh_1 --yes --json', { onPause: () => undefined })).code).toBe(code);
});

import { expect, it } from 'vitest';
import { fakeService, NOON } from '../support/fake-service.ts';
import { ask, type Served } from '../support/sandbox-http.ts';

async function newCard(service: Served): Promise<string> {
  const bin = (await ask(service, { path: '/bins' })).json.data[0].id;
  return (await ask(service, { method: 'POST', path: '/cards', body: { bin_id: bin, amount: 10 } })).json.id;
}

it('lets 30 details through in any 60 seconds, sliding', async () => {
  await using service = await fakeService({ rateLimits: 'all' });
  const path = `/cards/${await newCard(service)}/details`;
  const details = (at: number) => {
    service.clock.set(NOON + at);
    return ask(service, { path });
  };
  for (let nth = 0; nth < 15; nth += 1) expect((await details(0)).status).toBe(200);
  for (let nth = 0; nth < 14; nth += 1) expect((await details(40_000)).status).toBe(200);
  const last = await details(50_000);
  expect(last.headers).toMatchObject({ 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': '0' });
  const over = await details(51_000);
  expect(over.json).toMatchObject({ error: 'rate_limited', code: 429 });
  expect(over.headers['retry-after']).toBe('10');
  expect((await details(60_000)).status).toBe(429);
  for (let nth = 0; nth < 15; nth += 1) expect((await details(60_001)).status).toBe(200);
  expect((await details(60_001)).status).toBe(429);
});

/**
 * One seed, one history, one set of bytes: answers, request ids, events, secrets, rows
 * (docs/design/sandbox.md, section 7).
 */
import { expect, test } from 'vitest';
import { tellLongHistory } from '../support/long-history.ts';
import { ask } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';

const ADMIN = '/_sandbox/v1';
const clock = { mode: 'frozen', at: '2026-11-20T14:00:00Z' } as const;

async function told(seed: number) {
  await using sandbox = await startSandbox({ seed, wallet: 800, clock, listen: 'socket', deliveries: 'on-deliver' });
  const { answers, get } = await tellLongHistory(sandbox);
  const { json } = await ask(sandbox, { method: 'POST', path: `${ADMIN}/clock/advance`, body: { by: '40d' } });
  for (const { id, status } of (await get('/cards')).json.data) {
    if (status !== 'terminated') await get(`/cards/${id}/details`);
  }
  for (const path of ['/wallet', '/transactions', '/transactions?page=2', '/3ds/challenges', '/webhooks'])
    await get(path);
  // Whoever looks takes no number: the names of such requests are drawn.
  const events = (await ask(sandbox, { path: `${ADMIN}/events?per_page=1000` })).text;
  const deposits = (await ask(sandbox, { path: `${ADMIN}/deposits?per_page=1000` })).text;
  for (const path of ['ledger/entries', 'ledger/accounts']) {
    await get(`${ADMIN}/${path}?per_page=1000`);
  }
  return {
    answers: [...answers, events, deposits],
    fired: json.fired,
    secrets: [sandbox.key.expose(), sandbox.adminToken.expose()],
  };
}

test('two long runs are the same, byte for byte', async () => {
  const [one, two] = [await told(42), await told(42)];
  expect(one.answers.length).toBeGreaterThan(40);
  expect(one.fired.length).toBeGreaterThan(5);
  expect(two.answers).toEqual(one.answers);
  expect(two.fired).toEqual(one.fired);
  // What opens the door is never fixed.
  expect(two.secrets.filter(secret => one.secrets.includes(secret))).toEqual([]);
});

test('creates with keys give the same cards, numbers and events in whatever order they arrive', async () => {
  const run = async (order: readonly number[]) => {
    await using sandbox = await startSandbox({ seed: 9, wallet: 10_000, clock, listen: 'socket' });
    const bin_id = (await ask(sandbox, { path: '/bins' })).json.data[0].id;
    const made = await Promise.all(
      order.map(index =>
        ask(sandbox, {
          method: 'POST',
          path: '/cards',
          body: { bin_id, amount: 1 + index },
          idempotencyKey: `bulk-${index}`,
        }),
      ),
    );
    const events = await ask(sandbox, { path: `${ADMIN}/events?per_page=1000` });
    const details = await Promise.all(
      made
        .map(({ json }) => json.id as string)
        .sort()
        .slice(0, 20)
        .map(id => ask(sandbox, { path: `/cards/${id}/details` })),
    );
    return {
      cards: made.map(({ text, headers }) => `${headers['x-request-id']} ${text}`).sort(),
      numbers: details.map(({ text }) => text),
      events: events.json.data.map(({ body }: { body: string }) => body).sort(),
    };
  };
  const order = Array.from({ length: 60 }, (_, index) => index);
  const one = await run(order);
  expect(one.events).toHaveLength(60);
  expect(await run([...order].reverse())).toEqual(one);
});

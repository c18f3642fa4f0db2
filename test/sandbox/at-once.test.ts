/**
 * A card that is funded, emptied, charged, given back, frozen and ended by many at the same moment
 * (docs/design/security.md, C9).
 */
import { expect, test } from 'vitest';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';

const ADMIN = '/_sandbox/v1/simulate';

test('one after the other: nothing below zero, nothing lost', async () => {
  await using service = await fakeService();
  const post = async (path: string, body: object) => (await ask(service, { method: 'POST', path, body })).json;
  const bin = (await ask(service, { path: '/bins' })).json.data[0].id as string;
  const before = (await ask(service, { path: '/wallet' })).json.balance as number;
  const card = (await post('/cards', { bin_id: bin, amount: 20 })).id as string;
  const bought = await post(`${ADMIN}/authorizations`, { card_id: card, amount: 6 });
  const { authorization_id } = bought;
  await post(`${ADMIN}/authorizations/${authorization_id}/settle`, { amount: 6 });
  const asked: [string, object?][] = [
    ...Array.from({ length: 4 }, (): [string, object] => [`/cards/${card}/fund`, { amount: 3 }]),
    ...Array.from({ length: 6 }, (): [string, object] => [`/cards/${card}/withdraw`, { amount: 7 }]),
    ...Array.from({ length: 6 }, (): [string, object] => [`${ADMIN}/authorizations`, { card_id: card, amount: 5 }]),
    [`${ADMIN}/authorizations/${authorization_id}/refund`, { amount: 4 }],
    [`/cards/${card}/freeze`],
    [`/cards/${card}/unfreeze`],
    [`/cards/${card}/terminate`],
  ];
  const turned = [...asked.slice(-10), ...asked.slice(0, -10)];
  const answers = await Promise.all(
    turned.map(([path, body]) => ask(service, { method: 'POST', path, ...(body && { body }) })),
  );
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  const told = answers.map(({ status }) => status < 300);
  expect(told).toContain(true);
  expect(told).toContain(false);
  const { json: check } = await ask(service, { method: 'POST', path: '/_sandbox/v1/ledger/check' });
  expect(check.faults).toEqual([]);
  const { json: left } = await ask(service, { path: `/cards/${card}` });
  expect([left.status, left.balance]).toEqual(['terminated', 0]);
  // What is not on hold was given back: the refund found its way, before the end or after it.
  const { json: rows } = await ask(service, { path: `/transactions?card_id=${card}&per_page=100` });
  const sum = (kind: string, state?: string) =>
    rows.data
      .filter(({ type, status }: Record<string, string>) => type === kind && (state ?? status) === status)
      .reduce((all: number, { amount }: { amount: number }) => all + Math.round(amount * 100), 0);
  const [settled, refunded, held] = [sum('settlement'), sum('refund'), sum('authorization', 'pending')];
  expect([settled, refunded]).toEqual([600, 400]);
  const { json: wallet } = await ask(service, { path: '/wallet' });
  const missing = Math.round((before - wallet.balance) * 100);
  expect(missing).toBe(settled + held - refunded);
  expect(service.faults).toEqual([]);
});

/** Amounts of transactions: the type tells the direction, so a sign of the service's own is left out. */
import { afterEach, expect, test } from 'vitest';
import { json, type Served, serve, speak } from './served.ts';

let served: Served;
afterEach(() => served?.close());

const record = (id: string, type: string, amount: number | string) => ({ id, type, amount, status: 'settled' });

async function listed(rows: readonly object[]) {
  served = await serve((_, response) => json(response, 200, { data: rows }));
  const { service, warnings } = speak(served.baseUrl);
  const { result } = await service.send('transactions.list', {});
  return { amounts: result.data.map(({ amount }) => amount), warnings };
}

test('debits with a minus read as amounts', async () => {
  const rows = [record('t1', 'settlement', -12.5), record('t2', 'refund', 3), record('t3', 'settlement', '-0.10')];
  const { amounts, warnings } = await listed(rows);
  expect(amounts).toEqual([12.5, 3, 0.1]);
  expect(warnings).toEqual(['transactions.list: data[].amount is an amount as text']);
});

test('records of one type with both signs are said once', async () => {
  const rows = [record('t1', 'settlement', -12.5), record('t2', 'settlement', 3), record('t3', 'settlement', -1)];
  const { amounts, warnings } = await listed(rows);
  expect(amounts).toEqual([12.5, 3, 1]);
  expect(warnings).toEqual([
    'transactions.list: data[].amount is negative in some records of a type and not in others; the type tells the direction',
  ]);
});

test('a balance below zero stays below zero', async () => {
  served = await serve((_, response) => json(response, 200, { balance: -5, currency: 'USD' }));
  const { result } = await speak(served.baseUrl).service.send('wallet.get', {});
  expect(result.balance).toBe(-5);
});

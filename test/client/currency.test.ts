/** Amounts are dollars: another currency in the wallet is refused, in a record it is said. */
import { afterEach, expect, test } from 'vitest';
import { json, type Served, serve, speak } from './served.ts';

let served: Served;
afterEach(() => served?.close());

test('a wallet in another currency is no wallet of this account', async () => {
  served = await serve((_, response) => json(response, 200, { balance: 5, currency: 'EUR' }));
  await expect(speak(served.baseUrl).service.send('wallet.get', {})).rejects.toMatchObject({
    kind: 'contract_mismatch',
    message: expect.stringContaining('currency is not USD, and amounts are understood in USD alone'),
  });
});

test.each(['usd', 'USD', ''])('a wallet in %j is one', async currency => {
  served = await serve((_, response) => json(response, 200, { balance: 5, currency }));
  const { result } = await speak(served.baseUrl).service.send('wallet.get', {});
  expect(result.balance).toBe(5);
});

test('records in other currencies are said once', async () => {
  const record = (id: string, currency: string) => ({ id, type: 'settlement', amount: 7, currency });
  const data = [record('t1', 'EUR'), record('t2', 'JPY'), record('t3', 'USD')];
  served = await serve((_, response) => json(response, 200, { data }));
  const { service, warnings } = speak(served.baseUrl);
  const { result } = await service.send('transactions.list', {});
  expect(result.data.map(({ currency }) => currency)).toEqual(['EUR', 'JPY', 'USD']);
  expect(new Set(warnings)).toEqual(
    new Set(['transactions.list: data[].currency is not USD in some records: sums leave those out']),
  );
});

import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

it('a month is final by the clock of the service, also where nothing is sent', async () => {
  await using here = await world({ wallet: 1000 });
  await here.run('cards create --bin bin_1 --amount 60 --label ads -q');
  await here.run('sandbox simulate authorize --card card_1 --amount 5 -q');
  await here.run('sandbox simulate settle txn_1 -q');
  await here.run('reconcile');
  await here.run('sandbox clock advance --by 60d -q');
  await here.run('reconcile');
  for (const line of ['statement --period 2026-11 --jq .final', 'statement --period 2026-11 --offline --jq .final']) {
    expect({ line, ...(await here.run(line)) }).toMatchObject({ line, code: 0, out: 'true\n' });
  }
  const chart = JSON.parse((await here.run('tx chart --by month --offline --json')).out);
  expect(chart.data).toMatchObject([{ group: '2026-11', spent: 5, days: 30 }]);
});

import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

it('a month is final by the clock of the service, also where nothing is sent', async () => {
  await using here = await world({ wallet: 1000 });
  await here.run('cards create --bin bin_1 --amount 60 --label ads -q');
  await here.run('sandbox simulate authorize --card card_1 --amount 5 -q');
  await here.run('sandbox simulate settle txn_1 -q');
  await here.run('books reconcile');
  await here.run('sandbox clock advance --by 60d -q');
  await here.run('books reconcile');
  for (const line of [
    'books statement --period 2026-11 --jq .final',
    'books statement --period 2026-11 --offline --jq .final',
  ]) {
    expect({ line, ...(await here.run(line)) }).toMatchObject({ line, code: 0, out: 'true\n' });
  }
  const quiet = await here.run('books statement --period 2026-11 --card card_1 -q');
  expect(quiet).toMatchObject({ code: 0, out: expect.stringMatching(/^op_\w+\.1\ntxn_2\n$/) });
  const chart = JSON.parse((await here.run('tx chart --by month --offline --json')).out);
  expect(chart.data).toMatchObject([{ group: '2026-11', spent: 5, days: 30 }]);
});

it('a chart ends today by the clock of the service, and says what is later on every output', async () => {
  await using here = await world({ wallet: 1000 });
  const done = async (line: string) => {
    const ran = await here.run(line);
    expect({ line, code: ran.code }).toEqual({ line, code: 0 });
    return ran;
  };
  await done('cards create --bin bin_1 --amount 60 -q');
  await done('sandbox clock advance --by 40d -q');
  await done('sandbox simulate authorize --card card_1 --amount 5 -q');
  await done('sandbox simulate settle txn_1 -q');
  const { out, err } = await done('tx chart --by month --json');
  expect([JSON.parse(out), err]).toMatchObject([{ data: [{ group: '2026-12', spent: 5 }], page: { later: 0 } }, '']);
  await done('sandbox clock set frozen --at 2026-11-20T14:03:11Z -q');
  for (const format of ['table', 'json']) {
    expect((await done(`tx chart -o ${format}`)).err).toBe(
      '2 records are dated after today and left out; --until shows them\n',
    );
  }
});

/** A run that asks for more than the service takes: it slows down, and every row is done in one run. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serviceWorld } from './service-world.ts';

const QUICK = { onPause: () => undefined, longestPause: 60_000 };

test('a service that lets nothing through any more stops the run; its rows were not sent, and a resume sends them', async () => {
  await using here = await serviceWorld();
  await here.creates('cards.csv', [1, 2, 3]);
  await here.run('cards create --file cards.csv --yes');
  await writeFile(join(here.folder, 'fund.csv'), 'card_id,amount\ncard_1,1\ncard_2,2\ncard_3,3\n');
  here.proxy.fail('POST', /fund/, ...Array<'throttled'>(40).fill('throttled'));
  const { code, out, err } = await here.run('cards fund --file fund.csv --yes -o csv', QUICK);
  expect([code, out.split('\n').slice(1, 4)]).toEqual([
    7,
    [1, 2, 3].map(row => expect.stringMatching(`^${row},not_sent,card_${row},(?:\\d{4})?,${row}.00,rate_limited,$`)),
  ]);
  const op = /op_\w+/.exec(err)?.[0] ?? '';
  expect(err).toContain('0 of 3 done, 3 not sent');
  here.proxy.mend();
  const resumed = await here.run(`ops resume ${op} --yes`, QUICK);
  expect([resumed.code, resumed.err.trimEnd().split('\n').at(-1)]).toEqual([0, '3 of 3 done, $6.00 in all.']);
});

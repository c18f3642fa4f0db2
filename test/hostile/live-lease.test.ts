/** A lease with a live key where nobody can be asked: the reveal is refused before the card is made, whatever would come. */
import { expect, test } from 'vitest';
import { arena, LIVE_KEY, PATIENCE } from './arena.ts';

test.each(['unknown', 'other key honoured'] as const)('key %s: exit 14, and nothing is written', async known => {
  await using here = await arena();
  await using place = await here.enter(known, 'live', { walletCents: 100_000 });
  const lines = [
    `cards lease --bin bin_1 --amount 25 --ttl ${PATIENCE} --reveal -- /bin/true`,
    `cards lease --amount 25 --ttl ${PATIENCE} --reveal -- /bin/true`,
  ];
  for (const line of lines) {
    const { code, err } = await place.run(line);
    expect([code, err]).toEqual([14, expect.stringContaining('"outcome":"not_sent"')]);
  }
  expect(here.service.books(LIVE_KEY).effects).toEqual([]);
  expect(here.service.requests.filter(({ operation }) => operation === 'create')).toEqual([]);
  // The same key may make a card: it is the reveal that is refused.
  expect((await place.run('cards create --bin bin_1 --amount 25')).code).toBe(0);
  expect(here.service.books(LIVE_KEY).effects).toHaveLength(1);
});

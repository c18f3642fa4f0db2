/** `contract check --probe-idempotency` before services that honour, ignore and forget keys, and what follows from it. */
import { expect, test } from 'vitest';
import { bench } from '../journal/bench.ts';
import { serviceWorld } from './service-world.ts';

const PROBED = ['cards.create', 'cards.fund', 'cards.withdraw'];
/** The pause before the last look passes at once. */
const passing = { onPause: () => undefined };
const create = 'cards create --bin bin_1 --amount 25 --json';

test('keys are honoured: one effect each, all of it undone, and a lost answer is asked for again', async () => {
  await using here = await serviceWorld();
  const probe = await here.run('contract check --probe-idempotency --yes --json', passing);
  expect(probe.code, probe.err).toBe(0);
  const { data } = JSON.parse(probe.out) as { data: { operation: string; route: string; result: string }[] };
  const keys = data.filter(({ route }) => route === 'key');
  expect(keys.map(({ operation, result }) => [operation, result])).toEqual(PROBED.map(name => [name, 'honoured']));
  expect([await here.wallet(), (await here.cards()).map(({ status }) => status)]).toEqual([1000, ['terminated']]);
  // Ids of a service may be so long that a key with one in it would break the limit of 64.
  expect(here.proxy.posts().filter(({ key }) => key?.includes('card_'))).toEqual([]);
  here.proxy.fail('POST', /\/cards$/, 'drop-before', 'drop-after');
  const posts = here.proxy.posts().length;
  expect((await here.run(create)).code).toBe(0);
  expect(
    new Set(
      here.proxy
        .posts()
        .slice(posts)
        .map(({ key }) => key),
    ).size,
  ).toBe(1);
  expect([here.proxy.posts().length - posts, await here.wallet()]).toEqual([3, 975]);
});

test('keys are ignored: both cards of the probe are ended, and nothing is sent twice', async () => {
  await using here = await serviceWorld({ stripKeys: true });
  const probe = await here.run('contract check --probe-idempotency --yes --jq .data[-3:][].result', passing);
  expect([probe.code, probe.out]).toEqual([0, 'ignored\n'.repeat(3)]);
  const statuses = (await here.cards()).map(({ status }) => status);
  expect([await here.wallet(), statuses]).toEqual([1000, ['terminated', 'terminated']]);
  here.proxy.fail('POST', /\/cards$/, 'drop-before');
  const posts = here.proxy.posts().length;
  expect((await here.run(create)).code).toBe(11);
  expect([here.proxy.posts().length - posts, await here.wallet()]).toEqual([1, 1000]);
});

test('keys that are forgotten at once are worth as little as ignored ones', async () => {
  await using b = await bench();
  const service = {
    ...b.service,
    async deliver(...asked: Parameters<typeof b.service.deliver>) {
      const delivery = await b.service.deliver(...asked);
      b.proxy.forgetKeys();
      return delivery;
    },
  };
  const probed = await (await b.another({ service }).probe(b.bin)).run((_, send) => send());
  expect(probed.map(({ operation, capability }) => [operation, capability.key])).toEqual(
    PROBED.map(name => [name, 'ignored']),
  );
  expect(await b.wallet()).toBe(1000);
});

test('a live key probes nothing', async () => {
  await using b = await bench({ mode: 'live' });
  await expect(b.journal.probe(b.bin)).rejects.toMatchObject({ kind: 'guarded' });
  expect(b.proxy.posts()).toEqual([]);
});

/**
 * What a probe must not learn: anything that is not a second answer with the same result, and one effect
 * (docs/design/reliability.md, section 3).
 */
import { expect, test } from 'vitest';
import type { Fault } from '../support/fault-proxy.ts';
import { serviceWorld } from './service-world.ts';

const PATHS = { 'cards.create': /\/cards$/, 'cards.fund': /\/fund$/, 'cards.withdraw': /\/withdraw$/ } as const;
const passing = { onPause: () => undefined, longestPause: 150_000 };

/** The second use of each key ends that way, again and again. */
const DOUBTS: Readonly<Record<string, readonly Fault[]>> = {
  'a gateway answers 502': ['html-502'],
  'the connection is reset': ['drop-before'],
  'the answer is lost': ['drop-after'],
  'the service stays throttled': Array<'throttled'>(200).fill('throttled'),
  'something on the way answers 401': ['unauthorized'],
};

test.each(Object.entries(DOUBTS))(
  '%s: unknown, and what a lost answer hid is found and not sent again',
  async (_name, faults) => {
    await using here = await serviceWorld();
    for (const path of Object.values(PATHS)) here.proxy.fail('POST', path, 'none', ...faults);
    const probe = await here.run('contract check --probe-idempotency --yes --jq .data[-3:][].result', passing);
    expect([probe.code, probe.out]).toEqual([0, 'unknown\n'.repeat(3)]);
    expect([await here.wallet(), (await here.cards()).map(({ status }) => status)]).toEqual([1000, ['terminated']]);
    here.proxy.mend();
    expect((await here.run('cards create --bin bin_1 --amount 25 -q')).code).toBe(0);
    here.proxy.forgetKeys();
    here.proxy.fail('POST', PATHS['cards.fund'], 'drop-after');
    const posts = here.proxy.posts().length;
    expect((await here.run('cards fund card_2 --amount 25')).code).toBe(0);
    expect([here.proxy.posts().length - posts, await here.wallet()]).toEqual([1, 950]);
  },
);

test('throttled once, then replayed: honoured', async () => {
  await using here = await serviceWorld();
  here.proxy.fail('POST', PATHS['cards.fund'], 'none', 'throttled');
  const probe = await here.run('contract check --probe-idempotency --yes --jq .data[-3:][].result', passing);
  expect([probe.code, probe.out]).toEqual([0, 'honoured\n'.repeat(3)]);
});

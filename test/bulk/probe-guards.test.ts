/** A probe is a write like any other: guards, limits, questions, audit lines, a dry run; and it touches its own card alone. */
import { expect, test } from 'vitest';
import { bench } from '../journal/bench.ts';
import { type ServiceWorld, serviceWorld } from './service-world.ts';

const probe = 'contract check --probe-idempotency';
const PROFILE = { CARDWRIGHT_API_KEY: '', CARDWRIGHT_BASE_URL: '', CARDWRIGHT_PROFILE: 'shop' };

async function shop(here: ServiceWorld): Promise<(line: string) => ReturnType<ServiceWorld['run']>> {
  const run = (line: string, stdin?: string) =>
    here.run(line, { env: PROFILE, onPause: () => undefined, ...(stdin !== undefined && { stdin }) });
  const login = await run(`login --profile shop --base-url ${here.proxy.url} --key-stdin`, here.key);
  expect(login.code, login.err).toBe(0);
  return run;
}

test('without --yes off a terminal it is exit 3, with --dry-run the requests, and nothing is sent', async () => {
  await using here = await serviceWorld();
  const asked = await here.run(probe);
  expect([asked.code, asked.err]).toEqual([3, expect.stringContaining(`try: cardwright ${probe} --yes`)]);
  const dry = await here.run(`${probe} --dry-run --jq '[.data[] | .operation] | join(" ")'`);
  expect([dry.code, dry.out]).toEqual([
    0,
    'cards.create cards.create cards.fund cards.fund cards.withdraw cards.withdraw cards.terminate\n',
  ]);
  expect(here.proxy.posts()).toEqual([]);
});

test.each([
  ['read_only true', 'profile shop is read-only'],
  ['max_per_call 0.99', 'max_per_call of profile shop'],
  ['max_per_run 3.99', 'max_per_run of profile shop'],
  ['max_per_day 3.99', 'max_per_day of profile shop'],
  ['max_cards 1', 'max_cards of profile shop'],
  ['bins bin_0', 'bins of profile shop'],
])('%s: exit 14, and nothing is sent', async (setting, why) => {
  await using here = await serviceWorld();
  const run = await shop(here);
  expect((await run(`profiles set shop ${setting}`)).code).toBe(0);
  const ran = await run(`${probe} --yes`);
  expect([ran.code, ran.err]).toEqual([14, expect.stringContaining(why)]);
  expect(here.proxy.posts()).toEqual([]);
});

test('it counts against the day, and each of its writes has its lines in the audit log', async () => {
  await using here = await serviceWorld();
  const run = await shop(here);
  await run('profiles set shop max_per_day 7');
  expect((await run(`${probe} --yes`)).code).toBe(0);
  expect((await run(`${probe} --yes`)).code).toBe(14);
  const { out } = await run(`audit list --json --jq '[.data[] | select(.operation | startswith("cards."))] | length'`);
  // And two lines of the one that was refused.
  expect(Number(out)).toBe(here.proxy.posts().length * 2 + 2);
});

test('a card of the answer that is not the one of the probe is not touched', async () => {
  await using b = await bench();
  const { result: old } = await b.service.send('cards.create', { bin_id: b.bin, amount: 50_000 as never });
  const service = {
    ...b.service,
    async deliver(...asked: Parameters<typeof b.service.deliver>) {
      const delivery = await b.service.deliver(...asked);
      return asked[0].operation === 'cards.create' ? { ...delivery, result: old } : delivery;
    },
  };
  const { run } = await b.another({ service }).probe(b.bin);
  const probed = await run((_, send) => send());
  expect(probed.map(({ capability }) => capability.key)).toEqual(['unknown', 'honoured', 'honoured']);
  const cards = await b.cards();
  expect(cards.find(({ id }) => id === old.id)).toMatchObject({ balance: 500, status: 'active' });
  expect(cards.filter(({ id }) => id !== old.id)).toMatchObject([{ balance: 0, status: 'terminated' }]);
});

test('a list without metadata proves nothing: the card is found by its label, ended, and nothing is learned', async () => {
  await using b = await bench();
  const service = {
    ...b.service,
    async *pages(...asked: Parameters<typeof b.service.pages>) {
      for await (const page of b.service.pages(...asked)) {
        yield { ...page, data: page.data.map(card => ({ ...card, metadata: {} })) } as never;
      }
    },
  };
  const { run } = await b.another({ service }).probe(b.bin);
  const probed = await run((_, send) => send());
  expect(probed[0]).toMatchObject({ capability: { key: 'unknown' }, text: expect.stringContaining('the marker') });
  expect([await b.wallet(), (await b.cards()).length]).toEqual([1000, 1]);
});

test('a second card that comes late is seen before anything is learned', async () => {
  await using b = await bench();
  const late = async () => {
    await b.service.send('cards.create', {
      bin_id: b.bin,
      amount: 100 as never,
      metadata: { cardwright: (await b.cards())[0]?.metadata['cardwright'] as string },
    });
  };
  const { sleep } = b.clock;
  b.clock.sleep = async (ms, signal) => {
    // The last pause, and not those between two uses of a key.
    if (ms > 2_000) await late();
    await sleep(ms, signal);
  };
  const { run } = await b.another().probe(b.bin);
  const probed = await run((_, send) => send());
  expect(probed[0]?.capability.key).toBe('ignored');
  expect([await b.wallet(), (await b.cards()).map(({ balance }) => balance)]).toEqual([1000, [0, 0]]);
});

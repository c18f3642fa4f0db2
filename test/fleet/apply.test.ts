/** Applies before a sandbox: plans that must not be sent, two machines, keys that were used, markers that are lost. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type PlanDocument, withId } from '../../src/fleet/plan-file.ts';
import { ask } from '../support/sandbox-http.ts';
import { type World, world } from '../support/world.ts';

const FILE = `version: 1
fleet: ads
caps: {per_apply: 300.00, cards: 9}
defaults: {bin: bin_1, amount: 30.00}
cards:
  search: {label: search, floor: 20.00, top_up_to: 100.00}
  event: {label: "event {n}", count: 2}
`;

const write = (here: World, text: string, name = 'cards.fleet.yaml') => writeFile(join(here.folder, name), text);

async function planned(here: World, name: string): Promise<PlanDocument> {
  const { code, err } = await here.run(`fleet plan --out ${name}`);
  expect({ code, err }).toMatchObject({ code: 0 });
  return JSON.parse(await readFile(join(here.folder, name), 'utf8')) as PlanDocument;
}

async function cardsOf(
  here: World,
): Promise<readonly { id: string; metadata: Record<string, string>; balance: number }[]> {
  return (await ask(here.sandbox, { path: '/cards?per_page=100' })).json.data;
}

type Steps = PlanDocument['steps'];
const stepped = (plan: PlanDocument, change: (step: Steps[number]) => object): PlanDocument =>
  ({ ...plan, steps: plan.steps.map(step => ({ ...step, ...change(step) })) }) as PlanDocument;
const onFund = (change: object) => (plan: PlanDocument) => stepped(plan, step => (step.do === 'fund' ? change : {}));
const onCreate = (change: object) => (plan: PlanDocument) =>
  stepped(plan, step => (step.do === 'create' ? { body: { ...step.body, ...change } } : {}));

/** Plans as somebody might change them, each with the id that it has then. */
const EDITED: Readonly<Record<string, (plan: PlanDocument) => PlanDocument>> = {
  'another shape': plan => ({ ...plan, bound: 5 }) as never,
  'another amount of a new card': onCreate({ amount: 31 }),
  'another BIN': onCreate({ bin_id: 'bin_2' }),
  'another label': onCreate({ label: 'mine' }),
  'another limit': onCreate({ spending_limit: 9_999 }),
  'other metadata': onCreate({ metadata: { cardwright: 'fleet/ads/other#1' } }),
  'another key of a create': plan => stepped(plan, step => (step.do === 'create' ? { key: 'fc_mine.1' } : {})),
  'another generation': plan => stepped(plan, step => (step.do === 'create' ? { generation: 2 } : {})),
  'a larger top-up': onFund({ amount: 80 }),
  'a top-up of another card': onFund({ card: 'card_1' }),
  'another balance seen': onFund({ seen: { balance: 1, transaction: '' } }),
  'another key of a top-up': onFund({ key: 'ff_mine.1' }),
  'a step twice': plan => ({ ...plan, steps: [...plan.steps, ...plan.steps.slice(-1)] }),
  'a step less': plan => ({ ...plan, steps: plan.steps.filter(step => step.do !== 'create') }),
  'a step more': plan => ({
    ...plan,
    steps: [
      { row: 0, phase: 1, do: 'freeze', name: 'x', card: 'card_9', last4: '0000', why: 'removed', seen: 'sha256:0' },
      ...plan.steps,
    ],
  }),
  'another order': plan => ({ ...plan, steps: [...plan.steps].reverse() }),
  'other numbers': plan => stepped(plan, ({ row }) => ({ row: row + 1 })),
  'a later end': plan => ({ ...plan, expires_at: '2027-11-21T14:03:11Z' }),
  'made tomorrow': plan => ({ ...plan, created_at: '2026-11-22T14:03:11Z', expires_at: '2026-11-23T14:03:11Z' }),
  'higher caps': plan => ({ ...plan, caps: { ...plan.caps, per_apply: 99_999 } }),
  'a smaller sum': plan => ({ ...plan, totals: { ...plan.totals, spend: 1 } }),
  'another fleet': plan => ({ ...plan, fleet: 'mine' }),
  'another service': plan => ({ ...plan, bound: { ...plan.bound, origin: 'https://api.example/v1' } }),
  'another mode': plan => ({ ...plan, bound: { ...plan.bound, mode: 'live' } }),
  'another file': plan => ({ ...plan, bound: { ...plan.bound, file: 'sha256:0' } }),
  'another account': plan => ({ ...plan, bound: { ...plan.bound, witness: ['card_77'] } }),
  'an account without cards': plan => ({ ...plan, bound: { ...plan.bound, witness: [] } }),
  'allowed numbers': plan => ({ ...plan, allowed: { terminate: 3 } }),
};

it('sends nothing of a plan that was edited, whatever was edited', async () => {
  await using here = await world({ wallet: 500 });
  await write(here, FILE.replace('count: 2', 'count: 1'));
  const { totals } = await planned(here, 'first.json');
  const applied = await here.run('fleet apply --plan first.json --yes --json');
  expect(JSON.parse(applied.out).page).toMatchObject({ done: 2, spent: totals.spend });
  const [search] = (await cardsOf(here)).filter(({ metadata }) => metadata['cardwright'] === 'fleet/ads/search#1');
  await here.run(`sandbox simulate authorize --card ${search?.id} --amount 15 --merchant A`);
  await write(here, FILE);
  const plan = await planned(here, 'plan.json');
  expect(plan.steps.map(step => step.do)).toEqual(['create', 'fund']);
  const before = JSON.stringify(await cardsOf(here));
  const wrong: string[] = [];
  for (const [what, edit] of Object.entries(EDITED)) {
    await write(here, JSON.stringify(withId(edit(plan))), 'edited.json');
    const { code, err } = await here.run('fleet apply --plan edited.json --yes');
    if (code !== 14 || !err.includes('Nothing was sent')) wrong.push(`${what}: ${code}: ${err}`);
  }
  await write(here, JSON.stringify({ ...plan, strangers: 7 }), 'edited.json');
  expect((await here.run('fleet apply --plan edited.json --yes')).err).toContain('was edited');
  const texts = { 'no JSON': '{', 'a list': '[]', 'another version': '{"plan":2}' };
  for (const [what, text] of Object.entries(texts)) {
    await write(here, text, 'edited.json');
    const { code } = await here.run('fleet apply --plan edited.json --yes');
    if (code !== 2) wrong.push(`${what}: ${code}`);
  }
  expect(wrong).toEqual([]);
  expect(JSON.stringify(await cardsOf(here))).toBe(before);
  // The plan itself is as good as it was.
  expect((await here.run('fleet apply --plan plan.json --yes')).code).toBe(0);
});

it('is stale when a card that it is about has changed, and says what', async () => {
  await using here = await world({ wallet: 500 });
  await write(here, FILE);
  await planned(here, 'first.json');
  await here.run('fleet apply --plan first.json --yes');
  const [search] = (await cardsOf(here)).filter(({ metadata }) => metadata['cardwright'] === 'fleet/ads/search#1');
  await here.run(`sandbox simulate authorize --card ${search?.id} --amount 15 --merchant A`);
  await planned(here, 'plan.json');
  await here.run(`cards fund ${search?.id} --amount 2`);
  const more = await here.run('fleet apply --plan plan.json --yes');
  expect(more.code).toBe(14);
  expect(more.err).toContain('search: fund would be $83.00 by now');
  await planned(here, 'second.json');
  await here.run(`cards freeze ${search?.id}`);
  const frozen = await here.run('fleet apply --plan second.json --yes');
  expect(frozen.code).toBe(14);
  expect(frozen.err).toContain('search: fund is no longer to be done');
});

it('makes one card where two machines apply, and the second finds nothing to do', async () => {
  await using here = await world({ wallet: 500 });
  await write(here, FILE);
  const other = { env: { CARDWRIGHT_CONFIG_DIR: join(here.folder, 'other') } };
  const plan = await planned(here, 'plan.json');
  expect((await here.run('fleet apply --plan plan.json --yes')).code).toBe(0);
  const second = await here.run('fleet apply --plan plan.json --yes', other);
  expect(second.code).toBe(14);
  expect(second.err).toContain('is stale');
  expect((await here.run('fleet plan --exit-code any', other)).code).toBe(0);
  expect(await cardsOf(here)).toHaveLength(plan.steps.length);
});

it('goes on under the next key where another request has used the first', async () => {
  await using here = await world({ wallet: 500 });
  await write(here, FILE);
  const { steps } = await planned(here, 'plan.json');
  const key = steps[0]?.do === 'create' ? steps[0].key : '';
  // An older file asked for another amount, and its card was terminated since.
  const made = await ask(here.sandbox, {
    method: 'POST',
    path: '/cards',
    body: { bin_id: 'bin_1', amount: 7 },
    idempotencyKey: key,
  });
  await here.run(`cards terminate ${made.json.id} --yes`);
  await planned(here, 'second.json');
  const applied = await here.run('fleet apply --plan second.json --yes --json');
  expect({ code: applied.code, err: applied.err.includes('error') }).toEqual({ code: 0, err: false });
  const markers = (await cardsOf(here)).map(({ metadata }) => metadata['cardwright']);
  expect(markers.filter(marker => marker !== undefined).sort()).toEqual([
    'fleet/ads/event-1#1',
    'fleet/ads/event-2#1',
    'fleet/ads/search#1',
  ]);
});

it('leaves a name unknown whose key is taken where the list may be behind, until a person says to send it', async () => {
  await using here = await world({ wallet: 500, served: true });
  await write(here, FILE);
  const env = {
    CARDWRIGHT_PROFILE: '',
    CARDWRIGHT_API_KEY: here.sandbox.key.expose(),
    CARDWRIGHT_BASE_URL: here.sandbox.url,
  };
  const patient = { env, onPause: () => undefined, longestPause: 200_000 };
  // An account without cards is another one as soon as there is a card.
  expect((await here.run('cards create --bin bin_1 --amount 5 --yes', { env })).code).toBe(0);
  const plan = await here.run('fleet plan --out plan.json', { env });
  expect(plan.code).toBe(0);
  const { steps } = JSON.parse(await readFile(join(here.folder, 'plan.json'), 'utf8')) as PlanDocument;
  const [first] = steps;
  const idempotencyKey = first?.do === 'create' ? first.key : '';
  const older = { method: 'POST', path: '/cards', body: { bin_id: 'bin_1', amount: 7 }, idempotencyKey };
  expect((await ask(here.sandbox, older)).status).toBe(201);
  const locked = await here.run('fleet apply --plan plan.json --yes', patient);
  expect(locked.code).toBe(11);
  const again = await here.run('fleet apply --plan plan.json --yes', patient);
  expect(again.code).toBe(11);
  const sent = await here.run('fleet apply --plan plan.json --resend-absent --yes', patient);
  expect({ code: sent.code, err: sent.err }).toMatchObject({ code: 0 });
  const markers = (await cardsOf(here)).flatMap(({ metadata }) => metadata['cardwright'] ?? []);
  expect(markers.filter(marker => marker.startsWith('fleet/')).sort()).toEqual([
    'fleet/ads/event-1#1',
    'fleet/ads/event-2#1',
    'fleet/ads/search#1',
  ]);
  expect((await here.run('fleet plan --exit-code any', { env })).code).toBe(0);
});

it('walks over a refusal that was kept for its key once the wallet covers it', async () => {
  await using here = await world({ wallet: 20 });
  await write(here, FILE);
  const { steps } = await planned(here, 'plan.json');
  for (const step of steps) {
    if (step.do !== 'create') continue;
    const refused = await ask(here.sandbox, {
      method: 'POST',
      path: '/cards',
      body: step.body,
      idempotencyKey: step.key,
    });
    expect(refused.json.error).toBe('insufficient_funds');
  }
  expect((await here.run('fleet apply --plan plan.json --yes')).code).toBe(10);
  await here.run('sandbox simulate deposit --currency btc --amount 200');
  await here.run('sandbox simulate confirm dep_1');
  await planned(here, 'second.json');
  const applied = await here.run('fleet apply --plan second.json --yes');
  expect({ code: applied.code, out: applied.out.split('\n').filter(line => line.includes('\tdone\t')).length }).toEqual(
    { code: 0, out: 3 },
  );
});

it('has one apply of a fleet at a time on a machine', async () => {
  await using here = await world({ wallet: 500 });
  await write(here, FILE);
  await planned(here, 'one.json');
  await write(here, FILE.replace('count: 2', 'count: 3'));
  await planned(here, 'two.json');
  const [one, two] = await Promise.all([
    here.run('fleet apply --plan two.json --yes'),
    here.run('fleet apply --plan two.json --yes'),
  ]);
  expect([one.code, two.code].sort()).toEqual([0, 14]);
  expect(await cardsOf(here)).toHaveLength(4);
});

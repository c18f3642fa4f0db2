/** The spend guards of a profile, for single operations, runs and several processes. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { READ_LAG } from '../../src/contract/spans.ts';
import { type ServiceWorld, serviceWorld } from './service-world.ts';

let here: ServiceWorld;
const team = {
  env: { CARDWRIGHT_API_KEY: '', CARDWRIGHT_BASE_URL: '', CARDWRIGHT_PROFILE: 'team' },
  // What is waited for behind a refusal ends at once.
  onPause: () => undefined,
  longestPause: READ_LAG,
};
const run = (line: string) => here.run(line, team);
/** A person at a terminal, for a limit that is loosened. */
const set = async (name: string, value: string | number) =>
  expect((await here.run(`profiles set team ${name} ${value}`, { ...team, terminal: 100, typed: ['team'] })).code).toBe(
    0,
  );

beforeAll(async () => {
  here = await serviceWorld({ wallet: 1000 });
  const line = `login --profile team --base-url ${here.proxy.url} --key-stdin`;
  expect(
    (await here.run(line, { stdin: `${here.key}\n`, env: { CARDWRIGHT_API_KEY: '', CARDWRIGHT_BASE_URL: '' } })).code,
  ).toBe(0);
  await writeFile(join(here.folder, 'two.csv'), 'bin_id,amount\nbin_1,20\nbin_1,30\n');
});
afterAll(() => here[Symbol.asyncDispose]());

test.each([
  ['max_per_call', '25', 'cards create --bin bin_1 --amount 25.01', '$25.00 for one operation; $25.01 asked'],
  ['max_per_call', '25', 'cards create --file two.csv --yes', '$25.00 for one operation; $30.00 asked'],
  ['max_per_run', '49.99', 'cards create --file two.csv --yes', '$49.99 for one run; $50.00 asked'],
  ['max_cards', '1', 'cards create --file two.csv --yes', '1 for one run; 2 asked'],
  ['bins', 'bin_2,bin_3', 'cards create --file two.csv --yes', 'bin_2, bin_3; bin_1 asked'],
  ['bins', 'bin_2', 'cards create --bin bin_1 --amount 5', 'bin_2; bin_1 asked'],
])('%s %s refuses %s', async (name, limit, line, standing) => {
  await set(name, limit);
  const posts = here.proxy.posts().length;
  const { code, err } = await run(line);
  const dry = await run(`${line.replace(' --yes', '')} --dry-run`);
  await set(name, 'none');
  expect(code).toBe(14);
  expect([dry.code, dry.out, dry.err]).toEqual([14, '', err]);
  expect(err).toContain(`error: ${name} of profile team is ${standing}`);
  expect(err).toContain('No change was sent.');
  expect(here.proxy.posts().length).toBe(posts);
});

test.each(['cards create --file two.csv', 'cards create --bin bin_1 --amount 5', 'cards freeze card_1'])(
  'read_only refuses %s, and its dry run',
  async line => {
    await set('read_only', 'true');
    const codes = [await run(`${line} --yes`), await run(`${line} --dry-run`)].map(({ code }) => code);
    await set('read_only', 'false');
    expect(codes).toEqual([14, 14]);
  },
);

test('a dry run is refused by the limit of the day as the run is, and uses nothing of it', async () => {
  await set('max_per_day', 49.99);
  const [dry, one] = [
    await run('cards create --file two.csv --dry-run'),
    await run('cards create --bin bin_1 --amount 50 --dry-run'),
  ];
  const real = await run('cards create --file two.csv --yes');
  await set('max_per_day', 'none');
  const said = 'error: max_per_day of profile team is $49.99 for a day; $0.00 used today (UTC), $50.00 asked';
  for (const { code, out, err } of [dry, one, real])
    expect([code, out, err]).toEqual([14, '', expect.stringContaining(said)]);
});

test('a day adds up over commands; what was refused or came back does not count', async () => {
  await set('max_per_day', 60);
  expect((await run('cards create --file two.csv --yes -q')).code).toBe(0);
  const over = await run('cards fund card_1 --amount 10.01');
  expect([over.code, over.err.split('\n')[0]]).toEqual([
    14,
    'error: max_per_day of profile team is $60.00 for a day; $50.00 used today (UTC), $10.01 asked',
  ]);
  expect((await run('cards fund card_none --amount 10')).code).toBe(5);
  expect((await run('cards withdraw card_1 --amount 5')).code).toBe(0);
  expect((await run('cards fund card_1 --amount 10')).code).toBe(0);
  expect((await run('cards fund card_1 --amount 1')).code).toBe(14);
  await set('max_per_day', 'none');
});

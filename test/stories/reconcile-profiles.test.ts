import { expect, it } from 'vitest';
import { type RunningSandbox, startSandbox } from '../../src/sandbox/serving/start.ts';
import { WORLD_TIME, type World, world } from '../support/world.ts';

const serve = (seed: number) =>
  startSandbox({
    listen: 'tcp',
    seed,
    wallet: 1000,
    deliveries: 'on-deliver',
    clock: { mode: 'frozen', at: WORLD_TIME },
  });

async function login(here: World, name: string, { key }: RunningSandbox, url: string): Promise<void> {
  const ran = await here.run(`login --profile ${name} --base-url ${url} --key-stdin`, { stdin: key.expose() });
  expect(ran).toMatchObject({ code: 0 });
}

/** USD onto a new card; resolves to its id. */
async function create(here: World, profile: string, amount: number): Promise<string> {
  const bin = (await here.run('bins list -o id', as(profile))).out.split('\n')[0];
  const { code, out } = await here.run(`cards create --bin ${bin} --amount ${amount} -q`, as(profile));
  expect(code).toBe(0);
  return out.trim();
}

const as = (profile: string) => ({ env: { CARDWRIGHT_PROFILE: profile } });

it('rows of every profile that speaks to the account are own ones, and rows of another account are not', async () => {
  await using sandbox = await serve(1);
  await using elsewhere = await serve(2);
  await using here = await world();
  await login(here, 'shop', sandbox, sandbox.url);
  // The same account under another name, another account, and the account by another address.
  await login(here, 'ads', sandbox, sandbox.url);
  await login(here, 'other', elsewhere, elsewhere.url);
  await login(here, 'far', sandbox, sandbox.url.replace('127.0.0.1', 'localhost'));
  const first = await create(here, 'shop', 50);
  expect((await here.run('books reconcile --jq .verdict', as('shop'))).out).toBe('baseline\n');

  await here.run(`cards fund ${first} --amount 5 --yes`, as('ads'));
  const second = await create(here, 'ads', 20);
  await here.run(`cards withdraw ${second} --amount 3 --yes`, as('far'));
  await create(here, 'other', 70);
  const told = await here.run('books reconcile --sole-operator --json', as('shop'));
  expect(told).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(told.out)).toMatchObject({
    verdict: 'balanced',
    findings: [],
    wallet: { created: 20, funded: 5, withdrawn: 3, other: 0, residual: 0, closing: 928 },
  });
  // Money of another account is in no row of this one.
  const rows = await here.run("books query 'select operation, cents from moves order by cents' --jq .data", as('shop'));
  expect(JSON.parse(rows.out).map(({ cents }: { cents: number }) => cents)).toEqual([300, 500, 2000, 5000]);
  expect(JSON.parse((await here.run('books reconcile --json', as('other'))).out)).toMatchObject({
    verdict: 'baseline',
    wallet: { created: 70, other: 0, closing: 930 },
  });
});

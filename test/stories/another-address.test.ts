import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { type World, world } from '../support/world.ts';

Object.assign(globalThis, { CARDWRIGHT_VERSION: '0.0.0-test' });

const CREATE = 'cards create --bin bin_1 --amount 5 --label one';

/**
 * A machine, and a service that forgets keys and is reached at two addresses. `lose`: the next answer does
 * not come, and after `readBefore` reads nothing can be read.
 */
async function machine() {
  const sandbox = await startSandbox({ wallet: 1000, ids: 'counted' });
  const first = await startFaultProxy({ target: sandbox.url, stripKeys: true });
  const second = await startFaultProxy({ target: sandbox.url, stripKeys: true });
  const here: World = await world({ env: { CARDWRIGHT_PROFILE: '', CARDWRIGHT_API_KEY: sandbox.key.expose() } });
  const run = (proxy: { readonly url: string }, line: string) =>
    here.run(line, { env: { CARDWRIGHT_BASE_URL: proxy.url } });
  const cards = async () => JSON.parse((await run(first, 'cards list --json')).out).data.length as number;
  const lose = (path: RegExp, readBefore = 0) => {
    first.fail('POST', path, 'drop-after');
    first.fail('GET', /./, ...Array<'none'>(readBefore).fill('none'), ...Array<'drop-before'>(30).fill('drop-before'));
  };
  const close = async () => {
    for (const each of [here, first, second, sandbox]) await each[Symbol.asyncDispose]();
  };
  return { sandbox, first, second, here, run, cards, lose, [Symbol.asyncDispose]: close };
}

test('a card whose answer was lost is not made again at another address, and is settled there', async () => {
  await using at = await machine();
  at.lose(/\/cards$/, 1);
  const lost = await at.run(at.first, CREATE);
  expect(lost.code).toBe(11);
  at.first.mend();
  const op = /op_\w+/.exec(lost.err)?.[0] ?? '';
  for (const address of [at.second.url, at.first.url.replace('127.0.0.1', 'localhost')]) {
    const again = await at.run({ url: address }, CREATE);
    expect([again.code, again.err]).toEqual([14, expect.stringContaining(op)]);
    expect(again.err).toContain(`cardwright ops resume ${op}`);
  }
  // Of another account; the profile of the environment is its variables.
  const elsewhere = await at.run(at.first, `--sandbox ops resume ${op} --yes`);
  expect([elsewhere.code, elsewhere.err]).toEqual([2, expect.stringContaining('export CARDWRIGHT_BASE_URL=http')]);
  const resumed = await at.run(at.second, `ops resume ${op} --yes --json`);
  expect([resumed.code, JSON.parse(resumed.out).data[0].outcome]).toEqual([0, 'done']);
  expect([await at.cards(), at.second.posts().length]).toEqual([1, 0]);
  // Now it is known, and a second one is meant.
  expect((await at.run(at.second, CREATE)).code).toBe(0);
  expect(await at.cards()).toBe(2);
});

test.each([['--intent po-1'], ['--idempotency-key po-1']])('%s means the same card at both addresses', async name => {
  await using at = await machine();
  expect(await at.run(at.first, `${CREATE} ${name} -q`)).toMatchObject({ code: 0, out: 'card_1\n' });
  expect(await at.run(at.second, `${CREATE} ${name} -q`)).toMatchObject({ code: 0, out: 'card_1\n' });
  expect([await at.cards(), at.second.posts().length]).toEqual([1, 0]);
  const other = await at.run(at.second, `${CREATE.replace('one', 'two')} ${name} -q`);
  expect([other.code, other.err]).toEqual([2, expect.stringMatching(/was used (?:for another change|before with)/)]);
});

test('another key at another address is another account', async () => {
  await using at = await machine();
  await using other = await machine();
  at.lose(/\/cards$/, 1);
  expect((await at.run(at.first, `${CREATE} --intent po-1`)).code).toBe(11);
  const env = { CARDWRIGHT_BASE_URL: other.first.url, CARDWRIGHT_API_KEY: other.sandbox.key.expose() };
  expect(await at.here.run(`${CREATE} --intent po-1 -q`, { env })).toMatchObject({ code: 0, out: 'card_1\n' });
});

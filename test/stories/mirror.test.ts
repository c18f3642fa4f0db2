import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { EmbeddedSandbox } from '../../src/sandbox/serving/embedded.ts';
import { world } from '../support/world.ts';

const FILE = ['data', 'mirror', 'sandbox.sqlite'];

/** A world whose service can be taken away. */
async function cutOff() {
  let isThere = true;
  const inner = await world({ data: 'demo' });
  const { sandbox } = inner;
  const here = await world({
    openSandbox: async (): Promise<EmbeddedSandbox> => {
      if (!isThere) throw new Error('the service was asked');
      const { socketPath = '', key, adminToken, deliver, honoursKeys } = sandbox;
      return {
        socketPath,
        origin: 'http://localhost',
        key,
        adminToken,
        deliver,
        honoursKeys,
        stop: async () => undefined,
      };
    },
  });
  const close = async () => {
    await here[Symbol.asyncDispose]();
    await inner[Symbol.asyncDispose]();
  };
  const takeAway = () => {
    isThere = false;
  };
  return { here, takeAway, [Symbol.asyncDispose]: close };
}

it('asks the service nothing with --offline, not even the time or for short ids', async () => {
  await using cut = await cutOff();
  const { here } = cut;
  expect((await here.run('books sync')).code).toBe(0);
  const online = await here.run('cards list --all -o id');
  cut.takeAway();
  const id = online.out.split('\n')[0] ?? '';
  const lines = [
    'cards list --all --offline',
    `cards get ${id} --offline`,
    'tx list --since 60d --offline --all',
    'tx summary --since 60d --by card --offline',
    `tx search a --card ${id} --offline`,
    'cards search a --offline',
    "books query 'select count(*) from tx' --offline",
    'books status',
  ];
  for (const line of lines) expect({ line, ...(await here.run(line)) }).toMatchObject({ line, code: 0 });
  expect((await here.run('cards list --all -o id --offline')).out).toBe(online.out);
  // A short id is not looked up anywhere else either.
  expect(await here.run('cards get card_nothing --offline')).toMatchObject({
    code: 5,
    err: expect.stringContaining('mirror'),
  });
  expect((await here.run('tx search a --max-age 1s')).code).toBe(0);
});

it('says that a copy is damaged, and mends it at the next sync', async () => {
  await using here = await world({ data: 'demo' });
  await here.run('books sync');
  const path = join(here.folder, ...FILE);
  const before = await here.run('tx list --all --offline -o id');
  const bytes = readFileSync(path);
  // The header stays: the damage is met while reading.
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0x5a)]));
  const read = await here.run('tx list --all --offline');
  expect(read).toMatchObject({ code: 15, err: expect.stringContaining('try: cardwright books sync') });
  const mended = await here.run('books sync');
  expect(mended).toMatchObject({
    code: 0,
    err: expect.stringMatching(/warning: the mirror was damaged; it is now .*damaged-1/),
  });
  expect((await here.run('tx list --all --offline -o id')).out).toBe(before.out);
});

it('keeps rows of the journal that ops prune removes, and never the code of a challenge', async () => {
  await using here = await world();
  await here.run('cards create --bin bin_1 --amount 20');
  await here.run('cards fund card_1 --amount 5');
  await here.run('cards withdraw card_1 --amount 3');
  await here.run('sandbox simulate challenge --card card_1 --amount 9 --merchant Acme');
  await here.run('books sync');
  const moves = await here.run(
    "books query 'select operation, card_id, cents, outcome from moves order by at_ms, op' --jq .data",
  );
  expect(JSON.parse(moves.out)).toEqual([
    { operation: 'cards.create', card_id: 'card_1', cents: 2000, outcome: 'done' },
    { operation: 'cards.fund', card_id: 'card_1', cents: 500, outcome: 'done' },
    { operation: 'cards.withdraw', card_id: 'card_1', cents: 300, outcome: 'done' },
  ]);
  const challenges = await here.run("books query 'select * from challenges' --jq .data");
  const { otp } = JSON.parse((await here.run('3ds list --jq .data[0]')).out);
  expect(JSON.parse(challenges.out)).toMatchObject([{ merchant: 'Acme', cents: 900 }]);
  expect(readFileSync(join(here.folder, ...FILE), 'latin1')).not.toContain(otp);
});

it('takes the sandbox for the same account in every process, whose key is another one each time', async () => {
  await using here = await world();
  const program = join(import.meta.dirname, '..', '..', 'bin', 'cardwright.js');
  const env = { PATH: process.env['PATH'], HOME: here.folder, CARDWRIGHT_CONFIG_DIR: join(here.folder, 'own') };
  const synced = () => {
    const words = [program, '--sandbox', 'books', 'sync', '--jq', '.requests'];
    return execFileSync(process.execPath, words, { env, encoding: 'utf8' });
  };
  synced();
  expect(synced()).toBe('3\n');
});

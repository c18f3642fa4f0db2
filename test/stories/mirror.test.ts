import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { EmbeddedSandbox } from '../../src/sandbox/serving/start.ts';
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

it('refuses a copy that is damaged, whoever reads it, until it is reset', async () => {
  await using here = await world({ data: 'demo' });
  await here.run('books sync');
  const path = join(here.folder, ...FILE);
  const before = await here.run('tx list --all --offline -o id');
  const bytes = readFileSync(path);
  // The header stays: the damage is met while reading.
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0x5a)]));
  for (const line of ['tx list --all --offline', 'books sync', 'books reconcile', 'books statement --period 2026-11'])
    expect({ line, ...(await here.run(line)) }).toMatchObject({
      line,
      code: 15,
      err: expect.stringContaining('try: cardwright books reset'),
    });
  for (const line of ['books reset --yes', 'books sync']) expect((await here.run(line)).code).toBe(0);
  expect((await here.run('tx list --all --offline -o id')).out).toBe(before.out);
});

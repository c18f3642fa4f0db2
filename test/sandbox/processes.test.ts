/** Several processes on one store: the promise every embedded run rests on. */

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isOwnerGone, ownerName } from '../../src/files/lock.ts';
import { libraryHost } from '../../src/sandbox/serving/start.ts';
import { openStore } from '../../src/sandbox/store/open.ts';
import { type Program, program } from '../support/child.ts';

const SOURCE = `
import { libraryHost } from './src/sandbox/serving/start.ts';
import { ownerName } from './src/files/lock.ts';
import { openStore } from './src/sandbox/store/open.ts';

const [path, what, count] = process.argv.slice(2);
if (what === 'wait') {
  console.log(ownerName(process.pid));
  setInterval(() => undefined, 1000);
} else {
  const fill = async sql => {
    await sql.run('create table sums (account_id text primary key, value integer not null) strict');
    await sql.run("insert into sums (account_id, value) values ('a', 0)");
  };
  const { store, meta } = await openStore({ path, seed: 1, ids: 'derived', fill, ...libraryHost() });
  for (let done = 0; done < Number(count); done += 1) {
    await store.write(async sql => {
      const { value } = await sql.get("select value from sums where account_id = 'a'");
      await sql.run("update sums set value = ? where account_id = 'a'", value + 1);
    });
  }
  await store.close();
  console.log(meta.instance);
}
`;

let child: Program;
let folder: string;

beforeAll(async () => {
  child = await program(SOURCE);
  folder = await mkdtemp(join(tmpdir(), 'cardwright-processes-'));
});

afterAll(async () => {
  await child[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

it('keeps every write of 3 processes that make and share one store', { timeout: 180_000 }, async () => {
  const path = join(folder, 'shared.db');
  const instances = await Promise.all(Array.from({ length: 3 }, () => child.run(path, 'write', '40')));
  expect(new Set(instances).size).toBe(1);
  const fill = async () => undefined;
  const { store } = await openStore({ path, seed: 2, ids: 'counted', fill, ...libraryHost() });
  expect(await store.read(sql => sql.get('select value from sums'))).toEqual({ value: 120 });
  await store.close();
});

it('knows a process that is gone from one that works', async () => {
  const waiting = child.start('-', 'wait');
  const [line] = (await once(waiting.stdout ?? waiting, 'data')) as [Buffer];
  const owner = line.toString().trim();
  const us = ownerName(process.pid);
  expect(isOwnerGone(us, us)).toBe(false);
  expect(isOwnerGone(owner, us)).toBe(false);
  waiting.kill('SIGKILL');
  await once(waiting, 'exit');
  expect(isOwnerGone(owner, us)).toBe(process.platform === 'linux');
});

it('takes a lost pid for gone only where that proves something', () => {
  const us = '10:500:boot-a:pid:[1]';
  expect(isOwnerGone('1:1:boot-b:pid:[1]', us)).toBe(true);
  expect(isOwnerGone('999999999:1:boot-a:pid:[2]', us)).toBe(false);
  const blind = '10:::';
  expect(isOwnerGone('11:::', blind)).toBe(false);
  expect(isOwnerGone('11:::', blind, () => false)).toBe(true);
  expect(isOwnerGone('11:::', blind, () => true)).toBe(false);
});

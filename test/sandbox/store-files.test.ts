/** The store's file: whose it is, what it says, and what is refused without being touched. */
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { connectTo } from '../../src/engine/open.ts';
import type { Clock } from '../../src/platform/host.ts';
import { libraryHost } from '../../src/sandbox/serving/start.ts';
import { openStore } from '../../src/sandbox/store/open.ts';
import { program } from '../support/child.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-store-'));
  path = join(folder, 'store.db');
});
afterEach(() => rm(folder, { recursive: true }));

const open = () => openStore({ path, seed: 7, ids: 'derived', fill: async () => undefined, ...libraryHost() });

async function refusal(work: () => Promise<unknown>): Promise<CliError> {
  const error = await work().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CliError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error;
}

it('is made once, by the first of two that both found it empty', async () => {
  const host = libraryHost();
  const rest = { path, seed: 1, ids: 'derived', ...host } as const;
  let second: ReturnType<typeof openStore> | undefined;
  const first = await openStore({
    ...rest,
    fill: () =>
      new Promise(goOn => {
        // It waits for the lock only after it has seen an empty store.
        const clock: Clock = { ...host.clock, sleep: async () => goOn() };
        second = openStore({ ...rest, clock, seed: 2, fill: () => Promise.reject(new Error('filled twice')) });
      }),
  });
  const other = await second;
  expect(other?.meta).toEqual(first.meta);
  await first.store.close();
  await other?.store.close();
});

it('refuses a store of another build and leaves every byte of it', async () => {
  const { store } = await open();
  await store.write(sql => sql.run('update meta set schema_number = 999'));
  await store.close();
  const before = await readFile(path);
  const error = await refusal(open);
  expect(error.kind).toBe('check_failed');
  expect(error.message).toContain(path);
  expect(error.message).toContain('another build');
  expect(error.facts.hint).toBe('cardwright sandbox reset --hard');
  expect(before.equals(await readFile(path))).toBe(true);
});

it.each([
  ['text', async () => writeFile(path, 'this is no database, whatever its name says\n'.repeat(200))],
  [
    'a database of another program',
    async () => connectTo(path).exec('create table notes (a text); insert into notes values (1)'),
  ],
  [
    'a database of another program with a table of the same name',
    async () => connectTo(path).exec('create table meta (key text); insert into meta values (1)'),
  ],
])('refuses %s and leaves every byte of it', async (_name, make) => {
  await make();
  const before = await readFile(path);
  const error = await refusal(open);
  expect(error.kind).toBe('check_failed');
  expect(error.message).toContain(path);
  expect(before.equals(await readFile(path))).toBe(true);
});

it('refuses a store whose pages are damaged', async () => {
  const { store } = await open();
  await store.close();
  const bytes = await readFile(path);
  bytes.fill(0xa5, 100, 4096);
  await writeFile(path, bytes);
  const error = await refusal(open);
  expect(error.kind).toBe('check_failed');
  expect(bytes.equals(await readFile(path))).toBe(true);
});
it('refuses a symlink', async () => {
  await writeFile(join(folder, 'elsewhere'), '');
  await symlink(join(folder, 'elsewhere'), path);
  expect((await refusal(open)).kind).toBe('guarded');
});

const UMASK_SOURCE = `
import type { Clock } from '../../src/platform/host.ts';
import { libraryHost, openEmbedded } from './src/sandbox/serving/start.ts';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
process.umask(0);
const folder = process.argv[2];
const folders = { data: join(folder, 'data'), runtime: join(folder, 'run') };
const sandbox = await openEmbedded({ ...libraryHost(), folders }, { version: '0' });
for (const name of await readdir(folder, { recursive: true })) {
  const found = await stat(join(folder, name));
  console.log((found.mode & 0o777).toString(8), name);
}
await sandbox.stop();
console.log('left', (await stat(sandbox.socketPath).catch(error => error)).code);
`;

it('makes folders 0700 and files 0600 under any umask, and takes its socket away', async () => {
  await using child = await program(UMASK_SOURCE);
  const told = (await child.run(folder)).trim().split('\n');
  expect(told).toEqual(
    expect.arrayContaining([
      '700 data',
      '700 data/sandbox',
      '600 data/sandbox/store.db',
      '600 data/sandbox/store.db-wal',
      '600 data/sandbox/store.db-shm',
      'left ENOENT',
    ]),
  );
  const open = told.filter(line => !/^[67]00 |^left/.test(line));
  expect(open).toEqual([]);
});

/** The whole sandbox over HTTP, as commands, suites and several processes use it. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { libraryHost, openEmbedded } from '../../src/sandbox/serving/start.ts';
import type { Store } from '../../src/sandbox/store/queue.ts';
import { StoreBroken } from '../../src/sandbox/store/sql.ts';
import { fakeService } from '../support/fake-service.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { type RunningSandbox, startSandbox } from '../support/start-sandbox.ts';

async function firstBin(served: Served): Promise<string> {
  return (await ask(served, { path: '/bins' })).json.data[0].id;
}

it('erases the code of a card that is terminated', async () => {
  await using service = await fakeService();
  const body = { bin_id: await firstBin(service), amount: 10 };
  const { id } = (await ask(service, { method: 'POST', path: '/cards', body })).json;
  const details = async () => (await ask(service, { path: `/cards/${id}/details` })).json;
  expect((await details()).cvv).toMatch(/^\d{3}$/);
  await ask(service, { method: 'POST', path: `/cards/${id}/terminate` });
  expect((await details()).error).toBe('card_terminated');
  expect(await service.store.read(sql => sql.all('select cvv from cards'))).toEqual([{ cvv: null }]);
});

it('gives no answer when a commit failed and nobody knows whether it lasted', async () => {
  const around = (store: Store): Store => ({
    path: store.path,
    copyTo: path => store.copyTo(path),
    read: work => store.read(work),
    writeLarge: (work, beside) => store.writeLarge(work, beside),
    write: async work => {
      await store.write(work);
      throw new StoreBroken('of the disk');
    },
    close: () => store.close(),
  });
  await using service = await fakeService({ around });
  await expect(ask(service, { path: '/wallet' })).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(ask(service, { path: '/wallet' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(service.faults).toHaveLength(1);
});

it('shares one store between embedded runs and a started one, and keeps what they did', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cw-shared-'));
  const folders = { data: folder, runtime: join(folder, 'run'), config: '', state: '', cache: '' };
  const embedded = async () => {
    const sandbox = await openEmbedded({ ...libraryHost(), folders }, { version: '1' });
    return { ...sandbox, url: `${sandbox.origin}/v1` };
  };
  const [one, two] = await Promise.all([embedded(), embedded()]);
  const started: RunningSandbox = await startSandbox({ store: join(folder, 'sandbox', 'store.db') });
  const bin_id = await firstBin(one);
  const post = (served: Served) =>
    ask(served, { method: 'POST', path: '/cards', body: { bin_id, amount: 10 }, idempotencyKey: 'shared' });
  const answers = await Promise.all([one, two, started, one, two, started].map(post));
  // Other programs meet every limit; the commands of a person only what the interface states.
  expect(answers.map(({ headers }) => headers['x-ratelimit-limit'])).toEqual([
    ...[undefined, undefined, '600'],
    ...[undefined, undefined, '600'],
  ]);
  expect(new Set(answers.filter(answer => answer.status === 201).map(answer => answer.json.id)).size).toBe(1);
  const again = await post(two);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect((await ask(started, { path: '/wallet' })).json.balance).toBe(9990);
  for (const sandbox of [one, two, started]) await sandbox.stop();
  const third = await embedded();
  expect((await ask(third, { path: '/cards' })).json.meta.total).toBe(13);
  await third.stop();
  await rm(folder, { recursive: true });
});

/** The whole sandbox over HTTP, as commands, suites and several processes use it. */

import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HANDLERS } from '../../src/sandbox/handlers/table.ts';
import { openEmbedded } from '../../src/sandbox/serving/embedded.ts';
import { libraryHost } from '../../src/sandbox/serving/start.ts';
import type { Store } from '../../src/sandbox/store/sql.ts';
import { StoreBroken } from '../../src/sandbox/store/sql.ts';
import { program } from '../support/child.ts';
import { fakeService, NOON } from '../support/fake-service.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { type RunningSandbox, startSandbox } from '../support/start-sandbox.ts';

async function firstBin(served: Served): Promise<string> {
  return (await ask(served, { path: '/bins' })).json.data[0].id;
}
it('sends secrets where they belong and no body where there is none', async () => {
  await using sandbox = await startSandbox();
  const body = { url: 'https://example.com/hook', events: ['*'] };
  const created = await ask(sandbox, { method: 'POST', path: '/webhooks', body });
  expect(created.json.secret).toMatch(/^whsec_/);
  const { id } = created.json;
  expect((await ask(sandbox, { path: `/webhooks/${id}` })).json.secret).toBeUndefined();
  const deleted = await ask(sandbox, { method: 'DELETE', path: `/webhooks/${id}` });
  expect([deleted.status, deleted.text]).toEqual([204, '']);
});

it('takes no signing secret that is short, blank or not printable', async () => {
  await using sandbox = await startSandbox();
  for (const [secret, message] of [
    ['', 'secret: 0 characters are too few: at least 16 characters'],
    [' '.repeat(20), 'secret: 20 characters are too few'],
    ['\0'.repeat(32), 'secret: must not contain a NUL'],
    [`fifteen letters${'\u200b'.repeat(3)}`, 'secret: must be printable text'],
  ] as const) {
    const body = { url: 'https://example.com/hook', events: ['*'], secret };
    const { status, json } = await ask(sandbox, { method: 'POST', path: '/webhooks', body });
    expect([status, json.error]).toEqual([400, 'invalid_request']);
    expect(json.message).toContain(message);
  }
});

it('starts over from the control surface, with the ids of the new seed', async () => {
  await using sandbox = await startSandbox({ data: 'demo', seed: 3, version: '1.2.3' });
  const before = await firstBin(sandbox);
  const reset = (body: object) => ask(sandbox, { method: 'POST', path: '/_sandbox/v1/reset', body });
  const emptied = await reset({ data: 'empty', seed: 4 });
  expect(emptied.json).toMatchObject({ version: '1.2.3', store: 'memory', data_set: 'empty', cards: 0 });
  expect(await firstBin(sandbox)).not.toBe(before);
  expect((await reset({ seed: 3 })).json).toMatchObject({ data_set: 'demo', cards: 12, wallet_balance: 10_000 });
  expect(await firstBin(sandbox)).toBe(before);
  expect((await reset({ data: 'other' })).json.error).toBe('invalid_request');
});

it('records an event with its effect, and a delivery for each subscription that asked for it', async () => {
  await using service = await fakeService();
  const bin_id = await firstBin(service);
  for (const events of [['*'], ['card.created'], ['card.frozen']]) {
    const hook = { url: 'https://example.com/', events };
    expect((await ask(service, { method: 'POST', path: '/webhooks', body: hook })).status).toBe(201);
  }
  const { json } = await ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 10 } });
  const events = await service.store.read(sql => sql.all<{ body: string }>('select seq, body from events'));
  expect(events).toHaveLength(1);
  const { id, ...event } = JSON.parse(events[0]?.body ?? '');
  expect(id).toMatch(/^evt_/);
  expect(event).toEqual({ type: 'card.created', created_at: '2026-11-20T12:00:00Z', data: json });
  const due = await service.store.read(sql => sql.all('select state, attempt, due_at from deliveries'));
  expect(due).toEqual(Array(2).fill({ state: 'queued', attempt: 0, due_at: NOON }));
});
it('gives no answer when a commit failed and nobody knows whether it lasted', async () => {
  const around = (store: Store): Store => ({
    path: store.path,
    copyTo: path => store.copyTo(path),
    read: work => store.read(work),
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

it('finishes running requests before it stops, long answers too', async () => {
  let begun: () => void = () => undefined;
  const running = new Promise<void>(resolve => {
    begun = resolve;
  });
  const service = await fakeService({
    handlers: {
      'bins.list': async call => {
        begun();
        const { data } = await HANDLERS['bins.list'](call);
        return { data: Array.from({ length: 4_000 }, () => data).flat(), page: {} };
      },
    },
  });
  const answer = ask(service, { path: '/bins' });
  await running;
  await service[Symbol.asyncDispose]();
  expect((await answer).json.data).toHaveLength(32_000);
});

it('refuses a port that is taken', async () => {
  await using sandbox = await startSandbox();
  const port = Number(new URL(sandbox.url).port);
  await expect(startSandbox({ port })).rejects.toMatchObject({ kind: 'unreachable' });
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

it('removes sockets of the dead and leaves those of the living', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cw-left-'));
  const sockets = join(folder, 'run', 'sandbox');
  await mkdir(sockets, { mode: 0o700, recursive: true });
  const [dead, living] = [join(sockets, '1-aa.sock'), join(sockets, '2-bb.sock')];
  await using child = await program(`
    import { createServer } from 'node:net';
    createServer().listen(process.argv[2], () => console.log('listening'));
  `);
  const process = child.start(dead);
  await once(process.stdout ?? process, 'data');
  process.kill('SIGKILL');
  await once(process, 'exit');
  const server = createServer().listen(living);
  await once(server, 'listening');
  const old = new Date(NOON - 86_400_000);
  await Promise.all([utimes(dead, old, old), utimes(living, old, old)]);
  const folders = { data: folder, runtime: join(folder, 'run'), config: '', state: '', cache: '' };
  const sandbox = await openEmbedded({ ...libraryHost(), folders }, { version: '1' });
  await sandbox.stop();
  expect(await readdir(sockets)).toEqual(['2-bb.sock']);
  server.close();
  await rm(folder, { recursive: true });
});

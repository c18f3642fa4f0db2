/** Snapshots and exports: the same store again, row by row, and not one byte that may change unnoticed. */

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exportedFrom } from '../../src/client/sandbox-file.ts';
import { connectTo } from '../../src/engine/open.ts';
import { type Manifest, manifestLine, readManifest } from '../../src/sandbox/archive/archives.ts';
import { ARCHIVED } from '../../src/sandbox/store/schema.ts';
import { type Store, StoreBusy } from '../../src/sandbox/store/sql.ts';
import { waitingClock } from '../support/clocks.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { everyRow, tellLongHistory } from '../support/long-history.ts';
import { ask, type Got, type Served } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { tablesOf } from '../support/test-store.ts';

const ADMIN = '/_sandbox/v1';
const save = (served: Served, name: string) =>
  ask(served, { method: 'POST', path: `${ADMIN}/snapshots`, body: { name } });
const restore = (served: Served, name: string) =>
  ask(served, { method: 'POST', path: `${ADMIN}/snapshots/${name}/restore` });
const remove = (served: Served, name: string) => ask(served, { method: 'DELETE', path: `${ADMIN}/snapshots/${name}` });
const list = async (served: Served) => (await ask(served, { path: `${ADMIN}/snapshots` })).json.data;
const TYPE = 'application/octet-stream';

async function exported({ url, adminToken }: Served, query = ''): Promise<Buffer> {
  const headers = { authorization: `Bearer ${adminToken.expose()}` };
  const answer = await fetch(`${new URL(url).origin}${ADMIN}/export${query}`, { headers });
  expect(answer.headers.get('content-type')).toBe(TYPE);
  return Buffer.from(await answer.arrayBuffer());
}

async function imported({ url, adminToken }: Served, body: string | Uint8Array) {
  const headers = { authorization: `Bearer ${adminToken.expose()}`, 'content-type': TYPE };
  const answer = await fetch(`${new URL(url).origin}${ADMIN}/import`, {
    method: 'POST',
    headers,
    body: Buffer.from(body),
  });
  return { status: answer.status, json: (await answer.json()) as Got['json'] };
}

const fileOf = (service: FakeService, name: string) => service.parts.archives.fileOf(name);

/** Another snapshot of the bytes of one: the store changed, the sums made to fit again. */
async function rewritten(
  bytes: Buffer,
  change: (store: ReturnType<typeof connectTo>) => void,
  facts: Partial<Manifest> = {},
): Promise<Buffer> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'store.db');
  const end = bytes.indexOf(10) + 1;
  await writeFile(path, bytes.subarray(end));
  const store = connectTo(path);
  store.exec('pragma foreign_keys = off; pragma ignore_check_constraints = on');
  change(store);
  store.close();
  const changed = await readFile(path);
  const sums = { bytes: changed.length, store: createHash('sha256').update(changed).digest('hex') };
  const line = manifestLine({ ...readManifest(bytes.toString('utf8', 0, end)), ...sums, ...facts });
  return Buffer.concat([Buffer.from(line), changed]);
}

async function fullService(): Promise<FakeService> {
  const service = await fakeService();
  await ask(service, { method: 'PUT', path: `${ADMIN}/clock`, body: { mode: 'frozen' } });
  await tellLongHistory(service);
  return service;
}

/** What a restore must bring back, requests that only looked included. */
async function rows(service: FakeService) {
  await service.parts.requestLog.flush(service.parts);
  return everyRow(service);
}

describe('a snapshot', () => {
  test('brings every row back, whatever happened since, and the service goes on from there', async () => {
    await using service = await fullService();
    const before = await rows(service);
    expect((await save(service, 'before')).status).toBe(201);
    await ask(service, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'demo', seed: 5 } });
    const { json } = await restore(service, 'before');
    expect(json).toMatchObject({ restored: true, problems: [], ledger_ok: true, now: '2026-11-20T12:00:00Z' });
    expect(await rows(service)).toEqual(before);
    const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
    expect((await ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 5 } })).status).toBe(201);
    const { json: checked } = await ask(service, { method: 'POST', path: `${ADMIN}/ledger/check`, body: {} });
    expect(checked).toMatchObject({ ok: true, faults: [] });
  });

  test('is listed, replaced and removed by name', async () => {
    await using service = await fakeService();
    expect(await list(service)).toEqual([]);
    await save(service, 'b');
    const { json: first } = await save(service, 'a');
    expect(first).toMatchObject({
      name: 'a',
      whole: true,
      data_set: 'empty',
      clock: 'real',
      cards: 0,
      transactions: 0,
    });
    const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
    await ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 5 } });
    expect((await save(service, 'a')).json).toMatchObject({ name: 'a', cards: 1 });
    expect((await list(service)).map((each: { name: string; cards: number }) => [each.name, each.cards])).toEqual([
      ['a', 1],
      ['b', 0],
    ]);
    expect((await remove(service, 'a')).status).toBe(204);
    expect((await remove(service, 'a')).status).toBe(404);
    expect((await restore(service, 'a')).status).toBe(404);
    expect((await list(service)).map(({ name }: { name: string }) => name)).toEqual(['b']);
    const file = await fileOf(service, 'b');
    expect(await readdir(join(file, '..'))).toEqual(['b.snapshot']);
    expect([(await stat(join(file, '..'))).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test('cannot be called what is no name', async () => {
    await using service = await fakeService();
    for (const name of ['', 'A', '../a', '.a', '-a', 'a/b', 'a b', 'ä', 'a'.repeat(65)])
      expect([name, (await save(service, name)).status]).toEqual([name, 400]);
  });

  test('leaves what is not a snapshot alone', async () => {
    await using service = await fakeService();
    await save(service, 'a');
    const foreign = join(await fileOf(service, 'a'), '..', 'mine.snapshot');
    await mkdir(foreign);
    await writeFile(join(foreign, 'notes.txt'), 'dear to me');
    for (const tried of [save, remove]) {
      const { status, json } = await tried(service, 'mine');
      expect([status, json.message]).toEqual([409, `${foreign} exists and is not a snapshot; it was not changed`]);
    }
    expect(await readFile(join(foreign, 'notes.txt'), 'utf8')).toBe('dear to me');
    expect((await list(service)).map(({ name }: { name: string }) => name)).toEqual(['a']);
  });

  test('with one bit flipped anywhere is refused, and nothing changed', { timeout: 180_000 }, async () => {
    await using service = await fullService();
    await save(service, 'a');
    const file = await fileOf(service, 'a');
    await ask(service, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'empty' } });
    const before = await rows(service);
    const whole = await readFile(file);
    const flipped = async (at: number, bit: number) => {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
      await writeFile(file, bytes);
      const { status, json } = await restore(service, 'a');
      expect([status, json.restored, json.problems.length]).toEqual([200, false, 1]);
    };
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), (at, bit) => flipped(at, bit)),
      { numRuns: 25 },
    );
    // Where damage is told apart from nothing by a hair.
    const line = whole.indexOf(10) + 1;
    for (const at of [0, 1, 12, line - 70, line - 2, line - 1, line]) await flipped(at, 0);
    await writeFile(file, whole);
    expect(await rows(service)).toEqual(before);
    expect((await restore(service, 'a')).json.restored).toBe(true);
  });

  test('damaged, or not that of a sandbox although its sums fit, is refused before any of it is kept', async () => {
    await using service = await fullService();
    await save(service, 'a');
    const file = await fileOf(service, 'a');
    const whole = await readFile(file);
    const before = await rows(service);
    const sql = (harm: string) => rewritten(whole, store => store.exec(harm));
    for (const [bytes, said] of [
      [Buffer.alloc(0), /^it is no snapshot of a sandbox$/],
      [whole.subarray(0, 20_000), /^the file ends too early$/],
      [await sql("update cards set balance = balance + 1 where status = 'active'"), /^its books do not agree: /],
      // Without its cards, no transaction may be stored.
      [await sql('delete from cards'), /^a row cannot be stored: /],
      [await sql('create table more (a text)'), /^its tables are not those of a sandbox$/],
      [await sql('create trigger t after insert on cards begin delete from cards; end'), /^its tables are not/],
      [await rewritten(whole, () => undefined, { schema: 999 }), /^it was made by another build of cardwright$/],
    ] as const) {
      await writeFile(file, bytes);
      const { json } = await restore(service, 'a');
      expect(json).toMatchObject({ restored: false, problems: [expect.stringMatching(said)] });
      expect(await rows(service)).toEqual(before);
    }
  });
});

/** A store that cannot be read the first so many times: another process holds it. */
function busyStore(times: number) {
  let left = times;
  return (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...words: unknown[]) => {
          if (name === 'copyTo' && left > 0) {
            left -= 1;
            return Promise.reject(new StoreBusy('the store is busy'));
          }
          return Reflect.apply(member, target, words);
        };
      },
    });
}

describe('an export', () => {
  test('of a busy store is refused in words, and the connection is not cut', async () => {
    await using service = await fakeService({ around: busyStore(1) });
    const answer = await ask(service, { path: `${ADMIN}/export` });
    expect([answer.status, answer.json]).toEqual([
      503,
      expect.objectContaining({ message: 'The store is busy; nothing of the request happened.' }),
    ]);
    expect((await exported(service)).subarray(0, 10).toString()).toBe('{"format":');
    expect(service.faults).toEqual([]);
  });

  test('is asked for again while the store is busy, and after some times it is not', async () => {
    const pieces = async (busy: number) => {
      await using service = await fakeService({ around: busyStore(busy) });
      const { url, adminToken: token } = service;
      const baseUrl = new URL(url).origin + ADMIN;
      const { signal } = new AbortController();
      const whole: Uint8Array[] = [];
      for await (const piece of exportedFrom({ baseUrl, token, signal, clock: waitingClock() })) whole.push(piece);
      return Buffer.concat(whole).toString('utf8');
    };
    expect(await pieces(3)).toContain('{"format":');
    await expect(pieces(100)).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'the sandbox refused it: The store is busy; nothing of the request happened.',
    });
  });

  test('of one sandbox is the other', async () => {
    await using one = await fullService();
    await using other = await fakeService();
    const { status, json } = await imported(other, await exported(one));
    expect([status, json.restored, json.ledger_ok]).toEqual([200, true, true]);
    expect(await rows(other)).toEqual(await rows(one));
  });

  test('with one byte changed, lost or added is refused, and nothing changed', { timeout: 180_000 }, async () => {
    await using one = await fullService();
    await using other = await fakeService();
    const bytes = await exported(one);
    const before = await rows(other);
    const harm = fc.oneof(
      fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, by]) => {
        const harmed = Buffer.from(bytes);
        harmed.writeUInt8(harmed.readUInt8(at) ^ by, at);
        return harmed;
      }),
      fc.nat(bytes.length - 1).map(end => bytes.subarray(0, end)),
      fc.constant(Buffer.concat([bytes, Buffer.from('x')])),
    );
    await fc.assert(
      fc.asyncProperty(harm, async harmed => {
        const { json } = await imported(other, harmed);
        expect([json.restored, json.problems?.length]).toEqual([false, 1]);
      }),
      { numRuns: 25 },
    );
    expect(await rows(other)).toEqual(before);
  });

  test('holds nothing of the process: no key, no time an answer took, no count of a limit', async () => {
    await using service = await fullService();
    await rewritten(await exported(service), store => {
      const kept = 'select count(*) as n from requests where took is not null or key_last4 is not null';
      const rest = 'select (select count(*) from rate_hits) + (select count(*) from advances) as n';
      expect([kept, rest].map(text => ({ ...store.prepare(text).get() }))).toEqual([{ n: 0 }, { n: 0 }]);
    });
  });

  test('is not nothing, a line without end, something else or a long line', async () => {
    await using service = await fakeService();
    for (const text of ['', '{', '{"format":"another"}\n', 'x'.repeat(100_000)]) {
      expect((await imported(service, text)).json).toMatchObject({ restored: false });
    }
  });

  test('is handed out and taken in with the admin token alone, as one file alone', async () => {
    await using service = await fakeService();
    const asKey = { authorization: `Bearer ${service.key.expose()}` };
    expect((await ask(service, { path: `${ADMIN}/export`, headers: asKey })).status).toBe(401);
    expect((await ask(service, { method: 'POST', path: `${ADMIN}/import`, headers: asKey })).status).toBe(401);
    expect((await ask(service, { method: 'POST', path: `${ADMIN}/import`, body: {} })).status).toBe(415);
    expect((await ask(service, { method: 'POST', path: `${ADMIN}/export` })).headers['allow']).toBe('GET');
    expect((await ask(service, { path: `${ADMIN}/import?x=1` })).headers['allow']).toBe('POST');
    expect((await exported(service, '?x=1')).length).toBeGreaterThan(1_000);
    expect((await ask(service, { path: `${ADMIN}/export`, headers: { host: 'evil.example' } })).status).toBe(421);
    expect((await ask(service, { path: `${ADMIN}/export`, headers: { origin: 'http://localhost' } })).status).toBe(403);
  });
});

test('every table of the store is put back but those of a process, of the store itself and of rate limits', async () => {
  await using service = await fakeService();
  const tables = await service.store.read(tablesOf);
  expect(tables.map(({ name }) => name).filter(name => !ARCHIVED.includes(name))).toEqual([
    'advances',
    'ledger_checks',
    'meta',
    'rate_hits',
  ]);
});

/** Snapshots and exports: the same store again, row by row, and not one byte that may change unnoticed. */

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { connectTo } from '../../src/engine/open.ts';
import { type Manifest, manifestIn, manifestLine } from '../../src/sandbox/archive/archives.ts';
import { ARCHIVED } from '../../src/sandbox/store/schema.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { everyRow, tellLongHistory } from '../support/long-history.ts';
import { ask, type Got, type Served } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { tablesOf } from '../support/test-store.ts';
import { isWhole } from '../support/whole.ts';

const ADMIN = '/_sandbox/v1';
const save = (served: Served, name: string) =>
  ask(served, { method: 'POST', path: `${ADMIN}/snapshots`, body: { name } });
const restore = (served: Served, name: string) =>
  ask(served, { method: 'POST', path: `${ADMIN}/snapshots/${name}/restore` });
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
  const line = manifestLine({ ...(manifestIn(bytes.toString('utf8', 0, end)) as Manifest), ...sums, ...facts });
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
    expect(json).toMatchObject({ restored: true, problems: [], now: '2026-11-20T12:00:00Z' });
    expect(await rows(service)).toEqual(before);
    const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
    expect((await ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 5 } })).status).toBe(201);
    const { json: checked } = await ask(service, { method: 'POST', path: `${ADMIN}/ledger/check`, body: {} });
    expect(checked).toMatchObject({ ok: true, faults: [] });
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
      { numRuns: isWhole ? 25 : 8 },
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

describe('an export', () => {
  test('of one sandbox is the other', async () => {
    await using one = await fullService();
    await using other = await fakeService();
    const { status, json } = await imported(other, await exported(one));
    expect([status, json.restored]).toEqual([200, true]);
    expect(await rows(other)).toEqual(await rows(one));
  });

  test('holds nothing of the process: no key, no time an answer took, no count of a limit', async () => {
    await using service = await fullService();
    await rewritten(await exported(service), store => {
      const kept = 'select count(*) as n from requests where took is not null or key_last4 is not null';
      const rest = 'select (select count(*) from rate_hits) + (select count(*) from advances) as n';
      expect([kept, rest].map(text => ({ ...store.prepare(text).get() }))).toEqual([{ n: 0 }, { n: 0 }]);
    });
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
    'meta',
    'rate_hits',
  ]);
});

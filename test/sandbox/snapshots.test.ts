/** Snapshots and exports: the same store again, row by row, and not one byte that may change unnoticed. */

import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exportedFrom } from '../../src/client/sandbox-file.ts';
import { manifestLine, readManifest } from '../../src/sandbox/archive/save.ts';
import { ARCHIVED } from '../../src/sandbox/store/schema.ts';
import { type Store, StoreBusy } from '../../src/sandbox/store/sql.ts';
import { waitingClock } from '../support/clocks.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { everyRow, tellLongHistory } from '../support/long-history.ts';
import { ask, type Got, type Served } from '../support/sandbox-http.ts';
import { columnsIn, tablesOf } from '../support/test-store.ts';

const ADMIN = '/_sandbox/v1';
const save = (served: Served, name: string) =>
  ask(served, { method: 'POST', path: `${ADMIN}/snapshots`, body: { name } });
const restore = (served: Served, name: string) =>
  ask(served, { method: 'POST', path: `${ADMIN}/snapshots/${name}/restore` });
const remove = (served: Served, name: string) => ask(served, { method: 'DELETE', path: `${ADMIN}/snapshots/${name}` });
const list = async (served: Served) => (await ask(served, { path: `${ADMIN}/snapshots` })).json.data;
const exported = (served: Served) => askText(served, { path: `${ADMIN}/export` });
const imported = (served: Served, body: string): Promise<Got> =>
  ask(served, {
    method: 'POST',
    path: `${ADMIN}/import`,
    body,
    headers: { 'content-type': 'application/x-ndjson' },
  });

/** An export is lines of JSON, not one value. */
async function askText(served: Served, asked: { path: string }): Promise<string> {
  const { url, adminToken } = served;
  const answer = await fetch(new URL(url).origin + asked.path, {
    headers: { authorization: `Bearer ${adminToken.expose()}` },
  });
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  return answer.text();
}

const folderOf = (service: FakeService, name: string) => service.parts.archives.folderOf(name);

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
    const folder = join(await folderOf(service, 'b'), '..');
    expect(await readdir(folder)).toEqual(['b']);
    expect((await stat(join(folder, 'b'))).mode & 0o777).toBe(0o700);
    for (const file of await readdir(join(folder, 'b'))) {
      expect((await stat(join(folder, 'b', file))).mode & 0o777, file).toBe(0o600);
    }
  });

  test('cannot be called what is no name', async () => {
    await using service = await fakeService();
    for (const name of ['', 'A', '../a', '.a', '-a', 'a/b', 'a b', 'ä', 'a'.repeat(65)])
      expect([name, (await save(service, name)).status]).toEqual([name, 400]);
  });

  test('leaves a folder that is not a snapshot alone', async () => {
    await using service = await fakeService();
    await save(service, 'a');
    const foreign = join(await folderOf(service, 'a'), '..', 'mine');
    await mkdir(foreign);
    await writeFile(join(foreign, 'notes.txt'), 'dear to me');
    for (const tried of [save, remove]) {
      const { status, json } = await tried(service, 'mine');
      expect([status, json.message]).toEqual([409, `${foreign} exists and is not a snapshot; it was not changed`]);
    }
    expect(await readFile(join(foreign, 'notes.txt'), 'utf8')).toBe('dear to me');
    expect((await list(service)).map(({ name }: { name: string }) => name)).toEqual(['a']);
  });

  test('that was put aside by a process that died comes back', async () => {
    await using service = await fakeService();
    await save(service, 'a');
    const folder = await folderOf(service, 'a');
    await rename(folder, join(folder, '..', '.old-0123456789abcdef-a'));
    expect((await restore(service, 'a')).json.restored).toBe(true);
  });

  test('with one bit flipped anywhere is refused, and nothing changed', { timeout: 180_000 }, async () => {
    await using service = await fullService();
    await save(service, 'a');
    const folder = await folderOf(service, 'a');
    await ask(service, { method: 'POST', path: `${ADMIN}/reset`, body: { data: 'empty' } });
    const before = await rows(service);
    const files = await readdir(folder);
    const sizes = await Promise.all(files.map(async name => (await stat(join(folder, name))).size));
    const places = fc
      .nat(files.length - 1)
      .filter(at => (sizes[at] ?? 0) > 0)
      .chain(at => fc.tuple(fc.constant(files[at] ?? ''), fc.nat((sizes[at] ?? 1) - 1), fc.nat(7)));
    const flipped = async (file: string, at: number, bit: number) => {
      const path = join(folder, file);
      const whole = await readFile(path);
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
      await writeFile(path, bytes);
      const { status, json } = await restore(service, 'a');
      await writeFile(path, whole);
      expect([status, json.restored, json.problems.length]).toEqual([200, false, 1]);
    };
    await fc.assert(
      fc.asyncProperty(places, place => flipped(...place)),
      { numRuns: 25 },
    );
    // Where damage is told apart from nothing by a hair.
    const manifest = await readFile(join(folder, 'manifest.json'));
    for (const at of [0, 1, 12, manifest.length - 70, manifest.length - 2, manifest.length - 1]) {
      await flipped('manifest.json', at, 0);
    }
    expect(await rows(service)).toEqual(before);
    expect((await restore(service, 'a')).json.restored).toBe(true);
  });

  test('is refused when a file is another one, a file is missing, or the manifest', async () => {
    await using service = await fullService();
    await save(service, 'a');
    const folder = await folderOf(service, 'a');
    for (const [harm, said] of [
      [() => copyFile(join(folder, 'bins.ndjson'), join(folder, 'cards.ndjson')), /^cards\.ndjson is damaged$/],
      [() => rm(join(folder, 'cards.ndjson')), /^cards\.ndjson cannot be read: ENOENT$/],
      [() => rm(join(folder, 'manifest.json')), /^manifest\.json cannot be read/],
    ] as const) {
      await harm();
      const { json } = await restore(service, 'a');
      expect(json).toMatchObject({ restored: false, problems: [expect.stringMatching(said)] });
      const diff = await ask(service, { path: `${ADMIN}/snapshots/a/diff` });
      expect([diff.status, diff.json.problems]).toEqual([200, [expect.stringContaining('the snapshot a is damaged')]]);
    }
  });

  test('whose books do not agree is refused before any of it is kept', async () => {
    await using service = await fullService();
    await save(service, 'a');
    const folder = await folderOf(service, 'a');
    const before = await rows(service);
    const manifest = readManifest(await readFile(join(folder, 'manifest.json'), 'utf8'));
    // A card that holds a thousand dollars more than was ever paid into it, under sums that fit.
    const text = await readFile(join(folder, 'cards.ndjson'), 'utf8');
    const at = manifest.tables.find(({ name }) => name === 'cards')?.columns.indexOf('balance') ?? -1;
    let isRicher = false;
    const richer = text.replace(/^.+$/gm, line => {
      const row = JSON.parse(line) as unknown[];
      if (isRicher || Number(row[at]) === 0) return line;
      isRicher = true;
      return JSON.stringify(row.with(at, Number(row[at]) + 100_000));
    });
    expect(richer).not.toBe(text);
    await writeFile(join(folder, 'cards.ndjson'), richer);
    const sums = { bytes: Buffer.byteLength(richer), sha256: createHash('sha256').update(richer).digest('hex') };
    const tables = manifest.tables.map(table => (table.name === 'cards' ? { ...table, ...sums } : table));
    await writeFile(join(folder, 'manifest.json'), manifestLine({ ...manifest, tables }));
    const { json } = await restore(service, 'a');
    expect(json).toMatchObject({ restored: false, problems: [expect.stringMatching(/^its books do not agree: /)] });
    expect(await rows(service)).toEqual(before);
  });

  test('whose sums were made to fit is refused by the store, and undone', async () => {
    await using service = await fullService();
    await save(service, 'a');
    const folder = await folderOf(service, 'a');
    const before = await rows(service);
    const manifest = readManifest(await readFile(join(folder, 'manifest.json'), 'utf8'));
    // Without its cards, no transaction may be stored.
    await writeFile(join(folder, 'cards.ndjson'), '');
    const nothing = { rows: 0, bytes: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' };
    const tables = manifest.tables.map(table => (table.name === 'cards' ? { ...table, ...nothing } : table));
    await writeFile(join(folder, 'manifest.json'), manifestLine({ ...manifest, tables }));
    const { json } = await restore(service, 'a');
    expect(json).toMatchObject({ restored: false, problems: [expect.stringMatching(/^a row cannot be stored: /)] });
    expect(await rows(service)).toEqual(before);
  });

  test('of another build says so', async () => {
    await using service = await fakeService();
    await save(service, 'a');
    const folder = await folderOf(service, 'a');
    const manifest = readManifest(await readFile(join(folder, 'manifest.json'), 'utf8'));
    await writeFile(join(folder, 'manifest.json'), manifestLine({ ...manifest, schema: 999 }));
    const { json } = await restore(service, 'a');
    expect(json.problems).toEqual(['it was made by another build of cardwright']);
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
          if (name === 'read' && left > 0) {
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
    expect(await exported(service)).toContain('{"format":');
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

  test('of one sandbox is the other, and exported again the same text', async () => {
    await using one = await fullService();
    await using other = await fakeService();
    const text = await exported(one);
    const { status, json } = await imported(other, text);
    expect([status, json.restored, json.ledger_ok]).toEqual([200, true, true]);
    expect(await rows(other)).toEqual(await rows(one));
    expect(await exported(other)).toBe(text);
  });

  test('with one byte changed, lost or added is refused, and nothing changed', { timeout: 180_000 }, async () => {
    await using one = await fullService();
    await using other = await fakeService();
    const bytes = Buffer.from(await exported(one), 'latin1');
    const before = await rows(other);
    const harm = fc.oneof(
      fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 127 })).map(([at, by]) => {
        const harmed = Buffer.from(bytes);
        harmed.writeUInt8(harmed.readUInt8(at) ^ by, at);
        return harmed.toString('latin1');
      }),
      fc.nat(bytes.length - 1).map(end => bytes.subarray(0, end).toString('latin1')),
      fc.constant(`${bytes.toString('latin1')}x`),
    );
    await fc.assert(
      fc.asyncProperty(harm, async text => {
        const { json } = await imported(other, text);
        expect([json.restored, json.problems?.length]).toEqual([false, 1]);
      }),
      { numRuns: 25 },
    );
    expect(await rows(other)).toEqual(before);
  });

  test('is not nothing, a line without end, something else or a long line', async () => {
    await using service = await fakeService();
    for (const text of ['', '{', '{"format":"another"}\n', 'x'.repeat(100_000)])
      expect((await imported(service, text)).json).toMatchObject({ restored: false });
  });

  test('whose tables are named like paths stays in its folder', async () => {
    await using service = await fakeService();
    const [line = ''] = (await exported(service)).split('\n');
    const manifest = readManifest(`${line}\n`);
    const [first, ...others] = manifest.tables;
    const evil = { ...manifest, tables: [{ ...first, name: '../evil' } as typeof first, ...others] } as typeof manifest;
    const { json } = await imported(service, manifestLine(evil));
    expect(json.problems).toEqual(['its tables are not those of a sandbox']);
  });

  test('is handed out and taken in with the admin token alone, as lines of JSON alone', async () => {
    await using service = await fakeService();
    const asKey = { authorization: `Bearer ${service.key.expose()}` };
    expect((await ask(service, { path: `${ADMIN}/export`, headers: asKey })).status).toBe(401);
    expect((await ask(service, { method: 'POST', path: `${ADMIN}/import`, headers: asKey })).status).toBe(401);
    expect((await ask(service, { method: 'POST', path: `${ADMIN}/import`, body: {} })).status).toBe(415);
    expect((await ask(service, { method: 'POST', path: `${ADMIN}/export` })).headers['allow']).toBe('GET');
    expect((await ask(service, { path: `${ADMIN}/import?x=1` })).headers['allow']).toBe('POST');
    expect(await askText(service, { path: `${ADMIN}/export?x=1` })).toContain('{"format":');
    expect((await ask(service, { path: `${ADMIN}/export`, headers: { host: 'evil.example' } })).status).toBe(421);
    expect((await ask(service, { path: `${ADMIN}/export`, headers: { origin: 'http://localhost' } })).status).toBe(403);
  });
});

test('every table of the store is in it but those of a process, of the store itself and of rate limits', async () => {
  await using service = await fakeService();
  const tables = await service.store.read(tablesOf);
  const left = tables.map(({ name }) => name).filter(name => !ARCHIVED.some(table => table.name === name));
  expect(left).toEqual(['advances', 'ledger_checks', 'meta', 'rate_hits']);
  for (const { name, columns } of ARCHIVED) {
    const known = await service.store.read(sql => columnsIn(sql, name));
    // How long a request took and which key it came with are of this machine.
    const ofTheMachine = name === 'requests' ? ['key_last4', 'took'] : [];
    const wanted = known.map(column => column.name).filter(column => !ofTheMachine.includes(column));
    expect(columns, name).toEqual(wanted);
  }
});

/**
 * Stores and exports that an older cardwright really made are opened and taken in by this one. `older/` holds both of
 * one sandbox of schema 3: data set demo, seed 7, clock frozen, a card created under a key, an authorization on it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { SCHEMA } from '../../src/sandbox/store/system-tables.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Exported, expectedNow, exportIn } from './older/exports.ts';

const ADMIN = '/_sandbox/v1';
const NDJSON = { 'content-type': 'application/x-ndjson' };
const older = async (name: string) => gunzipSync(await readFile(join(import.meta.dirname, 'older', `${name}.gz`)));

async function exportOf(served: Served): Promise<Exported> {
  const headers = { authorization: `Bearer ${served.adminToken.expose()}` };
  return exportIn(await (await fetch(`${new URL(served.url).origin}${ADMIN}/export`, { headers })).text());
}

/** The answer that was given under its key before, and a new card after it. */
async function goesOn(served: Served, { rows }: Exported): Promise<void> {
  const sent = rows['requests']?.find(row => row['idempotency_key'] === 'old-key-1');
  const kept = rows['idempotency']?.[0];
  const create = (idempotencyKey: string) =>
    ask(served, { method: 'POST', path: '/cards', body: String(sent?.['body']), idempotencyKey });
  const again = await create('old-key-1');
  expect([again.status, again.headers['idempotent-replayed'], again.text]).toEqual([201, 'true', kept?.['body']]);
  const other = await create('new-key');
  expect([other.status, other.headers['idempotent-replayed']]).toEqual([201, undefined]);
  expect(other.json.id).not.toBe(again.json.id);
  const { json } = await ask(served, { method: 'POST', path: `${ADMIN}/ledger/check`, body: {} });
  expect(json).toMatchObject({ ok: true, faults: [] });
}

test('a store of schema 3 is brought up with every row of it, and goes on', async () => {
  await using folder = await temporaryFolder();
  const store = join(folder.path, 'store.db');
  await writeFile(store, await older('schema-3.store'), { mode: 0o600 });
  const before = exportIn((await older('schema-3.export')).toString());
  expect(before.schema).toBe(3);
  {
    await using sandbox = await startSandbox({ store });
    const now = await exportOf(sandbox);
    expect(now.schema).toBe(SCHEMA);
    expect(now.rows).toEqual(expectedNow(before));
  }
  await using sandbox = await startSandbox({ store });
  await goesOn(sandbox, before);
});

test('an export of schema 3 is taken in with every row of it, and goes on', async () => {
  await using sandbox = await startSandbox();
  const body = (await older('schema-3.export')).toString();
  const { json } = await ask(sandbox, { method: 'POST', path: `${ADMIN}/import`, body, headers: NDJSON });
  expect(json).toMatchObject({ restored: true, problems: [], ledger_ok: true, cards: 13, transactions: 27 });
  const before = exportIn(body);
  expect((await exportOf(sandbox)).rows).toEqual(expectedNow(before));
  await goesOn(sandbox, before);
});

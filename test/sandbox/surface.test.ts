/** What docs/design/sandbox.md lists and no other test names: every route, defaults of the store, what no seed decides. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Operation } from '../../src/contract/operation.ts';
import { ADMIN_OPERATIONS } from '../../src/contract/sandbox/admin.ts';
import { SERVICE_PATH } from '../../src/sandbox/http/request.ts';
import { openStore } from '../../src/sandbox/store/open.ts';
import { SYSTEM_TABLES, TABLES } from '../../src/sandbox/store/schema.ts';
import { fakeService } from '../support/fake-service.ts';
import { ask, idSource, setClock } from '../support/sandbox-http.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Section 4, as it is written there. */
const LISTED = `
GET /health   GET /status   GET /openapi.json
POST /reset   GET|PUT /clock   POST /clock/advance
POST /simulate/authorizations
POST /simulate/authorizations/{id}/increment|reverse|expire|settle|refund   POST /simulate/force-posts|refunds
POST /simulate/challenges   POST /simulate/challenges/{id}/attempts|expire|cancel
POST /simulate/deposits   POST /simulate/deposits/{id}/confirmations|confirm|fail
GET|POST|DELETE /faults   GET|DELETE /faults/{id}   GET /requests   POST /requests/verify   GET /deposits
GET /events   GET /deliveries   POST /deliveries/{id}/redeliver   POST /webhooks/{id}/recover|example
GET /ledger/accounts|entries   POST /ledger/check   GET|POST /keys
GET|POST /snapshots   DELETE /snapshots/{name}   POST /snapshots/{name}/restore   GET /export   POST /import`;

const routes = [...LISTED.matchAll(/([A-Z|]+) (\/\S+)/g)].flatMap(([, methods = '', listed = '']) => {
  const [last = '', ...before] = listed.split('/').toReversed();
  const paths = last.split('|').map(end => [...before.toReversed(), end].join('/'));
  return methods.split('|').flatMap(method => paths.map(path => [method, path] as const));
});

it('has every route of the list, behind its token, and none of them below /v1', async () => {
  await using service = await fakeService();
  expect(routes.length).toBeGreaterThan(45);
  for (const [method, listed] of routes) {
    const path = listed.replace(/\{\w+\}/, 'nobody');
    const headers = { authorization: 'Bearer wrong' };
    const { status } = await ask(service, { method, path: `/_sandbox/v1${path}`, headers });
    expect([method, path, status]).toEqual([method, path, path === '/health' ? 200 : 401]);
    const public_ = await ask(service, { method, path, headers });
    expect([404, 405, 401], `${method} ${SERVICE_PATH}${path}`).toContain(public_.status);
    if (!['/webhooks'].some(shared => path.startsWith(shared))) expect(public_.status).toBe(404);
  }
});

it('refuses what no simulation knows, naming it', async () => {
  await using service = await fakeService();
  for (const { method, path, body } of Object.values(ADMIN_OPERATIONS) as readonly Operation[]) {
    if (method === 'GET' || body === undefined) continue;
    const asked = { method, path: `/_sandbox/v1${path.replace(/\{\w+\}/, 'nobody')}`, body: { balance: 1_000_000 } };
    const { status, json } = await ask(service, asked);
    expect([path, status, json.error]).toEqual([path, 400, 'invalid_request']);
  }
  const extra = { card_id: 'c', amount: 5, balance: 1 };
  const { json } = await ask(service, { method: 'POST', path: '/_sandbox/v1/simulate/authorizations', body: extra });
  expect(json.message).toMatch(/^balance: is not known here/);
});

it('gives two sandboxes with one seed other keys and tokens', async () => {
  await using one = await startSandbox({ seed: 7 });
  await using other = await startSandbox({ seed: 7 });
  const secrets = [one, other].flatMap(({ key, adminToken }) => [key.expose(), adminToken.expose()]);
  expect(new Set(secrets).size).toBe(4);
  // 32 bytes in base64url are 43 characters.
  for (const secret of secrets) expect(secret).toMatch(/^(?:sk_test_|sandbox_)[\w-]{43}$/);
});

it('starts over in the file it has, so that nobody holds another one', async () => {
  await using folder = await temporaryFolder();
  const store = join(folder.path, 'store.db');
  await using sandbox = await startSandbox({ store });
  const before = statSync(store).ino;
  expect((await ask(sandbox, { method: 'POST', path: '/_sandbox/v1/reset', body: { data: 'demo' } })).status).toBe(200);
  expect(statSync(store).ino).toBe(before);
});

it('opens its store as section 11 says: WAL, synced at every commit, foreign keys kept', async () => {
  await using folder = await temporaryFolder();
  const { store } = await openStore({
    ...{ path: join(folder.path, 'store.db'), tables: TABLES, seed: 1, ids: 'derived', fill: async () => undefined },
    ...{ clock: setClock(0), random: idSource, platform: process.platform },
  });
  const pragma = async (name: string) =>
    Object.values((await store.read(sql => sql.get<Record<string, unknown>>(`pragma ${name}`))) ?? {})[0];
  expect(await pragma('journal_mode')).toBe('wal');
  expect(await pragma('synchronous')).toBe(2);
  expect(await pragma('foreign_keys')).toBe(1);
  expect(await pragma('busy_timeout')).toBe(10);
  await store.close();
});

it('makes every table strict', () => {
  for (const statement of [...TABLES, ...SYSTEM_TABLES]) {
    if (statement.startsWith('create table')) expect(statement).toMatch(/\) strict(?:, without rowid)?$/);
  }
});

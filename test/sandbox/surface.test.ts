/** What docs/design/sandbox.md lists and no other test names: every route, defaults of the store, what no seed decides. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Operation } from '../../src/contract/operation.ts';
import { ADMIN_OPERATIONS } from '../../src/contract/sandbox/admin.ts';
import { SERVICE_PATH } from '../../src/sandbox/http/request.ts';
import { fakeService } from '../support/fake-service.ts';
import { ask } from '../support/sandbox-http.ts';
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
it('starts over in the file it has, so that nobody holds another one', async () => {
  await using folder = await temporaryFolder();
  const store = join(folder.path, 'store.db');
  await using sandbox = await startSandbox({ store });
  const before = statSync(store).ino;
  expect((await ask(sandbox, { method: 'POST', path: '/_sandbox/v1/reset', body: { data: 'demo' } })).status).toBe(200);
  expect(statSync(store).ino).toBe(before);
});

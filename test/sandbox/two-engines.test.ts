/** One long history on SQLite and on PostgreSQL: the same answers, the same rows, and files that either takes from the other. */
import { expect, it } from 'vitest';
import { statementTexts } from '../../src/sandbox/store/postgres/statements.ts';
import { openStore } from '../../src/sandbox/store/sqlite/open.ts';
import { missing } from '../postgres/server.ts';
import { type FakeService, fakeService } from '../support/fake-service.ts';
import { everyRow, tellLongHistory } from '../support/long-history.ts';
import { ask } from '../support/sandbox-http.ts';
import { openAccount } from '../support/test-store.ts';

const ADMIN = '/_sandbox/v1';
const headers = { 'content-type': 'application/x-ndjson' };

async function exported({ url, adminToken }: FakeService): Promise<string> {
  const answer = await fetch(`${new URL(url).origin}${ADMIN}/export`, {
    headers: { authorization: `Bearer ${adminToken.expose()}` },
  });
  expect(answer.status).toBe(200);
  return answer.text();
}

async function takenIn(into: FakeService, body: string): Promise<void> {
  const { status, json } = await ask(into, { method: 'POST', path: `${ADMIN}/import`, body, headers });
  expect([status, json.restored, json.ledger_ok]).toEqual([200, true, true]);
}

async function rows(service: FakeService) {
  await service.parts.requestLog.flush(service.parts);
  return everyRow(service);
}

it.skipIf(missing() !== undefined)('tells one history alike on both engines', async () => {
  await using light = await fakeService({ open: openStore });
  // Of a language that orders and compares texts otherwise.
  const open: typeof openAccount = (request, account) => openAccount(request, account, { locale: 'en-US' });
  await using heavy = await fakeService({ open });
  for (const service of [light, heavy]) {
    await ask(service, { method: 'PUT', path: `${ADMIN}/clock`, body: { mode: 'frozen' } });
  }
  const told = await Promise.all([tellLongHistory(light), tellLongHistory(heavy)]);
  expect(told[1].answers).toEqual(told[0].answers);
  expect(await rows(heavy)).toEqual(await rows(light));
  for (const path of ['/status', '/overview', '/cards?q=k', '/timers', '/webhooks', '/marks', '/ledger/accounts']) {
    expect([path, (await ask(heavy, { path: ADMIN + path })).status]).toEqual([path, 200]);
  }
  expect([light.faults, heavy.faults]).toEqual([[], []]);

  const text = await exported(heavy);
  await using again = await fakeService({ open: openStore });
  await takenIn(again, text);
  expect(await exported(again)).toBe(text);
  await takenIn(heavy, await exported(light));
  await takenIn(heavy, text);
  expect(await exported(heavy)).toBe(text);
  // Each of them was asked of a real server.
  expect(statementTexts().length).toBeGreaterThan(100);
});

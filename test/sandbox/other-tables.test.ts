/**
 * A team's store whose tables are not those of the program: changed while a server runs, or made by an older one.
 * `older/schema-7.*` holds what an older cardwright really made: two accounts in a database (`pg_dump --inserts`, without its
 * comments and settings), and the export of one of them: data set demo, seed 7, clock frozen.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { SCHEMA } from '../../src/sandbox/store/system-tables.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database, statementsOf } from '../postgres/shared.ts';
import { ask, type Served } from '../support/sandbox-http.ts';
import { accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { type World, world } from '../support/world.ts';
import { expectedNow, exportIn } from './older/exports.ts';

const ADMIN = '/_sandbox/v1';
const AWAY = 'This server of the sandbox cannot use its database now';
const older = async (name: string) =>
  gunzipSync(await readFile(join(import.meta.dirname, 'older', `${name}.gz`))).toString();
/** Ms that a server has for what it does by itself: beside other work its database may take longer than Vitest waits. */
const PATIENCE = { timeout: 10_000 };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe.skipIf(missing() !== undefined)('a store of a team', () => {
  let here: Database;
  let place: World;
  beforeAll(async () => {
    here = await database();
    place = await world();
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
    await here.close();
  });

  const setNumber = async (number: number) =>
    (await here.as('postgres')).call('update cardwright_sandbox.store_schema set schema_number = $1', [number]);
  const created = (account: Served, bin_id: string, idempotencyKey: string) =>
    ask(account, { method: 'POST', path: '/cards', body: { bin_id, amount: 5 }, idempotencyKey });

  it('of an older program is brought up with every row of it, and goes on', async () => {
    const root = await here.as('postgres');
    for (const statement of statementsOf(await older('schema-7.postgres.sql'))) await root.call(statement, []);
    const secrets = { key: new Secret('sk_test_older'), adminToken: new Secret('sandbox_older') };
    await root.call(`update cardwright_sandbox.accounts set key_digest = $1, token_digest = $2 where name = 'ana'`, [
      ...[sha256('sk_test_older'), sha256('sandbox_older')],
    ]);
    const store = storeOf(here);
    const refused = await place.run(`sandbox start --store ${store}`);
    expect([refused.code, refused.err]).toEqual([
      15,
      expect.stringContaining(`has schema 7, and this cardwright ${SCHEMA}`),
    ]);
    // What a server does that writes: the change waits for it.
    const writer = await here.as('postgres', 'another');
    await writer.call('begin', []);
    await writer.call(`select * from cardwright_sandbox.accounts where name = 'ana' for update`, []);
    const starting = accountServer(place, store, '--migrate --admin --no-rate-limits');
    await vi.waitFor(async () => {
      const [row] = await root.call('select count(*)::text from pg_locks where not granted', []);
      expect(row?.[0]).toBe('1');
    }, PATIENCE);
    await writer.call('commit', []);
    await using server = await starting;
    const before = exportIn(await older('schema-7.export'));
    expect(before.schema).toBe(7);
    const account = { url: server.row.url, ...secrets };
    const headers = { authorization: 'Bearer sandbox_older' };
    const now = exportIn(await (await fetch(`${new URL(server.row.url).origin}${ADMIN}/export`, { headers })).text());
    expect(now.schema).toBe(SCHEMA);
    expect(now.rows).toEqual(expectedNow(before));
    const card = JSON.parse(String(before.rows['idempotency']?.find(row => row['status'] === 201)?.['body'])) as {
      bin_id: string;
    };
    expect((await created(account, card.bin_id, 'new')).status).toBe(201);
    const { json } = await ask(account, { method: 'POST', path: `${ADMIN}/ledger/check`, body: {} });
    expect(json).toMatchObject({ ok: true, faults: [] });
    expect((await place.run(`sandbox accounts list --store ${store}`)).out).toMatch(/ana[\s\S]*ben/);
  });

  it('is not used by a running server once a newer program has changed it, nor once an older copy is back', async () => {
    await using server = await accountServer(place, storeOf(here), '--admin --no-rate-limits');
    const account = (await accountOf(place, storeOf(here), 'cyd', '--data demo')).at(server);
    const bin_id = (await ask(account, { path: '/bins' })).json.data[0].id;
    const rows = async () =>
      (await (await here.as('postgres')).call('select count(*)::text from cardwright_sandbox.cards', []))[0]?.[0];
    const said = (words: string, nth: number) =>
      vi.waitFor(() => expect(server.said().split(words)).toHaveLength(nth + 2), PATIENCE);
    for (const [nth, number] of [SCHEMA + 1, SCHEMA - 1].entries()) {
      const count = await rows();
      await setNumber(number);
      const answers = [
        await created(account, bin_id, 'key'),
        await ask(account, { path: '/cards' }),
        await ask(account, { path: `${ADMIN}/status` }),
        await ask(account, { path: `${ADMIN}/health` }),
        await ask({ ...account, key: new Secret('sk_test_nobody') }, { path: '/cards' }),
      ];
      for (const { status, json } of answers)
        expect([status, json.message]).toEqual([503, expect.stringContaining(AWAY)]);
      expect(await rows()).toBe(count);
      await said('cannot be used', nth);
      await setNumber(SCHEMA);
      await vi.waitFor(
        async () => expect((await created(account, bin_id, `again ${number}`)).status).toBe(201),
        PATIENCE,
      );
      await said('can be used again', nth);
    }
    const store = storeOf(here);
    const { code, err } = await server.stop();
    expect(code).toBe(0);
    expect(err.match(/^warning: .*$/gm)).toEqual([
      `warning: the sandbox store ${store} cannot be used: it was made by a newer cardwright (schema ${SCHEMA + 1}; this one knows up to ${SCHEMA}); install that version here and start this server again; requests are answered 503 until it can`,
      `warning: the sandbox store ${store} can be used again`,
      `warning: the sandbox store ${store} cannot be used: it has schema ${SCHEMA - 1}, and this cardwright ${SCHEMA}; start this server again with --migrate; requests are answered 503 until it can`,
      `warning: the sandbox store ${store} can be used again`,
    ]);
  });
});

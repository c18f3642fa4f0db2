/**
 * What a team's sandbox leaves in its database and in a server log that has every statement with its values: no API key,
 * no admin token, no password of the database. What the service itself must know is there, as docs/guide/sandbox-server.md
 * says.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { ask } from '../support/sandbox-http.ts';
import { accountOf, accountServer, storeOf } from '../support/served-accounts.ts';
import { world } from '../support/world.ts';
import { type OwnServer, ownServer } from '../team/own-server.ts';

const PASSWORD = 'CANARY-password-of-the-database';
const HBA = ['local all postgres trust', 'local all all scram-sha-256'];

/** Every row of every table of the sandbox, as text. */
async function dumped(own: OwnServer): Promise<string> {
  const root = await own.as('postgres');
  const tables = await root.call(
    `select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'cardwright_sandbox'`,
    [],
  );
  const texts: string[] = [];
  for (const [table] of tables) {
    for (const [row] of await root.call(`select cast(t as text) from ${table} t`, [])) texts.push(`${table} ${row}`);
  }
  return texts.join('\n');
}

/** Files of the server, byte for byte; those that go away meanwhile are none. */
function* filesOf(folder: string): Generator<Buffer> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    try {
      yield readFileSync(join(entry.parentPath, entry.name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

it.skipIf(missing() !== undefined)(
  'keys, tokens and the password are in no table, no file and no log of the database',
  async () => {
    await using own = await ownServer({ hba: HBA });
    await using place = await world();
    const root = await own.as('postgres');
    await root.call(`alter role ana password '${PASSWORD}'`, []);
    await root.call(`grant create on database ${own.name} to ana`, []);
    await root.call("alter system set log_statement = 'all'", []);
    await root.call('select pg_reload_conf()', []);
    await writeFile(join(place.folder, 'password'), `${PASSWORD}\n`, { mode: 0o600 });
    const env = { CARDWRIGHT_STORE_PASSWORD_FILE: join(place.folder, 'password') };
    const store = storeOf(own, 'ana');
    await using server = await accountServer(place, store, '--migrate --admin --no-rate-limits', env);
    const account = (await accountOf(place, store, 'seen', '--data empty', env)).at(server);
    const post = (path: string, body: unknown) => ask(account, { method: 'POST', path, body });
    await post('/_sandbox/v1/simulate/deposits', { currency: 'usdt', amount: 50 });
    expect((await post('/_sandbox/v1/clock/advance', { by: '1h' })).status).toBe(200);
    const bin_id = (await ask(account, { path: '/bins' })).json.data[0].id;
    const label = 'a label in the log';
    const card = (await post('/cards', { bin_id, amount: 5, label })).json.id;
    const { pan } = (await ask(account, { path: `/cards/${card}/details` })).json;
    const secret = 'whsec_of_a_receiver_0123456789abcdef';
    expect((await post('/webhooks', { url: 'http://127.0.0.1:9/', events: ['*'], secret })).status).toBe(201);
    const further = (await post('/_sandbox/v1/keys', { access: 'full' })).json;
    const made = Object.values(further as Record<string, string>).find(value => String(value).startsWith('sk_test_'));
    expect(made).toBeTruthy();

    const hidden = [account.key.expose(), account.adminToken.expose(), String(made), PASSWORD];
    const [dump, log] = [await dumped(own), await readFile(join(own.server.folder, 'log'), 'utf8')];
    for (const [what, text] of Object.entries({ dump, log })) {
      for (const each of hidden) expect(text.includes(each), what).toBe(false);
      // It has what it must have: the look would find them.
      for (const each of [label, pan, secret]) expect(text.includes(each), `${what}: ${each}`).toBe(true);
    }
    await root.call('checkpoint', []);
    for (const bytes of filesOf(join(own.server.folder, 'data'))) {
      for (const each of hidden) expect(bytes.includes(each)).toBe(false);
    }
  },
);

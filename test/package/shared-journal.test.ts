/** The built program and a shared journal: what it loads, what it prints, and what it does not listen to. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEMA_NUMBER } from '../../src/team/schema/number.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database, PASSWORD } from '../postgres/shared.ts';
import { type TestAccount, testAccount } from '../team/test-account.ts';
import { home } from './built.ts';

describe.skipIf(missing())('journal status', () => {
  let here: Database;
  let at: TestAccount;
  beforeAll(async () => {
    here = await database();
    at = await testAccount(here);
    await at.admin(`set_cap('max_per_day', 250000)`);
  });
  afterAll(() => here.close());

  /** Variables of libpq that would lead elsewhere or change the session. */
  const FOREIGN = {
    PGHOST: 'db.example.com',
    PGPORT: '1',
    PGUSER: 'eve',
    PGPASSWORD: 'another-password',
    PGDATABASE: 'other',
    PGOPTIONS: '-c default_transaction_read_only=maybe',
    PGSSLMODE: 'require',
    PGSSLNEGOTIATION: 'direct',
    PGAPPNAME: 'elsewhere',
  };

  it('shows the account without the fetch of Node, deaf to the variables of libpq', async () => {
    await using place = await home();
    const url = `postgres://ana@${encodeURIComponent(here.server.socket)}:${here.server.port}/${here.name}`;
    const words = ['journal', 'status', '--account', at.account, '--journal', url, '--json'];
    const node = ['--require', join(import.meta.dirname, 'without-response.cjs')];
    const { code, out, err } = await place.run(words, { node, env: FOREIGN });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toMatchObject({
      journal: url,
      account: at.account,
      role: 'ana',
      can: ['read', 'operate'],
      schema: SCHEMA_NUMBER,
      used: 0,
      caps: { max_per_day: 2_500 },
      moved: false,
      standby: false,
    });
  });

  it('logs in with the password of a file, and prints it nowhere', async () => {
    await using place = await home();
    const file = join(place.folder, 'password');
    await writeFile(file, `${PASSWORD}\n`, { mode: 0o600 });
    const url = `postgres://ana@127.0.0.1:${here.server.port}/${here.name}`;
    const env = { CARDWRIGHT_JOURNAL_URL: url, CARDWRIGHT_JOURNAL_PASSWORD_FILE: file };
    const { code, out } = await place.run(['journal', 'status', '--account', at.account], { env });
    expect(code).toBe(0);
    expect(out).toContain(at.account);
    const wrong = { CARDWRIGHT_JOURNAL_URL: url.replace('ana@', 'ana:wr0ng%2Fpass@') };
    const refused = await place.run(['journal', 'status', '--account', at.account], { env: wrong });
    expect(refused.code).toBe(14);
    expect(refused.err).toContain('the login was refused');
    expect(refused.err).not.toMatch(/wr0ng/);
  });
});

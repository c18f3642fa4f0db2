/** The key of one account with the token of another, on one server: refused before anything of either is changed. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { type AccountServer, accountServer, storeOf } from '../support/served-accounts.ts';
import { type World, world } from '../support/world.ts';

const NONE = { CARDWRIGHT_PROFILE: '' };

describe.skipIf(missing() !== undefined)('a key and a token of different accounts', () => {
  let here: Database;
  let lead: World;
  let ben: World;
  let server: AccountServer;
  let origin: string;

  /** Whose key, and whose token. */
  const withFiles = (key: string, token: string, address = origin) => ({
    ...NONE,
    CARDWRIGHT_BASE_URL: server.row.url,
    CARDWRIGHT_API_KEY_FILE: join(ben.folder, key, 'api-key'),
    CARDWRIGHT_SANDBOX_URL: address,
    CARDWRIGHT_SANDBOX_TOKEN_FILE: join(ben.folder, token, 'admin-token'),
  });
  const run = async (line: string, code: number, env: Record<string, string>) => {
    const ran = await ben.run(line, { env, stdin: '' });
    expect(`${line}: ${ran.code}${ran.code === code ? '' : ran.err}`).toBe(`${line}: ${code}`);
    return ran;
  };

  beforeAll(async () => {
    here = await database();
    const store = storeOf(here);
    lead = await world();
    ben = await world({ wallet: 77 });
    server = await accountServer(lead, store, '--migrate --admin --no-rate-limits');
    origin = new URL(server.row.url).origin;
    for (const name of ['ana', 'ben']) {
      const made = await lead.run(`sandbox accounts create ${name} --store ${store} --keys-in ${name} --url ${origin}`);
      expect([made.code, made.err]).toEqual([0, '']);
      await mkdir(join(ben.folder, name), { mode: 0o700 });
      for (const file of ['api-key', 'admin-token']) {
        const text = await readFile(join(lead.folder, name, file), 'utf8');
        await writeFile(join(ben.folder, name, file), text, { mode: 0o600 });
      }
    }
    const file = join(ben.folder, 'ben', 'api-key');
    const saved = await ben.run(`login --profile ben --base-url ${server.row.url} --key-file ${file}`, { env: NONE });
    expect([saved.code, saved.err]).toEqual([0, '']);
  });
  afterAll(async () => {
    expect((await server.stop()).code).toBe(0);
    await lead[Symbol.asyncDispose]();
    await ben[Symbol.asyncDispose]();
    await here.close();
  });

  it('steers neither, by the environment or by a profile', { timeout: 60_000 }, async () => {
    const anas = withFiles('ana', 'ana');
    await run('sandbox reset --data demo --seed 7 --yes', 0, anas);
    await run('sandbox export ana.json', 0, anas);
    const before = (await run('cards list --all --json', 0, anas)).out;
    const token = join(ben.folder, 'ana', 'admin-token');
    await run(`profiles set ben sandbox_token_file ${token}`, 0, NONE);
    const other = origin.includes('127.0.0.1') ? origin.replace('127.0.0.1', 'localhost') : origin;
    for (const env of [withFiles('ben', 'ana'), withFiles('ben', 'ana', other), { CARDWRIGHT_PROFILE: 'ben' }]) {
      for (const line of [
        'sandbox reset --data empty --yes',
        'sandbox import ana.json --yes',
        'sandbox export again.json',
        'sandbox snapshot save before',
        'sandbox simulate deposit --currency usdt --amount 5',
        'sandbox status',
      ]) {
        const { out, err } = await run(line, 14, env);
        expect(out).toBe('');
        expect(err).toContain('are of different accounts');
        expect(err).toContain(
          'CARDWRIGHT_PROFILE' in env && env.CARDWRIGHT_PROFILE === 'ben' ? 'profile ben' : 'the environment',
        );
      }
      await run('cards list --json', 0, env);
    }
    expect((await run('cards list --all --json', 0, anas)).out).toBe(before);
  });

  it('is steered by the token alone, as the note says', async () => {
    const { CARDWRIGHT_SANDBOX_URL, CARDWRIGHT_SANDBOX_TOKEN_FILE } = withFiles('ben', 'ana');
    const alone = { CARDWRIGHT_PROFILE: 'sandbox', CARDWRIGHT_SANDBOX_URL, CARDWRIGHT_SANDBOX_TOKEN_FILE };
    expect((await run('sandbox status --json', 0, alone)).out).toContain('acct_');
  });

  it('means the sandbox of this machine with --sandbox, whatever the environment names', async () => {
    const anas = withFiles('ana', 'ana');
    const ofAccount = async () => (await run('cards list --all --json', 0, anas)).out;
    const before = await ofAccount();
    expect(before).toContain('card_');
    for (const chosen of ['--sandbox', '--profile sandbox']) {
      expect((await run(`${chosen} sandbox status --json`, 0, anas)).out).not.toContain('acct_');
      await run(`${chosen} sandbox reset --data empty --yes`, 0, anas);
      expect((await run(`${chosen} cards list --json`, 0, anas)).out).toContain('"total": 0');
    }
    expect(await ofAccount()).toBe(before);
  });

  it('means the sandbox of a profile that a flag names, and not that of the environment', async () => {
    await run(`profiles set ben sandbox_token_file ${join(ben.folder, 'ben', 'admin-token')}`, 0, NONE);
    const anas = withFiles('ana', 'ana');
    const status = async (line: string, env: Record<string, string>) =>
      JSON.parse((await run(`${line} --json`, 0, env)).out).store;
    expect(await status('--profile ben sandbox status', anas)).toBe(
      await status('sandbox status', withFiles('ben', 'ben')),
    );
    await run('profiles set ben sandbox_token_file none', 0, NONE);
    // The environment may still hold the token of its account, on the same server.
    expect((await run('--profile ben sandbox status', 14, anas)).err).toContain('of different accounts');
    await run('--profile ben sandbox status', 0, withFiles('ana', 'ben'));
    // Another server is none of its own.
    const elsewhere = { ...anas, CARDWRIGHT_SANDBOX_URL: 'http://127.0.0.1:1' };
    expect((await run('--profile ben sandbox reset --yes', 14, elsewhere)).err).toContain('has no sandbox_token_file');
  });

  it('goes on with the pair of one account', async () => {
    await run('sandbox status', 0, withFiles('ben', 'ben'));
    await run(`profiles set ben sandbox_token_file ${join(ben.folder, 'ben', 'admin-token')}`, 0, NONE);
    await run('sandbox status', 0, { CARDWRIGHT_PROFILE: 'ben' });
  });
});

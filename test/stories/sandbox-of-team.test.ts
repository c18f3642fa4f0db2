/** A colleague who has an address, a key and a token: the commands of the own sandbox, against an account of a server. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { type AccountServer, accountServer, storeOf } from '../support/served-accounts.ts';
import { type RunOptions, type World, world } from '../support/world.ts';

/** Nothing of the environment chooses a profile or a key. */
const STORY = `scenario: A purchase
steps:
  - bins.list:
    as: bins
  - cards.create: {bin_id: $bins.data.0.id, amount: 20}
    as: card
  - simulate.authorize: {card_id: $card.id, amount: 5}
    expect: {outcome: approved}
`;
const NONE = { CARDWRIGHT_PROFILE: '' };

describe.skipIf(missing() !== undefined)('an account of a server', () => {
  let here: Database;
  let store: string;
  let lead: World;
  let ben: World;
  let server: AccountServer;
  let origin: string;
  let env: Record<string, string>;

  const run = async (line: string, code = 0, options: RunOptions = {}) => {
    const ran = await ben.run(line, { env, ...options });
    expect(`${line}: ${ran.code}${ran.code === code ? '' : ran.err}`).toBe(`${line}: ${code}`);
    return ran;
  };
  const json = async (line: string, code = 0, options: RunOptions = {}) =>
    JSON.parse((await run(`${line} --json`, code, options)).out);
  const own = async () => JSON.parse((await ben.run('sandbox status --json')).out);

  beforeAll(async () => {
    here = await database();
    store = storeOf(here);
    lead = await world();
    ben = await world({ wallet: 77 });
    server = await accountServer(lead, store, '--migrate --admin --no-rate-limits');
    origin = new URL(server.row.url).origin;
    const made = await lead.run(
      `sandbox accounts create ben --store ${store} --ids counted --seed 7 --keys-in ben --url ${origin}`,
      { terminal: 100 },
    );
    expect([made.code, made.err]).toEqual([0, '']);
    expect(made.out).toContain('cardwright profiles set ben sandbox_token_file ben/admin-token');
    await mkdir(join(ben.folder, 'ben'), { mode: 0o700 });
    for (const name of ['api-key', 'admin-token']) {
      const from = join(lead.folder, 'ben', name);
      expect((await stat(from)).mode & 0o777).toBe(0o600);
      const text = await readFile(from, 'utf8');
      expect(made.out).not.toContain(text.trim());
      await writeFile(join(ben.folder, 'ben', name), text, { mode: 0o600 });
    }
    await writeFile(join(ben.folder, 'story.yaml'), STORY, { mode: 0o600 });
    env = {
      ...NONE,
      CARDWRIGHT_BASE_URL: server.row.url,
      CARDWRIGHT_API_KEY_FILE: join(ben.folder, 'ben', 'api-key'),
      CARDWRIGHT_SANDBOX_URL: origin,
      CARDWRIGHT_SANDBOX_TOKEN_FILE: join(ben.folder, 'ben', 'admin-token'),
    };
  });
  afterAll(async () => {
    expect((await server.stop()).code).toBe(0);
    await lead[Symbol.asyncDispose]();
    await ben[Symbol.asyncDispose]();
    await here.close();
  });

  it('is steered as a sandbox of this machine is', { timeout: 60_000 }, async () => {
    await json('sandbox reset --data demo --seed 7 --yes');
    const { id, balance } = await json('cards create --bin bin_1 --amount 40');
    await json('sandbox snapshot save before');
    const bought = (await run(`sandbox simulate authorize --card ${id} --amount 15 --merchant COFFEE -q`)).out.trim();
    await json(`sandbox why ${bought}`);
    expect((await json(`sandbox timeline ${id}`)).data.length).toBeGreaterThan(1);
    await json('sandbox requests --operation cards.create --expect 1');
    await json('sandbox requests --operation cards.terminate --expect 1', 15);
    await json('sandbox requests --turned-away');
    expect((await json('sandbox events')).data.length).toBeGreaterThan(1);
    await json('sandbox clock advance --by 8d');
    expect((await json(`cards get ${id}`)).balance).toBe(balance);
    const rule = { match: { operation: 'wallet.get' }, action: { kind: 'reset' }, times: 1 };
    await writeFile(join(ben.folder, 'faults.json'), JSON.stringify(rule));
    await json('sandbox faults add faults.json');
    await json('sandbox faults clear --yes');
    for (const line of [
      'faults list',
      'deliveries list',
      'webhooks',
      'overview',
      'cards',
      `card ${id}`,
      'clock timers',
      'clock show',
      'acts',
      'check',
      'snapshot list',
      'export ben.ndjson',
      'snapshot diff before',
    ])
      await json(`sandbox ${line}`);
    await json('sandbox snapshot restore before --yes');
    await run(`sandbox why ${bought}`, 5);
    await json('sandbox import ben.ndjson --yes');
    await json(`sandbox why ${bought}`);
    await json('sandbox simulate run story.yaml --yes');
    expect((await own()).wallet_balance).toBe(77);
  });

  it('tells of itself alone', async () => {
    const { out } = await run('sandbox status');
    const status = await json('sandbox status');
    expect(status).toMatchObject({ store: expect.stringMatching(/^acct_[0-9a-f]{16}$/), server: null });
    for (const text of [out, JSON.stringify(status)]) {
      expect(text).not.toContain('postgres');
      expect(text).not.toContain(here.name);
    }
  });

  it('says what is of the server, and what of another machine', async () => {
    const says = async (line: string, code: number) => (await run(line, code)).err;
    expect(await says('sandbox stop', 6)).toContain('It is ended where it was started');
    expect(await says('sandbox open', 6)).toContain('cardwright sandbox overview');
    expect(await says('sandbox reset --hard --yes', 2)).toContain('CARDWRIGHT_SANDBOX_URL names a sandbox elsewhere');
    expect(await says('sandbox reset', 3)).toContain(`Replace everything in the sandbox at ${origin}`);
    expect(await says('sandbox status -o env', 12)).toContain('CARDWRIGHT_SANDBOX_URL names a sandbox elsewhere');
  });

  it('is named by a profile too, until another sandbox is asked for', async () => {
    env = { ...NONE };
    await run(`login --profile ben --base-url ${server.row.url} --key-file ben/api-key`);
    expect((await run('sandbox status', 14)).err).toContain('profile ben has no sandbox_token_file');
    const before = (await json('--sandbox sandbox status')).store;
    expect(before).not.toMatch(/^acct_/);
    await run('profiles set ben sandbox_token_file ben/admin-token');
    expect((await json('sandbox status')).store).toMatch(/^acct_/);
    expect((await run('sandbox status', 0, { terminal: 100 })).out).toContain(origin);
    expect((await json('--sandbox sandbox status')).store).toBe(before);
    expect((await json('sandbox status', 0, { env: { CARDWRIGHT_PROFILE: 'sandbox' } })).store).toBe(before);
    expect((await json('--profile ben sandbox status', 0, { env: { CARDWRIGHT_PROFILE: 'sandbox' } })).store).toMatch(
      /^acct_/,
    );
    await json('sandbox simulate run story.yaml --yes');
    expect((await run('sandbox reset', 3)).err).toContain(origin);
  });

  it.each([
    [
      { CARDWRIGHT_SANDBOX_URL: 'http://127.0.0.1:1' },
      4,
      'without CARDWRIGHT_SANDBOX_TOKEN or CARDWRIGHT_SANDBOX_TOKEN_FILE',
    ],
    [{ CARDWRIGHT_SANDBOX_TOKEN_FILE: 'ben/admin-token' }, 4, 'without CARDWRIGHT_SANDBOX_URL'],
    [{ CARDWRIGHT_SANDBOX_TOKEN_FILE: 'ben/admin-token', CARDWRIGHT_SANDBOX_TOKEN: 'x' }, 2, 'set one of them'],
    [
      { CARDWRIGHT_SANDBOX_URL: 'http://127.0.0.1:1', CARDWRIGHT_SANDBOX_TOKEN_FILE: 'none' },
      4,
      'there is no token file',
    ],
    [
      { CARDWRIGHT_SANDBOX_URL: 'http://127.0.0.1:1', CARDWRIGHT_SANDBOX_TOKEN_FILE: 'story.yaml' },
      2,
      'holds no token',
    ],
    [
      { CARDWRIGHT_SANDBOX_URL: 'http://sandbox.example.com', CARDWRIGHT_SANDBOX_TOKEN_FILE: 'x' },
      2,
      'https is required',
    ],
  ])('refuses %j', async (named, code, words) => {
    const here = Object.fromEntries(
      Object.entries(named).map(([name, value]) => [name, name.endsWith('_FILE') ? join(ben.folder, value) : value]),
    );
    const { err } = await run('sandbox status', code, { env: { ...NONE, ...here } });
    expect(err).toContain(words);
  });

  it('refuses a token that is not its own, and says which', async () => {
    await writeFile(join(ben.folder, 'wrong'), 'sandbox_nobody_has_this_token', { mode: 0o600 });
    const named = {
      ...NONE,
      CARDWRIGHT_SANDBOX_URL: `${origin}/v1`,
      CARDWRIGHT_SANDBOX_TOKEN_FILE: join(ben.folder, 'wrong'),
    };
    const { err } = await run('sandbox status', 4, { env: named });
    expect(err).toContain('admin token');
    expect(err).not.toContain('nobody_has');
    await run('sandbox export wrong.ndjson', 4, { env: named });
  });

  it('is served without its control surface by a server without --admin', async () => {
    await using closed = await accountServer(lead, store);
    const { err } = await run('sandbox status', 5, {
      env: {
        ...NONE,
        CARDWRIGHT_SANDBOX_URL: new URL(closed.row.url).origin,
        CARDWRIGHT_SANDBOX_TOKEN_FILE: join(ben.folder, 'ben', 'admin-token'),
      },
    });
    expect(err).toContain('--admin');
  });

  it('makes no account where its files cannot be kept', async () => {
    const line = `sandbox accounts create dora --store ${store} --keys-in ben`;
    const again = await lead.run(line);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('ben/api-key is there already')]);
    expect((await lead.run(`sandbox accounts list --store ${store} -o id`)).out).toBe('ben\n');
    expect((await lead.run(`sandbox accounts create dora --store ${store} --url https://x.example`)).code).toBe(2);
    expect((await lead.run(`${line}2 --url ftp://x`)).code).toBe(2);
  });
});

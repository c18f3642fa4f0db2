/**
 * Every block of docs/guide/teams.md is run as it is read, top to bottom: by an admin in the database, by ana and bo on
 * machines of theirs. What stands for the reader's own is put in their place: addresses, the password, ids, bo's key.
 */
import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountPrint } from '../../src/core/key-print.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { missing } from '../postgres/server.ts';
import { connect, type Database, database, PASSWORD, statementsOf } from '../postgres/shared.ts';
import { type World, world } from '../support/world.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'guide', 'teams.md');
const PASSPHRASE = 'correct horse';
const BO = { terminal: 200, typed: [PASSPHRASE, PASSPHRASE] };

interface Block {
  readonly heading: string;
  readonly language: string;
  readonly text: string;
}

function blocksOf(page: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  for (const [, title, language, text] of page.matchAll(/^## (.+)$|^ *```(\w+)\n([\s\S]*?)^ *```$/gm)) {
    if (title !== undefined) heading = title;
    else blocks.push({ heading, language: language ?? '', text: (text ?? '').replace(/^ {3}/gm, '') });
  }
  return blocks;
}

describe.skipIf(missing())('the guide of teams', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it('is run as it is read', { timeout: 60_000 }, async () => {
    const blocks = [...blocksOf(await readFile(PAGE, 'utf8'))];
    const sandbox = await startSandbox({ wallet: 50_000, ids: 'counted', rateLimits: false, listen: 'tcp' });
    await using ana = await machine(sandbox.key.expose(), sandbox.url, 10_000);
    await using bo = await machine('', sandbox.url, 20_000);
    await using runner = await machine('', sandbox.url, 30_000);
    const server = new Server(here);
    let env: Record<string, string> = { CARDWRIGHT_JOURNAL_URL: '' };
    const own = (text: string) =>
      text
        .replaceAll('https://api.example.com', new URL(sandbox.url).origin)
        .replaceAll('--mode live', '--mode test')
        .replace(/postgres:\/\/(\w+)@db\.example\.com\/journal(\?\S+)?/, (_, role) => server.url(role))
        .replaceAll('/home/ana/', `${ana.folder}/`)
        .replaceAll('/home/runner/', `${runner.folder}/`);
    const take = (heading: string, language: string, holds = '') => {
      const at = blocks.findIndex(each => each.heading === heading && each.language === language);
      const [block] = at < 0 ? [] : blocks.splice(at, 1);
      expect(block?.text, `${heading}: a block of ${language} that holds ${holds}`).toContain(holds);
      return own(block?.text ?? '')
        .split('\n')
        .filter(line => line !== '');
    };
    const run = async (who: World, line: string | undefined, code: number, options = {}) => {
      const ran = await who.run(line ?? '', { env, ...options });
      expect(`${line}: ${ran.code}${ran.code === code ? '' : ran.err}`).toBe(`${line}: ${code}`);
      return ran;
    };

    // What this machine has done alone before.
    await run(ana, 'cards create --bin bin_1 --amount 10 -q', 0);

    const [init] = take('Set it up', 'sh', 'journal init --print-sql');
    await server.admin((await run(ana, init, 0)).out);
    await server.people({ ana: '{read,operate}' }, accountPrint(sandbox.key, 'main'));

    const use = take('Connect a machine', 'sh', 'CARDWRIGHT_JOURNAL_URL');
    await writeFile(join(ana.folder, '.journal-password'), PASSWORD, { mode: 0o600 });
    const exported = use.flatMap(line => {
      const [, name = '', value = ''] = /^export (\w+)=(.*)$/.exec(line) ?? [];
      return name === '' ? [] : [[name, value] as const];
    });
    env = Object.fromEntries(exported);
    expect(Object.keys(env)).toHaveLength(3);
    expect((await run(ana, use.at(-1), 0)).out).toContain('main');

    await byProfile();

    await run(ana, 'cards fund card_1 --amount 5 --intent order-4711', 14);
    for (const line of take('Bring along what one machine has done', 'sh')) await run(ana, line, 0);
    await run(ana, 'cards fund card_1 --amount 5 --intent order-4711', 0);

    await server.people({ bo: '{approve}' }, 'fedcba9876543210');
    await server.admin(take('Look after it', 'sql', 'add_member').join('\n'));
    await server.admin(take('After a failover or a restore', 'sql', 'accept_failover').join('\n'));

    await approvedOver(take('Approvals over the shared journal', 'sql', 'set_rule').join('\n'));
    await approvedByFile();
    expect(blocks.map(({ heading, text }) => `${heading}: ${text}`)).toEqual([]);
    await server.end();
    await sandbox.stop();

    /** On a machine where nobody has logged in. */
    async function byProfile() {
      await using fresh = await machine('', sandbox.url, 40_000);
      await writeFile(join(ana.folder, '.api-key'), sandbox.key.expose(), { mode: 0o600 });
      const lines = take('Connect a machine', 'sh', 'login --profile team').map(line => line.replaceAll("'", ''));
      const own: Record<string, string> = {};
      for (const line of lines) {
        const [, name, value = ''] = /^export (\w+)=(.*)$/.exec(line) ?? [];
        if (name !== undefined) own[name] = value;
        else await run(fresh, line, 0, { env: own });
      }
      expect((await run(fresh, 'journal status --json --jq .account', 0, { env: own })).out).toBe('main\n');
    }

    async function approvedOver(sql: string) {
      await run(bo, 'approvals key create', 0, BO);
      const key = (await run(bo, 'approvals key show -q', 0)).out.trim().split(' ')[2] ?? '';
      await server.admin(sql.replace(/(bo ed25519 )[^']+/, `$1${key}`));
      const [ask] = take('Approvals over the shared journal', 'sh', 'cards fund');
      await run(ana, ask, 17);
      env['CARDWRIGHT_JOURNAL_URL'] = server.url('bo');
      const [list, approve] = take('Approvals over the shared journal', 'sh', 'approvals approve');
      const [id = ''] = /apr_\w{26}/.exec((await run(bo, list, 0)).out) ?? [];
      const line = approve?.replace('apr_…', id);
      await run(bo, line, 0, { terminal: 200, typed: ['$5,000.00', PASSPHRASE] });
      env['CARDWRIGHT_JOURNAL_URL'] = server.url('ana');
      await run(ana, ask, 0);
      const { balance } = JSON.parse((await run(ana, 'cards get card_1 --json', 0)).out);
      expect(balance).toBe(5015);
    }

    /** The runner is a machine with a folder of its own and a profile. */
    async function approvedByFile() {
      const page = 'Approvals in a pull request';
      env = { CARDWRIGHT_API_KEY: '' };
      const [, show] = take(page, 'sh', 'approvals key create');
      const [command = '', file = ''] = show?.split(' | tee -a ') ?? [];
      await appendFile(join(runner.folder, file), (await run(bo, command, 0)).out.replace(/^\S+/, 'bo'));
      await writeFile(join(runner.folder, '.api-key'), sandbox.key.expose(), { mode: 0o600 });
      env = { CARDWRIGHT_API_KEY: '', CARDWRIGHT_PROFILE: '' };
      const asked = take(page, 'sh', 'approve_above');
      const ask = asked.pop()?.replace('ads-nov', 'ads-dec');
      for (const line of asked) await run(runner, line, 0);
      env = { CARDWRIGHT_API_KEY: '', CARDWRIGHT_PROFILE: 'team' };
      await run(runner, 'journal status', 2);
      await run(runner, ask, 17);
      await copyFile(join(runner.folder, 'request.json'), join(bo.folder, 'request.json'));
      const [look, sign] = take(page, 'sh', 'approvals show --file');
      env = { USER: 'bo' };
      await run(bo, look, 0);
      await run(bo, sign, 0, { terminal: 200, typed: ['5000', PASSPHRASE] });
      await copyFile(join(bo.folder, 'bo.approval.json'), join(runner.folder, 'bo.approval.json'));
      env = { CARDWRIGHT_API_KEY: '', CARDWRIGHT_PROFILE: 'team' };
      const [again] = take(page, 'sh', '--approval bo.approval.json');
      await run(runner, again?.replace('ads-nov', 'ads-dec'), 0);
      const { balance } = JSON.parse((await run(runner, 'cards get card_1 --json', 0)).out);
      expect(balance).toBe(10_015);
    }
  });
});

/** Without a sandbox of its own before it: the service that all of them use. */
async function machine(key: string, url: string, countFrom: number): Promise<World> {
  const env = { CARDWRIGHT_PROFILE: '', CARDWRIGHT_API_KEY: key, ...(key !== '' && { CARDWRIGHT_BASE_URL: url }) };
  return world({ env, countFrom });
}

/** A database of its own, as its admin has it. */
class Server {
  readonly #here: Database;
  readonly #name: string;
  #admin: ReturnType<typeof connect> | undefined;

  constructor(here: Database) {
    this.#here = here;
    this.#name = `${here.name}_guide`;
  }

  url(role: string): string {
    const { socket, port } = this.#here.server;
    return `postgres://${role}@${encodeURIComponent(socket)}:${port}/${this.#name}`;
  }

  async #session() {
    if (this.#admin === undefined) {
      await (await this.#here.as('postgres')).call(`create database ${this.#name}`, []);
      this.#admin = connect(this.#here.server, 'postgres', this.#name);
    }
    return this.#admin;
  }

  async admin(sql: string): Promise<void> {
    const session = await this.#session();
    for (const statement of statementsOf(sql)) await session.call(statement, []);
  }

  async people(members: Readonly<Record<string, string>>, print: string): Promise<void> {
    const session = await this.#session();
    for (const [role, can] of Object.entries(members))
      await session.call('select cardwright.add_member($1, $2, $3)', ['main', role, can]);
    await session.call('select cardwright.add_key($1, $2)', ['main', print]);
    const [known] = await session.call(`select 1 from pg_roles where rolname = 'bo'`, []);
    if (known === undefined) await session.call('create role bo login in role cardwright_approver', []);
  }

  async end(): Promise<void> {
    await (await this.#admin)?.end();
  }
}

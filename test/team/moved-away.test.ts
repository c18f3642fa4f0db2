/** A machine whose operations are in a shared journal, and a command that does not name it: what it is told to run works as it is. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountPrint } from '../../src/core/key-print.ts';
import { Secret } from '../../src/core/secret.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { words } from '../support/words.ts';
import type { World } from '../support/world.ts';
import { team, urlOf } from './team.ts';

const ALONE = { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' };
const HINT = /^ {2}try: (.*)$/m;

/** Runs a command that was printed, with the variables in front of it. */
async function copied({ run }: World, line: string, env: Readonly<Record<string, string>> = {}) {
  const all = words(line);
  const at = all.indexOf('cardwright');
  const given = Object.fromEntries(all.slice(0, at).map(each => each.split(/=(.*)/s)));
  // Words with a quote in them are none of these.
  const rest = line.slice(line.indexOf('cardwright ') + 'cardwright '.length);
  return run(rest, { env: { ...env, ...given } });
}

describe.skipIf(missing())('operations that were moved to a shared journal', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  /** A file of three creates that was stopped behind its first one, and then moved. */
  async function moved() {
    const t = await team(here);
    const ana = await t.machine('ana');
    await writeFile(join(ana.folder, 'h1.csv'), 'bin_id,amount\nbin_1,2\nbin_1,3\nbin_1,4\n');
    const create = 'cards create --file h1.csv --yes --concurrency 1';
    t.proxy.fail('POST', /\/cards$/, 'drop-after');
    t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
    const stopped = await ana.run(create, { env: ALONE });
    expect(stopped.code).toBe(11);
    t.proxy.mend();
    const op = /op_\w{26}/.exec(stopped.err)?.[0] ?? '';
    expect((await ana.run('journal move --to shared -q')).code).toBe(0);
    return { ...t, ana, op, create };
  }

  it('are not gone on with here, and the dry run says so too', async () => {
    await using t = await moved();
    const { ana, op, create } = t;
    for (const line of [
      `ops resume ${op} --dry-run`,
      `ops resume ${op} --yes`,
      create,
      'cards create --file h1.csv --dry-run',
    ]) {
      const { code, out, err } = await ana.run(`${line} --journal local`);
      expect([line, code, out]).toEqual([line, 14, '']);
      expect(err).toContain(`were moved to the account ${t.at.account} of the shared journal`);
      expect(HINT.exec(err)?.[1]).toBe(`cardwright ops resume ${op}`);
    }
    const posts = t.proxy.posts().length;
    // A shell that has lost its variables.
    const { err } = await ana.run(create, { env: ALONE });
    const hint = HINT.exec(err)?.[1] ?? '';
    expect(hint).toContain(`CARDWRIGHT_JOURNAL_ACCOUNT=${t.at.account} cardwright ops resume ${op} --journal `);
    expect(t.proxy.posts()).toHaveLength(posts);
    expect((await copied(ana, hint, ALONE)).code).toBe(0);
    expect(await t.cards()).toHaveLength(3);
  });

  it('are moved with an API key of the account alone', async () => {
    await using t = await team(here);
    const ana = await t.machine('ana');
    expect((await ana.run('cards create --bin bin_1 --amount 2 -q', { env: ALONE })).code).toBe(0);
    const print = accountPrint(new Secret(t.key), t.at.account);
    await t.at.admin(`remove_key('${print}')`);
    const refused = await ana.run('journal move --to shared');
    expect([refused.code, refused.err]).toEqual([
      14,
      expect.stringContaining('the API key is none of this account in the shared journal'),
    ]);
    expect(refused.err).toContain(`select cardwright.add_key('${t.at.account}', '${print}');`);
    expect(await t.at.ana.heads(t.at.account, {})).toEqual([]);
    // Nothing was noted either: this machine goes on alone.
    expect((await ana.run('cards fund card_1 --amount 1 -q', { env: ALONE })).code).toBe(0);
    await t.at.admin(`add_key('${print}')`);
    expect((await ana.run('journal move --to shared --json')).code).toBe(0);
    expect(await t.at.ana.heads(t.at.account, {})).toHaveLength(2);
  });

  it('are reached with what a profile without a journal is told', async () => {
    await using t = await team(here);
    const ana = await t.machine('ana');
    expect((await ana.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
    await t.at.admin(`freeze_account('one machine goes on')`);
    const env = { ...ALONE, CARDWRIGHT_API_KEY: '', CARDWRIGHT_BASE_URL: '' };
    const login = (name: string) =>
      ana.run(`login --profile ${name} --base-url ${t.proxy.url} --key-stdin`, { env, stdin: t.key });
    expect((await login('plain')).code).toBe(0);
    const refused = async () => {
      const { code, err } = await ana.run('-p plain cards fund card_1 --amount 1', { env });
      expect(code).toBe(14);
      const [, move = ''] = /brings all of them back first: (.*)$/m.exec(err) ?? [];
      return { status: HINT.exec(err)?.[1] ?? '', move };
    };
    const { status, move } = await refused();
    expect(status).toMatch(/^CARDWRIGHT_JOURNAL_ACCOUNT=\S+ cardwright -p plain journal status --journal /);
    expect((await copied(ana, status, env)).code).toBe(0);
    // Another profile has it.
    expect((await login('team')).code).toBe(0);
    for (const words of [`journal ${urlOf(here, 'ana')}`, `journal_account ${t.at.account}`])
      expect((await ana.run(`profiles set team ${words}`, { env })).code).toBe(0);
    expect(await refused()).toEqual({
      status: 'cardwright -p team journal status',
      move: 'cardwright -p team journal move --to local',
    });
    expect([move, (await copied(ana, move, env)).code]).toEqual([expect.stringContaining('-p plain'), 0]);
    expect((await ana.run('-p plain cards fund card_1 --amount 1 -q', { env })).code).toBe(0);
  });
});

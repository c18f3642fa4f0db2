/** One machine and two shared journals for one card account: a change of one of them is never begun in the other as well. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountPrint } from '../../src/core/key-print.ts';
import { Secret } from '../../src/core/secret.ts';
import { notedElsewhere } from '../../src/journal/store/moved.ts';
import { placesIn } from '../../src/journal/store/paths.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { random, realClock } from '../support/clocks.ts';
import { firstOf } from '../support/first-of.ts';
import type { World } from '../support/world.ts';
import { cableTo, team, urlOf } from './team.ts';
import { testAccount } from './test-account.ts';

/** `isWhole` adds other ways to have a second one. */
export function twoJournals({ isWhole }: { readonly isWhole: boolean }): void {
  describe('notes of shared journals', () => {
    const here = { origin: 'https://api.example.com', mode: 'live', journal: 'jrn_2', account: 'main' } as const;
    const first = { ...here, journal: 'jrn_1', began: true } as const;
    const print = async (account: string) => `print of ${account}`;

    it.each([
      ['the same key', { account_print: 'print of main' }, 1],
      ['the same key at another address', { account_print: 'print of main', origin: 'https://localhost' }, 1],
      ['a note without the print of a key', {}, 1],
      ['another card account of the service', { account_print: 'print of another key' }, 0],
      ['the same key for another mode', { account_print: 'print of main', mode: 'test' }, 0],
      ['this very account', { account_print: 'print of main', journal: 'jrn_2' }, 0],
    ] as const)('%s', async (_, more, count) => {
      expect(await notedElsewhere([{ ...first, ...more }], here, print)).toHaveLength(count);
    });
  });

  describe.skipIf(missing())('two shared journals on one machine', () => {
    let [here, there]: Database[] = [];
    beforeAll(async () => {
      [here, there] = await Promise.all([database(), database()]);
    });
    afterAll(() => Promise.all([here?.close(), there?.close()]));

    const TWICE = 'cards create --bin bin_1 --amount 3 --intent twoj --json --jq .id';

    /** A machine whose create is of unknown outcome in the first journal; `env` names a second one for the same API key. */
    async function doubt(second: 'database' | 'account') {
      if (here === undefined || there === undefined) throw new Error('no database');
      const t = await team(here);
      const ana = await t.machine('ana');
      const database = second === 'database' ? there : here;
      const origin = new URL(t.proxy.url).origin;
      const at = await testAccount(database, { origin, keyPrint: account => accountPrint(new Secret(t.key), account) });
      const env = { CARDWRIGHT_JOURNAL_URL: urlOf(database, 'ana'), CARDWRIGHT_JOURNAL_ACCOUNT: at.account };
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      expect((await ana.run(TWICE)).code).toBe(11);
      t.proxy.mend();
      return { ...t, ana, env, second: at, made: t.proxy.posts().length };
    }

    const moneyOf = async (ana: World, env: Readonly<Record<string, string>>) => {
      const lines = [
        TWICE.replace(' --json --jq .id', ''),
        'cards create --bin bin_1 --amount 4 -q',
        'journal move --to shared -q',
      ];
      const ran = [];
      for (const line of lines) ran.push(await ana.run(line, { env }));
      return ran;
    };

    it.each(firstOf(['database', 'account'], { isWhole }))(
      'sends nothing over another %s, and names the way',
      async second => {
        await using t = await doubt(second);
        const { ana, env } = t;
        for (const { code, out, err } of await moneyOf(ana, env)) {
          expect([code, out, err]).toEqual([
            14,
            '',
            expect.stringContaining(`this machine has used the account ${t.at.account}`),
          ]);
          expect(err).toContain(`journal move --to shared --leave ${t.at.account}@`);
          expect(err).toContain(
            second === 'account' ? `export CARDWRIGHT_JOURNAL_ACCOUNT=${t.at.account}` : 'used at postgres://ana@',
          );
        }
        // Another spelling of the address of the service leads to the same account.
        const elsewhere = { ...env, CARDWRIGHT_BASE_URL: t.proxy.url.replace('127.0.0.1', 'localhost') };
        expect((await ana.run('cards create --bin bin_1 --amount 4 -q', { env: elsewhere })).code).toBe(14);
        expect(t.proxy.posts()).toHaveLength(t.made);
        // Reading goes on, and so does the first journal.
        expect((await ana.run('ops list -q', { env })).code).toBe(0);
        expect((await ana.run(TWICE)).out).toBe('card_1\n');
        expect((await ana.run('cards freeze card_1 -q', { env })).code).toBe(0);
        expect(await t.cards()).toHaveLength(1);
      },
    );

    it('goes over this machine with everything', async () => {
      await using t = await doubt('database');
      const { ana, env } = t;
      expect((await ana.run(TWICE)).out).toBe('card_1\n');
      await t.at.admin(`freeze_account('one machine goes on')`);
      expect((await ana.run('journal move --to local -q')).code).toBe(0);
      expect((await ana.run('journal move --to shared -q', { env })).code).toBe(0);
      expect((await ana.run(TWICE, { env })).out).toBe('card_1\n');
      expect((await ana.run('cards create --bin bin_1 --amount 4 -q')).code).toBe(14);
      expect(await t.cards()).toHaveLength(1);
    });

    it('leaves a journal that is gone, and brings along what this machine knows of it', async () => {
      await using t = await doubt('database');
      const { ana, env } = t;
      const [refused] = await moneyOf(ana, env);
      const [, leave = ''] = /cardwright (journal move --to shared --leave \S+)\n/.exec(refused?.err ?? '') ?? [];
      const asked = await ana.run(leave, { env });
      expect([asked.code, asked.err]).toEqual([3, expect.stringContaining(`${leave} --yes`)]);
      const left = await ana.run(`${leave} --yes --json`, { env });
      expect([left.code, JSON.parse(left.out)]).toMatchObject([0, { to: 'shared', moved: 1, rows: 1 }]);
      // It is known to be unknown there, and looked for.
      expect(JSON.parse((await ana.run('ops list --json', { env })).out).data).toMatchObject([{ state: 'unknown' }]);
      expect((await ana.run(TWICE, { env })).out).toBe('card_1\n');
      expect([await t.cards(), t.proxy.posts().length]).toEqual([[expect.objectContaining({ id: 'card_1' })], t.made]);
      const log = (await ana.run('audit list --shared --json', { env })).out;
      expect(log).toContain(`1 of ${t.at.account}@`);
      // The first one is the other one now.
      expect((await ana.run('cards create --bin bin_1 --amount 4 -q')).code).toBe(14);
      const again = await ana.run(`${leave} --yes`, { env });
      expect([again.code, again.err]).toEqual([2, expect.stringContaining('has used no other shared journal')]);
    });

    it.runIf(isWhole)('leaves none while a command of this machine works on an op in it', async () => {
      await using t = await doubt('database');
      const { ana, env } = t;
      const lock = { pid: process.pid, clock: realClock, random };
      const disk = createDisk({ platform: 'linux', random, warn: () => undefined, lock });
      const state = join(ana.folder, 'state');
      const [note] = JSON.parse((await disk.read(placesIn(state).moved)) ?? '[]');
      const spool = join(state, 'team', note.journal.replace(/[^\w]/g, ''), note.account);
      const op = `op_${'0'.repeat(26)}`;
      const release = await disk.hold(join(spool, `${op}.01234567.lock`));
      await disk.replace(join(spool, `${op}.01234567`), '');
      const leave = `journal move --to shared --leave ${note.account}@${note.journal} --yes`;
      const refused = await ana.run(leave, { env });
      expect([refused.code, refused.err]).toEqual([14, expect.stringContaining('works on')]);
      await release();
      expect((await ana.run(leave, { env })).code).toBe(0);
    });

    it.runIf(isWhole)('is one journal at another address of its database', async () => {
      await using t = await doubt('account');
      const { ana } = t;
      if (here === undefined) throw new Error('no database');
      await using cable = await cableTo(here.server);
      const other = `postgres://ana@${encodeURIComponent(cable.folder)}:${cable.port}/${here.name}`;
      expect((await ana.run(TWICE, { env: { CARDWRIGHT_JOURNAL_URL: other } })).out).toBe('card_1\n');
      expect(await t.cards()).toHaveLength(1);
    });

    it.runIf(isWhole)('is not noted by an account that does not know the API key', async () => {
      if (here === undefined) throw new Error('no database');
      await using t = await team(here);
      const ana = await t.machine('ana');
      const wrong = await testAccount(here, { origin: new URL(t.proxy.url).origin });
      const create = 'cards create --bin bin_1 --amount 3 --json --jq .id';
      const refused = await ana.run(create, { env: { CARDWRIGHT_JOURNAL_ACCOUNT: wrong.account } });
      expect([refused.code, refused.err]).toEqual([14, expect.stringContaining('the API key is none of this account')]);
      expect((await ana.run(create)).out).toBe('card_1\n');
    });
  });
}

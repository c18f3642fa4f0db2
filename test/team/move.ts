/** The operations of a machine go into a shared journal and back: nothing is lost, and nothing is sent twice. */
import { generateKeyPairSync } from 'node:crypto';
import { cp, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutputError } from '../../src/core/errors.ts';
import { bytesOf, localHeads } from '../../src/journal/store/local-ops.ts';
import { movedIn } from '../../src/journal/store/moved-in.ts';
import { placesIn } from '../../src/journal/store/paths.ts';
import { lengthInMark } from '../../src/journal/store/unfinished-mark.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { checkShared } from '../../src/team/check.ts';
import { moveToLocal, moveToShared } from '../../src/team/move.ts';
import { chainHead } from '../../src/team/shared-ops.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { random, realClock } from '../support/clocks.ts';
import { team } from './team.ts';
import { KEY_PRINT, type TestAccount, testAccount } from './test-account.ts';

/** `isWhole` cuts moves off around each call, and adds what else stands in their way. */
export function journalMove({ isWhole }: { readonly isWhole: boolean }): void {
  const step = isWhole ? 1 : 10;

  describe.skipIf(missing())('journal move', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    /** A machine that has worked alone: a name, a key, a file, a withdraw, and an outcome that is unknown. */
    async function alone() {
      const t = await team(here, { wallet: 500 });
      const ana = await t.machine('ana');
      const local = async (line: string) => {
        const { code, err } = await ana.run(`${line} --journal local`);
        return code === 0 || code === 11 ? { code } : { code, err };
      };
      await writeFile(join(ana.folder, 'team.csv'), 'bin_id,amount\nbin_1,2\nbin_1,3\n');
      expect(await local('cards create --bin bin_1 --amount 10 --intent po-1')).toEqual({ code: 0 });
      expect(await local('cards fund card_1 --amount 5 --idempotency-key key-of-ana-0001')).toEqual({ code: 0 });
      expect(await local('cards withdraw card_1 --amount 1')).toEqual({ code: 0 });
      expect(await local('cards create --file team.csv --yes')).toEqual({ code: 0 });
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      expect(await local('cards create --bin bin_1 --amount 4 --label ads')).toEqual({ code: 11 });
      t.proxy.mend();
      const posts = t.proxy.posts().length;
      return { ...t, ana, posts, local };
    }

    class CutOff extends Error {}

    /** Calls of the database and changes of the disk are cut off around the n-th: before it, or when it is done and nobody heard. */
    async function partsOf(at: TestAccount, { folder, dieAt }: { readonly folder: string; readonly dieAt: number }) {
      let effects = 0;
      const cut = () => {
        effects += 1;
        if (effects === dieAt) throw new CutOff();
      };
      const around = <T extends object>(real: T, names: readonly (keyof T)[]): T => {
        const cutting = names.map(name => [
          name,
          async (...asked: unknown[]) => {
            cut();
            const answer = await (real[name] as (...given: unknown[]) => Promise<unknown>)(...asked);
            cut();
            return answer;
          },
        ]);
        return { ...real, ...Object.fromEntries(cutting) };
      };
      const disk = createDisk({
        platform: 'linux',
        random,
        warn: () => undefined,
        lock: { pid: process.pid, clock: realClock, random },
      });
      const statements = around(at.ana, [
        'importOp',
        'importNames',
        'note',
        'heads',
        'status',
        'leaveAccount',
        'cameBack',
        'told',
        'readOp',
        'intentsPage',
      ]);
      await disk.prepareFolder(folder);
      return {
        local: { disk: around(disk, ['replace', 'syncNames']), places: placesIn(folder) },
        shared: {
          statements: () => statements,
          account: at.account,
          journalId: 'jrn_test',
          role: 'ana',
          mayHold: false,
          host: 'laptop',
          machine: async () => '0123456789abcdef',
          clock: realClock,
          random,
          disk,
          notice: () => undefined,
          writeTotalMs: 75_000,
          head: chainHead(disk, join(folder, 'head'), undefined),
          spoolFolder: async () => folder,
        },
        pid: process.pid,
        keyPrint: KEY_PRINT,
        accountPrint: async () => KEY_PRINT,
        stateFolder: folder,
        address: 'postgres://ana@laptop/journal',
        isOwnPlan: async () => true,
        localPrint: async () => '01234567',
        localHead: async () => undefined,
      };
    }

    const json = async (ran: Promise<{ out: string; code: number; err: string }>) => {
      const { out, code, err } = await ran;
      return { code, err, ...(out === '' ? {} : JSON.parse(out)) };
    };

    it('takes everything along: names, keys, files, what is unknown, what was spent', async () => {
      await using t = await alone();
      const [ana, ben] = [t.ana, await t.machine('ben')];
      const moved = await json(ana.run('journal move --to shared --json'));
      expect(moved).toMatchObject({ code: 0, to: 'shared', moved: 5, rows: 6, there: 0 });
      expect(await json(ana.run('journal move --to shared --json'))).toMatchObject({ code: 0, moved: 0, there: 5 });
      // Here nothing is begun or gone on with any more.
      const refused = await ana.run('cards fund card_1 --amount 7 --journal local');
      expect(refused.code).toBe(14);
      expect(refused.err).toContain('were moved to the account');
      await writeFile(join(ana.folder, 'stolen.csv'), 'card_id\ncard_3\n');
      expect((await ana.run('cards freeze --file stolen.csv --journal local --yes')).code).toBe(0);
      expect((await ana.run('cards unfreeze card_3 -q')).code).toBe(0);
      const posts = t.proxy.posts().length;
      // There all of it is known, to everybody.
      expect(await json(ben.run('cards create --bin bin_1 --amount 10 --intent po-1 --json'))).toMatchObject({
        code: 0,
        intent: { repeated: true },
      });
      await writeFile(join(ben.folder, 'team.csv'), 'bin_id,amount\nbin_1,2\nbin_1,3\n');
      expect((await ben.run('cards create --file team.csv --yes')).code).toBe(14);
      expect((await ben.run('cards create --bin bin_1 --amount 4 --label ads')).code).toBe(14);
      expect(t.proxy.posts()).toHaveLength(posts);
      const { data } = await json(ana.run('ops list --state unknown --json'));
      expect(data).toHaveLength(1);
      expect(await json(ana.run(`ops resume ${data[0].op} --json`))).toMatchObject({ code: 0 });
      expect(t.proxy.posts()).toHaveLength(posts);
      expect([(await t.cards()).length, await t.balance()]).toEqual([4, 500 - 10 - 5 + 1 - 5 - 4]);
      expect(await json(ana.run('journal check --json'))).toMatchObject({ code: 0, ops: 5, flaws: [] });
      // The key of the caller's is the same purchase there.
      expect((await ana.run('cards fund card_1 --amount 5 --idempotency-key key-of-ana-0001 -q')).code).toBe(0);
      expect(await t.balance()).toBe(500 - 10 - 5 + 1 - 5 - 4);
    });

    it('sends nothing over the shared journal while this machine alone knows what it has done', async () => {
      await using t = await alone();
      const { ana, local } = t;
      expect(await local('cards fund card_1 --amount 1.31 --intent sw1')).toEqual({ code: 0 });
      const posts = t.proxy.posts().length;
      for (const line of [
        'cards fund card_1 --amount 1.31 --intent sw1',
        'cards create --bin bin_1 --amount 4 --label ads',
        'cards fund card_1 --amount 7',
      ]) {
        const refused = await ana.run(line);
        expect(refused, line).toMatchObject({ code: 14, err: expect.stringContaining('try: cardwright journal move') });
      }
      expect(t.proxy.posts()).toHaveLength(posts);
      const found = JSON.parse((await ana.run('doctor --json')).out).data;
      expect(found.filter(({ check }: { check: string }) => check.endsWith('journal'))).toMatchObject([
        { status: 'ok' },
        { status: 'fail', hint: 'cardwright journal move --to shared' },
      ]);
      // A card is stopped all the same.
      expect((await ana.run('cards freeze card_3')).code).toBe(0);
      expect((await ana.run('journal move --to shared')).code).toBe(0);
      expect(await json(ana.run('cards fund card_1 --amount 1.31 --intent sw1 --json'))).toMatchObject({
        code: 0,
        intent: { repeated: true },
      });
      expect((await ana.run('cards fund card_1 --amount 2 --intent sw2 -q')).code).toBe(0);
    });

    it.runIf(isWhole)(
      'knows the names and keys that its own folder has, however old, and a move that was cut off',
      async () => {
        await using t = await team(here);
        const ana = await t.machine('ana');
        expect((await ana.run('cards create --bin bin_1 --amount 10 --intent po-1 --journal local -q')).code).toBe(0);
        expect(
          (await ana.run('cards fund card_1 --amount 1 --idempotency-key key-of-ana-0001 --journal local')).code,
        ).toBe(0);
        const places = placesIn(join(ana.folder, 'state'));
        const old = new Date('2020-01-01');
        for (const op of (await readdir(places.root)).filter(name => name.startsWith('op_')))
          await utimes(places.journal(op), old, old);
        expect((await ana.run('cards fund card_1 --amount 3 -q')).code).toBe(0);
        const used = [
          'cards create --bin bin_1 --amount 10 --intent po-1',
          'cards fund card_1 --amount 1 --idempotency-key key-of-ana-0001',
        ];
        const refusals = async () => {
          for (const line of used)
            expect(await ana.run(line), line).toMatchObject({
              code: 14,
              err: expect.stringContaining('journal move --to shared'),
            });
        };
        await refusals();
        const { journal_id: journal, account } = await t.at.ana.status(t.at.account);
        const note = { origin: t.proxy.url, mode: 'test', journal, account };
        await writeFile(places.moved, JSON.stringify([note]), { mode: 0o600 });
        await refusals();
        expect((await ana.run('journal move --to shared')).code).toBe(0);
        for (const line of used) expect(await ana.run(line), line).toMatchObject({ code: 0 });
        expect(await t.balance()).toBe(100 - 10 - 1 - 3);
      },
    );

    it.runIf(isWhole)(
      'refuses its key at another address of this machine too: both may lead to one account',
      async () => {
        await using t = await alone();
        expect(await t.ana.run('journal move --to shared')).toMatchObject({ code: 0 });
        const env = { CARDWRIGHT_BASE_URL: t.proxy.url.replace('127.0.0.1', 'localhost'), CARDWRIGHT_JOURNAL_URL: '' };
        for (const line of ['cards create --bin bin_1 --amount 10 --intent po-1', 'cards fund card_1 --amount 3']) {
          const refused = await t.ana.run(line, { env });
          expect(refused).toMatchObject({ code: 14, out: '' });
          expect(refused.err).toContain(`the API key of this run is used at ${t.proxy.url}`);
          expect(refused.err).toContain(`try: export CARDWRIGHT_BASE_URL=${t.proxy.url}`);
        }
        expect((await t.ana.run('cards freeze card_1', { env })).code).toBe(0);
        expect(t.proxy.posts().filter(({ path }) => !path.endsWith('/freeze'))).toHaveLength(t.posts);
      },
    );

    it('comes back when everything is finished and nobody else can begin anything', async () => {
      await using t = await alone();
      const ana = t.ana;
      expect((await ana.run('journal move --to shared')).code).toBe(0);
      const early = await ana.run('journal move --to local');
      expect(early).toMatchObject({ code: 14, err: expect.stringContaining('is not finished') });
      const { data } = await json(ana.run('ops list --state unknown --json'));
      expect((await ana.run(`ops resume ${data[0].op}`)).code).toBe(0);
      const open = await ana.run('journal move --to local');
      expect(open).toMatchObject({ code: 14, err: expect.stringContaining('cardwright.freeze_account') });
      expect((await ana.run('cards create --bin bin_1 --amount 6 --intent po-2 -q')).code).toBe(0);
      await t.at.admin(`freeze_account('moved to one machine')`);
      expect(await json(ana.run('journal move --to local --json'))).toMatchObject({ code: 0, to: 'local', moved: 6 });
      const posts = t.proxy.posts().length;
      for (const [name, amount] of [
        ['po-1', 10],
        ['po-2', 6],
      ]) {
        const again = ana.run(`cards create --bin bin_1 --amount ${amount} --intent ${name} --journal local --json`);
        expect(await json(again)).toMatchObject({ code: 0, intent: { repeated: true } });
      }
      expect((await ana.run('cards create --file team.csv --yes --journal local')).code).toBe(14);
      expect(t.proxy.posts()).toHaveLength(posts);
      expect((await ana.run('cards fund card_1 --amount 1 --journal local -q')).code).toBe(0);
      expect((await ana.run('ops list --journal local --json --jq .page.total')).out).toBe('7\n');
    });

    const FULL = { message: 'cannot write standard output: no space is left (ENOSPC)' };
    /** The operation is done, and its command ends before it could say so. */
    const full = { onOut: () => Promise.reject(new OutputError('check_failed', FULL)) };

    it.runIf(isWhole)(
      'names everything in the way at once, and shows what was done while the account is frozen',
      async () => {
        await using t = await team(here);
        const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
        for (const amount of [1, 2]) {
          expect((await ana.run(`cards create --bin bin_1 --amount ${amount}`, full)).code).toBe(15);
        }
        expect((await ben.run('cards create --bin bin_1 --amount 3', full)).code).toBe(15);
        t.proxy.fail('POST', /\/cards$/, 'drop-after');
        t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
        expect((await ana.run('cards create --bin bin_1 --amount 4')).code).toBe(11);
        t.proxy.mend();
        const posts = t.proxy.posts().length;

        const ids = async (state: string) => {
          const { data } = await json(ana.run(`ops list --state ${state} --json`));
          return (data as { op: string }[]).map(({ op }) => op);
        };
        const untold = await ids('untold');
        const [unknown = ''] = await ids('unknown');
        expect(untold).toHaveLength(3);
        const [theirs = '', ...own] = untold;
        expect(await json(ana.run(`ops show ${theirs} --json`))).toMatchObject({ state: 'untold', done: 1 });
        const early = await ana.run('journal move --to local');
        expect(early.code).toBe(14);
        expect(early.err).toContain(
          [
            'error: 4 operations are not finished, and a journal is moved back to one machine when everything in it is',
            `  2 untold, yours: ${own.join(', ')}. For each: cardwright ops resume ${own[0]}`,
            `  1 unknown, yours: ${unknown}. For each: cardwright ops resume ${unknown}`,
            `  1 untold, begun by ben: ${theirs}. For each, by ben: cardwright ops resume ${theirs}`,
            `  An operator who has left is not waited for. An admin ends the membership in the database: select cardwright.add_member('${t.at.account}', 'ben', '{}');`,
            `  try: cardwright ops resume ${own[0]}`,
            'No request was sent.\n',
          ].join('\n'),
        );

        await t.at.admin(`freeze_account('moved to one machine')`);
        await t.at.admin(`add_member('ben', '{}')`);
        const left = await ana.run('journal move --to local');
        expect(left).toMatchObject({ code: 14 });
        expect(left.err).toContain(
          `  1 untold, begun by ben: ${theirs}. For each: cardwright ops takeover ${theirs} --reason "why"\n`,
        );
        for (const op of own) expect(await ana.run(`ops resume ${op}`)).toMatchObject({ code: 0 });
        expect(await ana.run(`ops takeover ${theirs} --reason "ben has left"`)).toMatchObject({ code: 0 });
        expect(await ids('untold')).toEqual([]);
        const frozen = await ana.run(`ops resume ${unknown}`);
        expect(frozen).toMatchObject({
          code: 14,
          err: expect.stringMatching(/the account acc-\d+ was frozen by ada at \S+Z: moved to one machine/),
        });
        const way = `select cardwright.accept_failover('${t.at.account}', 'it goes on');`;
        expect(frozen.err).toContain(`ends the freeze in the database: ${way}`);
        expect(await json(ana.run('journal status --json'))).toMatchObject({
          frozen: 'moved to one machine',
          frozen_by: 'ada',
          frozen_at: expect.stringMatching(/^\d{4}-.*Z$/),
        });
        const { data } = await json(ana.run('doctor --json'));
        expect(data).toContainEqual({
          check: 'shared journal',
          status: 'fail',
          says: expect.stringContaining(way),
        });
        await t.at.admin(`accept_failover('it goes on')`);
        expect((await ana.run(`ops resume ${unknown}`)).code).toBe(0);
        await t.at.admin(`freeze_account('moved to one machine')`);
        expect(await json(ana.run('journal move --to local --json'))).toMatchObject({ code: 0, to: 'local', moved: 4 });
        expect(t.proxy.posts()).toHaveLength(posts);
        expect(await t.balance()).toBe(100 - 1 - 2 - 3 - 4);
      },
    );

    const NAMED = 'cards create --bin bin_1 --amount 2 --intent po-3 --idempotency-key key-of-ana-0003';

    /** A machine that leaves two outcomes unknown: of an op that was brought there, and of one that was begun there. */
    async function leaving() {
      const t = await alone();
      expect((await t.ana.run('journal move --to shared')).code).toBe(0);
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      const { code } = await t.ana.run(NAMED);
      t.proxy.mend();
      expect(code).toBe(11);
      return t;
    }

    it('its only operator takes everything back, with what is not finished, and settles it here', async () => {
      await using t = await leaving();
      const ana = await t.machine('ana');
      const mine = (machine = ana) => machine.run('journal move --to local --mine');
      expect(await mine()).toMatchObject({ code: 14, err: expect.stringContaining('others may operate in') });
      await t.at.admin(`add_member('ben', '{}')`);
      const [, held] = await t.at.ana.heads(t.at.account, { unfinished: true });
      const again = { account: t.at.account, by: '01234567', host: 'desk', ttl_ms: 180_000, resume: true };
      expect(await t.at.ana.take({ ...again, op: held?.op ?? '' }, { event: 'taken' })).toMatchObject({
        verdict: 'taken',
      });
      expect(await mine()).toMatchObject({ code: 14, err: expect.stringContaining('is in the hands of ana on desk') });
      await t.at.endLeases();
      expect((await t.ana.run('cards create --bin bin_1 --amount 1 --label early -q')).code).toBe(0);
      expect((await mine(await t.machine('ben'))).code).toBe(14);
      expect((await ana.run('journal move --to shared --mine')).code).toBe(2);
      const moved = await ana.run('journal move --to local --mine --json');
      expect(await json(Promise.resolve(moved))).toMatchObject({ code: 0, to: 'local', moved: 7 });
      expect(await json(ana.run('journal move --to local --mine --json'))).toMatchObject({ code: 0, moved: 7 });
      // Nobody begins anything there any more, whatever machine he is on.
      const late = await t.ana.run('cards fund card_1 --amount 1');
      expect(late).toMatchObject({
        code: 14,
        err: expect.stringContaining('was moved to one machine, ana@desk, and what is done there is not known here'),
      });
      const posts = t.proxy.posts().length;
      const { data } = await json(ana.run('ops list --state unknown --json --journal local'));
      expect(data).toHaveLength(2);
      const twin = await ana.run('cards create --bin bin_1 --amount 4 --label ads --journal local');
      expect(twin).toMatchObject({
        code: 14,
        err: expect.stringContaining('cardwright --journal local ops resume op_'),
      });
      for (const { op } of data) expect((await ana.run(`ops resume ${op} --journal local`)).code).toBe(0);
      // Said once more it changes nothing of what was settled here.
      expect((await ana.run('journal move --to local --mine')).code).toBe(0);
      expect(await json(ana.run(`${NAMED} --journal local --json`))).toMatchObject({
        code: 0,
        intent: { repeated: true },
      });
      expect(t.proxy.posts()).toHaveLength(posts);
      expect(await t.balance()).toBe(500 - 10 - 5 + 1 - 5 - 4 - 2 - 1);
      const [seen] = (await t.at.eve.auditPage(t.at.account, 1)).filter(line => line.includes('journal.leave_account'));
      expect(JSON.parse(seen ?? '')).toMatchObject({
        who: 'ana@desk',
        reason: expect.stringContaining('only operator'),
      });
    });

    it('cut off around any call on the way back it is run again, and everything is here once', async () => {
      await using t = await leaving();
      await t.at.admin(`add_member('ben', '{}')`);
      const service = { origin: t.proxy.url, mode: 'test' } as const;
      const all = await t.at.ana.heads(t.at.account, {});
      let cuts = 0;
      for (let dieAt = 1; ; dieAt += step) {
        const folder = join(t.ana.folder, `back-${dieAt}`);
        const move = async (die: number) =>
          moveToLocal({ ...(await partsOf(t.at, { folder, dieAt: die })), service }, { mine: true });
        const first = await move(dieAt).catch((thrown: unknown) => thrown);
        if (first instanceof CutOff) cuts += 1;
        else if (first instanceof Error) throw first;
        expect(await move(0), `cut off at ${dieAt}`).toMatchObject({ moved: all.length });
        const { local } = await partsOf(t.at, { folder, dieAt: 0 });
        const here = [];
        for await (const { op, unfinished } of localHeads(local)) {
          const bytes = Buffer.concat((await t.at.ana.readOp(t.at.account, op, 1)).map(each => each.bytes));
          expect(Buffer.compare((await bytesOf(local, op)) ?? bytes.subarray(1), bytes), `cut off at ${dieAt}`).toBe(0);
          if (unfinished) expect(await lengthInMark(local, op), `cut off at ${dieAt}`).toBe(bytes.length);
          const moved = await movedIn(local, op);
          expect(moved?.at, `cut off at ${dieAt}`).toEqual(unfinished ? expect.any(Number) : undefined);
          here.push([op, unfinished]);
        }
        const wanted = all.map(({ op, state }) => [op, state !== 'finished']);
        expect(here.sort(), `cut off at ${dieAt}`).toEqual(wanted.sort());
        if (!(first instanceof CutOff)) break;
      }
      expect(cuts * step).toBeGreaterThan(20);
    });

    it('is refused where another machine has used a name for another purchase, and what was moved stays', async () => {
      await using t = await alone();
      const ben = await t.machine('ben');
      expect((await ben.run('cards create --bin bin_1 --amount 33 --intent po-1 -q')).code).toBe(0);
      const clash = await t.ana.run('journal move --to shared');
      expect(clash).toMatchObject({ code: 15, err: expect.stringContaining('the intent po-1 of') });
      expect((await t.ana.run('cards fund card_1 --amount 7 --journal local')).code).toBe(14);
    });

    it('cut off around any call it is run again, and everything is there once', async () => {
      await using t = await alone();
      const state = join(t.ana.folder, 'state', 'ops');
      const service = { origin: t.proxy.url, mode: 'test' } as const;
      let cuts = 0;
      for (let dieAt = 1; ; dieAt += step) {
        // An op belongs to one account of the database.
        await t.at.root.call('truncate cardwright.op, cardwright.spend_day cascade', []);
        const at = await testAccount(here, { origin: t.proxy.url });
        const folder = join(t.ana.folder, `copy-${dieAt}`);
        await cp(state, join(folder, 'ops'), { recursive: true });
        const move = async (die: number) => {
          const parts = await partsOf(at, { folder, dieAt: die });
          return moveToShared({ ...parts, service });
        };
        const first = await move(dieAt).catch((thrown: unknown) => thrown);
        if (first instanceof CutOff) cuts += 1;
        else if (first instanceof Error) throw first;
        const again = await move(0);
        expect(again.moved + again.there, `cut off at ${dieAt}`).toBe(5);
        const { flaws, ops } = await checkShared((await partsOf(at, { folder, dieAt: 0 })).shared, async () => []);
        expect({ flaws, ops: ops.size }, `cut off at ${dieAt}`).toEqual({ flaws: [], ops: 5 });
        expect(await at.ana.heads(at.account, { unfinished: true })).toMatchObject([{ state: 'running', unknown: 1 }]);
        if (!(first instanceof CutOff)) break;
      }
      expect(cuts * step).toBeGreaterThan(20);
    });

    it.runIf(isWhole)('waits for operations that are held for approval: their request names this journal', async () => {
      await using t = await alone();
      const { ana } = t;
      const env = { CARDWRIGHT_API_KEY: '', CARDWRIGHT_BASE_URL: '' };
      const { publicKey } = generateKeyPairSync('ed25519');
      const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64');
      await writeFile(join(ana.folder, 'approvers'), `carl ed25519 ${raw}\n`, { mode: 0o600 });
      await ana.run(`login --profile held --base-url ${t.proxy.url} --key-stdin`, { env, stdin: t.key });
      await ana.run(`profiles set held approvers_file ${join(ana.folder, 'approvers')}`, { env });
      await ana.run('profiles set held approve_above 1', { env });
      const held = await ana.run('cards create --bin bin_1 --amount 9 --journal local --profile held', { env });
      expect(held, held.err).toMatchObject({ code: 17 });
      const moved = await ana.run('journal move --to shared');
      expect(moved).toMatchObject({ code: 14, err: expect.stringContaining('waits for approval') });
      expect(moved.err).toContain('cardwright approvals list --journal local');
      // Nothing has changed: this machine goes on alone.
      expect((await ana.run('cards fund card_1 --amount 1 --journal local -q')).code).toBe(0);
    });

    it.runIf(isWhole)('keeps the sandbox on this machine', async () => {
      await using t = await alone();
      expect((await t.ana.run('journal move --to shared --sandbox')).code).toBe(2);
      expect((await t.ana.run('journal move')).code).toBe(2);
    });
  });
}

/** Two machines with one shared journal: what one of them has begun the other one knows, takes up, and never does again. */
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MINUTE } from '../../src/core/durations.ts';
import { accountPrint } from '../../src/core/key-print.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Clock } from '../../src/platform/host.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import { LEASE_S, QUIET_S, secondsLeft } from '../support/seconds-left.ts';
import { WORLD_TIME } from '../support/world.ts';
import { cableTo, team, urlOf } from './team.ts';
import { linesOf } from './test-account.ts';
import { underWay } from './under-way.ts';

/** Copies of ops that a machine could not write to the end. */
async function leftCopies(folder: string): Promise<readonly string[]> {
  const found = await readdir(join(folder, 'state', 'team'), { recursive: true });
  return found
    .filter(name => /op_[0-9a-z]{26}\.[0-9a-f]{8}$/.test(name))
    .map(name => join(folder, 'state', 'team', name));
}

/** `isWhole` adds doctor, the chain of what moves no money, and a lease that was lost in another way. */
export function twoMachines({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('two machines', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    it('a purchase of one is known to the other, and is not made again', async () => {
      await using t = await team(here);
      const [one, other] = [await t.machine('ana'), await t.machine('ben')];
      const create = 'cards create --bin bin_1 --amount 10 --intent po-1 --json';
      const first = await one.run(create);
      expect({ code: first.code, err: first.err }).toMatchObject({ code: 0 });
      const again = await other.run(create);
      expect(JSON.parse(again.out)).toMatchObject({
        id: JSON.parse(first.out).id,
        intent: { repeated: true, op: JSON.parse(first.out).intent.op },
      });
      expect((await other.run(create.replace('10', '11'))).code).toBe(2);
      const fund = await other.run('cards fund card_1 --amount 5 -q');
      expect(fund).toMatchObject({ code: 0, out: 'card_1\n' });
      expect(JSON.parse((await one.run('ops list --json')).out).data).toMatchObject([
        { command: 'cards fund', state: 'finished' },
        { command: 'cards create', state: 'finished', done: 1 },
      ]);
      expect([(await t.cards()).length, await t.balance()]).toEqual([1, 85]);
      expect(await t.at.ana.heads(t.at.account, {})).toMatchObject([
        { state: 'finished', holder: 'ben', reserved: 500, spent: 500 },
        { state: 'finished', holder: 'ana', reserved: 1000, spent: 1000 },
      ]);
    });

    it('the same card by several machines at once is meant: each waits for the other, and each has its own', async () => {
      await using t = await team(here);
      const machines = [await t.machine('ana'), await t.machine('ben'), await t.machine('ana')];
      const ran = await Promise.all(machines.map(each => each.run('cards create --bin bin_1 --amount 10 -q')));
      expect(ran.map(({ code, err }) => [code, err])).toEqual(ran.map(() => [0, '']));
      expect([new Set(ran.map(({ out }) => out)).size, t.proxy.posts().length]).toEqual([3, 3]);
    });

    it('what was done and not told yet is waited for, and is not done again where its command does not end', async () => {
      await using t = await team(here);
      const [one, other] = [await t.machine('ana'), await t.machine('ben')];
      expect((await one.run('cards create --bin bin_1 --amount 20 -q')).code).toBe(0);
      const pause = { onPause: () => undefined };
      const left = 'without a sign of life it can be taken up in (\\d+) s';
      for (const [line, again, why, waits] of [
        ['cards create --bin bin_1 --amount 10', '', 'is done, and its command has not said so yet', true],
        [
          'cards create --bin bin_1 --amount 11',
          ' --intent po-7',
          'is done, and its command has not said so yet',
          true,
        ],
        ['cards fund card_1 --amount 2', '', 'is under way in another process', false],
      ] as const) {
        let tell = (): void => undefined;
        const told = new Promise<void>(resolve => {
          tell = resolve;
        });
        const expectLeft = secondsLeft(LEASE_S);
        const [begun, first] = underWay(one, line, told);
        await Promise.race([begun, first]);
        const posts = t.proxy.posts().length;
        const refused = await other.run(line + again, pause);
        tell();
        expect((await first).code).toBe(0);
        expect({ line, code: refused.code, err: refused.err }).toMatchObject({ line, code: 14 });
        expectLeft(refused.err, new RegExp(`the same operation ${why}: op_\\w+, in the hands of ana on desk; ${left}`));
        expect(refused.err).toMatch(/its lease is over: cardwright ops takeover op_\w+ --reason/);
        expect(refused.err.includes('note: ana on desk is doing the same')).toBe(waits);
        expect(t.proxy.posts()).toHaveLength(posts);
        expect((await other.run(line + again)).code, line).toBe(0);
      }
    });

    it('one file on two machines at once: one set of cards', async () => {
      await using t = await team(here, { wallet: 500 });
      const machines = [await t.machine('ana'), await t.machine('ben')];
      const rows = Array.from({ length: 6 }, (_, index) => `bin_1,${index + 2},row ${index + 1}`);
      for (const { folder } of machines)
        await writeFile(join(folder, 'team.csv'), `bin_id,amount,label\n${rows.join('\n')}\n`);
      const ran = await Promise.all(machines.map(each => each.run('cards create --file team.csv --yes')));
      expect(ran.map(({ code }) => code).sort((a, b) => a - b)).toEqual([0, 14]);
      expect([(await t.cards()).length, await t.balance()]).toEqual([6, 500 - 27]);
      for (const each of machines) {
        const late = await each.run('cards create --file team.csv --yes');
        expect(late.code).toBe(14);
        expect(late.err).toMatch(/finished( by \w+ on \w+)? less than 24 hours ago/);
      }
      expect(await t.cards()).toHaveLength(6);
    });

    it('what one leaves unknown the other resumes, and takes over with a reason when it was another operator', async () => {
      await using t = await team(here);
      const [one, same, other] = [await t.machine('ana'), await t.machine('ana'), await t.machine('ben')];
      const lost = async () => {
        t.proxy.fail('POST', /\/cards$/, 'drop-after');
        t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
        const { code, err } = await one.run('cards create --bin bin_1 --amount 10 --label ads --json');
        t.proxy.mend();
        expect(code).toBe(11);
        return String(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op);
      };
      const first = await lost();
      const twin = await other.run('cards create --bin bin_1 --amount 10 --label ads');
      expect(twin).toMatchObject({
        code: 14,
        err: expect.stringContaining(`try: cardwright ops takeover ${first} --reason`),
      });
      expect((await same.run(`ops resume ${first}`)).code).toBe(0);
      expect(await t.cards()).toHaveLength(1);
      const second = await lost();
      const refused = await other.run(`ops resume ${second}`);
      expect(refused.code).toBe(14);
      expect(refused.err).toContain(`cardwright ops takeover ${second} --reason`);
      // A key that was taken away opens nothing, what was begun with it either.
      const print = accountPrint(new Secret(t.key), t.at.account);
      await t.at.admin(`remove_key('${print}')`);
      for (const [machine, line] of [
        [one, `ops resume ${second}`],
        [other, `ops takeover ${second} --reason "ana is on holiday"`],
      ] as const) {
        const { code, err } = await machine.run(line);
        expect([code, err]).toEqual([14, expect.stringContaining('the API key is none of this account')]);
      }
      expect(t.proxy.posts()).toHaveLength(2);
      await t.at.admin(`add_key('${print}')`);
      const taken = await other.run(`ops takeover ${second} --reason "ana is on holiday"`);
      expect({ code: taken.code, err: taken.err }).toMatchObject({ code: 0 });
      expect(await t.cards()).toHaveLength(2);
      const lines = await t.at.eve.auditPage(t.at.account, 1);
      expect(lines.some(line => line.includes('"reason":"ana is on holiday"'))).toBe(true);
      expect(t.proxy.posts()).toHaveLength(2);
    });

    it('who takes a row over waits until nothing of it can be on its way, by the time of the database', async () => {
      await using t = await team(here);
      const [one, other] = [await t.machine('ana'), await t.machine('ben')];
      t.proxy.fail('POST', /\/cards$/, 'drop-before');
      const expectLeft = secondsLeft(QUIET_S);
      const lost = await one.run('cards create --bin bin_1 --amount 10 --json');
      expect(lost.code).toBe(11);
      const { op } = JSON.parse(lost.err.trim().split('\n').at(-1) ?? '').error;
      // The clock of the other machine is ahead: by it the quiet period is over long ago.
      const [began, stop] = [performance.now(), new AbortController()];
      const clock: Clock = {
        now: () => Date.parse(WORLD_TIME) + 10 * MINUTE,
        monotonic: () => performance.now() - began,
        sleep: (ms, signal) => wait(ms, undefined, { ref: false, signal }),
      };
      const taken = await other.run(`ops takeover ${op} --reason "ana is away" --resend-absent --yes`, {
        clock,
        signal: stop.signal,
        onErr: text => text.includes('looking again') && stop.abort('SIGINT'),
      });
      expectLeft(taken.err, /no trace yet; looking again, for (\d+) s at most: then nothing can still be on its way/);
      expect([taken.code, (await t.cards()).length, t.proxy.posts().length]).toEqual([11, 0, 1]);
    });

    it('an outcome that only this machine has seen is brought by its next command, and nothing is sent again', async () => {
      await using t = await team(here, { delayMs: 300 });
      await using cable = await cableTo(here.server);
      const machine = await t.machine('ana', {
        CARDWRIGHT_JOURNAL_URL: `postgres://ana@${encodeURIComponent(cable.folder)}:${cable.port}/${here.name}`,
      });
      t.proxy.fail('POST', /\/cards$/, 'late-answer');
      const cut = t.proxy.posted(1).then(() => cable.cut());
      const lost = await machine.run('cards create --bin bin_1 --amount 10 --json', { onPause: () => undefined });
      await cut;
      expect(lost.code).toBe(11);
      const { error } = JSON.parse(lost.err.trim().split('\n').at(-1) ?? '');
      // The database is away, and this machine says what it knows.
      const known = await machine.run('ops list --local --json');
      expect([known.code, JSON.parse(known.out).data]).toMatchObject([
        0,
        [{ op: error.op, state: 'finished', done: 1 }],
      ]);
      expect(known.err).toContain('These are copies of this machine');
      expect(error).toMatchObject({ outcome: 'unknown', message: expect.stringContaining('the service said yes') });
      const examined = async () => {
        const { out } = await machine.run('doctor --json', { onPause: () => undefined });
        return JSON.parse(out).data.filter(({ check }: { check: string }) => check.endsWith('journal'));
      };
      const waits = {
        status: 'warn',
        says: `what came of ${error.op} waits on this machine`,
        hint: 'cardwright journal push',
      };
      expect(await examined()).toMatchObject([
        { status: 'fail', says: expect.stringContaining('cannot be reached') },
        waits,
      ]);
      await cable.mend();
      expect(await examined()).toMatchObject([{ status: 'ok' }, waits]);
      // A copy that is damaged or cut off is told by every command, with the way to put it aside.
      const [copy = ''] = await leftCopies(machine.folder);
      const bytes = await readFile(copy);
      const flipped = Buffer.from(bytes);
      flipped[400] = (flipped[400] ?? 0) ^ 1;
      for (const spoilt of [flipped, bytes.subarray(0, 900), Buffer.alloc(0)]) {
        await writeFile(copy, spoilt);
        for (const line of ['journal push', 'cards fund card_1 --amount 1']) {
          const refused = await machine.run(line);
          expect(refused, line).toMatchObject({ code: 15, err: expect.stringContaining(`mv ${copy} ${copy}.damaged`) });
        }
      }
      await writeFile(`${copy}.damaged`, flipped);
      await writeFile(copy, bytes);
      const pushed = await machine.run('journal push --json');
      expect(JSON.parse(pushed.out)).toMatchObject({
        brought: [{ op: error.op, rows: 1 }],
        missing: [],
        recovered: [],
      });
      expect(JSON.parse((await machine.run('journal push --json')).out)).toMatchObject({
        brought: [],
        missing: [],
        recovered: [],
      });
      await t.at.endLeases();
      const other = await t.machine('ben');
      expect(JSON.parse((await other.run(`ops show ${error.op} --json`)).out).items).toMatchObject([
        { outcome: 'done' },
      ]);
      expect((await other.run(`ops takeover ${error.op} --reason "the line was cut"`)).code).toBe(0);
      expect([(await t.cards()).length, t.proxy.posts().length]).toEqual([1, 1]);
    });

    it('without the database nothing is sent, and reading goes on', async () => {
      await using t = await team(here);
      const away = { CARDWRIGHT_JOURNAL_URL: 'postgres://ana@127.0.0.1:1/journal' };
      const machine = await t.machine('ana', away);
      const { code, err } = await machine.run('cards create --bin bin_1 --amount 10', { onPause: () => undefined });
      expect(code).toBe(14);
      expect(err).toContain('the shared journal postgres://ana@127.0.0.1:1/journal cannot be reached');
      expect(t.proxy.posts()).toEqual([]);
      expect((await machine.run('wallet --json --jq .balance')).out).toBe('100\n');
      expect((await machine.run('cards create --bin bin_1 --amount 10 --journal local -q')).out).toBe('card_1\n');
      const list = await machine.run('ops list', { onPause: () => undefined });
      expect(list).toMatchObject({ code: 14, err: expect.stringContaining('try: cardwright ops list --local') });
      const copies = await machine.run('ops list --local --json');
      expect([copies.code, JSON.parse(copies.out).data]).toEqual([0, []]);
      // Stopping a card waits for no database.
      expect((await machine.run('cards freeze card_1 --json --jq .status')).out).toBe('frozen\n');
      expect((await machine.run('cards freeze card_1 --without-journal -q')).code).toBe(0);
      const line = async (wanted = 'without_journal') =>
        (await t.at.eve.auditPage(t.at.account, 1))
          .map(text => JSON.parse(text))
          .filter(({ event }) => event === wanted);
      expect(await line()).toEqual([]);
      const back = await machine.run('journal push', { env: { CARDWRIGHT_JOURNAL_URL: urlOf(here, 'ana') } });
      expect(back).toMatchObject({
        code: 0,
        err: expect.stringContaining('now has 5 lines about what this machine did'),
      });
      const noted = { who: 'ana@desk', operation: 'cards.freeze', rows: 1, cards: ['card_1'] };
      expect(await line()).toMatchObject([noted]);
      const later = await machine.run('journal push', { env: { CARDWRIGHT_JOURNAL_URL: urlOf(here, 'ana') } });
      expect([later.code, await line()]).toMatchObject([0, [noted]]);
      expect(await line('outcome')).toMatchObject(Array(2).fill({ operation: 'cards.freeze', card_id: 'card_1' }));
      expect((await machine.run('cards freeze card_1 --without-journal --journal local')).code).toBe(2);
      await writeFile(join(machine.folder, 'stolen.csv'), 'card_id\ncard_1\n');
      const many = await machine.run('cards freeze --file stolen.csv --yes', { onPause: () => undefined });
      const [, works = ''] = /try: cardwright (.*)\n/.exec(many.err) ?? [];
      expect([many.code, works]).toEqual([14, 'cards freeze --file stolen.csv --yes --journal local']);
      expect((await machine.run(works)).code).toBe(0);
      expect((await machine.run('cards freeze card_1 --journal local -q')).code).toBe(0);
      const again = await machine.run('journal push', { env: { CARDWRIGHT_JOURNAL_URL: urlOf(here, 'ana') } });
      expect(again).toMatchObject({
        code: 0,
        err: expect.stringContaining('now has 5 lines about what this machine did'),
      });
      expect(await line('run')).toMatchObject([{ who: 'ana@desk', operation: 'cards.freeze', rows: 1 }]);
      expect(await line('outcome')).toMatchObject(Array(5).fill({ operation: 'cards.freeze' }));
    });

    it.each(
      firstOf(
        [
          { line: 'cards create --bin bin_1 --amount 10', open: 0, isEnded: true },
          { line: 'cards create --file many.csv --yes --concurrency 1', open: 2, isEnded: false },
        ],
        { isWhole },
      ),
    )('who stood still past the lease is told who has the op now: $line', async ({ line, open, isEnded }) => {
      await using t = await team(here, { delayMs: 300 });
      const machine = await t.machine('ana');
      await writeFile(join(machine.folder, 'many.csv'), 'bin_id,amount\nbin_1,1\nbin_1,2\nbin_1,3\n');
      t.proxy.fail('POST', /\/cards$/, 'late-answer');
      const posted = t.proxy.posted(1);
      const running = machine.run(line);
      await posted;
      await t.at.endLeases();
      const [head] = await t.at.eve.heads(t.at.account, { unfinished: true });
      const { op = '' } = head ?? {};
      const call = {
        account: t.at.account,
        known: undefined,
        op,
        by: '0b0b0b0b',
        host: 'pc',
        ttl_ms: 180_000,
        resume: false,
      };
      const taken = await t.at.ben.take(call, { event: 'taken', op, reason: 'ana sleeps' });
      expect(taken).toMatchObject({ verdict: 'taken', epoch: 2 });
      const ending = linesOf(call.by, { t: 'END', done: 1, refused: 0, not_sent: 0, cents: 1000, at: 1 });
      const appending = { ...call, epoch: 2, n: (head?.n ?? 0) + 1, counts: { unknown: 0, open: 0 } };
      if (isEnded) await t.at.ben.append(appending, ending);
      const { code, err } = await running;
      expect([code, err]).toEqual([
        11,
        expect.stringContaining(`${op} was taken over by ben on pc, while this process`),
      ]);
      expect(err.includes('. ben has finished it since: 1 of 1 done')).toBe(isEnded);
      expect(t.proxy.posts()).toHaveLength(1);
      // What the service has said is brought by the next command, whoever has the op.
      const listed = await machine.run('ops list --json');
      expect([listed.code, JSON.parse(listed.out).data]).toMatchObject([0, [{ op, done: 1, unknown: 0, open }]]);
    });

    it.runIf(isWhole)('doctor does not wait for a database that says nothing', async () => {
      await using t = await team(here);
      const silent = createServer();
      await once(silent.listen(0, '127.0.0.1'), 'listening');
      const { port } = silent.address() as AddressInfo;
      const machine = await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: `postgres://ana@127.0.0.1:${port}/journal` });
      const began = performance.now();
      const { out } = await machine.run('doctor --json');
      const [finding] = JSON.parse(out).data.filter(({ check }: { check: string }) => check === 'shared journal');
      expect(finding).toMatchObject({ status: 'fail', says: expect.stringContaining('cannot be reached') });
      // Two seconds, and room for a machine that does much else; with the patience of other commands it is fifteen.
      expect(performance.now() - began).toBeLessThan(10_000);
      silent.close();
    });

    it.runIf(isWhole)(
      'who froze a card, changed webhooks or saw a card number is in the chain of all, and nobody waits for it',
      async () => {
        await using t = await team(here);
        const machine = await t.machine('ana');
        for (const words of [
          'cards create --bin bin_1 --amount 10 -q',
          'cards freeze card_1',
          'cards unfreeze card_1 --yes',
          'webhooks create --url https://hooks.example.com/in --events card.created --yes',
          'cards details card_1 --reveal --out card.json',
          'cards freeze card_9',
          'cards terminate card_1 --yes',
        ]) {
          const { code, err } = await machine.run(words);
          expect({ words, code, err }).toMatchObject({ code: words.endsWith('card_9') ? 5 : 0 });
        }
        const lines = (await t.at.eve.auditPage(t.at.account, 1)).map(text => JSON.parse(text));
        const told = lines.filter(({ who, op }) => who === 'ana@desk' && op === undefined);
        expect(told.map(({ event, operation, card_id: card, outcome }) => [event, operation, card, outcome])).toEqual([
          ['write', 'cards.freeze', 'card_1', undefined],
          ['outcome', 'cards.freeze', 'card_1', 'done'],
          ['write', 'cards.unfreeze', 'card_1', undefined],
          ['outcome', 'cards.unfreeze', 'card_1', 'done'],
          ['write', 'webhooks.create', undefined, undefined],
          ['outcome', 'webhooks.create', undefined, 'done'],
          ['reveal', 'cards.details', 'card_1', undefined],
          ['outcome', 'cards.details', 'card_1', 'done'],
          ['write', 'cards.freeze', 'card_9', undefined],
          ['outcome', 'cards.freeze', 'card_9', 'refused'],
        ]);
        const { out } = await machine.run('audit verify --shared --json');
        expect(JSON.parse(out)).toMatchObject({ ok: true });
      },
    );

    it('a database that has lost what this machine knows is told apart, and nothing is sent', async () => {
      await using t = await team(here);
      const machine = await t.machine('ana');
      expect((await machine.run('cards create --bin bin_1 --amount 10 -q')).code).toBe(0);
      const root = join(machine.folder, 'state', 'team');
      const [journal = ''] = await readdir(root);
      const path = join(root, journal, `${t.at.account}.head`);
      const { seq } = JSON.parse(await readFile(path, 'utf8'));
      await writeFile(path, JSON.stringify({ seq: seq + 1, hash: '0'.repeat(64) }));
      const lost = await machine.run('cards fund card_1 --amount 5');
      expect(lost.code).toBe(15);
      expect(lost.err).toContain('the database has lost what was written last');
      expect(t.proxy.posts()).toHaveLength(1);
    });

    it('the caps of the account hold for all, and the key of another account is refused', async () => {
      await using t = await team(here);
      await t.at.admin(`set_cap('max_per_day', 1500)`);
      const [one, other] = [await t.machine('ana'), await t.machine('ben')];
      expect((await one.run('cards create --bin bin_1 --amount 10 -q')).code).toBe(0);
      const over = await other.run('cards create --bin bin_1 --amount 6');
      expect(over.code).toBe(14);
      expect(over.err).toContain('max_per_day of the shared journal is $15.00 for a day; $10.00 used, $6.00 asked');
      expect((await other.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
      const print = accountPrint(new Secret(t.key), t.at.account);
      await t.at.admin(`remove_key('${print}')`);
      const foreign = await one.run('cards create --bin bin_1 --amount 1');
      expect(foreign.code).toBe(14);
      expect(foreign.err).toContain(`select cardwright.add_key('${t.at.account}', '${print}');`);
      expect(await t.cards()).toHaveLength(2);
    });
  });
}

/** What a colleague has ended, and who began it has not been told: the same command is refused until that is done. */

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import { words } from '../support/words.ts';
import type { World } from '../support/world.ts';
import { team } from './team.ts';
import { underWay } from './under-way.ts';

type Team = Awaited<ReturnType<typeof team>>;

type Fault = 'drop-after' | 'drop-before';

/** The service has done it (or has not), no answer came, and nothing shows it: exit 11. Resolves to the op. */
async function lost(t: Team, machine: World, line: string, path: RegExp, fault: Fault = 'drop-after'): Promise<string> {
  t.proxy.fail('POST', path, fault);
  // A fund is not settled by what its card holds alone.
  if (line.startsWith('cards create'))
    t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
  const { code, err } = await machine.run(`${line} --json`);
  t.proxy.mend();
  expect(code).toBe(11);
  return String(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op);
}

async function stateOf(machine: World, op: string): Promise<string> {
  const { data } = JSON.parse((await machine.run('ops list --json')).out);
  return data.find((each: { op: string }) => each.op === op).state;
}

/** `isWhole` adds the other commands, what was recorded by hand, and one machine alone. */
export function notTold({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('an operation that a colleague has ended', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    it.each(
      firstOf(
        [
          ['cards create --bin bin_1 --amount 10 --label ads', /\/cards$/],
          ['cards fund card_1 --amount 5', /\/fund$/],
          ['cards withdraw card_1 --amount 2 --yes', /\/withdraw$/],
        ],
        { isWhole },
      ),
    )('%s', async (line, path) => {
      await using t = await team(here);
      const [ana, desk, ben] = [await t.machine('ana'), await t.machine('ana'), await t.machine('ben')];
      expect((await ben.run('cards create --bin bin_1 --amount 20 -q')).code).toBe(0);
      const op = await lost(t, ana, line, path);
      const ended = await ben.run(`ops takeover ${op} --reason "ana is away" --yes`);
      const settled = ended.code === 11 ? await ben.run(`ops resolve ${op} --as done --note seen --yes`) : ended;
      expect({ code: settled.code, err: settled.err }).toMatchObject({ code: 0 });
      const posts = t.proxy.posts().length;
      for (const machine of [ana, desk]) {
        for (const way of ['', ' --intent po-9', ' --debug']) {
          const again = await machine.run(line + way);
          expect({ way, code: again.code, err: again.err }).toMatchObject({ way, code: 14 });
          expect(again.err).toContain(
            `the same operation is done, and who began it has not seen that: ${op}; ben on desk has ended it`,
          );
          expect(again.err).toContain(`try: cardwright ops resume ${op}\n`);
        }
      }
      expect(t.proxy.posts()).toHaveLength(posts);
      expect(JSON.parse((await ana.run('ops list --json')).out).data[0]).toMatchObject({ op, state: 'untold' });
      expect(JSON.parse((await ben.run('ops list --json')).out).data[0]).toMatchObject({ op, state: 'finished' });
      expect((await ana.run(`ops resume ${op} --dry-run`)).code).toBe(0);
      expect((await ana.run(line)).code).toBe(14);
      const shown = await ana.run(`ops resume ${op}`);
      expect([shown.code, shown.out]).toEqual([0, expect.stringContaining('done')]);
      expect(JSON.parse((await desk.run('ops list --json')).out).data[0]).toMatchObject({ op, state: 'finished' });
      // Meant, from here on.
      expect((await ana.run(line)).code).toBe(0);
      expect(t.proxy.posts()).toHaveLength(posts + 1);
    });

    it.runIf(isWhole)('others may do the same, and so may who began it where nothing was done', async () => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      const line = 'cards create --bin bin_1 --amount 10 --label ads';
      const op = await lost(t, ana, line, /\/cards$/);
      expect((await ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).code).toBe(0);
      expect((await ben.run(line)).code).toBe(0);
      expect((await ana.run(line)).code).toBe(14);
      const other = await lost(t, ana, line.replace('10', '11'), /\/cards$/, 'drop-before');
      t.proxy.fail('GET', /./, ...Array<'drop-before'>(30).fill('drop-before'));
      expect((await ben.run(`ops takeover ${other} --reason "ana is away" --yes`)).code).not.toBe(0);
      t.proxy.mend();
      expect((await ben.run(`ops resolve ${other} --as not-done --note gone --yes`)).code).toBe(0);
      expect((await ana.run(line.replace('10', '11'))).code).toBe(0);
    });

    it('an intent of who began it shows what came of it, and that is told', async () => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      const line = 'cards create --bin bin_1 --amount 10 --label ads --intent po-1';
      const op = await lost(t, ana, line, /\/cards$/);
      expect((await ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).code).toBe(0);
      const posts = t.proxy.posts().length;
      for (const other of ['', ' --intent po-2'])
        expect((await ana.run(line.replace(' --intent po-1', other))).code).toBe(14);
      const again = await ana.run(`${line} --json`);
      expect(again.code).toBe(0);
      expect(JSON.parse(again.out)).toMatchObject({ intent: { op, repeated: true } });
      expect(t.proxy.posts()).toHaveLength(posts);
      expect(JSON.parse((await ana.run('ops list --json')).out).data[0]).toMatchObject({ op, state: 'finished' });
    });

    it('a takeover that stands still while it tells has told nobody either', async () => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      const op = await lost(t, ana, 'cards create --bin bin_1 --amount 10 --label ads', /\/cards$/);
      let tell = (): void => undefined;
      const told = new Promise<void>(resolve => {
        tell = resolve;
      });
      const [begun, taking] = underWay(ben, `ops takeover ${op} --reason "ana is away" --yes`, told);
      await begun;
      expect(await stateOf(ana, op)).toBe('running');
      await t.at.root.call(`update cardwright.op set lease_until = clock_timestamp() where op = $1`, [op]);
      for (const machine of [ana, ben]) {
        expect(await stateOf(machine, op)).toBe('untold');
        expect(JSON.parse((await machine.run(`ops show ${op} --json`)).out)).toMatchObject({
          state: 'untold',
          done: 1,
        });
      }
      tell();
      expect((await taking).code).toBe(0);
    });

    it.runIf(isWhole)('a row of a file that he has recorded by hand, which is typed by itself', async () => {
      await using t = await team(here, { wallet: 500 });
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      for (const amount of [10, 11])
        expect((await ben.run(`cards create --bin bin_1 --amount ${amount}`)).code).toBe(0);
      await writeFile(join(ana.folder, 'funds.csv'), 'card_id,amount\ncard_1,2\ncard_2,3\n');
      const op = await lost(t, ana, 'cards fund --file funds.csv --yes', /\/fund$/);
      await ben.run(`ops takeover ${op} --reason "ana is away" --yes`);
      expect((await ben.run(`ops resolve ${op} --as done --note seen --yes`)).code).toBe(0);
      const posts = t.proxy.posts().length;
      for (const more of ['', ' --intent po-1']) {
        const again = await ana.run(`cards fund card_1 --amount 2${more}`);
        expect({ code: again.code, err: again.err }).toMatchObject({ code: 14 });
        expect(again.err).toContain(`try: cardwright ops resume ${op}\n`);
      }
      expect(t.proxy.posts()).toHaveLength(posts);
      expect((await ana.run(`ops resume ${op}`)).code).toBe(0);
      expect((await ana.run('cards fund card_1 --amount 2')).code).toBe(0);
    });

    it('the name of a row: its file shows it as done, and sends the others alone', async () => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      const line = 'cards create --bin bin_1 --amount 9 --label one --intent po-1';
      const op = await lost(t, ana, line, /\/cards$/);
      expect((await ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).code).toBe(0);
      const file = async (...more: readonly string[]) => {
        const rows = ['bin_id,amount,label,intent', 'bin_1,9,one,po-1', ...more];
        await writeFile(join(ana.folder, 'named.csv'), `${rows.join('\n')}\n`);
        const { code, out, err } = await ana.run('cards create --file named.csv --yes --json');
        expect({ code, err }).toMatchObject({ code: 0 });
        return { err, ...JSON.parse(out) };
      };
      const posts = t.proxy.posts().length;
      const one = { row: 1, outcome: 'done', card_id: 'card_1' };
      expect(await file()).toMatchObject({ data: [one], page: { done: 1 } });
      expect(t.proxy.posts()).toHaveLength(posts);
      const two = await file('bin_1,3,two,po-2');
      expect(two).toMatchObject({ data: [one, { row: 2, outcome: 'done', card_id: 'card_2' }] });
      expect(two.err).toContain('1 row was carried out before under the same intent');
      expect(t.proxy.posts()).toHaveLength(posts + 1);
      // Its only row was shown as done.
      expect(await stateOf(ana, op)).toBe('finished');
    });

    it('a row of a file, which is typed by itself', async () => {
      await using t = await team(here, { wallet: 500 });
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      const rows = ['bin_1,2,one', 'bin_1,3,two'];
      await writeFile(join(ana.folder, 'team.csv'), `bin_id,amount,label\n${rows.join('\n')}\n`);
      await writeFile(join(ana.folder, 'more.csv'), `bin_id,amount,label\n${[...rows, 'bin_1,4,three'].join('\n')}\n`);
      const file = 'cards create --file team.csv --yes';
      const op = await lost(t, ana, file, /\/cards$/);
      const ended = await ben.run(`ops takeover ${op} --reason "ana is away" --resend-absent --yes`);
      expect({ code: ended.code, err: ended.err }).toMatchObject({ code: 0 });
      const posts = t.proxy.posts().length;
      const one = 'cards create --bin bin_1 --amount 2 --label one';
      for (const [line, says] of [
        [
          one,
          `is in a run that has ended, 2 of its 2 rows done, and who began it has not seen that: ${op}; ben on desk`,
        ],
        [one, `try: cardwright ops resume ${op}\n`],
        [file, 'was finished by ben on desk less than 24 hours ago, 2 of 2 rows done'],
        [file.replace('team', 'more'), `2 of these 3 rows`],
      ] as const) {
        const { code, err } = await ana.run(line);
        expect({ line, code, err }).toMatchObject({ code: 14, err: expect.stringContaining(says) });
      }
      expect(t.proxy.posts()).toHaveLength(posts);
      expect((await ben.run(one)).code).toBe(0);
      expect((await ana.run(`ops resume ${op}`)).code).toBe(0);
      expect((await ana.run(one)).code).toBe(0);
      expect((await ana.run(file)).code).toBe(14);
      expect(t.proxy.posts()).toHaveLength(posts + 2);
    });

    it.each(
      firstOf(
        [
          ['over a shared journal', async (t: Team) => t.machine('ana')],
          [
            'in the files of one machine',
            async (t: Team) => t.machine('ana', { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' }),
          ],
        ],
        { isWhole },
      ),
    )('an answer that could not be printed, %s', async (_, machineOf) => {
      await using t = await team(here);
      const machine = await machineOf(t);
      const line = 'cards create --bin bin_1 --amount 10 --label ads';
      for (const [name, unshown] of [
        ['', async () => machine.run(`${line} --json --jq .id.last4`)],
        [' --intent po-1', async () => machine.run(`${line} --intent po-1 --json --jq .id.last4`)],
        [' --intent po-3', async () => machine.run(`${line} --intent po-3 --json`, { readerLeft: true })],
      ] as const) {
        const lost = await unshown();
        expect({ name, code: lost.code, err: lost.err }).toMatchObject({ name, code: 15 });
        const { op } = JSON.parse(lost.err.trim().split('\n').at(-1) ?? '').error;
        const posts = t.proxy.posts().length;
        expect(await stateOf(machine, op)).toBe('untold');
        const recorded = await machine.run(`ops resolve ${op} --as done --note seen --yes`);
        expect([recorded.code, recorded.err]).toEqual([
          2,
          expect.stringContaining(`try: cardwright ops resume ${op}\n`),
        ]);
        for (const other of ['', ' --intent po-2'].filter(each => each !== name)) {
          const refused = await machine.run(line + other);
          expect({ name, other, code: refused.code, err: refused.err }).toMatchObject({ name, other, code: 14 });
          expect(refused.err).toContain(
            `the same operation is done, and its command ended before it could say so: ${op}`,
          );
          expect(refused.err).toContain(`try: cardwright ops resume ${op}\n`);
        }
        const shown = await machine.run(name === '' ? `ops resume ${op}` : `${line}${name} --json`);
        expect({ name, code: shown.code, err: shown.err }).toMatchObject({ name, code: 0 });
        if (name !== '') expect(JSON.parse(shown.out)).toMatchObject({ intent: { op, repeated: true } });
        expect(t.proxy.posts()).toHaveLength(posts);
        expect(await stateOf(machine, op)).toBe('finished');
      }
      // Shown, and meant.
      expect((await machine.run(`${line} --intent po-2`)).code).toBe(0);
    });

    it('a lease that was killed while its program ran: its card may have paid, whatever name it had', async () => {
      await using t = await team(here);
      const ana = await t.machine('ana');
      await using place = await home();
      const line = (name: string, code: string) =>
        `cards lease --bin bin_1 --amount 9 --reveal --yes${name} -- node -e "${code}"`;
      const [begun, again] = [`process.stdout.write('paying');setTimeout(() => {}, 5_000)`, ``];
      const child = place.start(words(line(' --intent po-1', begun)), {
        env: t.processEnv('ana', ana),
        cwd: ana.folder,
      });
      const told: string[] = [];
      child.stderr?.on('data', (chunk: Buffer) => told.push(String(chunk)));
      const [first] = await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'close')]);
      expect([String(first), told.join('')]).toEqual(['paying', expect.anything()]);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const posts = t.proxy.posts().length;
      // A refusal shows nobody what came of it. Its own intent leads to the card, which it would have settled.
      for (const name of ['', ' --intent po-1', '', ' --intent po-1', ' --intent po-2']) {
        const refused = await ana.run(line(name, again));
        const code = name === ' --intent po-1' ? 15 : 14;
        expect({ name, code: refused.code, out: refused.out, err: refused.err }).toMatchObject({ name, code, out: '' });
        expect(refused.err).toMatch(/try: cardwright ops resume op_/);
      }
      expect(t.proxy.posts()).toHaveLength(posts);
      const [{ op }] = JSON.parse((await ana.run('ops list --state untold --json')).out).data;
      expect((await ana.run(`ops resume ${op}`)).code).toBe(0);
      const named = await ana.run(line(' --intent po-1', again));
      expect([named.code, named.out], named.err).toEqual([14, '']);
      expect(named.err).toContain('try: cardwright cards get card_1');
      expect((await ana.run(line('', again))).code).toBe(0);
    });
  });
}

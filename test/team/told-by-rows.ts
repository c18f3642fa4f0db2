/** A file that is run again and shows each row of an earlier operation as done: who began that has seen it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stoppedBy } from '../../src/cli/run.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import type { RunOptions, World } from '../support/world.ts';
import { team } from './team.ts';

type Team = Awaited<ReturnType<typeof team>>;

const LINE = 'cards create --file named.csv --yes --json';
const ONE = 'bin_1,2,one,po-1';
const TWO = 'bin_1,3,two,po-2';

async function named(machine: World, ...rows: readonly string[]): Promise<void> {
  await writeFile(join(machine.folder, 'named.csv'), `${['bin_id,amount,label,intent', ...rows].join('\n')}\n`);
}

async function stateOf(machine: World, op: string): Promise<string> {
  const { data } = JSON.parse((await machine.run('ops list --json')).out);
  return data.find((each: { op: string }) => each.op === op).state;
}

/** The file, shown again; resolves to its rows and to the code. */
async function again(machine: World, options: RunOptions = {}) {
  const { code, out, err } = await machine.run(LINE, options);
  return { code, err, rows: code === 0 ? JSON.parse(out).data.map((row: { outcome: string }) => row.outcome) : [] };
}

const MACHINES = [
  ['over a shared journal', async (t: Team) => t.machine('ana')],
  [
    'in the files of one machine',
    async (t: Team) => t.machine('ana', { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' }),
  ],
] as const;

const opIn = (text: string) => /op_[0-9a-z]{26}/.exec(text)?.[0] ?? '';

/** `isWhole` adds the files of one machine, and runs that could not be verified. */
export function toldByRows({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('rows that a file shows', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    it('what a colleague has ended is over when all of it was shown, and not before', async () => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      await named(ana, ONE, TWO);
      t.proxy.fail('POST', /\/cards$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
      const lost = await ana.run(LINE);
      t.proxy.mend();
      expect(lost.code).toBe(11);
      const op = opIn(lost.err);
      const ended = await ben.run(`ops takeover ${op} --reason "ana is away" --resend-absent --yes`);
      expect({ code: ended.code, err: ended.err }).toMatchObject({ code: 0 });
      const posts = t.proxy.posts().length;
      // One of its rows alone; nobody reads it; not as it was asked for; by somebody else.
      await named(ana, ONE);
      expect(await again(ana)).toMatchObject({ code: 0, rows: ['done'] });
      await named(ana, ONE, TWO);
      expect((await ana.run(LINE, { readerLeft: true })).code).toBe(15);
      expect((await ana.run(`${LINE} --jq .page.total.rows`)).code).toBe(15);
      expect((await ana.run(`${LINE} --dry-run`)).code).toBe(0);
      await named(ben, ONE, TWO);
      expect(await again(ben)).toMatchObject({ code: 0, rows: ['done', 'done'] });
      expect(await stateOf(ana, op)).toBe('untold');
      expect((await ana.run('cards create --bin bin_1 --amount 2 --label one')).code).toBe(14);
      expect(await again(ana)).toMatchObject({ code: 0, rows: ['done', 'done'] });
      expect(await stateOf(ana, op)).toBe('finished');
      expect(t.proxy.posts()).toHaveLength(posts);
      expect((await ana.run('cards create --bin bin_1 --amount 2 --label one')).code).toBe(0);
    });

    it.each(firstOf(MACHINES, { isWhole }))(
      'whose answer could not be printed, beside new rows, %s',
      async (_, machineOf) => {
        await using t = await team(here);
        const ana = await machineOf(t);
        await named(ana, ONE, TWO);
        const lost = await ana.run(LINE, { readerLeft: true });
        expect(lost.code).toBe(15);
        const op = opIn(lost.err);
        expect(await stateOf(ana, op)).toBe('untold');
        await named(ana, ONE, TWO, 'bin_1,4,three,po-3');
        expect(await again(ana)).toMatchObject({ code: 0, rows: ['done', 'done', 'done'] });
        expect(await stateOf(ana, op)).toBe('finished');
        expect(await t.cards()).toHaveLength(3);
      },
    );

    it.each(firstOf(MACHINES, { isWhole }))('of a file of one row, by its single command, %s', async (_, machineOf) => {
      await using t = await team(here);
      const ana = await machineOf(t);
      await named(ana, ONE);
      const lost = await ana.run(LINE, { readerLeft: true });
      const op = opIn(lost.err);
      expect(await stateOf(ana, op)).toBe('untold');
      const shown = await ana.run('cards create --bin bin_1 --amount 2 --label one --intent po-1 --json');
      expect({ code: shown.code, err: shown.err }).toMatchObject({ code: 0 });
      expect(await stateOf(ana, op)).toBe('finished');
      expect(await t.cards()).toHaveLength(1);
    });

    it.each(firstOf(MACHINES, { isWhole }))(
      'a signal behind the last row ends with its code, and the file verifies it, %s',
      async (_, machineOf) => {
        await using t = await team(here);
        const ana = await machineOf(t);
        await named(ana, ONE, TWO);
        for (const [reason, code] of [
          ['terminated', 143],
          ['interrupted', 130],
        ] as const) {
          const stopping = new AbortController();
          const onOut = (text: string) => {
            if (text.includes('"done"')) stopping.abort(stoppedBy(reason));
          };
          await named(ana, `bin_1,2,one,${reason}-1`);
          const ended = await ana.run(LINE.replace('--json', '-o ndjson'), { signal: stopping.signal, onOut });
          expect({ code: ended.code, err: ended.err }).toMatchObject({ code });
          const op = opIn(ended.err);
          expect(ended.err).toContain(`"hint":"cardwright ops resume ${op}`);
          expect(await stateOf(ana, op)).toBe('untold');
          expect(await again(ana)).toMatchObject({ code: 0, rows: ['done'] });
          expect(await stateOf(ana, op)).toBe('finished');
        }
        expect(await t.cards()).toHaveLength(2);
      },
    );

    it('a run that could not be verified does not end with 0', async () => {
      await using t = await team(here);
      const ana = await t.machine('ana');
      await named(ana, ONE, TWO);
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
      const ended = await ana.run(LINE);
      t.proxy.mend();
      expect({ code: ended.code, err: ended.err }).toMatchObject({ code: 15 });
      const op = opIn(ended.err);
      expect(await stateOf(ana, op)).toBe('untold');
      expect((await ana.run(`ops resume ${op}`)).code).toBe(0);
      expect(await stateOf(ana, op)).toBe('finished');
    });

    it.runIf(isWhole)('nor does a single create that was sent again on a look, and could not be verified', async () => {
      await using t = await team(here);
      const ana = await t.machine('ana');
      t.proxy.fail('POST', /\/cards$/, 'throttled');
      const onPause = () => {
        if (t.proxy.posts().length === 2)
          t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
      };
      const ended = await ana.run('cards create --bin bin_1 --amount 2 --json', { onPause, longestPause: 8_000 });
      t.proxy.mend();
      expect({ code: ended.code, err: ended.err }).toMatchObject({ code: 15 });
      const op = opIn(ended.err);
      expect(ended.err).toContain(`"hint":"cardwright ops resume ${op}`);
      const resumed = await ana.run(`ops resume ${op}`, { onPause: () => undefined, longestPause: 8_000 });
      expect({ code: resumed.code, err: resumed.err }).toMatchObject({ code: 0 });
      expect(await stateOf(ana, op)).toBe('finished');
      expect(await t.cards()).toHaveLength(1);
    });
  });
}

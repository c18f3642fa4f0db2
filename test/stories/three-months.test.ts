/** Three months of one account, closed one after the other as an accountant does: hledger reads them as one journal. */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requires } from '../support/programs.ts';
import { type World, world } from '../support/world.ts';

async function done(here: World, line: string, env = {}): Promise<string> {
  const { code, out, err } = await here.run(line, { env });
  expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
  return out.trim();
}

const MONTHS = ['2026-12', '2027-01', '2027-02'] as const;

it.skipIf(requires('hledger'))(
  'every month opens as the one before has closed, and hledger agrees to the cent',
  async () => {
    await using here = await world({ wallet: 2000 });
    const colleague = { CARDWRIGHT_CONFIG_DIR: `${here.folder}/colleague` };
    await done(here, 'sandbox clock set frozen --at 2026-11-30T23:00:00Z -q');
    await done(here, 'cards create --bin bin_1 --amount 300 --label ads -q');
    await done(here, 'books reconcile');
    const balances = new Map<string, { opening: number; closing: number }>();
    const included: string[] = [];
    for (const [nth, month] of MONTHS.entries()) {
      await done(here, `sandbox clock set frozen --at ${month}-05T10:00:00Z -q`);
      await done(here, `cards create --bin bin_1 --amount ${50 + nth} --label saas -q`);
      await done(here, 'cards fund card_1 --amount 20 --yes -q');
      const hold = await done(
        here,
        'sandbox simulate authorize --card card_1 --amount 30 --merchant "Café" --mcc 5812 -q',
      );
      await done(here, `sandbox simulate settle ${hold} --amount 33.5 -q`);
      // Looked at before and after, what a colleague moves is of this month.
      await done(here, 'books reconcile');
      await done(here, 'cards fund card_1 --amount 7 --yes -q', colleague);
      await done(here, 'books reconcile');
      await done(here, `sandbox clock set frozen --at ${month}-20T10:00:00Z -q`);
      await done(here, `sandbox simulate refund ${hold} --amount 3.5 -q`);
      if (nth === 1) await done(here, 'cards terminate card_2 --yes -q');
      // After the month has ended, and before anything happens in the next one.
      const next = MONTHS[nth + 1] ?? '2027-03';
      await done(here, `sandbox clock set frozen --at ${next}-01T00:30:00Z -q`);
      await done(here, 'books reconcile');
      const told = JSON.parse(await done(here, `books statement --period last-month --json`));
      expect([told.period, told.provisional, told.reconciled]).toEqual([month, [], true]);
      for (const { account, opening, closing } of told.data) {
        expect({ month, account, opening }).toEqual({
          month,
          account,
          opening: balances.get(account)?.closing ?? opening,
        });
        balances.set(account, { opening, closing });
      }
      await done(here, `books export --format hledger --period ${month} --out books${nth === 0 ? '' : ' --continue'}`);
      included.push(`include books/sandbox-${month}.journal`);
    }
    const main = join(here.folder, 'main.journal');
    await writeFile(main, `${included.join('\n')}\n`);
    const hledger = (...words: string[]) => spawnSync('hledger', ['-f', main, ...words], { encoding: 'utf8' });
    expect(hledger('check').stderr).toBe('');
    const shown = hledger('bal', 'Assets:Cardwright', '-O', 'csv', '--no-total').stdout;
    const sum = [...shown.matchAll(/"(-?[\d.]+) USD"/g)].reduce(
      (all, [, amount]) => all + Math.round(Number(amount) * 100),
      0,
    );
    const closings = [...balances.values()].reduce((all, { closing }) => all + Math.round(closing * 100), 0);
    expect(sum).toBe(closings);
    // A changed cent is refused.
    const path = join(here.folder, 'books', `sandbox-${MONTHS[1]}.journal`);
    await writeFile(path, (await readFile(path, 'utf8')).replace('33.50', '33.51'));
    expect(hledger('check').status).not.toBe(0);
  },
  240_000,
);

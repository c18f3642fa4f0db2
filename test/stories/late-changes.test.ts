import { describe, expect, it } from 'vitest';
import { firstOf } from '../support/first-of.ts';
import { isWhole } from '../support/whole.ts';
import { type World, world } from '../support/world.ts';

/** A world of one changing record a purchase, with a settled one that is 40 days old, and a copy of it. */
async function oldPurchase(): Promise<World> {
  const here = await world({ dialect: 'auth-single' });
  await here.run('cards create --bin bin_1 --amount 100 --label ads -q');
  await here.run('sandbox simulate authorize --card card_1 --amount 30 -q');
  await here.run('sandbox simulate settle txn_1 -q');
  await here.run('sandbox clock advance 40d');
  expect((await here.run('books reconcile --jq .verdict')).out).toBe('baseline\n');
  await here.run('sandbox clock advance 1d');
  await here.run('sandbox simulate authorize --card card_1 --amount 4 -q');
  expect((await here.run('books sync --jq .transactions.new')).out).toBe('1\n');
  return here;
}

describe('a purchase in one changing record that was settled long ago', () => {
  it.each(
    firstOf(
      [
        ['in part', 12.5],
        ['as a whole', 30],
      ],
      { isWhole },
    ),
  )('is read again when it is refunded %s, and nothing is missing', async (_, amount) => {
    await using here = await oldPurchase();
    await here.run(`sandbox simulate refund txn_1 --amount ${amount} -q`);
    const told = JSON.parse((await here.run('books sync --json')).out);
    expect(told.transactions).toEqual({ new: 0, changed: 1, gone: 0 });
    const shown = (line: string) => here.run(`tx list --card card_1 ${line} --json --jq .data`);
    expect((await shown('--offline')).out).toBe((await shown('')).out);
    const verdict = await here.run('books reconcile --json');
    expect(JSON.parse(verdict.out)).toMatchObject({ residual: 0, findings: [] });
    expect(verdict.code).toBe(0);
  });

  it('is not looked for when nothing of it changed', async () => {
    await using here = await oldPurchase();
    await here.run('sandbox simulate settle txn_2 -q');
    const few = JSON.parse((await here.run('books sync --json')).out);
    expect(few.requests).toBeLessThan(12);
    expect((await here.run('books sync --jq .requests')).out).toBe('3\n');
  });
});

describe('a month whose purchase in one changing record is refunded later', () => {
  interface Account {
    readonly opening: number;
    readonly closing: number;
    readonly lines: readonly { readonly id: string; readonly type: string; readonly amount: number }[];
  }

  it.each(
    firstOf(
      [
        ['in part', 12.5],
        ['as a whole', 30],
      ],
      { isWhole },
    ),
  )('stays as it was exported; the refund is a line of the day on which it was seen: %s', async (_, amount) => {
    await using here = await world({ dialect: 'auth-single', wallet: 500 });
    const done = async (line: string) => {
      const ran = await here.run(line);
      expect({ line, code: ran.code, err: ran.code === 0 ? '' : ran.err }).toEqual({ line, code: 0, err: '' });
      return ran.out;
    };
    const month = async (name: string) => {
      const told = JSON.parse(await done(`books statement --period ${name} --card card_1 --json`));
      const [{ opening, closing, lines }] = told.data as [Account];
      return [opening, ...lines.map(line => [line.id, line.type, line.amount]), closing];
    };
    const ofx = (name: string) => done(`books export --format ofx --period ${name}`);
    await done('cards create --bin bin_1 --amount 100 --label ads -q');
    await done('sandbox simulate authorize --card card_1 --amount 30 -q');
    await done('sandbox simulate settle txn_1 -q');
    await done('sandbox clock set frozen --at 2026-11-30T10:00:00Z -q');
    const late = (await done('sandbox simulate authorize --card card_1 --amount 4 -q')).trim();
    await done('books reconcile -q');
    await done('sandbox clock set frozen --at 2026-12-01T10:00:00Z -q');
    await done('books reconcile -q');
    const before = [await month('2026-11'), await ofx('2026-11')];
    await done('sandbox clock set frozen --at 2026-12-03T10:00:00Z -q');
    await done(`sandbox simulate refund txn_1 --amount ${amount} -q`);
    await done(`sandbox simulate settle ${late} -q`);
    // Known to the copy, and in no cut so far.
    await done('books sync -q');
    expect([await month('2026-11'), await ofx('2026-11')]).toEqual(before);
    await done('sandbox clock set frozen --at 2027-01-02T10:00:00Z -q');
    await done('books reconcile -q');
    expect([await month('2026-11'), await ofx('2026-11')]).toEqual(before);
    const lines = [
      ['txn_1-2', 'refund', amount],
      [late, 'settlement', -4],
    ];
    expect(await month('2026-12')).toEqual([70, ...lines, 66 + amount]);
    expect(await ofx('2026-12')).toContain('<FITID>txn_1-2<');
  });
});

import { describe, expect, it } from 'vitest';
import { firstOf } from '../support/first-of.ts';
import { isWhole } from '../support/whole.ts';
import { world } from '../support/world.ts';

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

it('a withdrawal whose answer was lost stands in the books at the time of the service', async () => {
  await using here = await world({ wallet: 3000 });
  const at = (time: string) => here.run(`sandbox clock set frozen --at ${time} -q`);
  await at('2026-08-28T08:00:00Z');
  await here.run('cards create --bin bin_1 --amount 200 -q');
  await here.run('books reconcile -q');
  await at('2026-09-15T08:00:00Z');
  const lost = { match: { operation: 'cards.withdraw' }, phase: 'after_commit', action: { kind: 'reset' }, times: 1 };
  await here.run('sandbox faults add -', { stdin: JSON.stringify([lost]) });
  expect((await here.run('cards withdraw card_1 --amount 7 --yes', { onPause: () => undefined })).code).toBe(0);
  await at('2026-10-01T08:00:00Z');
  await here.run('books reconcile -q');
  const { data } = JSON.parse((await here.run('books statement --period 2026-09 --card card_1 --json')).out);
  expect(data).toMatchObject([{ opening: 200, closing: 193, lines: [{ at: '2026-09-15T08:00:00Z', amount: -7 }] }]);
});

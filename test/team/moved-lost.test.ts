/** A backup of before a move from the files of a machine: the files bring back what was moved. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '../../src/core/durations.ts';
import type { Clock } from '../../src/platform/host.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { realClock } from '../support/clocks.ts';
import { backupOf } from './account-backup.ts';
import { team } from './team.ts';

const NAMED = 'cards create --bin bin_1 --amount 34 --intent i34';
const UNKNOWN = 'cards create --bin bin_1 --amount 31 --intent i31';
const FUND = 'cards fund card_1 --amount 7 --intent f7';

describe.skipIf(missing())('operations that were moved, and that a restored database lacks', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  /** Ana has worked alone and moved it; then the database is that of before. */
  async function restored({ clock }: { readonly clock?: Clock } = {}) {
    const t = await team(here, { wallet: 500 });
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    const alone = async (line: string) => (await ana.run(`${line} --journal local`)).code;
    expect(await alone('cards create --bin bin_1 --amount 10')).toBe(0);
    expect(await alone(NAMED)).toBe(0);
    for (const line of [UNKNOWN, FUND]) {
      t.proxy.fail('POST', /\/(?:cards|fund)$/, 'drop-after');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
      expect(await alone(line)).toBe(11);
      t.proxy.mend();
    }
    if (clock !== undefined)
      expect(await ana.run('ops prune --journal local --yes', { clock })).toMatchObject({ code: 0 });
    const backup = await backupOf(t.at.root, t.at.account);
    expect(await ana.run('journal move --to shared --yes')).toMatchObject({ code: 0 });
    await backup.restore();
    return { ...t, ana, ben, posts: t.proxy.posts().length };
  }

  it('come back with journal push, and their names stand for what they have done', async () => {
    await using t = await restored();
    const { ana, ben } = t;
    const pushed = await ana.run('journal push --json');
    expect(pushed.code, pushed.err).toBe(0);
    expect(JSON.parse(pushed.out).recovered).toHaveLength(4);
    expect((await ben.run('journal push')).code).toBe(0);
    await t.at.admin(`accept_failover('a drill')`);
    for (const { run } of [ana, ben])
      for (const line of [NAMED, UNKNOWN]) expect({ line, ...(await run(line)) }).toMatchObject({ line, code: 0 });
    // What a fund has done no mark tells: it stays unknown, and is not sent again.
    expect([(await ana.run(FUND)).code, (await ben.run(FUND)).code]).toEqual([11, 14]);
    expect(t.proxy.posts()).toHaveLength(t.posts);
    expect((await t.cards()).length).toBe(3);
    expect((await ana.run('ops list --json --jq ".data | length"')).out).toBe('4\n');
    const checked = await ana.run('journal check');
    expect(checked.code, checked.err).toBe(0);
  });

  it('come back with the names of those that were removed since', async () => {
    await using t = await restored({ clock: { ...realClock, now: () => Date.now() + 100 * DAY } });
    const { ana, ben } = t;
    const pushed = await ana.run('journal push --json');
    expect(pushed.code, pushed.err).toBe(0);
    expect(JSON.parse(pushed.out).recovered).toHaveLength(2);
    expect((await ben.run('journal push')).code).toBe(0);
    await t.at.admin(`accept_failover('a drill')`);
    for (const { run } of [ana, ben]) expect(await run(NAMED)).toMatchObject({ code: 0 });
    expect(t.proxy.posts()).toHaveLength(t.posts);
  });

  it('name the operation that has used a name of theirs again meanwhile', async () => {
    await using t = await restored();
    const { ana, ben } = t;
    expect(await ben.run(NAMED)).toMatchObject({ code: 0 });
    const pushed = await ana.run('journal push --json');
    expect(pushed.code, pushed.err).toBe(15);
    expect(JSON.parse(pushed.out)).toMatchObject({ recovered: { length: 4 }, clashes: [{ name: 'i34' }] });
    // Nobody goes on before everybody has said what he knows.
    expect((await ana.run(FUND)).code).toBe(15);
    expect(await ana.run('journal push')).toMatchObject({ code: 0 });
  });
  it('let what clashes be settled and moved, where the move comes after the name was used again', async () => {
    await using t = await restored();
    const { ana, ben } = t;
    // As where the database was accepted before this machine was asked.
    for (const { run } of [ana, ben]) expect((await run('journal push')).code).toBe(0);
    await t.at.admin(`accept_failover('a drill')`);
    for (const table of ['intent', 'segment', 'op'])
      await t.at.root.call(
        `delete from cardwright.${table} where account = (select id from cardwright.account where name = $1)`,
        [t.at.account],
      );
    expect(await ben.run(UNKNOWN)).toMatchObject({ code: 0 });
    const clash = await ana.run('journal move --to shared --yes');
    expect([clash.code, clash.err]).toEqual([15, expect.stringContaining('the intent i31 of')]);
    const command = (err: string, start: string) => new RegExp(`cardwright (${start}.*)`).exec(err)?.[1] ?? '';
    const keep = `${command(clash.err, 'journal move --to shared --keep-both')} --yes`;
    const unsettled = await ana.run(keep);
    expect([unsettled.code, unsettled.err]).toEqual([14, expect.stringContaining('row 1 of op_')]);
    // Not all of them are there: nothing is begun until the move has ended.
    expect((await ana.run('cards create --bin bin_1 --amount 9')).code).toBe(14);
    const settled = await ana.run(command(unsettled.err, 'ops resolve .*--as done').replace('"why"', 'seen'));
    expect(settled.code, settled.err).toBe(0);
    expect(await ana.run(keep)).toMatchObject({ code: 0 });
    expect((await ana.run('cards create --bin bin_1 --amount 9')).code).toBe(0);
  });
});

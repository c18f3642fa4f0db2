/**
 * The drills of docs/guide/teams.md: another server takes the place of the one that was written to, and lacks what was
 * written last. Nobody moves money until every operator has brought what his machine knows; then nothing is lost or done twice.
 * `drills.full.ts` has more of them.
 */
import { describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { missed, wholeAgain, worked } from './drills.ts';
import { ownServer } from './own-server.ts';
import { team } from './team.ts';

describe.skipIf(missing())('a drill', () => {
  it('failover: all are refused, all bring what they know, an admin accepts, and they go on', async () => {
    await using server = await ownServer();
    await using t = await worked(server);
    await server.restore('promoted');
    const { ana, ben, run } = t;
    for (const machine of [ana, ben]) {
      const refused = await machine.run('cards fund card_1 --amount 1');
      expect(refused).toMatchObject({ code: 14 });
      expect(refused.err).toContain('was restored, copied or failed over');
      expect(refused.err).toContain('cardwright journal push');
      expect(await run(machine, 'wallet --json')).toMatchObject({ code: 0 });
      expect(await run(machine, 'journal status --json')).toMatchObject({ json: { moved: true } });
    }
    await missed(t, 14);
    t.sentNothing();
    const accept = async () =>
      (await server.as('ada')).call(
        `select cardwright.accept_failover('${t.at.account}', 'the disk of the primary failed')`,
        [],
      );
    await expect(accept()).rejects.toThrow(/have not pushed what they know: ana@\S+, ben@\S+$/);
    const pushed = await run(ana, 'journal push --json');
    expect(pushed).toMatchObject({ code: 0, json: { recovered: [{ rows: 1 }, { rows: 1 }], clashes: [] } });
    expect(pushed.json.lost_lines).toBeGreaterThan(2);
    await expect(accept()).rejects.toThrow(/have not pushed what they know: ben@\S+$/);
    const words = await ben.run('journal push', { terminal: 100 });
    expect(words.code).toBe(0);
    expect(words.out).toMatch(
      /^The database lacks at least \d+ lines? of its audit log that this machine has seen\.\nBrought back op_\w+: 2 rows\.\n$/,
    );
    expect(await ana.run('cards fund card_1 --amount 1')).toMatchObject({ code: 14 });
    await accept();
    await wholeAgain(t);
    // It is over: nothing is brought a second time.
    expect(await run(ana, 'journal push --json')).toMatchObject({ code: 0, json: { recovered: [], lost_lines: 0 } });
  });

  it('restore while others know nothing of it: a name is not answered with the card of another, and one word stops all', async () => {
    await using server = await ownServer();
    await using t = await team(server, { wallet: 500 });
    const [ana, ben, laptop] = [await t.machine('ana'), await t.machine('ben'), await t.machine('ana')];
    expect(await ana.run('cards create --bin bin_1 --amount 10 --intent po-1')).toMatchObject({ code: 0 });
    expect(await ben.run('cards fund card_1 --amount 1')).toMatchObject({ code: 0 });
    await server.backup();
    expect(await ana.run('cards create --bin bin_1 --amount 20 --intent po-2')).toMatchObject({ code: 0 });
    expect(await laptop.run('cards fund card_1 --amount 3')).toMatchObject({ code: 0 });
    await server.restore('backup');
    // Nobody can tell him: his machine knows nothing of it, nor does the database.
    expect(await ben.run('cards create --bin bin_1 --amount 20 --intent po-2')).toMatchObject({ code: 0 });
    const posts = t.proxy.posts().length;
    const repeated = await ana.run('cards create --bin bin_1 --amount 20 --intent po-2');
    expect(repeated).toMatchObject({ code: 15, out: '' });
    expect(repeated.err).toContain('card_2');
    expect(repeated.err).toContain('cardwright journal push');
    expect(await ana.run('cards create --bin bin_1 --amount 10 --intent po-1')).toMatchObject({ code: 15, out: '' });
    const fresh = await ben.run('cards create --bin bin_1 --amount 30 --intent po-3');
    expect(fresh).toMatchObject({ code: 15 });
    expect(fresh.err).toContain('cardwright journal push');
    expect(await ben.run('cards create --bin bin_1 --amount 20 --intent po-2')).toMatchObject({ code: 15, out: '' });
    for (const machine of [ana, ben]) {
      const listed = await machine.run('ops list --json');
      expect(listed.code).toBe(0);
      expect(listed.err).toContain('lacks what was written last');
    }
    expect(t.proxy.posts().length).toBe(posts);
    const status = async () => JSON.parse((await ben.run('journal status --json')).out);
    expect(await status()).toMatchObject({ moved: false, frozen: null });
    expect((await status()).lost).toContain('ana on ');
    const clashing = await ana.run('journal push --json');
    expect(clashing).toMatchObject({ code: 15 });
    const accept = async () =>
      (await server.as('ada')).call(`select cardwright.accept_failover($1, 'the backup')`, [t.at.account]);
    await expect(accept()).rejects.toThrow(/have not pushed what they know: ben@\S+$/);
    expect(await ben.run('journal push')).toMatchObject({ code: 0 });
    await accept();
    expect(await status()).toMatchObject({ lost: null });
    for (const machine of [ana, ben])
      expect(await machine.run('cards fund card_1 --amount 1')).toMatchObject({ code: 0 });
    // What he knows was lost and accepted: he alone has to bring it.
    expect(await laptop.run('cards fund card_1 --amount 1')).toMatchObject({ code: 15 });
    expect(await ben.run('cards fund card_1 --amount 1')).toMatchObject({ code: 0 });
    expect(await laptop.run('journal push')).toMatchObject({ code: 0 });
    expect(await laptop.run('cards fund card_1 --amount 1')).toMatchObject({ code: 0 });
    expect([(await t.cards()).length, await t.balance()]).toEqual([3, 500 - 10 - 1 - 20 - 3 - 20 - 4]);
  });
});

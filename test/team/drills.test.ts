/**
 * The drills of docs/guide/teams.md: another server takes the place of the one that was written to, and lacks what was
 * written last. Nobody moves money until every operator has brought what his machine knows; then nothing is lost or done twice.
 * `drills.full.ts` has more of them.
 */
import { describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { missed, wholeAgain, worked } from './drills.ts';
import { ownServer } from './own-server.ts';

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
});

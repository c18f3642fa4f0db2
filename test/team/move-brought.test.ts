/** What was answered while the database was away, and was brought later: a move names it as a list does. */
import { describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { skippingClock } from '../support/clocks.ts';
import { ownServer } from './own-server.ts';
import { team } from './team.ts';

describe.skipIf(missing())('an outcome that was brought late', () => {
  it('leaves its operation untold, and not unknown, for a move too', async () => {
    await using own = await ownServer();
    await using t = await team(own, { delayMs: 300 });
    const ana = await t.machine('ana');
    expect((await ana.run('cards create --bin bin_1 --amount 20')).code).toBe(0);
    t.proxy.fail('POST', /./, 'late-answer');
    const killed = t.proxy.posted(2).then(() => own.stop('SIGKILL'));
    const struck = await ana.run('cards fund card_1 --amount 7', { clock: skippingClock() });
    await killed;
    expect(struck.code, struck.err).toBe(11);
    await own.start();
    const [{ op, state }] = JSON.parse((await ana.run('ops list --json')).out).data;
    expect(state).toBe('untold');
    await (await own.as('ada')).call(`select cardwright.freeze_account($1, 'moved to one machine')`, [t.at.account]);
    const moved = await ana.run('journal move --to local --yes');
    const says = `1 untold, yours: ${op}. For each, when the freeze has ended: cardwright ops resume ${op}`;
    expect([moved.code, moved.err]).toEqual([14, expect.stringContaining(says)]);
    const admin = async (call: string) => (await own.as('ada')).call(`select cardwright.${call}`, [t.at.account]);
    await admin(`accept_failover($1, 'it goes on')`);
    const shown = await ana.run(`ops resume ${op}`);
    expect(shown.code, shown.err).toBe(0);
    await admin(`freeze_account($1, 'moved to one machine')`);
    expect((await ana.run('journal move --to local --yes')).code).toBe(0);
    expect(t.proxy.posts()).toHaveLength(2);
  });
});

/** Drills of docs/guide/teams.md beside those of `drills.test.ts`: a backup that all know, a command that was killed, an approval that was used. */
import { describe, expect, it, vi } from 'vitest';
import { statementsOver } from '../../src/team/statements.ts';
import { ended, home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { words } from '../support/words.ts';
import { addApproverRoles, signer } from './approver.ts';
import { missed, wholeAgain, worked } from './drills.ts';
import { later } from './killing-stage.ts';
import { ownServer } from './own-server.ts';
import { team } from './team.ts';

describe.skipIf(missing())('a drill', () => {
  it('restore of a backup that looks like the same server: who knows more is refused, and brings it', async () => {
    await using server = await ownServer();
    await using t = await worked(server);
    await server.restore('backup');
    const { ana, ben, run } = t;
    for (const machine of [ana, ben]) {
      const refused = await machine.run('cards fund card_1 --amount 1');
      expect(refused).toMatchObject({ code: 15 });
      expect(refused.err).toContain('cardwright journal push');
    }
    await missed(t, 15);
    t.sentNothing();
    expect(await run(ana, 'journal push --json')).toMatchObject({ code: 0, json: { recovered: [{}, {}] } });
    expect(await run(ben, 'journal push --json')).toMatchObject({ code: 0, json: { recovered: [{ rows: 2 }] } });
    const accept = `select cardwright.accept_failover($1, 'the backup of tonight')`;
    await (await server.as('ada')).call(accept, [t.at.account]);
    await wholeAgain(t);
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

  it.each([false, true])(
    'restore that a push is the first to notice: it reports that and brings everything; frozen %s',
    async frozen => {
      await using server = await ownServer();
      await using t = await worked(server);
      const { ana, ben, run } = t;
      await server.restore('backup');
      // Of a machine whose every line is there.
      const early = await t.machine('ben');
      const admin = async (what: string) => (await server.as('ada')).call(`select cardwright.${what}`, []);
      if (frozen) await admin(`freeze_account('${t.at.account}', 'a backup')`);
      const accept = () => admin(`accept_failover('${t.at.account}', 'the backup')`);
      const first = await early.run('journal push');
      expect(first.code).toBe(0);
      expect(first.err.includes('run this again when a machine that knows more has pushed')).toBe(frozen);
      const pushed = await run(ana, 'journal push --json');
      expect(pushed).toMatchObject({ code: 0, json: { recovered: [{ rows: 1 }, { rows: 1 }] } });
      expect(pushed.json.lost_lines).toBeGreaterThan(2);
      expect((await run(ben, 'journal status --json')).json.lost).toContain('ana on ');
      await expect(accept()).rejects.toThrow(/have not pushed what they know: ben@\S+$/);
      expect(await run(ben, 'journal push --json')).toMatchObject({ code: 0, json: { recovered: [{ rows: 2 }] } });
      await accept();
      await wholeAgain(t);
    },
  );

  it('restore behind a command that was killed, and another one behind it: its name is known, and nothing is bought twice', {
    timeout: 60_000,
  }, async () => {
    await using server = await ownServer();
    await using t = await team(server, { wallet: 500, delayMs: 20_000 });
    await using place = await home();
    const ana = await t.machine('ana');
    expect(await ana.run('cards create --bin bin_1 --amount 10')).toMatchObject({ code: 0 });
    await server.backup();
    t.proxy.fail('POST', /\/cards$/, 'late-answer');
    const line = 'cards create --bin bin_1 --amount 20 --intent po-9';
    const child = place.start(words(line), { env: t.processEnv('ana', ana), cwd: ana.folder });
    await vi.waitFor(() => expect(t.proxy.posts()).toHaveLength(2), { timeout: 20_000 });
    child.kill('SIGKILL');
    expect((await ended(child)).signal).toBe('SIGKILL');
    expect(await ana.run('cards create --bin bin_1 --amount 30')).toMatchObject({ code: 0 });
    expect(JSON.parse((await ana.run('ops list --local --state unknown --json')).out).data).toHaveLength(1);
    await server.restore('backup');
    expect(await ana.run(line)).toMatchObject({ code: 15 });
    const pushed = await ana.run('journal push --json');
    expect([pushed.code, JSON.parse(pushed.out).recovered]).toEqual([
      0,
      [
        { op: expect.anything(), rows: 1 },
        { op: expect.anything(), rows: 1 },
      ],
    ]);
    await (await server.as('ada')).call(`select cardwright.accept_failover($1, 'the backup', array['ben'])`, [
      t.at.account,
    ]);
    const again = await ana.run(`${line} -q`, { clock: later() });
    expect([again.code, again.out]).toEqual([0, 'card_2\n']);
    expect([(await t.cards()).length, await t.balance()]).toEqual([3, 500 - 10 - 20 - 30]);
  });

  it('failover after an approval was used: it comes back as used, and nothing is sent a second time', async () => {
    await using server = await ownServer();
    await using t = await team(server, { wallet: 500 });
    const [ana, ben, bob] = [await t.machine('ana'), await t.machine('ben'), signer('bob')];
    await addApproverRoles(t.at);
    await t.at.admin(`add_approver('${bob.line}', '{bob}')`);
    await t.at.admin(`set_rule('approve_above', 10000)`);
    expect(await ana.run('cards create --bin bin_1 --amount 10')).toMatchObject({ code: 0 });
    const asked = await ana.run('cards fund card_1 --amount 250 --intent po-7 --json');
    expect(asked).toMatchObject({ code: 17 });
    const { op, approval } = JSON.parse(asked.err.trim().split('\n').at(-1) ?? '').error;
    const envelope = bob.approves(Buffer.from(approval.payload, 'base64'));
    const call = { account: t.at.account, op, host: 'bob', keyid: bob.keyid, envelope };
    const kept = await statementsOver(await server.as('bob')).approve(call, { event: 'approved', op });
    expect(kept.verdict).toBe('approved');
    await server.backup();
    expect(await ben.run(`ops resume ${op}`)).toMatchObject({ code: 0 });
    expect(await t.balance()).toBe(240);
    await server.restore('promoted');
    expect(await ana.run(`ops resume ${op}`)).toMatchObject({ code: 14 });
    for (const machine of [ben, ana]) expect(await machine.run('journal push')).toMatchObject({ code: 0 });
    const accept = `select cardwright.accept_failover($1, 'the disk of the primary failed')`;
    await (await server.as('ada')).call(accept, [t.at.account]);
    expect(await ana.run('cards fund card_1 --amount 250 --intent po-7')).toMatchObject({ code: 0 });
    expect(await ana.run(`ops resume ${op}`)).toMatchObject({ code: 0 });
    expect([await t.balance(), t.proxy.posts().length]).toEqual([240, 2]);
    const listed = JSON.parse((await ana.run('approvals list --all --json')).out).data;
    expect(listed).toMatchObject([{ op, state: 'used', approved_by: ['bob'] }]);
    expect(JSON.parse((await ben.run('journal check --json')).out)).toMatchObject({ flaws: [] });
    expect((await statementsOver(await server.as('ana')).status(t.at.account)).used).toBe(26_000);
  });
});

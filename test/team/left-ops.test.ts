/** Operations that a machine has taken along out of a shared journal wait there until it brings them back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import type { World } from '../support/world.ts';
import { team } from './team.ts';

const CREATE = 'cards create --bin bin_1 --amount 3 --label q1 -q';
const LOCAL = { env: { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' } };

describe.skipIf(missing())('an operation that one machine has taken along', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  type Team = Awaited<ReturnType<typeof team>>;

  /** Its request or the answer to it was lost, and nothing tells so. */
  async function unknown(t: Team, machine: World, how: 'drop-before' | 'drop-after' = 'drop-before'): Promise<string> {
    t.proxy.fail('POST', /\/cards$/, how);
    t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
    const { code, err } = await machine.run(`${CREATE} --json`);
    t.proxy.mend();
    expect({ code, err }).toMatchObject({ code: 11 });
    return JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op;
  }

  /** Settled on the machine of ana, and made there by hand; the account takes on from everybody again. */
  async function settledHere() {
    const t = await team(here);
    const ana = await t.machine('ana');
    const op = await unknown(t, ana);
    await t.at.admin(`add_member('ben', '{}')`);
    expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
    expect(await ana.run(`ops resolve ${op} --as not-done --note seen --yes`, LOCAL)).toMatchObject({ code: 0 });
    expect(await ana.run(CREATE, LOCAL)).toMatchObject({ code: 0 });
    await t.at.admin(`accept_failover('it goes on')`);
    await t.at.admin(`add_member('ben', '{read,operate}')`);
    expect(await t.cards()).toHaveLength(1);
    return { ...t, ana, op, posts: t.proxy.posts().length };
  }

  it('is not taken up over the journal by the machine that goes on with it alone', async () => {
    await using t = await settledHere();
    const { ana, op } = t;
    for (const line of [
      `ops resume ${op} --resend-absent`,
      `ops resume ${op} --resend-absent --dry-run`,
      `ops takeover ${op} --reason "it is mine" --yes`,
      `ops resolve ${op} --as not-done --note seen --yes`,
    ]) {
      const { code, err } = await ana.run(line);
      expect({ line, code, err }).toMatchObject({
        code: 14,
        err: expect.stringContaining('were moved back to this machine from the account'),
      });
      expect(err).toContain('Then: cardwright journal move --to shared\n');
    }
    expect(t.proxy.posts()).toHaveLength(t.posts);
    expect(await t.cards()).toHaveLength(1);
  });

  it('is taken up by nobody until that machine has brought it back, and then by everybody', async () => {
    await using t = await settledHere();
    const { ana, op } = t;
    const [ben, other] = [await t.machine('ben'), await t.machine('ana')];
    const lines = [
      [ben, `ops takeover ${op} --reason "ana is away" --yes`],
      [ben, `ops takeover ${op} --reason "ana is away" --dry-run`],
      [other, `ops resume ${op} --resend-absent`],
      [other, `ops resolve ${op} --as not-done --note seen --yes`],
    ] as const;
    for (const [machine, line] of lines) {
      const { code, err } = await machine.run(line);
      expect({ line, code, err }).toMatchObject({ code: 14, err: expect.stringContaining(`${op} was moved to ana@`) });
      expect(err).toContain('On that machine this brings it back: cardwright journal move --to shared\n');
    }
    expect(t.proxy.posts()).toHaveLength(t.posts);
    expect(await ana.run('journal move --to shared')).toMatchObject({ code: 0 });
    expect(await t.at.ana.heads(t.at.account, { op })).toMatchObject([{ state: 'finished', left_to: null }]);
    expect((await ben.run(`ops show ${op} --json`)).out).toContain('"not_sent": 1');
    expect((await ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).err).not.toContain('was moved to');
    expect(t.proxy.posts()).toHaveLength(t.posts);
    expect(await t.cards()).toHaveLength(1);
  });

  it.each(['done', 'not-done'] as const)(
    'comes back as it was recorded there, %s, also one that a colleague held',
    async as => {
      await using t = await team(here);
      const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
      const op = await unknown(t, ben);
      await t.at.admin(`add_member('ben', '{}')`);
      await t.at.endLeases();
      expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
      expect(await ana.run(`ops resolve ${op} --as ${as} --note seen --yes`, LOCAL)).toMatchObject({ code: 0 });
      await t.at.admin(`accept_failover('it goes on')`);
      for (const run of ['first', 'again']) {
        const moved = await ana.run('journal move --to shared');
        expect({ run, code: moved.code, err: moved.err }).toMatchObject({ code: 0 });
        const [head] = await t.at.ana.heads(t.at.account, { op });
        expect(head, run).toMatchObject({ state: 'finished', unknown: 0, left_to: null, holder: 'ana' });
      }
      await t.at.admin(`add_member('ben', '{read,operate}')`);
      const shown = JSON.parse((await ben.run(`ops show ${op} --json`)).out);
      expect(shown).toMatchObject(as === 'done' ? { done: 1 } : { not_sent: 1 });
      expect(await t.cards()).toHaveLength(0);
      expect(await ana.run('journal check')).toMatchObject({ code: 0 });
    },
  );

  it('was shown here and ended there, and does not keep the journal from going back', async () => {
    await using t = await team(here);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    const op = await unknown(t, ana, 'drop-after');
    expect((await ben.run(`ops takeover ${op} --reason "ana is away" --yes`)).code).toBe(0);
    await t.at.admin(`add_member('ben', '{}')`);
    expect(await ana.run('journal move --to local --mine')).toMatchObject({ code: 0 });
    expect(await ana.run(`ops resume ${op}`, LOCAL)).toMatchObject({ code: 0 });
    await t.at.admin(`accept_failover('it goes on')`);
    expect(await ana.run('journal move --to shared')).toMatchObject({ code: 0 });
    // She has seen it in the folder of her machine.
    expect(await t.at.ana.heads(t.at.account, { op })).toMatchObject([
      { state: 'finished', untold: false, left_to: null },
    ]);
    expect(await t.cards()).toHaveLength(1);
  });

  it('comes back without that machine where an admin has named it', async () => {
    await using t = await settledHere();
    const { op } = t;
    const leftTo = async () => (await t.at.ben.heads(t.at.account, { op }))[0]?.left_to;
    const to = await leftTo();
    expect(to).toMatch(/^ana@./);
    await t.at.admin(`accept_failover('another one', array['ben', 'ana@elsewhere'])`);
    expect(await leftTo()).toBe(to);
    await t.at.admin(`accept_failover('it burned', array['${to}'])`);
    expect(await leftTo()).toBeNull();
    const ben = await t.machine('ben');
    expect((await ben.run(`ops takeover ${op} --reason "it burned" --dry-run`)).err).not.toContain('was moved to');
  });
});

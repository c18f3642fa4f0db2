/** What a person records by hand is held against the service and the journal first: what is recorded stays. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import type { World } from '../support/world.ts';
import { team, urlOf } from './team.ts';

type Team = Awaited<ReturnType<typeof team>>;

const QUICK = { onPause: () => undefined };

describe.skipIf(missing())('recorded by hand', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  async function alone(kept: 'shared' | 'local' = 'shared') {
    const t = await team(here);
    const ana = await t.machine('ana', kept === 'local' ? { CARDWRIGHT_JOURNAL_URL: '' } : {});
    return { ...t, ana };
  }

  /** A change whose answer is lost, and that no reading shows meanwhile; resolves to its op. */
  async function lost(
    t: Team,
    machine: World,
    line: string,
    fault: 'drop-after' | 'drop-before' = 'drop-after',
  ): Promise<string> {
    t.proxy.fail('POST', /./, fault);
    t.proxy.fail('GET', /./, ...Array<'none'>(line.includes('fund') ? 2 : 1).fill('none'));
    t.proxy.fail('GET', /./, ...Array<'drop-before'>(30).fill('drop-before'));
    const { code, err } = await machine.run(line, QUICK);
    t.proxy.mend();
    expect(code, err).toBe(11);
    return /op_[0-9a-z]{26}/.exec(err)?.[0] ?? '';
  }

  const stateOf = async (machine: World, op: string) =>
    JSON.parse((await machine.run(`ops show ${op} --json`)).out).items.map(
      ({ outcome }: { outcome: string }) => outcome,
    );

  describe.each(['shared', 'local'] as const)('as not done, in a %s journal', kept => {
    it('is refused for a row whose card is there, with what records it', async () => {
      await using t = await alone(kept);
      const create = 'cards create --bin bin_1 --amount 24 --intent i24';
      const op = await lost(t, t.ana, create);
      const refused = await t.ana.run(`ops resolve ${op} --as not-done --note x`);
      expect([refused.code, refused.err]).toEqual([
        14,
        expect.stringContaining(`row 1 of ${op} is done: card_1 carries its mark. Nothing was recorded`),
      ]);
      expect(refused.err).toContain(`cardwright ops resolve ${op} 1 --as done --card card_1 --note "why"`);
      expect(refused.err).toContain(`try: cardwright ops resume ${op}\n`);
      expect(await stateOf(t.ana, op)).toEqual(['unknown']);
      expect((await t.ana.run(`ops resume ${op}`, QUICK)).code).toBe(0);
      const again = await t.ana.run(`${create} -q`);
      expect([again.code, again.out]).toEqual([0, 'card_1\n']);
      expect(t.proxy.posts()).toHaveLength(1);
    });

    it('says that the service could not be asked, and then what that has led to', async () => {
      await using t = await alone(kept);
      const op = await lost(t, t.ana, 'cards create --bin bin_1 --amount 24 --intent i24');
      t.proxy.fail('GET', /./, ...Array<'drop-before'>(30).fill('drop-before'));
      const recorded = await t.ana.run(`ops resolve ${op} --as not-done --note "ticket 4711"`, QUICK);
      t.proxy.mend();
      expect(recorded.err).toMatch(/warning: whether row 1 happened is not known: .*What you say is recorded\n/);
      expect([recorded.code, await stateOf(t.ana, op)]).toEqual([0, ['not_sent']]);
      for (const more of ['', ' --dry-run']) {
        const resumed = await t.ana.run(`ops resume ${op}${more}`, QUICK);
        expect(resumed.err).toContain(`warning: row 1 of ${op} is recorded as not done, and card_1 carries its mark`);
      }
    });

    it('warns of a fund that the card shows', async () => {
      await using t = await alone(kept);
      expect((await t.ana.run('cards create --bin bin_1 --amount 5 -q')).code).toBe(0);
      const op = await lost(t, t.ana, 'cards fund card_1 --amount 3');
      const { code, err } = await t.ana.run(`ops resolve ${op} --as not-done --note x`);
      expect([code, err]).toEqual([0, expect.stringContaining('warning: row 1 is probably done')]);
    });
  });

  it('as not done, of some rows of a file: all of them or none, and those that are left are named', async () => {
    await using t = await alone();
    await writeFile(join(t.ana.folder, 'rows.csv'), 'bin_id,amount\nbin_1,5\nbin_1,6\nbin_1,7\n');
    t.proxy.fail('POST', /./, 'drop-after', 'drop-before', 'drop-before');
    t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(90).fill('drop-before'));
    const { code, err } = await t.ana.run('cards create --file rows.csv --concurrency 1 --yes', QUICK);
    t.proxy.mend();
    expect(code, err).toBe(11);
    const op = /op_[0-9a-z]{26}/.exec(err)?.[0] ?? '';
    const refused = await t.ana.run(`ops resolve ${op} --as not-done --note x --yes`);
    expect([refused.code, refused.err]).toEqual([
      14,
      expect.stringContaining(`row 1 of ${op} is done: card_1 carries`),
    ]);
    expect(refused.err).toContain(
      `For rows 2 and 3 alone: cardwright ops resolve ${op} 2 3 --as not-done --note "why"`,
    );
    expect(await stateOf(t.ana, op)).toEqual(['unknown', 'unknown', 'unknown']);
    const left = await t.ana.run(`ops resolve ${op} 2 3 --as not-done --note x`);
    expect([left.code, left.err]).toEqual([0, expect.stringContaining('something may still be on its way')]);
  });

  it('as not done, against what a card says: the check of the journal names it until an admin has accepted it', async () => {
    await using t = await alone();
    const op = await lost(t, t.ana, 'cards create --bin bin_1 --amount 24 --intent i24', 'drop-before');
    // It is done when the person has looked.
    const { body = '', key } = t.proxy.posts()[0] ?? {};
    expect((await t.ana.run(`ops resolve ${op} --as not-done --note "ticket 4711"`, QUICK)).code).toBe(0);
    await fetch(`${t.proxy.url}/cards`, {
      method: 'POST',
      body,
      headers: {
        authorization: `Bearer ${t.key}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'x-idempotency-key': key }),
      },
    });
    const { code, out, err } = await t.ana.run('journal check --json');
    const { ok, flaws } = JSON.parse(out);
    const text = `made by row 1 of ${op}, which ana@desk has recorded at 2026-11-20T14:03:11Z as not done`;
    expect([code, ok, flaws]).toEqual([
      15,
      false,
      [{ what: 'card', op, card: 'card_1', text, sql: expect.any(String) }],
    ]);
    const told = await t.ana.run('journal check');
    expect(told.err).toContain('one card is not what the shared journal says of it');
    expect(told.err).toContain(`\n  ${flaws[0].sql}\n`);
    expect(told.err).toContain('try: cardwright cards get card_1\n');
    expect(err).not.toContain('made past');
    await (await here.as('ada')).call(flaws[0].sql, []);
    const accepted = await t.ana.run('journal check', { terminal: 400 });
    expect([accepted.code, accepted.err]).toEqual([
      0,
      expect.stringContaining(`card_1 was ${text}; ada has accepted it`),
    ]);
  });

  /** A card that nobody of the journal has made, without a mark. */
  async function madeElsewhere(t: Team, body: object): Promise<string> {
    const answer = await fetch(`${t.proxy.url}/cards`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${t.key}`, 'content-type': 'application/json' },
    });
    return String(((await answer.json()) as { id: string }).id);
  }

  const done = (op: string, card: string, row = '') => `ops resolve ${op}${row} --as done --card ${card} --note seen`;

  describe.each(['shared', 'local'] as const)('as done with a card, in a %s journal', kept => {
    it('is refused for the card of another operation', async () => {
      await using t = await alone(kept);
      const warm = await t.ana.run('cards create --bin bin_1 --amount 3 --intent warm --json --jq .intent.op');
      expect(warm.code, warm.err).toBe(0);
      const other = warm.out.trim();
      const op = await lost(t, t.ana, 'cards create --bin bin_1 --amount 20 --intent i20', 'drop-before');
      const refused = await t.ana.run(done(op, 'card_1'));
      expect([refused.code, refused.err]).toEqual([
        14,
        expect.stringContaining(`card_1 was made by row 1 of ${other}, by its mark, and not by row 1 of ${op}`),
      ]);
      expect(refused.err).toContain(`Nothing was recorded`);
      expect(refused.err).toContain('try: cardwright cards get card_1\n');
      expect(await stateOf(t.ana, op)).toEqual(['unknown']);
    });

    it('is refused for a card that another row has, also where the service cannot be asked', async () => {
      await using t = await alone(kept);
      expect((await t.ana.run('cards create --bin bin_1 --amount 3 --no-marker -q')).code).toBe(0);
      const op = await lost(t, t.ana, 'cards create --bin bin_1 --amount 20 --intent i20 --no-marker', 'drop-before');
      for (const away of [false, true]) {
        if (away) t.proxy.fail('GET', /./, ...Array<'drop-before'>(30).fill('drop-before'));
        const refused = await t.ana.run(done(op, 'card_1'), QUICK);
        t.proxy.mend();
        const [, other] = /card_1 is the card of row 1 of (op_\w+)/.exec(refused.err) ?? [];
        expect([refused.code, refused.err]).toEqual([
          14,
          expect.stringContaining(`try: cardwright ops show ${other}\n`),
        ]);
        expect(other).not.toBe(op);
      }
      expect(await stateOf(t.ana, op)).toEqual(['unknown']);
    });

    it('is refused for the card of another row of its file, and for one of another BIN', async () => {
      await using t = await alone(kept);
      await writeFile(join(t.ana.folder, 'rows.csv'), 'bin_id,amount\nbin_1,5\nbin_1,6\nbin_1,7\n');
      t.proxy.fail('POST', /./, ...Array<'drop-before'>(3).fill('drop-before'));
      const { err } = await t.ana.run('cards create --file rows.csv --no-marker --concurrency 1 --yes', QUICK);
      t.proxy.mend();
      const op = /op_[0-9a-z]{26}/.exec(err)?.[0] ?? '';
      const card = await madeElsewhere(t, { bin_id: 'bin_1', amount: 5 });
      expect(await t.ana.run(done(op, card, ' 1'))).toMatchObject({ code: 0 });
      const second = await t.ana.run(done(op, card, ' 2'));
      expect([second.code, second.err]).toEqual([14, expect.stringContaining(`${card} is the card of row 1 of ${op}`)]);
      const otherBin = await madeElsewhere(t, { bin_id: 'bin_2', amount: 6 });
      const third = await t.ana.run(done(op, otherBin, ' 2'));
      expect([third.code, third.err]).toEqual([
        14,
        expect.stringContaining(`${otherBin} is of bin_2, and row 2 of ${op} asked for bin_1`),
      ]);
      expect(third.err).toContain(`Without its card: cardwright ops resolve ${op} 2 --as done --note "why"`);
      expect(await stateOf(t.ana, op)).toEqual(['done', 'unknown', 'unknown']);
      // What it holds may have changed since.
      const warned = await t.ana.run(done(op, await madeElsewhere(t, { bin_id: 'bin_1', amount: 9 }), ' 2'));
      expect([warned.code, warned.err]).toEqual([
        0,
        expect.stringMatching(/warning: card_\d holds \$9\.00, and row 2 asked for \$6\.00/),
      ]);
    });
  });

  it('names a card that several rows say to have made, in the check of the journal', async () => {
    await using t = await team(here);
    const [ana, ben] = [await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: '' }), await t.machine('ben')];
    const card = await madeElsewhere(t, { bin_id: 'bin_1', amount: 5 });
    const ops: string[] = [];
    for (const machine of [ana, ben]) {
      const op = await lost(t, machine, 'cards create --bin bin_1 --amount 5 --no-marker', 'drop-before');
      expect(await machine.run(done(op, card))).toMatchObject({ code: 0 });
      ops.push(op);
    }
    const shared = { env: { CARDWRIGHT_JOURNAL_URL: urlOf(here, 'ana') } };
    expect(await ana.run('journal move --to shared --yes', shared)).toMatchObject({ code: 0 });
    const { code, out } = await ben.run('journal check --json');
    const { flaws } = JSON.parse(out);
    expect([code, flaws]).toEqual([
      15,
      [
        {
          what: 'card',
          op: expect.any(String),
          card,
          text: expect.stringMatching(/^claimed by row 1 of op_\w+ and row 1 of op_\w+$/),
          sql: expect.any(String),
        },
      ],
    ]);
    for (const op of ops) expect(flaws[0].text).toContain(op);
  });
});

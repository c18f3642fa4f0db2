/**
 * A process stands still behind its request, a colleague takes the operation over and records by hand that nothing happened, and
 * then the answer comes. What the service has said counts more than what somebody took for granted.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { team } from './team.ts';

const CREATE = 'cards create --bin bin_1 --amount 25';

describe.skipIf(missing())('an answer that comes when a colleague has recorded the row as not done', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  /** Of a change whose answer is held; resolves to its op when ben has recorded that it did not happen. */
  async function recorded(line: string, as: 'done' | 'not-done' = 'not-done') {
    const t = await team(here, { wallet: 500 });
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    expect((await ben.run('cards create --bin bin_1 --amount 9 --intent warm -q')).code).toBe(0);
    t.proxy.fail('POST', /./, 'held-answer');
    const ended = ana.run(line);
    await t.proxy.posted(2);
    const [head] = await t.at.ben.heads(t.at.account, { unfinished: true });
    const op = head?.op ?? '';
    const over = `clock_timestamp() - interval '200 seconds'`;
    await t.at.root.call(`update cardwright.op set lease_until = ${over} where op = '${op}'`, []);
    t.proxy.fail('GET', /./, ...Array<'drop-before'>(200).fill('drop-before'));
    await ben.run(`ops takeover ${op} --reason "ana is away" --yes`);
    const said = await ben.run(`ops resolve ${op} --as ${as} --note "nothing there" --yes`);
    expect(said.code, said.err).toBe(0);
    t.proxy.mend();
    return { ...t, ana, ben, op, ended };
  }

  it.each([
    ['with a name', ' --intent i-25'],
    ['with a key', ' --idempotency-key key-of-ana-25'],
  ])('is brought by the next command, %s: the same command is about its card', async (_, name) => {
    await using s = await recorded(CREATE + name);
    const { ana, ben, op, proxy } = s;
    proxy.release();
    const late = await s.ended;
    expect([late.code, late.err]).toEqual([11, expect.stringContaining('recorded as not done by ben@desk at 20')]);
    expect(late.err).toContain('card_2');
    expect(late.err).not.toContain('ops resolve');
    const [, next] = /try: cardwright (.*)\n/.exec(late.err) ?? [];
    expect(next).toBe('journal push');
    for (const { run } of [ana, ben]) {
      const again = await run(`${CREATE}${name} --json --jq .id`);
      expect([again.code, again.out], again.err).toEqual([0, 'card_2\n']);
      expect(again.err).toContain('The service has answered since: it is done');
    }
    expect([proxy.posts().length, (await s.cards()).length]).toEqual([2, 2]);
    const shown = await ben.run(`ops show ${op}`, { terminal: 120 });
    expect(shown.out).toContain('card_2');
    expect(shown.out).toContain('not-done by ben@desk');
    expect(await s.at.ben.heads(s.at.account, { op })).toMatchObject([
      { state: 'finished', spent: 2500, reserved: 2500 },
    ]);
    const checked = await ben.run('journal check --json');
    expect([checked.code, JSON.parse(checked.out).flaws]).toEqual([0, []]);
    expect((await ben.run('audit list --shared')).out).toContain('answered after it was recorded as not done');
    expect((await ben.run('audit verify --shared')).code).toBe(0);
  });

  it('is in the way of the same change without a name until it was shown', async () => {
    await using s = await recorded(CREATE);
    const { ana, op, proxy } = s;
    proxy.release();
    expect((await s.ended).code).toBe(11);
    const again = await ana.run(CREATE);
    expect([again.code, again.err]).toEqual([14, expect.stringContaining(`${op}; ben on desk has ended it`)]);
    const resumed = await ana.run(`ops resume ${op} --json`);
    expect([resumed.code, resumed.out], resumed.err).toEqual([0, expect.stringContaining('card_2')]);
    expect(proxy.posts()).toHaveLength(2);
  });

  it('leaves its name where somebody has used it since, and says so', async () => {
    await using s = await recorded(`${CREATE} --intent i-25`);
    const { ana, ben, op, proxy } = s;
    expect((await ben.run(`${CREATE} --intent i-25 -q`)).out).toBe('card_3\n');
    proxy.release();
    expect((await s.ended).code).toBe(11);
    const pushed = await ana.run('journal push');
    expect([pushed.code, pushed.err]).toEqual([15, expect.stringContaining(`the name "i-25" belongs to ${op} and to`)]);
    expect((await ana.run(`${CREATE} --intent i-25 --json --jq .id`)).out).toBe('card_3\n');
    const checked = await ben.run('journal check');
    expect([checked.code, checked.err]).toEqual([15, expect.stringContaining('cardwright.accept_clash(')]);
    expect(proxy.posts()).toHaveLength(3);
  });

  it('never came: the words say that the same command would buy again, and how to look', async () => {
    await using s = await recorded(`${CREATE} --intent i-25`);
    const { ana, op, proxy } = s;
    proxy.release('html-502');
    const { code, err } = await s.ended;
    expect(code).toBe(11);
    expect(err).toContain('recorded as not done by ben@desk at 20');
    expect(err).toContain(': nothing there');
    expect(err).not.toContain('does nothing twice');
    expect(err).not.toContain('ops resolve');
    expect(err).toContain('it would charge the wallet twice');
    const [, look] = /cardwright (cards list --bin bin_1 --where metadata\S+)/.exec(err) ?? [];
    expect((await ana.run(`${look} -o id`)).out).toBe('card_2\n');
    const [, next] = /try: cardwright (.*)\n/.exec(err) ?? [];
    expect(next).toBe(look);
    expect(err).toContain(op);
  });

  it('never came, and the colleague has recorded it as done: the same command is about it', async () => {
    await using s = await recorded(`${CREATE} --intent i-25`, 'done');
    s.proxy.release('html-502');
    const { code, err } = await s.ended;
    expect([code, err]).toEqual([11, expect.stringContaining('recorded as done by ben@desk at 20')]);
    expect(err).not.toContain('ops resolve');
  });
});

/** A card that is terminated twice is terminated: an unknown outcome keeps nobody from it, whoever has begun it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { team } from './team.ts';

describe.skipIf(missing())('a terminate whose outcome is unknown', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it.each([
    ['its operator, over a shared journal', 'ana', {}],
    ['a colleague', 'ben', {}],
    [
      'its operator, in the files of one machine',
      'ana',
      { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' },
    ],
  ] as const)('is not in the way of %s', async (_, who, env) => {
    await using t = await team(here);
    const ana = await t.machine('ana', env);
    const typist = who === 'ana' ? ana : await t.machine(who, env);
    expect((await ana.run('cards create --bin bin_1 --amount 20')).code).toBe(0);
    const line = 'cards terminate card_1 --yes';
    // It is nowhere: no request arrives, and nothing can be looked at.
    t.proxy.fail('POST', /terminate/, ...Array<'drop-before'>(10).fill('drop-before'));
    t.proxy.fail('GET', /./, ...Array<'drop-before'>(60).fill('drop-before'));
    const lost = await ana.run(line);
    expect(lost.code, lost.err).toBe(11);
    expect(lost.err).toContain('Running the command again does no harm');
    const [, op] = /try: cardwright ops resume (op_\w+)\n/.exec(lost.err) ?? [];
    t.proxy.mend();
    const again = await typist.run(line);
    expect({ code: again.code, err: again.err }).toMatchObject({ code: 0 });
    expect(await t.cards()).toMatchObject([{ id: 'card_1', status: 'terminated' }]);
    const resumed = await ana.run(`ops resume ${op}`);
    expect({ code: resumed.code, err: resumed.err }).toMatchObject({ code: 0 });
    expect((await typist.run(line)).code).toBe(0);
    expect(await t.balance()).toBe(100);
  });
});

/** Files of two operators that have a row in common, claimed at the same moment: the row is done once. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database, type Person } from '../postgres/shared.ts';
import { holdingProxy } from './holding-proxy.ts';
import { team } from './team.ts';

const HEADER = 'bin_id,amount,label\n';
const SHARED = 'bin_1,2,shared\n';
const ANAS = `${HEADER}bin_1,1,a\n${SHARED}`;
const BENS = `${HEADER}${SHARED}bin_1,3,b\n`;

describe.skipIf(missing())('two files with a row in common', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  /** Two operators, each of whom waits at the first call of that function until it is let through. */
  async function two(calls: { readonly ana: string; readonly ben: string }) {
    const t = await team(here, { wallet: 50_000 });
    const operator = async (role: Person & keyof typeof calls, text: string) => {
      const way = await holdingProxy(here.server, `cardwright.${calls[role]}(`);
      const url = `postgres://${role}@${encodeURIComponent(way.folder)}:${way.port}/${here.name}`;
      const machine = await t.machine(role, { CARDWRIGHT_JOURNAL_URL: url });
      await writeFile(join(machine.folder, 'new.csv'), text);
      const begin = (more = '') => machine.run(`cards create --file new.csv --yes${more}`);
      return { ...way, begin };
    };
    const [ana, ben] = [await operator('ana', ANAS), await operator('ben', BENS)];
    return {
      ana,
      ben,
      /** How often the common row was done, and all of them. */
      made: async () => {
        const balances = (await t.cards()).map(({ balance }) => balance);
        return [balances.filter(balance => balance === 2).length, balances.length];
      },
      async [Symbol.asyncDispose]() {
        for (const way of [ana, ben]) await way[Symbol.asyncDispose]();
        await t[Symbol.asyncDispose]();
      },
    };
  }

  it('both have asked the rules: of the two claims the later one is asked again, and sends nothing', async () => {
    await using at = await two({ ana: 'claim', ben: 'append' });
    const { ana, ben } = at;
    const anas = ana.begin();
    await ana.held;
    const bens = ben.begin();
    await ben.held;
    ana.release();
    const late = await anas;
    expect(late).toMatchObject({ code: 14, err: expect.stringContaining('1 of these 2 rows is in a run that is') });
    expect(await at.made()).toEqual([0, 0]);
    ben.release();
    expect([(await bens).code, await at.made()]).toEqual([0, [1, 2]]);
  });

  it.each(['', ' --again'])('one has begun and ended while the claim of the other was on its way%s', async more => {
    await using at = await two({ ana: 'claim', ben: 'nothing' });
    const { ana, ben } = at;
    const anas = ana.begin(more);
    await ana.held;
    expect((await ben.begin()).code).toBe(0);
    ana.release();
    const late = await anas;
    expect([late.code, await at.made()]).toEqual([14, [1, 2]]);
    expect(late.err).toContain('1 of these 2 rows is done in op_');
    // Who has read that says --again.
    expect([(await ana.begin(' --again')).code, await at.made()]).toEqual([0, [2, 4]]);
  });
});

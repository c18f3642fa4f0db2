/** How often a command waits for the database of a shared journal, counted on the wire. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { countingProxy } from './counting-proxy.ts';
import { team } from './team.ts';

describe.skipIf(missing())('calls of the database', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  async function counted() {
    const t = await team(here, { wallet: 1000 });
    const way = await countingProxy(here.server);
    const url = `postgres://ana@${encodeURIComponent(way.folder)}:${way.port}/${here.name}`;
    const machine = await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: url });
    return {
      t,
      machine,
      async calls(words: string, code = 0) {
        way.taken();
        const ran = await machine.run(words);
        expect({ words, code: ran.code, err: ran.err }).toMatchObject({ words, code });
        return way.taken();
      },
      async [Symbol.asyncDispose]() {
        await t[Symbol.asyncDispose]();
        await way[Symbol.asyncDispose]();
      },
    };
  }

  it('one opens, one claims with SENT, one ends; one more tells that an answer without a name was written', async () => {
    await using at = await counted();
    expect(await at.calls('cards create --bin bin_1 --amount 10 -q')).toEqual({ logins: 1, calls: 4 });
    expect(await at.calls('cards fund card_1 --amount 5 -q')).toEqual({ logins: 1, calls: 4 });
    expect(await at.calls('cards withdraw card_1 --amount 2 -q')).toEqual({ logins: 1, calls: 4 });
    expect(await at.calls('cards fund card_1 --amount 5 --intent order-1 -q')).toEqual({ logins: 1, calls: 3 });
    expect(await at.calls('cards create --bin bin_1 --amount 10 --intent order-2 -q')).toEqual({ logins: 1, calls: 3 });
    // What may be done twice is told to nobody in particular.
    expect(await at.calls('cards terminate card_2 --yes -q')).toEqual({ logins: 1, calls: 3 });
    expect(await at.t.balance()).toBe(1000 - 10 - 5 + 2 - 5 - 10 + 10);
  });

  it('what reads the service and stops a card asks it nothing', async () => {
    await using at = await counted();
    await at.machine.run('cards create --bin bin_1 --amount 10 -q');
    for (const words of ['cards get card_1', 'cards list', 'wallet', 'tx list', 'cards freeze card_1 --yes'])
      expect([words, await at.calls(words)]).toEqual([words, { logins: 0, calls: 0 }]);
  });

  it('a name that was used costs no claim, and what is refused leaves nothing there', async () => {
    await using at = await counted();
    await at.t.at.admin(`set_cap('max_per_day', 2000)`);
    expect(await at.calls('cards create --bin bin_1 --amount 10 --intent order-1 -q')).toMatchObject({ calls: 3 });
    const again = await at.calls('cards create --bin bin_1 --amount 10 --intent order-1 -q');
    expect(again.calls).toBeLessThanOrEqual(4);
    expect(await at.calls('cards create --bin bin_1 --amount 11 -q', 14)).toMatchObject({ logins: 1 });
    expect(await at.t.cards()).toHaveLength(1);
    expect(await at.t.at.ana.heads(at.t.at.account, {})).toHaveLength(1);
    expect(await at.t.at.ana.status(at.t.at.account)).toMatchObject({ used: 1000 });
  });

  it('a list of ops asks once, however many there are, and says what their records say', async () => {
    await using at = await counted();
    for (const [words, code] of [
      ['cards create --bin bin_1 --amount 10', 0],
      ['cards fund card_1 --amount 5', 0],
      ['cards fund card_2 --amount 5', 5],
      ['cards withdraw card_1 --amount 1 --intent back-1', 0],
    ] as const)
      expect([words, (await at.machine.run(words)).code]).toEqual([words, code]);
    await writeFile(join(at.machine.folder, 'few.csv'), 'bin_id,amount\nbin_1,1\nbin_9,2\nbin_1,3\n');
    expect((await at.machine.run('cards create --file few.csv --yes --keep-going')).code).not.toBe(0);
    const { out } = await at.machine.run('ops list --json');
    expect(await at.calls('ops list')).toEqual({ logins: 1, calls: 2 });
    expect(await at.calls('ops locks')).toEqual({ logins: 1, calls: 2 });
    const listed = JSON.parse(out).data;
    expect(listed).toHaveLength(5);
    // Of each op the same by its records.
    await at.t.at.root.call('update cardwright.op set shown = null', []);
    expect(await at.calls('ops list')).toEqual({ logins: 1, calls: 7 });
    expect(JSON.parse((await at.machine.run('ops list --json')).out).data).toEqual(listed);
  });

  it('a file: one for each thousand rows, and one for each group of records', async () => {
    await using at = await counted();
    const rows = Array.from({ length: 300 }, (_, row) => `bin_1,1,row ${row}`);
    await writeFile(join(at.machine.folder, 'many.csv'), `bin_id,amount,label\n${rows.join('\n')}\n`);
    const { logins, calls } = await at.calls('cards create --file many.csv --yes --concurrency 64 -q');
    expect(logins).toBe(1);
    // 600 records, and 64 in a group at most.
    expect(calls).toBeLessThan(60);
    expect(await at.t.balance()).toBe(1000 - 300);
  });
});

/** A file that is run again within a day: money asks for --again, states are judged by what they are now. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type World, world } from '../support/world.ts';

const status = async (here: World, id: string) => JSON.parse((await here.run(`cards get ${id} --json`)).out).status;

async function withCards(): Promise<World> {
  const here = await world({ wallet: 100 });
  for (const _ of [1, 2]) await here.run('cards create --bin bin_1 --amount 5 -q');
  await writeFile(join(here.folder, 'ids.csv'), 'card_id\ncard_1\ncard_2\n');
  await writeFile(join(here.folder, 'funds.csv'), 'card_id,amount\ncard_1,2\ncard_2,2\n');
  return here;
}

test('a file of freezes and one of unfreezes act whenever a card is not in that state', async () => {
  await using here = await withCards();
  for (let round = 0; round < 2; round += 1) {
    expect(await here.run('cards freeze --file ids.csv --yes')).toMatchObject({ code: 0 });
    expect([await status(here, 'card_1'), await status(here, 'card_2')]).toEqual(['frozen', 'frozen']);
    expect(await here.run('cards freeze --file ids.csv --yes')).toMatchObject({ code: 0 });
    expect(await here.run('cards unfreeze --file ids.csv --yes')).toMatchObject({ code: 0 });
    expect([await status(here, 'card_1'), await status(here, 'card_2')]).toEqual(['active', 'active']);
  }
});

test('a file of terminations is over when the cards are', async () => {
  await using here = await withCards();
  for (let round = 0; round < 2; round += 1) {
    expect(await here.run('cards terminate --file ids.csv --yes')).toMatchObject({ code: 0 });
    expect([await status(here, 'card_1'), await status(here, 'card_2')]).toEqual(['terminated', 'terminated']);
  }
  expect(JSON.parse((await here.run('wallet --json')).out).balance).toBe(100);
});

test('a file of funds is refused, and runs again with --again', async () => {
  await using here = await withCards();
  const line = 'cards fund --file funds.csv --yes';
  expect(await here.run(line)).toMatchObject({ code: 0 });
  expect(await here.run(line)).toMatchObject({ code: 14, err: expect.stringContaining('--again') });
  expect(await here.run(`${line} --again`)).toMatchObject({ code: 0 });
  expect(JSON.parse((await here.run('cards get card_1 --json')).out).balance).toBe(9);
});

test('a file that is half done is told which of its rows are done', async () => {
  await using here = await withCards();
  await writeFile(join(here.folder, 'half.csv'), 'card_id,amount\ncard_1,2\ncard_2,500\n');
  const line = 'cards fund --file half.csv --keep-going --yes';
  expect(await here.run(line)).toMatchObject({ code: 9 });
  const again = await here.run(line);
  expect([again.code, again.err]).toEqual([14, expect.stringContaining('row 1; not done, or not known to be: row 2')]);
});

test('rows that two files have done are both named, and those that none has', async () => {
  await using here = await withCards();
  const fund = async (rows: readonly number[]) => {
    await writeFile(join(here.folder, 'some.csv'), `card_id,amount\n${rows.map(n => `card_1,${n}\n`).join('')}`);
    return here.run('cards fund --file some.csv --yes');
  };
  expect((await fund([1, 2])).code).toBe(0);
  expect((await fund([3])).code).toBe(0);
  expect(await fund([1, 2, 3])).toMatchObject({
    code: 14,
    err: expect.stringMatching(
      /done already, at .*, by op_\w+: rows 1 and 2; done already, at .*, by op_\w+: row 3\. Nothing was sent/,
    ),
  });
  const more = await fund([3, 1, 4]);
  expect([more.code, more.err]).toEqual([14, expect.stringContaining('Not among them: row 3.')]);
  expect((await fund([4])).code).toBe(0);
});

/** A copy of a service that speaks a dialect shows what the service itself shows. */
import { expect } from 'vitest';
import { type World, world } from '../support/world.ts';

const LISTS = ['cards list --all', 'tx list --all', 'tx summary --by type', "tx list --where 'amount>50'"];

export async function expectTrueCopy(dialect: string): Promise<void> {
  await using here = await world({ data: 'demo', dialect });
  expect(await here.run('books sync --json --jq .windows.open')).toMatchObject({ code: 0, out: '0\n' });
  expect(await here.run('books sync --json --jq .requests')).toMatchObject({ code: 0, out: '3\n' });
  for (const list of LISTS) {
    expect({ list, rows: await rowsOf(here, `${list} --offline`) }).toEqual({ list, rows: await rowsOf(here, list) });
  }
}

/** Rows in an order of ours, and their fields too. */
async function rowsOf(here: World, list: string): Promise<string[]> {
  const { out } = await here.run(`${list} --json`);
  const { data } = JSON.parse(out) as { data: readonly object[] };
  return data.map(row => JSON.stringify(Object.fromEntries(Object.entries(row).sort()))).sort();
}

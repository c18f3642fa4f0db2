/** A copy of a service that speaks a dialect shows what the service itself shows. */
import { expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { isWhole } from '../support/whole.ts';
import { type World, world } from '../support/world.ts';

const LISTS = ['cards list --all', 'tx list --all', 'tx summary --by type', "tx list --where 'amount>50'"];

async function expectTrueCopy(dialect: string): Promise<void> {
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

// Minimal has no totals and no paging, which is hardest to copy whole. Other paths need overrides, which any command takes alike.
it.each(isWhole ? DIALECT_NAMES.filter(name => name !== 'paths-other') : (['minimal'] as const))(
  'copies a service that speaks %s',
  expectTrueCopy,
);

/** One run that makes many cards. */
import { expect } from 'vitest';
import { serviceWorld } from './service-world.ts';

export const amounts = (count: number) => Array.from({ length: count }, (_, index) => (100 + (index % 97)) / 100);
export const cents = (values: readonly number[]) => values.reduce((sum, value) => sum + Math.round(value * 100), 0);

export function rowsOf(csv: string): string[][] {
  const [header, ...lines] = csv.trimEnd().split('\n');
  expect(header).toBe('row,outcome,card_id,last4,amount,error,request_id');
  return lines.map(line => line.split(','));
}

/** One card a row, in order, the wallet exact, and a second time nothing is sent. */
export async function expectEachRowOnce(count: number): Promise<void> {
  await using here = await serviceWorld({ wallet: 1000 });
  const wanted = amounts(count);
  const file = await here.creates('team.csv', wanted);
  const { code, out, err } = await here.run(`cards create --file ${file} --yes -o csv --concurrency 16`);
  expect({ code, last: err.trimEnd().split('\n').at(-1) }).toEqual({
    code: 0,
    last: `${count} of ${count} done, $${(cents(wanted) / 100).toFixed(2)} in all.`,
  });
  const rows = rowsOf(out);
  expect(rows.map(([row, outcome]) => [Number(row), outcome])).toEqual(wanted.map((_, index) => [index + 1, 'done']));
  const cards = await here.cards();
  const byId = new Map(cards.map(card => [card.id, card]));
  expect(cards.length).toBe(count);
  for (const [index, [, , id = '', , amount]] of rows.entries()) {
    expect(byId.get(id)?.balance).toBe(wanted[index]);
    expect(Number(amount)).toBe(wanted[index]);
  }
  expect(Math.round((await here.wallet()) * 100)).toBe(100_000 - cents(wanted));

  const posts = here.proxy.posts().length;
  const op = /^(op_\S+)\./m.exec(err)?.[1];
  expect((await here.run(`cards create --file ${file} --yes`)).code).toBe(14);
  expect((await here.run(`ops resume ${op} --yes -o csv`)).code).toBe(0);
  expect(here.proxy.posts().length).toBe(posts);
}

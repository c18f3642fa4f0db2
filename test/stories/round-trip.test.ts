/** What the program prints it reads: lists of cards and results of runs as the input of runs on those cards. */
import { expect, it } from 'vitest';
import { world } from '../support/world.ts';

const LISTS = ['cards list --all', 'cards list --all --fields id', 'cards list --all --fields label,id,balance'];
const RUNS = ['cards freeze', 'cards unfreeze', 'cards terminate'];

/** Requests of a dry run. */
const planned = (ndjson: string): { path: string; body: unknown }[] =>
  ndjson
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));

it('every list of cards and every result of a run names the cards of the next run', async () => {
  await using here = await world({ wallet: 500 });
  const rows = 'bin_id,amount,label\nbin_1,20,"\'=one"\nbin_1,5,two\n';
  const created = await here.run('cards create --file - --yes -o csv', { stdin: rows });
  expect(created.code).toBe(0);
  const [, op = ''] = /^(op_\w+)\./m.exec(created.err) ?? [];
  const inputs = [created.out, (await here.run(`ops show ${op} -o csv`)).out];
  for (const format of ['csv', 'ndjson']) {
    for (const line of LISTS) inputs.push((await here.run(`${line} -o ${format}`)).out);
    inputs.push((await here.run(`cards freeze card_1 card_2 -o ${format}`)).out);
  }
  for (const stdin of inputs) {
    for (const line of RUNS) {
      const { code, out, err } = await here.run(`${line} --file - --dry-run -o ndjson`, { stdin });
      expect({ stdin, code, err }).toEqual({ stdin, code: 0, err: 'standard input: 2 rows, all valid.\n' });
      const paths = planned(out).map(({ path }) => path.split('/')[2]);
      expect(paths.sort()).toEqual(['card_1', 'card_2']);
    }
  }
  // The amounts of a result were paid; without its outcomes it says what is to be paid. A list says no amount.
  for (const stdin of inputs.slice(0, 2)) {
    const again = await here.run('cards fund --file - --dry-run', { stdin });
    expect(again).toMatchObject({ code: 2, out: '' });
    expect(again.err).toContain('this row was already done in an earlier run');
  }
  const amounts = created.out.replaceAll(',done,', ',,');
  const funded = await here.run('cards fund --file - --dry-run -o ndjson', { stdin: amounts });
  expect(planned(funded.out).map(({ body }) => body)).toEqual([{ amount: 20 }, { amount: 5 }]);
  const list = (await here.run('cards list --all -o csv')).out;
  expect(await here.run('cards fund --file - --dry-run', { stdin: list })).toMatchObject({ code: 2, out: '' });
});

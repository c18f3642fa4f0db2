import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RunTally } from '../../src/cli/bulk/results.ts';
import { world } from '../support/world.ts';

it('a file whose cards were not compared is unknown, and a look at it leaves it as it is', async () => {
  await using here = await world({ wallet: 1000 });
  await writeFile(join(here.folder, 'rows.csv'), 'bin_id,amount\nbin_1,5\nbin_1,6\n');
  const fault = { match: { operation: 'cards.list' }, action: { kind: 'status', code: 500 }, times: 9 };
  await here.run('sandbox faults add -', { stdin: JSON.stringify([fault]) });
  const quick = { onPause: () => undefined, longestPause: 60_000 };
  const { code, err } = await here.run('cards create --file rows.csv --yes', quick);
  expect(code, err).toBe(11);
  await here.run('sandbox faults clear --yes');
  const [op = ''] = /op_\w{26}/.exec(err) ?? [];
  const state = async () => JSON.parse((await here.run('ops list --json')).out).data[0].state;
  const before = await state();
  expect((await here.run(`ops resume ${op} --dry-run`)).code).toBe(0);
  expect([before, await state()]).toEqual(['unknown', 'unknown']);
  expect((await here.run(`ops resume ${op} --yes`)).code).toBe(0);
  expect(await state()).toBe('finished');
});

it('a look at what stays unknown names the resume, and not itself', () => {
  const tally = new RunTally({ total: 2, single: false, resumed: true, isLook: true });
  for (const row of [1, 2]) tally.add({ row, outcome: row === 1 ? 'done' : 'unknown' });
  const { facts } = tally.verdict({ op: 'op_1', ended: false }) ?? {};
  expect(facts?.hint).toBe('cardwright ops resume op_1');
  expect(facts?.notes?.join()).not.toContain('--dry-run');
});

it('an intent of a row of a run that stopped, typed alone: its own card, and no other row is sent', async () => {
  await using here = await world({ wallet: 1000 });
  const rows = ['a', 'b', 'c', 'd'].map(label => `bin_1,5,${label},order-${label}`);
  await writeFile(join(here.folder, 'rows.csv'), `bin_id,amount,label,intent\n${rows.join('\n')}\n`);
  const third = { match: { operation: 'cards.create', nth: 3 }, action: { kind: 'status', code: 401 }, times: 1 };
  await here.run('sandbox faults add -', { stdin: JSON.stringify([third]) });
  await here.run('cards create --file rows.csv --yes --concurrency 1');
  const line = (label: string) => `cards create --bin bin_1 --amount 5 --label ${label} --intent order-${label} --json`;
  const again = await here.run(line('b'));
  expect({ code: again.code, err: again.err }).toMatchObject({ code: 0 });
  expect(JSON.parse(again.out)).toMatchObject({ label: 'b', intent: { name: 'order-b', repeated: true } });
  expect((await here.run(line('d'))).code).toBe(14);
  const labels = JSON.parse((await here.run('cards list --json')).out).data.map(
    ({ label }: { label: string }) => label,
  );
  expect(labels).not.toContain('d');
  expect(new Set(labels).size).toBe(labels.length);
});

it('a row that waits for money refuses the same purchase typed alone, and is given up by the command that is named', async () => {
  await using here = await world({ wallet: 10 });
  await writeFile(join(here.folder, 'rows.csv'), 'bin_id,amount\nbin_1,6\nbin_1,7\n');
  expect((await here.run('cards create --file rows.csv --yes --keep-going')).code).toBe(9);
  await here.run('sandbox simulate deposit --currency usdt --amount 100');
  await here.run('sandbox clock advance --by 1h');
  const refused = await here.run('cards create --bin bin_1 --amount 7');
  expect(refused).toMatchObject({ code: 14, err: expect.stringContaining('is still to be sent: row 2 of op_') });
  const [, giveUp = ''] = /To give it up: cardwright (.*)/.exec(refused.err) ?? [];
  expect((await here.run(`${giveUp.replace('"why"', 'late')} --yes`)).code).toBe(0);
  expect((await here.run('cards create --bin bin_1 --amount 7')).code).toBe(0);
});

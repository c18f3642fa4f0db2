/** Whole runs: every cent where it belongs, one exit code, and nothing sent that was not meant. */

import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { READ_LAG } from '../../src/contract/spans.ts';
import { isWhole } from '../support/whole.ts';
import { serviceWorld } from './service-world.ts';

const amounts = (count: number) => Array.from({ length: count }, (_, index) => (100 + (index % 97)) / 100);
const cents = (values: readonly number[]) => values.reduce((sum, value) => sum + Math.round(value * 100), 0);

function rowsOf(csv: string): string[][] {
  const [header, ...lines] = csv.trimEnd().split('\n');
  expect(header).toBe('row,outcome,card_id,last4,amount,error,request_id');
  return lines.map(line => line.split(','));
}

/** One card a row, in order, the wallet exact, and a second time nothing is sent. */
async function expectEachRowOnce(count: number): Promise<void> {
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

/** What the list of cards is waited for behind a refusal ends at once. */
const HURRIED = { onPause: () => undefined, longestPause: READ_LAG };

test(`${isWhole ? 500 : 60} cards: one a row, in order, the wallet exact, and a second time sends nothing`, () =>
  expectEachRowOnce(isWhole ? 500 : 60));

test('a wallet that another command of this machine has used is no riddle: its operation is named', async () => {
  await using here = await serviceWorld();
  const file = await here.creates('team.csv', [5, 6, 7]);
  let first = true;
  const { code, err } = await here.run(`cards create --file ${file} --yes -o csv --concurrency 1`, {
    async onOut() {
      if (first) expect((await here.run('cards create --bin bin_1 --amount 8')).code).toBe(0);
      first = false;
    },
  });
  expect(code).toBe(0);
  expect(err).toMatch(/explain; other commands of this journal have used it meanwhile\n/);
});

test('the wallet is compared with what the done rows moved; somebody else who uses it is no objection', async () => {
  await using here = await serviceWorld();
  const file = await here.creates('team.csv', [5, 6, 7]);
  let first = true;
  const { code, err } = await here.run(`cards create --file ${file} --yes -o csv --concurrency 1`, {
    async onOut() {
      if (first) await here.spend(8);
      first = false;
    },
  });
  expect(code).toBe(0);
  expect(err).toContain(
    'note: the wallet holds $974.00, $8.00 less than $1,000.00 before and the done rows explain; somebody else has used it meanwhile',
  );
  const quiet = await here.creates('more.csv', [5, 6]);
  expect((await here.run(`cards create --file ${quiet} --yes -o csv`)).err).not.toContain('note:');
  await writeFile(join(here.folder, 'back.csv'), 'card_id,amount\ncard_1,2\n');
  expect((await here.run('cards withdraw --file back.csv --yes -o csv')).err).not.toContain('note:');
});

test('--keep-going buys what the wallet covers, and leaves the rest', async () => {
  await using here = await serviceWorld({ wallet: 20 });
  const file = await here.creates('team.csv', [5, 50, 6]);
  expect((await here.run(`cards create --file ${file} --yes`)).code).toBe(10);
  const { code, err } = await here.run(`cards create --file ${file} --yes --keep-going`, HURRIED);
  expect([code, await here.wallet()], err).toEqual([9, 9]);
});

test('a wallet that runs dry on the way stops the run, and resume goes on with the rest', async () => {
  await using here = await serviceWorld({ wallet: 20 });
  const file = await here.creates('team.csv', [5, 6, 4, 3]);
  let header = true;
  const { code, out, err } = await here.run(`cards create --file ${file} --yes -o csv --concurrency 1`, {
    ...HURRIED,
    // Somebody else spends after the check and before the first row.
    async onOut() {
      if (header) await here.spend(8);
      header = false;
    },
  });
  expect(rowsOf(out).map(([, outcome, , , , error]) => [outcome, error])).toEqual([
    ['done', ''],
    ['done', ''],
    ['refused', 'insufficient_funds'],
    ['not_sent', 'not_begun'],
  ]);
  expect(code).toBe(9);
  expect(err).toContain('error: 2 of 4 done, 1 failed, 1 not started');
  const op = /try: cardwright ops resume (op_\S+)/.exec(err)?.[1];
  const again = await here.run(`ops resume ${op} --yes -o csv`, HURRIED);
  expect([again.code, await here.wallet()]).toEqual([9, 1]);

  const dry = await here.creates('dry.csv', [1, 1.5]);
  const short = await here.run(`cards create --file ${dry} --yes --again`);
  expect([short.code, short.err.includes('$2.50 asked, $1.00 there, $1.50 short')]).toEqual([10, true]);
});

test('a refused key stops everything: no row is done, exit 4', async () => {
  await using here = await serviceWorld();
  here.proxy.fail('POST', /\/cards$/, 'unauthorized');
  const file = await here.creates('team.csv', amounts(100));
  const { code, out, err } = await here.run(`cards create --file ${file} --yes -o csv --concurrency 1`, HURRIED);
  expect(code).toBe(4);
  expect(here.proxy.posts().length).toBe(1);
  expect(rowsOf(out).map(([, outcome]) => outcome)).toEqual([
    'refused',
    ...Array.from({ length: 99 }, () => 'not_sent'),
  ]);
  expect(err).toContain('error: 0 of 100 done, 1 failed, 99 not started');
});

test('Ctrl-C after some answers: what is under way ends and is read back, 130, and resume does the rest exactly once', async () => {
  await using here = await serviceWorld({ delayMs: 200 });
  const wanted = amounts(60);
  const file = await here.creates('team.csv', wanted);
  const stop = new AbortController();
  const { CliError } = await import('../../src/core/errors.ts');
  const running = here.run(`cards create --file ${file} --yes -o csv --concurrency 4`, { signal: stop.signal });
  await here.proxy.posted(12);
  here.proxy.fail('POST', /\/cards$/, ...Array<'late-answer'>(4).fill('late-answer'));
  while (here.proxy.happened()['late-answer'] !== 4) await new Promise(resolve => setImmediate(resolve));
  stop.abort(new CliError('interrupted', { message: 'stopped by Ctrl-C' }));
  const stopped = await running;
  expect(stopped.code).toBe(130);
  expect(stopped.err).toContain('Stopping; 4 requests under way. Ctrl-C again leaves that to ops resume.');
  const rows = rowsOf(stopped.out);
  const answered = rows.filter(([, outcome]) => outcome === 'done').length;
  expect(rows.length).toBe(60);
  expect((await here.cards()).length).toBe(answered);
  expect(answered).toBeLessThan(30);
  expect(stopped.err).toContain(`${answered} of 60 done, ${60 - answered} not started`);

  const op = /try: cardwright ops resume (op_\S+)/.exec(stopped.err)?.[1];
  const resumed = await here.run(`ops resume ${op} --yes -o csv`);
  expect(resumed.code).toBe(0);
  expect(rowsOf(resumed.out).every(([, outcome]) => outcome === 'done')).toBe(true);
  const cards = await here.cards();
  expect(cards.length).toBe(60);
  expect(new Set(cards.map(({ metadata }) => metadata['cardwright'])).size).toBe(60);
  expect(Math.round((await here.wallet()) * 100)).toBe(100_000 - cents(wanted));
});

test('an input that is written to while it is read is refused before anything is sent', async () => {
  await using here = await serviceWorld();
  const path = join(here.folder, await here.creates('team.csv', amounts(5000)));
  // The bins are asked for after the file was opened and before its rows are read.
  here.proxy.fail('GET', /\/bins/, 'held-answer');
  const running = here.run('cards create --file team.csv --yes');
  while (here.proxy.seen.length === 0) await new Promise(resolve => setImmediate(resolve));
  await appendFile(path, 'bin_1,5,late\n');
  here.proxy.release();
  const { code, err } = await running;
  expect(code).toBe(2);
  expect(err).toContain('error: team.csv changed while it was read. Nothing was sent\n');
  expect(here.proxy.posts()).toEqual([]);
});

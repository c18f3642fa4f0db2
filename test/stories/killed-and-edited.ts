/**
 * A run of many rows was killed, and the person edits the file before running it again: rows that are done must not be
 * made a second time because other rows of the file are new. What a kill leaves is made by hand, as in
 * killed-and-run-again.test.ts.
 */
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstOf } from '../support/first-of.ts';
import { type World, world } from '../support/world.ts';

const HEAD = 'bin_id,amount,label\n';
const ROWS = ['bin_1,5,one\n', 'bin_1,6,two\n', 'bin_1,7,three\n'] as const;
const WHOLE = HEAD + ROWS.join('');

/** As if the last run had been killed after `done` of its rows: nothing of the others was sent. */
async function killedAfter({ folder }: World, done: number): Promise<string> {
  const ops = join(folder, 'state', 'ops');
  const [op = ''] = (await readdir(ops)).filter(name => name.startsWith('op_'));
  const journal = join(ops, op, 'journal');
  const lines = (await readFile(journal, 'utf8')).split('\n').slice(0, -1);
  const kept: string[] = [];
  let left = done;
  for (const line of lines) {
    if (left === 0 && /"t":"(?:SENT|DONE|END)"/.test(line)) break;
    if (line.includes('"t":"DONE"')) left -= 1;
    kept.push(line);
  }
  await truncate(journal, Buffer.byteLength(`${kept.join('\n')}\n`));
  await writeFile(join(ops, 'unfinished', op), '');
  return op;
}

async function labels(here: World): Promise<string[]> {
  const { data } = JSON.parse((await here.run('cards list --json')).out) as { data: { label: string }[] };
  return data.map(({ label }) => label).sort();
}

/** The whole file run one row at a time, and killed after two of three. */
async function killedWorld(command: string, text: string): Promise<{ here: World; op: string }> {
  const here = await world();
  await writeFile(join(here.folder, 'rows.csv'), text);
  expect((await here.run(`${command} --file rows.csv --concurrency 1 --yes`)).code).toBe(0);
  return { here, op: await killedAfter(here, 2) };
}

/** `isWhole` adds other edits of the file. */
export function editedAfterKill({ isWhole }: { readonly isWhole: boolean }): void {
  test.each(
    firstOf(
      [
        [
          'a row corrected',
          `${HEAD}bin_1,5,one\nbin_1,6,two\nbin_1,7.50,three\n`,
          '2 of these 3 rows',
          ', 2 of its 3 rows done: op_',
        ],
        [
          'done rows deleted',
          `${HEAD}bin_1,7,three\nbin_1,8,four\n`,
          '1 of these 2 rows',
          ', 2 of its 3 rows done: op_',
        ],
        [
          'a done row and a new one',
          `${HEAD}bin_1,8,four\nbin_1,5.00,one\n`,
          '1 of these 2 rows',
          ', 2 of its 3 rows done: op_',
        ],
        ['a row added', `${WHOLE}bin_1,8,four\n`, '3 of these 4 rows', ', 2 of its 3 rows done: op_'],
      ],
      { isWhole },
    ),
  )('%s: refused, with --again too, until the run is finished', async (_how, text, shared, done) => {
    const { here, op } = await killedWorld('cards create', WHOLE);
    await using _ = here;
    const before = await labels(here);
    await writeFile(join(here.folder, 'edited.csv'), text);
    for (const way of ['', '--again', '--again --no-marker -o ndjson', '--keep-going']) {
      const { code, err } = await here.run(`cards create --file edited.csv --yes ${way}`);
      expect({ way, code }).toEqual({ way, code: 14 });
      for (const part of [shared, done, `cardwright ops resume ${op}`]) expect(err, way).toContain(part);
      if (!way.includes('ndjson')) expect(err, way).toContain(`cardwright ops resolve ${op} --as not-done`);
    }
    expect(await labels(here)).toEqual(before);
    // What the error says is the way out; then --again says that the same rows are meant a second time.
    expect((await here.run(`ops resume ${op} --yes`)).code).toBe(0);
    const [same] = shared.split(' of ');
    const refused = await here.run('cards create --file edited.csv --yes');
    expect([refused.code, refused.err]).toEqual([14, expect.stringContaining(`done in ${op}, finished 2026`)]);
    const ran = await here.run('cards create --file edited.csv --yes --again');
    expect([ran.code, ran.err]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^warning: ${same} of these \\d rows (is|are) done in ${op}, finished 2026`)),
    ]);
  });

  test('rows that --keep-going left out, corrected after a kill', async () => {
    const here = await world();
    await using _ = here;
    await writeFile(join(here.folder, 'rows.csv'), `${HEAD}${ROWS[0]}bin_1,0,two\n${ROWS[2]}`);
    expect((await here.run('cards create --file rows.csv --concurrency 1 --keep-going --yes')).code).toBe(9);
    const op = await killedAfter(here, 1);
    await writeFile(join(here.folder, 'rows.csv'), WHOLE);
    for (const way of ['--yes', '--dry-run']) {
      const { code, out, err } = await here.run(`cards create --file rows.csv ${way}`);
      expect([code, out, err]).toEqual([
        14,
        '',
        expect.stringContaining(`2 of these 3 rows are in a run that is not finished, 1 of its 2 rows done: ${op}`),
      ]);
    }
  });

  test.each(
    firstOf(
      [
        ['cards create', `${HEAD}bin_1,5.50,one\nbin_1,6.50,two\nbin_1,7.50,three\n`],
        ['cards create', `${HEAD}bin_1,5.50,one\nbin_1,6.50,other\n`],
      ],
      { isWhole },
    ),
  )('%s with every amount edited: refused until --again says that they are meant on top', async (command, text) => {
    const { here, op } = await killedWorld(command, WHOLE);
    await using _ = here;
    const before = await labels(here);
    const rows = text.split('\n').length - 2;
    await writeFile(join(here.folder, 'edited.csv'), text);
    for (const way of ['--yes', '--dry-run']) {
      const { code, err } = await here.run(`${command} --file edited.csv ${way}`);
      expect([code, err]).toEqual([14, expect.stringContaining(`2 of its 3 rows done: ${op}`)]);
      expect(err).toContain(`of these ${rows} rows`);
    }
    expect(await labels(here)).toEqual(before);
    const meant = await here.run(`${command} --file edited.csv --yes --again`);
    expect([meant.code, meant.err]).toEqual([
      0,
      expect.stringMatching(/^warning: \d of these \d rows (is|are) the same but/),
    ]);
  });

  test('a fund of the same cards with every amount edited, after a kill', async () => {
    await using here = await world();
    for (const label of ['one', 'two', 'three']) await here.run(`cards create --bin bin_1 --amount 5 --label ${label}`);
    const ops = join(here.folder, 'state', 'ops');
    for (const op of (await readdir(ops)).filter(name => name.startsWith('op_')))
      await rm(join(ops, op), { recursive: true });
    const file = (amounts: readonly number[]) =>
      writeFile(
        join(here.folder, 'f.csv'),
        amounts.reduce((text, each, at) => `${text}card_${at + 1},${each}\n`, 'card_id,amount\n'),
      );
    await file([2, 3, 4]);
    expect((await here.run('cards fund --file f.csv --concurrency 1 --yes')).code).toBe(0);
    await killedAfter(here, 2);
    await file([2.5, 3.5, 4.5]);
    const { code, err } = await here.run('cards fund --file f.csv --yes');
    expect([code, err]).toEqual([
      14,
      expect.stringContaining(`3 of these 3 rows are the same but for the amount in a run`),
    ]);
    // Money the other way is another matter.
    expect((await here.run('cards withdraw --file f.csv --yes')).code).toBe(0);
    expect((await here.run('cards fund --file f.csv --yes --again')).code).toBe(0);
  });

  test.runIf(isWhole)('no row in common: a run of its own', async () => {
    const { here } = await killedWorld('cards create', WHOLE);
    await using _ = here;
    await writeFile(join(here.folder, 'other.csv'), `${HEAD}bin_1,8,four\nbin_1,5,other\n`);
    expect((await here.run('cards create --file other.csv --yes')).code).toBe(0);
  });

  test('one card by hand, of rows a killed run may have done or may still do', async () => {
    const { here, op } = await killedWorld('cards create', WHOLE);
    await using _ = here;
    for (const row of ['--amount 5 --label one', '--amount 7 --label three']) {
      const { code, err } = await here.run(`cards create --bin bin_1 ${row}`);
      expect([row, code, err]).toEqual([row, 14, expect.stringContaining(`cardwright ops resume ${op}`)]);
    }
    expect((await here.run('cards create --bin bin_1 --amount 5 --label other')).code).toBe(0);
    expect((await here.run(`ops resume ${op} --yes`)).code).not.toBe(14);
    expect((await here.run('cards create --bin bin_1 --amount 5 --label one')).code).toBe(0);
  });

  test.runIf(isWhole)('a fund by hand of a card that a killed run funds with the same amount', async () => {
    await using here = await world();
    for (const label of ['one', 'two', 'three']) await here.run(`cards create --bin bin_1 --amount 5 --label ${label}`);
    const [one, two, three] = (await here.run('cards list --sort created_at -o id')).out.trim().split('\n');
    const rows = [one, two, three].map(card => `${card},4\n`).join('');
    const ops = join(here.folder, 'state', 'ops');
    for (const op of (await readdir(ops)).filter(name => name.startsWith('op_')))
      await rm(join(ops, op), { recursive: true });
    await writeFile(join(here.folder, 'funds.csv'), `card_id,amount\n${rows}`);
    expect((await here.run('cards fund --file funds.csv --concurrency 1 --yes')).code).toBe(0);
    const op = await killedAfter(here, 2);
    for (const card of [one, three]) {
      const { code, err } = await here.run(`cards fund ${card} --amount 4 --yes`);
      expect([card, code, err]).toEqual([card, 14, expect.stringContaining(`cardwright ops resume ${op}`)]);
    }
    expect((await here.run(`cards fund ${one} --amount 3 --yes`)).code).toBe(0);
    // Safe to do twice, so nobody is held up.
    expect((await here.run(`cards freeze ${one} --yes`)).code).toBe(0);
  });

  test('a card that moved between the kill and the resume: what its key proves is believed, and nothing is paid twice', async () => {
    await using here = await world();
    const card = (await here.run('cards create --bin auto --amount 20 -q')).out.trim();
    expect((await here.run(`cards fund ${card} --amount 1.37 -q`)).code).toBe(0);
    const ops = join(here.folder, 'state', 'ops');
    for (const op of (await readdir(ops)).filter(name => name.startsWith('op_'))) {
      const journal = join(ops, op, 'journal');
      const text = await readFile(journal, 'utf8');
      if (!text.includes('cards.fund')) continue;
      await truncate(journal, Buffer.byteLength(text.slice(0, text.search(/[^\n]*"t":"DONE"/))));
      await writeFile(join(ops, 'unfinished', op), '');
      const again = await here.run(`cards fund ${card} --amount 1.37 -q`);
      expect([again.code, again.err]).toEqual([14, expect.not.stringContaining('not done')]);
      expect((await here.run(`cards fund ${card} --amount 3 -q`)).code).toBe(0);
      const resumed = await here.run(`ops resume ${op} --yes`);
      expect({ code: resumed.code, err: resumed.err }).toMatchObject({ code: 0 });
    }
    expect((await here.run(`cards get ${card} --json --fields balance`)).out).toContain('24.37');
  });

  test('nobody says by mistake that a row that was never sent is done', async () => {
    const { here, op } = await killedWorld('cards create', WHOLE);
    await using _ = here;
    const outcomes = async () => (await here.run(`ops show ${op} --json --jq '[.items[].outcome]'`)).out;
    const before = await outcomes();
    expect(await here.run(`ops resolve ${op} --as done --note looked`)).toMatchObject({
      code: 14,
      err: expect.stringContaining(`cardwright ops resume ${op}`),
    });
    expect(await outcomes()).toBe(before);
    expect((await here.run(`ops resume ${op} --yes`)).code).toBe(0);
    expect(await labels(here)).toHaveLength(3);
  });
}

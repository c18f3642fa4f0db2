/**
 * A command that was killed after its work and before its end, and run again in another way: other flags, formats and
 * files, rows in another order. What a kill leaves is made by hand; that it leaves this, test/crash/ shows.
 */
import { readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstOf } from '../support/first-of.ts';
import { type World, world } from '../support/world.ts';

const ROWS = 'bin_id,amount,label\nbin_1,5,one\nbin_1,6,two\n';

/** As if the last command had been killed: before END when `lines` of the journal are cut off, else before its answer. */
async function asKilled({ folder, run }: World, lines: number, command?: string): Promise<string> {
  const ops = join(folder, 'state', 'ops');
  const all = (await readdir(ops)).filter(name => name.startsWith('op_'));
  const { data } = JSON.parse((await run('ops list --json')).out) as { data: { op: string; command: string }[] };
  const op = data.find(each => each.command === (command ?? each.command))?.op ?? all[0] ?? '';
  const journal = join(ops, op, 'journal');
  const text = await readFile(journal, 'utf8');
  const kept = text.split('\n').slice(0, -1 - lines);
  if (lines > 0) await truncate(journal, Buffer.byteLength(`${kept.join('\n')}\n`));
  await writeFile(join(ops, 'unfinished', op), '');
  return op;
}

async function cards(here: World): Promise<number> {
  return JSON.parse((await here.run('cards list --json')).out).data.length;
}

/** `isWhole` adds moments at which it was killed. */
export function runAgainAfterKill({ isWhole }: { readonly isWhole: boolean }): void {
  test.each(
    firstOf(
      [
        ['before END', 1],
        ['before its answer was written', 0],
      ],
      { isWhole },
    ),
  )('a run of two rows, killed %s: no way of running it again makes a third card', async (_when, lines) => {
    await using here = await world();
    await writeFile(join(here.folder, 'rows.csv'), ROWS);
    expect((await here.run('cards create --file rows.csv --yes -o ndjson')).code).toBe(0);
    const op = await asKilled(here, lines);
    await writeFile(join(here.folder, 'turned.csv'), 'label,amount,bin_id\ntwo,6.00,bin_1\none,5,bin_1\n');
    const rows = ['{"bin_id":"bin_1","amount":5,"label":"one"}', '{"bin_id":"bin_1","amount":6,"label":"two"}'];
    await writeFile(join(here.folder, 'rows.ndjson'), `${rows.join('\n')}\n`);
    await writeFile(join(here.folder, 'wrong.csv'), `${ROWS}bin_1,0,wrong\n`);
    await rename(join(here.folder, 'rows.csv'), join(here.folder, 'renamed.csv'));
    const ways = [
      '--file renamed.csv -o ndjson',
      '--file renamed.csv --json',
      '--file renamed.csv --concurrency 1 -q',
      '--file renamed.csv --keep-going',
      '--file renamed.csv --no-marker --max-total 100',
      '--file renamed.csv --again',
      '--file turned.csv',
      '--file turned.csv --again',
      '--file rows.ndjson',
      '--file wrong.csv --keep-going',
    ];
    for (const way of ways) {
      const { code, err } = await here.run(`cards create ${way} --yes`);
      expect({ way, code }).toEqual({ way, code: 14 });
      expect(err, way).toContain(`cardwright ops resume ${op}`);
    }
    const piped = await here.run('cards create --file - --yes', { stdin: ROWS });
    expect([piped.code, piped.err]).toEqual([14, expect.stringContaining('2 of its 2 rows done')]);
    expect(await cards(here)).toBe(2);
    // What the error says is the way out.
    const resumed = await here.run(`ops resume ${op} --yes -o csv`);
    expect([resumed.code, resumed.out.split('\n').length]).toEqual([0, 4]);
    expect((await here.run('cards create --file turned.csv --yes')).err).toContain('finished less than 24 hours ago');
    expect(await cards(here)).toBe(2);
    // Now it is a decision.
    expect((await here.run('cards create --file turned.csv --yes --again')).code).toBe(0);
    expect(await cards(here)).toBe(4);
  });

  test.each(
    firstOf(
      [
        ['before END', 1],
        ['before its answer was written', 0],
      ],
      { isWhole },
    ),
  )('one card, killed %s: the same command is refused until its result was shown', async (_when, lines) => {
    await using here = await world();
    const create = 'cards create --bin bin_1 --amount 5 --label one';
    expect((await here.run(create)).code).toBe(0);
    const op = await asKilled(here, lines);
    for (const way of [create, `${create} --json`, `${create} -q --idempotency-key other`]) {
      const { code, err } = await here.run(way);
      expect({ way, code }).toEqual({ way, code: 14 });
      expect(err).toContain(op);
    }
    expect(await cards(here)).toBe(1);
    const resumed = await here.run(`ops resume ${op} --yes --json`);
    expect([resumed.code, JSON.parse(resumed.out).data[0].outcome]).toEqual([0, 'done']);
    expect(await cards(here)).toBe(1);
    expect((await here.run(create)).code).toBe(0);
    expect(await cards(here)).toBe(2);
  });

  test.each(
    firstOf(
      [
        ['in flight', 2],
        ['before END', 1],
        ['while its program ran', 0],
      ],
      { isWhole },
    ),
  )('a lease, killed %s: the same lease is refused until its result was shown', async (_when, lines) => {
    await using here = await world({ wallet: 100 });
    const lease = "cards lease --amount 25 --reveal --yes -- node -e ''";
    expect((await here.run(lease)).code).toBe(0);
    const op = await asKilled(here, lines, 'cards create');
    for (const way of [
      lease,
      lease.replace('--yes', '--yes --ttl 5m'),
      lease.replace('--reveal', '--reveal --dry-run'),
    ]) {
      const { code, err } = await here.run(way);
      expect({ way, code }).toEqual({ way, code: 14 });
      expect(err).toContain(op);
      expect(err).toContain('cardwright cards lease --reap');
    }
    expect(await cards(here)).toBe(1);
    expect((await here.run(lease.replace('25', '20'))).code).toBe(0);
    expect((await here.run(`ops resume ${op} --yes`)).code).toBe(0);
    expect((await here.run(lease)).code).toBe(0);
    expect(await cards(here)).toBe(3);
  });

  test.each(
    firstOf(
      [
        ['in flight', 2],
        ['before END', 1],
        ['while its program ran', 0],
      ],
      { isWhole },
    ),
  )('a lease with an intent, killed %s: its own refusal has shown nobody its result', async (_when, lines) => {
    await using here = await world({ wallet: 100 });
    const lease = (name: string) => `cards lease --amount 25 --reveal --yes${name} -- node -e ''`;
    expect((await here.run(lease(' --intent checkout-7'))).code).toBe(0);
    const op = await asKilled(here, lines, 'cards create');
    // Its own intent settles it: its card may have been made only now, so that is no refusal before anything was sent.
    for (const [name, ends] of [
      [' --intent checkout-7', 15],
      ['', 14],
      [' --intent checkout-7', 15],
      [' --intent checkout-8', 14],
    ] as const) {
      const { code, out, err } = await here.run(lease(name));
      expect({ name, code, out }, err).toEqual({ name, code: ends, out: '' });
      expect(err).toContain(`try: cardwright ops resume ${op}\n`);
    }
    expect(await cards(here)).toBe(1);
    expect((await here.run(`ops resume ${op}`)).code).toBe(0);
    expect((await here.run(lease(' --intent checkout-7'))).err).toContain('try: cardwright cards get card_1\n');
    expect((await here.run(lease(''))).code).toBe(0);
  });

  test('a run whose end cannot be found out is closed by hand', async () => {
    await using here = await world();
    await writeFile(join(here.folder, 'rows.csv'), ROWS);
    await here.run('cards create --file rows.csv --yes');
    const op = await asKilled(here, 1);
    expect(JSON.parse((await here.run(`ops show ${op} --json`)).out).state).toBe('untold');
    const closed = await here.run(`ops resolve ${op} --as done --note "looked at every card" --json`);
    expect([closed.code, JSON.parse(closed.out).state]).toEqual([0, 'finished']);
    expect((await here.run('cards create --file rows.csv --yes')).err).toContain('less than 24 hours ago');
  });
}

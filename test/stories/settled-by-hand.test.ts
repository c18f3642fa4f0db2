/**
 * A run of six rows that stopped half way: two done, two of unknown outcome, two that a resume would send. What a person
 * records by hand, what is said of the rest, and how the run goes on from there.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type World, world } from '../support/world.ts';

const QUICK = { onPause: () => undefined, longestPause: 60_000 };

/** card_1 to card_6 with $5.00 each; funded from a file by $1.00 each: 2 and 4 without an answer, 5 and 6 not sent. */
async function stopped(): Promise<{ here: World; op: string; err: string }> {
  const here = await world({ dialect: 'keys-ignored' });
  for (let card = 1; card <= 6; card += 1) await here.run('cards create --bin bin_1 --amount 5');
  const lost = (card: string) => ({
    match: { operation: 'cards.fund', card_id: card },
    phase: 'before',
    action: { kind: 'reset' },
    times: 9,
  });
  const slow = {
    match: { operation: 'cards.fund', card_id: 'card_5' },
    action: { kind: 'status', code: 429 },
    times: 7,
  };
  await here.run('sandbox faults add -', { stdin: JSON.stringify([lost('card_2'), lost('card_4'), slow]) });
  const rows = [1, 2, 3, 4, 5, 6].map(card => `card_${card},1\n`).join('');
  await writeFile(join(here.folder, 'rows.csv'), `card_id,amount\n${rows}`);
  const { code, err } = await here.run('cards fund --file rows.csv --concurrency 1 --yes', QUICK);
  expect(code, err).toBe(11);
  const [op = ''] = /op_\w{26}/.exec(err) ?? [];
  return { here, op, err };
}

async function outcomes({ run }: World, op: string): Promise<string> {
  const { items } = JSON.parse((await run(`ops show ${op} --json`)).out) as { items: { outcome: string }[] };
  return items.map(({ outcome }) => outcome).join(' ');
}

test('some rows by their numbers, as a refused file names them: all of them or none', async () => {
  const { here, op } = await stopped();
  await using _ = here;
  await writeFile(join(here.folder, 'other.csv'), 'card_id,amount\ncard_2,1\ncard_6,1\n');
  const { code, err } = await here.run('cards fund --file other.csv --yes');
  expect(code).toBe(14);
  expect(err).toContain(`cardwright ops resume ${op}`);
  const wrong = await here.run(`ops resolve ${op} 2 3 --as done --note seen`);
  expect([wrong.code, wrong.err]).toEqual([
    2,
    expect.stringContaining(`neither open nor unknown: row 3 of ${op}. Nothing was recorded`),
  ]);
  expect(await outcomes(here, op)).toBe('done unknown done unknown open open');
  const two = await here.run(`ops resolve ${op} 4, 6 --as not-done --note 'no such entry'`);
  expect([two.code, two.err]).toEqual([
    0,
    expect.stringContaining('Recorded as not done: 1 row of unknown outcome and 1 row that a resume would send.\n'),
  ]);
  expect(two.err).toContain('Row 5 stays open');
  expect(two.out.match(/^\d+(?=\t)/gm)).toEqual(['4', '6']);
  expect(two.err).toContain(`Row 2 is still unknown: cardwright ops show ${op}`);
  expect(await outcomes(here, op)).toBe('done unknown done not_sent open not_sent');
});

test('not done of a transfer that its card shows is refused, and a resume says that it is done', async () => {
  const { here, op } = await stopped();
  await using _ = here;
  // It arrives late: nobody here has seen it.
  expect((await here.run('sandbox faults clear --yes')).code).toBe(0);
  const elsewhere = { env: { XDG_STATE_HOME: join(here.folder, 'elsewhere') } };
  expect((await here.run('cards fund card_2 --amount 1 --yes', elsewhere)).code).toBe(0);
  const refused = await here.run(`ops resolve ${op} 2 4 --as not-done --note over`);
  expect(refused.code).toBe(14);
  expect(refused.err).toContain(`row 2 of ${op} is done: card card_2 $5.00 -> $6.00`);
  expect(await outcomes(here, op)).toBe('done unknown done unknown open open');
  expect((await here.run(`ops resolve ${op} 4 --as not-done --note over`)).code).toBe(0);
  expect((await here.run(`ops resume ${op} --yes`, QUICK)).code).toBe(9);
  expect(await outcomes(here, op)).toBe('done done done not_sent done done');
});

test('rows that are recorded as not done: a resume that leads no further says so, and the same file again names them', async () => {
  const { here, op } = await stopped();
  await using _ = here;
  expect((await here.run(`ops resume ${op}`, QUICK)).code).toBe(11);
  expect((await here.run(`ops resolve ${op} 2 --as not-done --note gone`)).code).toBe(0);
  const stuck = await here.run(`ops resume ${op}`, QUICK);
  expect([stuck.code, stuck.err]).toEqual([11, expect.stringContaining(`try: cardwright ops show ${op}\n`)]);
  expect((await here.run(`ops resolve ${op} 4 --as not-done --note gone`)).code).toBe(0);
  const again = await here.run('cards fund --file rows.csv --yes', QUICK);
  expect([again.code, again.err]).toEqual([14, expect.stringContaining('rows 1, 3, 5 and 6. Nothing was sent')]);
  expect(again.err).toContain('Not among them: rows 2 and 4.');
  await writeFile(join(here.folder, 'left.csv'), 'card_id,amount\ncard_2,1\ncard_4,1\n');
  expect((await here.run('sandbox faults clear --yes')).code).toBe(0);
  expect((await here.run('cards fund --file left.csv --yes', QUICK)).code).toBe(0);
  expect(JSON.parse((await here.run('wallet --json')).out).balance).toBe(1000 - 30 - 6);
});

test('what a reading has spoken for once is not recorded as not done, unless a person insists', async () => {
  await using here = await world({ dialect: 'keys-ignored' });
  const elsewhere = { env: { XDG_STATE_HOME: join(here.folder, 'elsewhere') } };
  for (let card = 1; card <= 2; card += 1) await here.run('cards create --bin bin_1 --amount 5', elsewhere);
  const lost = { match: { operation: 'cards.fund' }, phase: 'before', action: { kind: 'reset' }, times: 1 };
  await here.run('sandbox faults add -', { stdin: JSON.stringify([lost]) });
  const { code, err } = await here.run('cards fund card_1 --amount 1 --yes', QUICK);
  expect(code, err).toBe(11);
  const [op = ''] = /op_\w{26}/.exec(err) ?? [];
  // The request arrives late, beside another purchase from the wallet: the card speaks for it, and the wallet does not.
  for (const [card, amount] of [[1, 1] as const, [2, 2] as const])
    expect((await here.run(`cards fund card_${card} --amount ${amount} --yes`, elsewhere)).code).toBe(0);
  const spoken = await here.run(`ops resume ${op} --yes`, QUICK);
  expect([spoken.code, spoken.err]).toEqual([11, expect.stringContaining('card card_1 $5.00 -> $6.00')]);
  // What was added is spent: no reading shows it any more.
  expect((await here.run('sandbox simulate authorize --card card_1 --amount 1 --merchant m')).code).toBe(0);
  const again = await here.run(`ops resume ${op} --resend-absent --yes`, QUICK);
  expect([again.code, again.err]).toEqual([11, expect.stringContaining('an earlier reading spoke for it')]);
  const notDone = `ops resolve ${op} --as not-done --note over`;
  const alone = await here.run(`${notDone} --yes`, QUICK);
  expect([alone.code, alone.err]).toEqual([14, expect.stringContaining(`row 1 of ${op} may be done`)]);
  expect((await here.run(notDone, { ...QUICK, terminal: 100, typed: ['n'] })).code).toBe(3);
  expect(await outcomes(here, op)).toBe('unknown');
  expect((await here.run(notDone, { ...QUICK, terminal: 100, typed: ['y'] })).code).toBe(0);
  expect(await outcomes(here, op)).toBe('not_sent');
});

test('a card without a marker that was made about then may be the one of a lost create: nothing is sent again', async () => {
  await using here = await world({ dialect: 'keys-ignored' });
  const lost = { match: { operation: 'cards.create' }, phase: 'before', action: { kind: 'reset' }, times: 1 };
  await here.run('sandbox faults add -', { stdin: JSON.stringify([lost]) });
  const { code, err } = await here.run('cards create --bin bin_1 --amount 5 --label ads', QUICK);
  expect(code, err).toBe(11);
  const [op = ''] = /op_\w{26}/.exec(err) ?? [];
  const elsewhere = { env: { XDG_STATE_HOME: join(here.folder, 'elsewhere') } };
  // Another label is another card. The wallet is as it was: somebody has paid in what it cost.
  for (const [label, isOffered] of [['mail', true] as const, ['ads', false] as const]) {
    const other = `cards create --bin bin_1 --amount 5 --label ${label} --no-marker`;
    expect((await here.run(other, elsewhere)).code).toBe(0);
    await here.run('sandbox simulate deposit --currency usdt --amount 5 --confirmations auto');
    await here.run('sandbox clock advance --by 5m');
    const seen = await here.run(`ops resume ${op} --yes`, QUICK);
    expect([label, seen.code, seen.err.includes('--resend-absent')]).toEqual([label, 11, isOffered]);
  }
  expect((await here.run(`ops resume ${op} --resend-absent --yes`, QUICK)).code).toBe(11);
  expect(JSON.parse((await here.run('cards list --json')).out).data).toHaveLength(2);
});

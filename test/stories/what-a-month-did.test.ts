/** What a statement tells of own moves and of their other side, whatever is asked for and however an answer came. */
import { expect, test } from 'vitest';
import { type World, world } from '../support/world.ts';

async function done(here: World, line: string): Promise<string> {
  const { code, out, err } = await here.run(line);
  expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
  return out.trim();
}

const at = (here: World, time: string) => done(here, `sandbox clock set frozen --at ${time} -q`);

test('a transfer of QIF names the account on its other side, in every cut', async () => {
  await using here = await world();
  await done(here, 'cards create --bin bin_1 --amount 50 -q');
  await done(here, 'books reconcile -q');
  await at(here, '2026-12-01T08:00:00Z');
  await done(here, 'books reconcile -q');
  const whole = await done(here, 'books export --format qif --period 2026-11');
  const [card] = whole.match(/Card \d{4} \w{6}/) ?? [];
  const cuts = {
    '': card,
    '--only wallet': card,
    '--only cards': 'Cardwright Wallet',
    '--card card_1': 'Cardwright Wallet',
  };
  for (const [cut, other] of Object.entries(cuts)) {
    const file = await done(here, `books export --format qif --period 2026-11 ${cut}`);
    const named = /P(?:From|To) \w+\r\nL(.*)\r/.exec(file)?.[1];
    expect({ cut, named }).toEqual({ cut, named: `[${other}]` });
  }
});

test('what was done though its answer was lost is of the time of the service', async () => {
  await using here = await world({ wallet: 3000 });
  const other = await done(here, 'cards create --bin bin_1 --amount 100 -q');
  await done(here, 'cards create --bin bin_1 --amount 200 -q');
  await done(here, 'books reconcile -q');
  await at(here, '2027-01-15T08:00:00Z');
  const lost = (operation: string) =>
    JSON.stringify({ match: { operation }, phase: 'after_commit', action: { kind: 'reset' }, times: 1 });
  for (const [operation, line] of [
    ['cards.withdraw', 'cards withdraw card_2 --amount 7 --yes'],
    ['cards.fund', 'cards fund card_2 --amount 5 --yes'],
    ['cards.terminate', `cards terminate ${other} --yes`],
  ]) {
    await here.run('sandbox faults add -', { stdin: lost(operation ?? '') });
    await done(here, `${line} -q`);
  }
  await at(here, '2027-02-01T08:00:00Z');
  await done(here, 'books reconcile -q');
  const lines = async (period: string) =>
    JSON.parse(await done(here, `books statement --period ${period} --only cards --json`)).data.flatMap(
      (account: { lines: { date: string; amount: number }[] }) =>
        account.lines.map(({ date, amount }) => `${date} ${amount}`),
    );
  expect(await lines('2027-01')).toEqual(['2027-01-15 -100', '2027-01-15 -7', '2027-01-15 5']);
  expect(await lines('2026-12')).toEqual([]);
});

test('an ended card gives back all it has, and what is posted to it later goes over the wallet', async () => {
  await using here = await world({ wallet: 3000 });
  for (const amount of [100, 60, 30]) await done(here, `cards create --bin bin_1 --amount ${amount} -q`);
  await done(here, 'books reconcile -q');
  await at(here, '2026-12-01T08:00:00Z');
  await done(here, 'books reconcile -q');
  await at(here, '2026-12-20T08:00:00Z');
  await done(here, 'cards terminate card_1 --yes -q');
  const held = await done(here, 'sandbox simulate authorize --card card_2 --amount 20 -q');
  for (const card of ['card_2', 'card_3']) await done(here, `cards terminate ${card} --yes -q`);
  await at(here, '2027-01-03T08:00:00Z');
  await done(here, 'sandbox simulate force-post --card card_1 --amount 7.77 -q');
  await done(here, 'sandbox simulate refund --card card_1 --amount 3 -q');
  await done(here, 'sandbox simulate force-post --card card_3 --amount 30 -q');
  await done(here, `sandbox simulate settle ${held} --amount 23 -q`);
  await at(here, '2027-02-05T08:00:00Z');
  await done(here, 'books reconcile -q');
  const month = async (period: string, card: string) =>
    JSON.parse((await here.run(`books statement --period ${period} --card ${card} --json`)).out).data[0];
  const december = await month('2026-12', 'card_1');
  expect(december).toMatchObject({ opening: 100, lines: [{ amount: -100, balance: 0 }], closing: 0, provisional: [] });
  const january = await month('2027-01', 'card_1');
  expect(january).toMatchObject({ opening: 0, closing: 0, provisional: [] });
  expect(january.lines.map(({ amount }: { amount: number }) => amount).sort()).toEqual([-3, -7.77, 3, 7.77]);
  expect(await month('2026-12', 'card_3')).toMatchObject({ opening: 30, lines: [{ amount: -30 }], closing: 0 });
  // A settlement above what was held then: how much the card gave back at its end nothing tells.
  expect((await month('2026-12', 'card_2')).provisional).toEqual([
    expect.stringContaining('in this amount or another'),
  ]);
  // Once it had ended, what comes is of no other month.
  await at(here, '2027-02-06T08:00:00Z');
  await done(here, 'sandbox simulate refund --card card_1 --amount 2 -q');
  await at(here, '2027-03-01T08:00:00Z');
  await done(here, 'books reconcile -q');
  expect(await month('2027-02', 'card_1')).toMatchObject({ opening: 0, closing: 0, provisional: [] });
});

test('a journal of a part of the account says which one is not included beside it', async () => {
  await using here = await world();
  await done(here, 'cards create --bin bin_1 --amount 50 -q');
  await at(here, '2026-12-01T08:00:00Z');
  await done(here, 'books reconcile -q');
  for (const format of ['hledger', 'ledger', 'beancount']) {
    const file = (cut: string) => done(here, `books export --format ${format} --period 2026-11 ${cut} -q`);
    for (const cut of ['--only wallet', '--only cards', '--card card_1'])
      expect(await file(cut)).toContain(
        '; A part of the account: the other side of its transfers is a counter-account',
      );
    expect(await file('')).not.toContain('A part of the account');
  }
});

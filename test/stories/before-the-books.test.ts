/** A statement of a time before the first reconcile: what was there is not known, and nothing is printed as if it were. */
import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

test('cards that somebody else made: their opening is not known before the first reconcile', async () => {
  await using here = await world();
  // Made by another machine: the journal of this one does not explain it.
  const other = { env: { CARDWRIGHT_CONFIG_DIR: `${here.folder}/other` } };
  expect((await here.run('cards create --bin bin_1 --amount 50', other)).code).toBe(0);
  await here.run('sandbox simulate authorize --card card_1 --amount 19.07 --merchant SHOP', other);
  await here.run('sandbox simulate settle txn_1', other);
  await here.run('sandbox clock advance 11d -q', other);
  expect((await here.run('books reconcile -q')).code).toBe(0);
  const { code, out, err } = await here.run('books statement --period 2026-11 --json');
  expect([code, err]).toEqual([
    0,
    '2026-11 is provisional: the books begin at 2026-12-01T14:03:11Z: what was there before is not known, and nothing is missing. Each later opening is the closing before it\n',
  ]);
  expect(JSON.parse(out)).toMatchObject({
    reconciled: false,
    books_begin: '2026-12-01T14:03:11Z',
    data: [
      { kind: 'wallet', books_begin: '2026-12-01T14:03:11Z', opening: null, closing: null },
      {
        card_id: 'card_1',
        books_begin: '2026-12-01T14:03:11Z',
        opening: null,
        lines: [
          { amount: 50, source: 'derived', balance: null },
          { amount: -19.07, balance: null },
        ],
        closing: null,
      },
    ],
  });
  const table = await here.run('books statement --period 2026-11 -o table');
  expect(table.out).toContain('not known -> not known');
  expect(table.out).not.toContain('-$19.07 -');
  expect((await here.run('books export --format csv --period 2026-11')).err).toContain('the books begin at 2026-12-01');
  // Of a period in which they begin, the end is known.
  await here.run('sandbox clock advance 31d -q');
  expect((await here.run('books reconcile -q')).code).toBe(0);
  const december = JSON.parse((await here.run('books statement --period 2026-12 --json')).out);
  expect(december).toMatchObject({ reconciled: false });
  expect(december.data).toMatchObject([
    { kind: 'wallet', opening: null, closing: 950 },
    { card_id: 'card_1', opening: null, closing: 30.93 },
  ]);
  // What came between two cuts is told with its card, and the wallet beside it.
  await here.run('cards fund card_1 --amount 10', other);
  await here.run('sandbox clock advance 31d -q');
  expect((await here.run('books reconcile -q')).code).toBe(0);
  const { err: named } = await here.run('books statement --period 2027-01');
  expect(named).toBe(
    '2027-01 is provisional: card card_1: $10.00 moved between 2027-01-01 and 2027-02-01. It is counted on 2027-02-01, and may belong to 2027-01, in this amount or another\n' +
      '2027-01 is provisional: wallet: -$10.00 moved between 2027-01-01 and 2027-02-01. It is counted on 2027-02-01, and may belong to 2027-01, in this amount or another\n',
  );
});

test('no account opens below nothing where the books begin: what there was came before what was spent', async () => {
  await using here = await world({ data: 'demo' });
  for (const line of ['books reconcile -q', 'sandbox clock advance 11d -q', 'books reconcile -q'])
    expect((await here.run(line)).code).toBe(0);
  const { out } = await here.run('books export --format hledger --period 2026-11');
  expect(out).toContain('Opening balance');
  expect(out.match(/Opening balance.*\n +\S+ {2}-.*/g)).toBeNull();
});

test('files of a time before the books state no balance that nobody knows', async () => {
  await using here = await world();
  const other = { env: { CARDWRIGHT_CONFIG_DIR: `${here.folder}/other` } };
  const setup = async (line: string, options = {}) =>
    expect({ line, code: (await here.run(line, options)).code }).toEqual({ line, code: 0 });
  await setup('cards create --bin bin_1 --amount 50', other);
  await setup('sandbox simulate authorize --card card_1 --amount 19.07 --merchant SHOP', other);
  await setup('sandbox simulate settle txn_1', other);
  await setup('sandbox clock advance 41d -q', other);
  await setup('books reconcile -q');
  await setup('sandbox clock advance 1d -q', other);
  await setup('books reconcile -q');
  const file = async (words: string) => {
    const { code, out } = await here.run(`books export ${words}`);
    expect({ words, code }).toEqual({ words, code: 0 });
    return out;
  };
  const begin = 'the books begin at 2026-12-31T14:03:11Z';
  for (const format of ['hledger', 'ledger']) {
    const [before, within] = [
      await file(`--format ${format} --period 2026-11`),
      await file(`--format ${format} --period 2026-12`),
    ];
    expect(before).toContain(`; its closing balance is not known: ${begin}\n`);
    expect(before).not.toMatch(/ = |Closing balances|\* Opening balance\n/);
    expect(within).toContain('= 30.93 USD');
    expect(within).toContain(`* Opening balance, computed and not known: ${begin}\n`);
    expect(within).not.toMatch(/\* Opening balance\n/);
  }
  const bean = await file('--format beancount --period 2026-11');
  expect(bean).toContain(`; its closing balance is not known: ${begin}\n`);
  expect(bean).not.toMatch(/ balance Assets|"Opening balance"/);
  expect(await file('--format beancount --period 2026-12 --continue')).toMatch(/ balance Assets\S+ 30\.93 /);
  expect(await file('--format csv --period 2026-11')).toMatch(/,settlement,-19\.07,USD,,SHOP,/);
  // OFX must state a balance: the first one that is known, with its own date.
  expect(await file('--format ofx --period 2026-11')).toContain(
    '<LEDGERBAL><BALAMT>30.93<DTASOF>20261231140311[0:GMT]<',
  );
  expect(await file('--format ofx --period 2026-12')).toContain(
    '<LEDGERBAL><BALAMT>30.93<DTASOF>20270101000000[0:GMT]<',
  );
  expect(await file('--format qif --period 2026-12')).toMatch(
    /POpening Balance\r\nMOpening balance, computed and not known/,
  );
});

test.each(['', 'sandbox clock set frozen --at 2026-12-03T08:00:00Z -q;cards create --bin bin_1 --amount 200 -q'])(
  'a wallet that had money before the first reconcile: its opening is not known, and no day of the month has a deposit',
  async card => {
    await using here = await world({ wallet: 3000 });
    const closed = card === '' ? 3000 : 2800;
    const steps = [
      ...card.split(';').filter(Boolean),
      'sandbox clock set frozen --at 2026-12-05T08:00:00Z -q',
      'books reconcile -q',
      'sandbox clock set frozen --at 2027-02-10T08:00:00Z -q',
      'books reconcile -q',
    ];
    for (const line of steps) expect({ line, code: (await here.run(line)).code }).toEqual({ line, code: 0 });
    const month = async (period: string) =>
      JSON.parse((await here.run(`books statement --period ${period} --only wallet --json`)).out);
    expect((await month('2026-11')).data).toMatchObject([{ opening: null, lines: [], closing: null }]);
    const begun = await month('2026-12');
    expect(begun).toMatchObject({ final: false, reconciled: false, books_begin: '2026-12-05T08:00:00Z' });
    expect(begun.data).toMatchObject([{ opening: null, closing: closed }]);
    expect(begun.data[0].lines.map(({ type }: { type: string }) => type)).toEqual(card === '' ? [] : ['transfer']);
    expect(await month('2027-01')).toMatchObject({ reconciled: true, data: [{ opening: closed, closing: closed }] });
  },
);

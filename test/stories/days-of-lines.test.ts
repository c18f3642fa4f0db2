/** A line of a statement stands on the day that the account shows, in one month alone. */
import { describe, expect, it } from 'vitest';
import { type World, world } from '../support/world.ts';

interface Told {
  readonly reconciled: boolean;
  readonly final: boolean;
  readonly provisional: readonly string[];
  readonly data: readonly {
    readonly kind: string;
    readonly card_id: string | null;
    readonly opening: number | null;
    readonly closing: number | null;
    readonly lines: readonly { readonly payee: string; readonly amount: number; readonly date: string }[];
  }[];
}

async function done(here: World, line: string, env = {}): Promise<string> {
  const { code, out, err } = await here.run(line, { env });
  expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
  return out.trim();
}

const statement = async (here: World, period: string): Promise<Told> =>
  JSON.parse(await done(here, `books statement --period ${period} --json`));

const walletOf = ({ data }: Told) => data.find(({ kind }) => kind === 'wallet');
const cardOf = ({ data }: Told, id = 'card_1') => data.find(({ card_id }) => card_id === id);

/** A colleague with a journal of their own. */
const colleague = (here: World) => ({ CARDWRIGHT_CONFIG_DIR: `${here.folder}/colleague` });

describe('a line stands on its day', () => {
  it('a termination of our own stands in its month alone, and a month opens as the one before has closed', async () => {
    await using here = await world({ wallet: 1000 });
    await done(here, 'sandbox clock set frozen --at 2026-12-10T09:00:00Z -q');
    await done(here, 'cards create --bin bin_1 --amount 100 -q');
    await done(here, 'books reconcile');
    await done(here, 'sandbox clock advance --by 1d -q');
    await done(here, 'cards terminate card_1 --yes -q');
    await done(here, 'sandbox clock advance --by 25d -q');
    await done(here, 'books reconcile');
    await done(here, 'sandbox clock advance --by 40d -q');
    await done(here, 'books reconcile');
    const [december, january] = [await statement(here, '2026-12'), await statement(here, '2027-01')];
    expect(walletOf(december)?.lines.map(({ payee, amount }) => [payee, amount])).toContainEqual(['From card', 100]);
    expect(walletOf(january)?.lines).toEqual([]);
    expect([walletOf(december)?.closing, walletOf(january)?.opening, walletOf(january)?.closing]).toEqual([
      1000, 1000, 1000,
    ]);
    expect(january.provisional).toEqual([]);
  });

  it('a card is made when the service says so, also where the clock of this machine is another', async () => {
    await using here = await world({ wallet: 1000 });
    await done(here, 'books reconcile');
    await done(here, 'sandbox clock set frozen --at 2026-12-02T09:00:00Z -q');
    await done(here, 'cards create --bin bin_1 --amount 60 -q');
    await done(here, 'books reconcile');
    expect(cardOf(await statement(here, '2026-11'))).toBeUndefined();
    const december = cardOf(await statement(here, '2026-12-01..2026-12-01'));
    expect(december).toBeUndefined();
    const rows = JSON.parse(await done(here, `books query "select at_ms from moves" --json`));
    expect(rows.data).toEqual([{ at_ms: Date.parse('2026-12-02T09:00:00Z') }]);
  });
});

describe('what no checkpoint proves is provisional', () => {
  it('a card that a colleague made and used has no closing below nothing', async () => {
    await using here = await world({ wallet: 1000 });
    await done(here, 'books reconcile');
    await done(here, 'sandbox clock set frozen --at 2026-11-29T09:00:00Z -q');
    await done(here, 'cards create --bin bin_1 --amount 80 --yes -q', colleague(here));
    await done(here, 'sandbox simulate authorize --card card_1 --amount 20 -q');
    await done(here, 'sandbox simulate settle txn_1 -q');
    await done(here, 'sandbox clock set frozen --at 2026-12-02T09:00:00Z -q');
    await done(here, 'books reconcile');
    const november = await statement(here, '2026-11');
    expect([cardOf(november)?.closing, walletOf(november)?.closing]).toEqual([60, 920]);
    // Whether all of it came at once nobody has seen.
    expect([november.reconciled, november.final]).toEqual([false, false]);
    expect(november.provisional).not.toEqual([]);
  });

  it('a deposit between two readings around the end of a month', async () => {
    await using here = await world({ wallet: 1000 });
    await done(here, 'sandbox clock set frozen --at 2026-11-01T09:00:00Z -q');
    await done(here, 'cards create --bin bin_1 --amount 100 -q');
    await done(here, 'books reconcile');
    await done(here, 'sandbox clock set frozen --at 2026-11-15T09:00:00Z -q');
    await done(here, 'sandbox simulate deposit --currency usdt --amount 500 -q');
    await done(here, 'sandbox clock set frozen --at 2026-12-01T09:00:00Z -q');
    await done(here, 'books reconcile');
    await done(here, 'sandbox clock advance --by 60d -q');
    await done(here, 'books reconcile');
    const november = await statement(here, '2026-11');
    expect([november.reconciled, november.final]).toEqual([false, false]);
    expect(november.provisional.join()).toMatch(/\$500\.00/);
    const told = await here.run('books statement --period 2026-11', { terminal: 100 });
    expect(told.out.split('\n')[0]).toMatch(/provisional/);
    for (const format of ['csv', 'ofx', 'qbo --card card_1', 'qif', 'hledger', 'ledger', 'beancount']) {
      const file = await here.run(`books export --format ${format} --period 2026-11`);
      const card = format.includes('--card');
      expect({ format, marked: /provisional/i.test(file.out) }).toEqual({ format, marked: !card });
    }
    for (const layout of ['quickbooks', 'xero']) {
      const file = await here.run(`books export --format csv --layout ${layout} --period 2026-11`);
      expect({ layout, marked: /provisional/i.test(file.out) }).toEqual({ layout, marked: true });
    }
  });
});

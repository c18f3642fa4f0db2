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

describe('what no checkpoint proves is provisional', () => {
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

/** The look at a store before it is served to others: its pages, then its books. */
import { CliError } from '../errors.ts';
import { checkInvariants } from './invariants.ts';
import { checkLedger } from './ledger-check.ts';
import { countAll } from './store/counts.ts';
import { isDamage } from './store/faults.ts';
import type { Sql, Store } from './store/sql.ts';

/** So many transactions and events are looked through in a moment. */
const LOOKED_THROUGH_AT_ONCE = 10_000;

export async function isLarge(sql: Sql, account: string): Promise<boolean> {
  const { transactions, events } = await countAll(sql, account);
  return transactions + events > LOOKED_THROUGH_AT_ONCE;
}

/**
 * The pages and I1 to I10 of any store, and I11 to I16 of one that is not large, for nobody waits a minute for a server.
 * Resolves to whether all was looked at. Throws `check_failed` naming what is wrong; nothing is changed.
 */
export async function checkWhole(store: Store, account: string): Promise<boolean> {
  const pages = await store.read(damagedPages).catch((error: unknown) => {
    if (isDamage(error)) return ['its pages cannot be read'];
    throw error;
  });
  if (pages.length > 0) throw notServed(store, `is damaged: ${pages.join('; ')}`, 'cardwright sandbox reset --hard');
  const { isAll, faults } = await store.read(async sql => {
    const isAll = !(await isLarge(sql, account));
    return { isAll, faults: await (isAll ? checkInvariants : checkLedger)(sql, account) };
  });
  if (faults.length > 0) throw notServed(store, `does not add up: ${faults.join('; ')}`, 'cardwright sandbox reset');
  return isAll;
}

/** What the engine finds wrong with its file, a line each. */
export async function damagedPages(sql: Sql): Promise<readonly string[]> {
  const lines = await sql.all<{ quick_check: string }>('pragma quick_check(5)');
  return lines.map(({ quick_check: line }) => line).filter(line => line !== 'ok');
}

function notServed({ path }: Store, what: string, hint: string): CliError {
  return new CliError('check_failed', {
    message: `the sandbox store ${path} ${what}`,
    notes: ['It was left as it is, and nothing was served from it.'],
    hint,
    outcome: 'not_sent',
  });
}

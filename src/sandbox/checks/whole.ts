/** The look at a store before it is served to others: its pages, then its books. */
import { CliError } from '../../core/errors.ts';
import { isDamage } from '../../engine/faults.ts';
import { countAll } from '../store/counts.ts';
import type { Sql, Store } from '../store/sql.ts';
import { checkInvariants } from './invariants.ts';
import { checkLedger } from './ledger-check.ts';

/** Transactions and events; so many are looked through in a moment, and of so many a person begins to wonder. */
const LOOKED_THROUGH_AT_ONCE = 10_000;
const LONG_TO_LOOK_THROUGH = 50_000;

export async function isLarge(sql: Sql, account: string): Promise<boolean> {
  return (await recordsOf(sql, account)) > LOOKED_THROUGH_AT_ONCE;
}

async function recordsOf(sql: Sql, account: string): Promise<number> {
  const { transactions, events } = await countAll(sql, account);
  return transactions + events;
}

/**
 * The pages and I1 to I10 of any store, and I11 to I16 of one that is not large, for nobody waits a minute for a
 * server. At every start anew (docs/design/sandbox.md, section 11): what was found last time says nothing of what
 * befell the file since. `onLong` is told how many records there are where it takes more than a second or so. Resolves
 * to whether all was looked at. Throws `check_failed` naming what is wrong; nothing is changed.
 */
export async function checkWhole(
  store: Store,
  account: string,
  onLong: (records: number) => void = () => undefined,
): Promise<boolean> {
  const unlessDamaged =
    <T>(otherwise: T) =>
    (error: unknown): T => {
      if (isDamage(error)) return otherwise;
      throw error;
    };
  // Counted before anything else: the engine gives no turn while it looks.
  const records = await store.read(sql => recordsOf(sql, account)).catch(unlessDamaged(0));
  if (records > LONG_TO_LOOK_THROUGH) onLong(records);
  const pages = await store.read(damagedPages).catch(unlessDamaged(['its pages cannot be read']));
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
    notes: ['It was not changed, and nothing was served from it.'],
    hint,
    outcome: 'not_sent',
  });
}

/** status, reset */
import { loadSize } from '../../contract/sandbox/admin.ts';
import { type Cents, toUsd } from '../../core/money.ts';
import { deterministicIds } from '../calls/deterministic-ids.ts';
import { type AdminHandlers, type Call, Refused } from '../calls/handler.ts';
import { checkInvariants } from '../checks/invariants.ts';
import { isLarge } from '../checks/whole.ts';
import { readClock, setClock } from '../clock/clock.ts';
import { parkedTimers } from '../clock/timers.ts';
import { loadDataSet } from '../data/load.ts';
import { isoTime } from '../rules/dates.ts';
import { allBins } from '../store/bins.ts';
import { countAll } from '../store/counts.ts';
import { keepCheck, type LastCheck, lastCheck } from '../store/ledger-checks.ts';
import { clearSystemTables } from '../store/meta.ts';
import { emptyAccount, walletOf } from '../store/wallet.ts';

/**
 * Everything the store knows; the server adds its version and where the store is. A large store takes its time to look
 * through: of one it is told what was found when somebody last looked, and nothing where nobody did.
 */
export const sandboxStatus: AdminHandlers['status'] = async call => {
  const { sql, account } = call;
  const known = (await isLarge(sql, account)) ? await lastCheck(sql, account) : await checkNow(call);
  return { ...(await stateOf(call)), ...(known === undefined ? NEVER_LOOKED_AT : foundIn(known)) };
};

/**
 * Replaces everything the account holds, but for what is to be kept, in the call's one transaction: with the data set
 * and the wallet it was started with, where no other is named. The clock goes on as it was set; the key the server began with is no part of the store.
 */
export const resetSandbox: AdminHandlers['reset'] = async call => {
  const { sql, account, now, input, startedWith } = call;
  const clock = await readClock(sql, account);
  const { data = startedWith.data, seed, keep = [] } = input;
  if (data !== 'load' && (input.cards ?? input.transactions) !== undefined) {
    throw new Refused('invalid_request', 'cards and transactions: for the data set load alone');
  }
  const bins = keep.includes('bins') ? await allBins(sql, account) : undefined;
  await emptyAccount(sql, account);
  await clearSystemTables(sql, account, { seed, keep });
  if (clock.mode !== 'real') await setClock(sql, account, clock);
  // The seed may be another one now.
  const idSource = deterministicIds({ sql, account });
  const size = loadSize({ ...startedWith.size, ...input });
  const wallet = input.data === undefined ? startedWith.wallet : undefined;
  await loadDataSet(sql, { name: data, account, now, idSource, size, bins, ...(wallet !== undefined && { wallet }) });
  const found = await checkNow(call);
  await keepCheck(sql, account, found);
  return { ...(await stateOf(call)), ...foundIn(found) };
};

type CheckScope = Pick<Call, 'sql' | 'account' | 'now'>;

/** All invariants, now. */
export async function checkNow({ sql, account, now }: CheckScope): Promise<LastCheck> {
  return { at: now, faults: await checkInvariants(sql, account) };
}

const NEVER_LOOKED_AT = { ledger_ok: null, ledger_faults: [], ledger_checked_at: null };

/** What somebody found in the books, as it is told. */
export function foundIn({ at, faults }: LastCheck) {
  return { ledger_ok: faults.length === 0, ledger_faults: [...faults], ledger_checked_at: isoTime(at) };
}

/** Everything the store knows of itself, in numbers, but for its books. */
export async function stateOf({ sql, account, now }: CheckScope) {
  const wallet = await walletOf(sql, account);
  const parked = await parkedTimers(sql, account);
  return {
    data_set: wallet?.data_set ?? 'none',
    now: isoTime(now),
    ...(await countAll(sql, account)),
    wallet_balance: toUsd(wallet?.balance ?? (0 as Cents)),
    timers_parked: parked.map(timer => ({ ...timer, due_at: isoTime(timer.due_at) })),
  };
}

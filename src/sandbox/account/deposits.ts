/** Crypto deposits: seen, counted, credited exactly once (docs/design/sandbox.md, section 9). */
import type { Cents } from '../../core/money.ts';
import { schedule, unschedule } from '../clock/timers.ts';
import { blockInterval, COINS, cryptoAmount } from '../rules/crypto.ts';
import { type Currency, type DepositRow, insertDeposit, updateDeposit } from '../store/deposits.ts';
import type { Act } from './acting.ts';
import { post } from './ledger.ts';
import { wireDeposit } from './objects.ts';

export const DEPOSIT_CONFIRMATION = 'deposit.confirmation';

export interface Detected {
  readonly currency: Currency;
  readonly amount: Cents;
  /** `manual` stays pending until it is confirmed by hand; else a confirmation comes with every block. */
  readonly confirmations?: 'timed' | 'manual';
}

/** A deposit is seen; its USD value is fixed now. */
export async function detectDeposit(act: Act, { currency, amount, confirmations }: Detected): Promise<DepositRow> {
  const { sql, account, now, idSource } = act;
  const id = await idSource.id('dep');
  const [chain] = COINS[currency].networks;
  const row: DepositRow = {
    id,
    currency,
    network: chain.name,
    crypto_amount: cryptoAmount(currency, amount),
    amount,
    status: 'pending',
    tx_hash: await idSource.digits('tx', 64),
    confirmations: 0,
    required_confirmations: chain.confirmations,
    created_at: now,
    confirmed_at: null,
  };
  await insertDeposit(sql, account, row);
  if (confirmations !== 'manual') await awaitBlock(act, row);
  await act.emit('deposit.pending', wireDeposit(row));
  return row;
}

/** The timer's block on top of a pending deposit; the next one is awaited. */
export async function countBlock(act: Act, deposit: DepositRow): Promise<DepositRow> {
  const row = await countConfirmations(act, deposit, 1);
  if (row.status === 'pending') await awaitBlock(act, row);
  return row;
}

/** Blocks on top of a pending deposit; the last one needed credits it. A timer that is set stays as it is. */
export async function countConfirmations(act: Act, deposit: DepositRow, add: number): Promise<DepositRow> {
  const confirmations = deposit.confirmations + add;
  if (confirmations >= deposit.required_confirmations) return confirmDeposit(act, deposit);
  const row = { ...deposit, confirmations };
  await updateDeposit(act.sql, act.account, row);
  return row;
}

/** A pending deposit that never comes: it is not credited and no block counts for it any more. */
export async function failDeposit({ sql, account }: Act, deposit: DepositRow): Promise<DepositRow> {
  const row: DepositRow = { ...deposit, status: 'failed' };
  await updateDeposit(sql, account, row);
  await unschedule(sql, { account, kind: DEPOSIT_CONFIRMATION, ref: row.id });
  return row;
}

/** Credits a pending deposit to the wallet. */
export async function confirmDeposit(act: Act, deposit: DepositRow): Promise<DepositRow> {
  const { sql, account, now } = act;
  const { amount } = deposit;
  const row: DepositRow = {
    ...deposit,
    status: 'confirmed',
    confirmations: deposit.required_confirmations,
    confirmed_at: now,
  };
  await updateDeposit(sql, account, row);
  await unschedule(sql, { account, kind: DEPOSIT_CONFIRMATION, ref: row.id });
  await post(sql, { account, kind: 'deposit', ref: row.id, at: now, moves: { crypto: -amount, wallet: amount } });
  await act.emit('deposit.confirmed', wireDeposit(row));
  return row;
}

async function awaitBlock({ sql, account, now }: Act, { id, currency, network }: DepositRow): Promise<void> {
  const dueAt = now + blockInterval(currency, network);
  await schedule(sql, { account, kind: DEPOSIT_CONFIRMATION, ref: id, dueAt });
}

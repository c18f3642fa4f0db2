/** simulate.deposit, .confirm */
import { confirmDeposit, detectDeposit } from '../deposits.ts';
import { Refused } from '../handler.ts';
import { depositById } from '../store/deposits.ts';
import { simulation } from './simulated.ts';

export const simulateDeposit = simulation('simulate.deposit', async (act, { currency, amount }) => {
  const deposit = await detectDeposit(act, { currency, amount });
  return { outcome: 'pending', deposit_id: deposit.id };
});

/** At once, whatever confirmations are missing. A second time is refused: a deposit is credited exactly once. */
export const simulateConfirm = simulation('simulate.confirm', async (act, { deposit_id }) => {
  const deposit = await depositById(act.sql, act.account, deposit_id);
  if (deposit === undefined) throw new Refused('not_found', `no deposit ${deposit_id}`);
  if (deposit.status !== 'pending') {
    throw new Refused('invalid_request', `deposit ${deposit_id} is ${deposit.status} already`);
  }
  await confirmDeposit(act, deposit);
  return { outcome: 'confirmed', deposit_id };
});

/** simulate.deposit, .confirmations, .confirm, .fail */
import type { Cents } from '../../core/money.ts';
import type { Act } from '../account/acting.ts';
import { confirmDeposit, countConfirmations, detectDeposit, failDeposit } from '../account/deposits.ts';
import { impossible, Refused } from '../calls/handler.ts';
import { coinsWorth } from '../rules/crypto.ts';
import { type Currency, type DepositRow, depositById } from '../store/deposits.ts';
import { simulation } from './simulated.ts';

export const simulateDeposit = simulation('simulate.deposit', async (act, input) => {
  const { currency, confirmations = 'timed' } = input;
  return said(await detectDeposit(act, { currency, amount: amountOf(currency, input), confirmations }));
});

/** The last one needed credits the deposit; more than that make no difference. */
export const simulateConfirmations = simulation('simulate.confirmations', async (act, { deposit_id, add }) =>
  said(await countConfirmations(act, await pending(act, deposit_id), add)),
);

/** At once, whatever confirmations are missing. A second time is refused: a deposit is credited exactly once. */
export const simulateConfirm = simulation('simulate.confirm', async (act, { deposit_id }) =>
  said(await confirmDeposit(act, await pending(act, deposit_id))),
);

/** No event of its own: none is in the interface's list. */
export const simulateFail = simulation('simulate.fail', async (act, { deposit_id }) =>
  said(await failDeposit(act, await pending(act, deposit_id))),
);

function said({ id, status, confirmations, required_confirmations }: DepositRow) {
  return { outcome: status, deposit_id: id, confirmations, required_confirmations };
}

interface Sent {
  readonly amount?: Cents | undefined;
  readonly crypto_amount?: string | undefined;
}

function amountOf(currency: Currency, { amount, crypto_amount: coins }: Sent): Cents {
  if ((amount === undefined) === (coins === undefined)) {
    throw new Refused('invalid_request', 'one of amount and crypto_amount is needed');
  }
  const value = amount ?? coinsWorth(currency, coins ?? '');
  if (value !== undefined && value > 0) return value;
  throw new Refused('invalid_request', `crypto_amount: ${JSON.stringify(coins)} of ${currency} is worth no whole cent`);
}

async function pending({ sql, account }: Act, id: string): Promise<DepositRow> {
  const deposit = await depositById(sql, account, id);
  if (deposit === undefined) throw new Refused('not_found', `no deposit ${id}`);
  if (deposit.status !== 'pending') throw impossible(`deposit ${id} is ${deposit.status} already`);
  return deposit;
}

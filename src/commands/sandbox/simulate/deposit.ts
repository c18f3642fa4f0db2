import { command } from '../../../cli/parsing/command.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** A crypto deposit is detected. */
export const simulateDeposit = command({
  path: 'sandbox simulate deposit',
  summary: 'A crypto deposit is detected; it counts once confirmed',
  about: ['A confirmation comes with every block on the clock of the sandbox, unless --confirmations manual is given.'],
  operation: 'simulate.deposit',
  flags: {
    currency: 'body.currency',
    amount: 'body.amount',
    cryptoAmount: 'body.crypto_amount',
    confirmations: 'body.confirmations',
  },
  examples: [
    { does: '$500 in USDT', run: 'sandbox simulate deposit --currency usdt --amount 500' },
    { does: 'A hundredth of a bitcoin', run: 'sandbox simulate deposit --currency btc --crypto-amount 0.01' },
  ],
  run(ctx, { currency, amount, cryptoAmount, confirmations }) {
    if ((amount === undefined) === (cryptoAmount === undefined)) {
      throw usage('sandbox simulate deposit needs one of --amount and --crypto-amount');
    }
    return runAdmin(ctx, 'simulate.deposit', { currency, amount, crypto_amount: cryptoAmount, confirmations });
  },
  show: showSimulated,
});

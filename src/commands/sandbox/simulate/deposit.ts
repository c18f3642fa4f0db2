import { command } from '../../../cli/parsing/command.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** Simulate a crypto deposit. */
export const simulateDeposit = command({
  path: 'sandbox simulate deposit',
  summary: 'Simulate a crypto deposit; it counts once it is confirmed',
  about: [
    'A confirmation is added with every block on the clock of the sandbox, unless you give --confirmations manual.',
  ],
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

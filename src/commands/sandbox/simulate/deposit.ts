import { command } from '../../../cli/command.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** A crypto deposit is detected. */
export const simulateDeposit = command({
  path: 'sandbox simulate deposit',
  summary: 'A crypto deposit is detected; it counts once confirmed',
  operation: 'simulate.deposit',
  flags: { currency: 'body.currency', amount: 'body.amount' },
  examples: [{ does: '$500 in USDT', run: 'sandbox simulate deposit --currency usdt --amount 500' }],
  run: (ctx, { currency, amount }) => runAdmin(ctx, 'simulate.deposit', { currency, amount }),
  show: showSimulated,
});

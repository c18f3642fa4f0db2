import { command } from '../../../cli/command.ts';
import { authorization } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** The merchant refunds. */
export const simulateRefund = command({
  path: 'sandbox simulate refund',
  summary: 'The merchant refunds what was settled, wholly or in part',
  operation: 'simulate.refund',
  args: { authorization },
  flags: { amount: 'body.amount' },
  examples: [{ does: 'Two dollars of it', run: 'sandbox simulate refund txn_1 --amount 2' }],
  run: (ctx, { authorization, amount }) =>
    runAdmin(ctx, 'simulate.refund', { authorization_id: authorization, amount }),
  show: showSimulated,
});

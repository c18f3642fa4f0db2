import { command } from '../../../cli/parsing/command.ts';
import { authorization } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** The merchant gives a hold back. */
export const simulateReverse = command({
  path: 'sandbox simulate reverse',
  summary: 'The merchant gives a hold back, wholly or in part',
  operation: 'simulate.reverse',
  args: { authorization },
  flags: { amount: 'body.amount' },
  examples: [
    { does: 'All of it', run: 'sandbox simulate reverse txn_1' },
    { does: 'A part of it', run: 'sandbox simulate reverse txn_1 --amount 5' },
  ],
  run: (ctx, { authorization, amount }) =>
    runAdmin(ctx, 'simulate.reverse', { authorization_id: authorization, amount }),
  show: showSimulated,
});

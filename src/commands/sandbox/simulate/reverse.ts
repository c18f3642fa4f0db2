import { command } from '../../../cli/parsing/command.ts';
import { authorization } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** Simulate a reversal: release a hold. */
export const simulateReverse = command({
  path: 'sandbox simulate reverse',
  summary: 'Simulate a reversal: release a hold, in full or in part',
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

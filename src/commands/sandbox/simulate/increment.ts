import { command } from '../../../cli/parsing/command.ts';
import { authorization } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** The merchant asks for more. */
export const simulateIncrement = command({
  path: 'sandbox simulate increment',
  summary: 'Simulate an increase of a pending authorization',
  about: ['The checks of an authorization run again. If the increase is declined, the authorization does not change.'],
  operation: 'simulate.increment',
  args: { authorization },
  flags: { amount: 'body.amount' },
  examples: [
    { does: 'Five dollars more', run: 'sandbox simulate increment txn_1 --amount 5' },
    { does: 'As data', run: 'sandbox simulate increment txn_1 --amount 5 --json' },
  ],
  run: (ctx, { authorization, amount }) =>
    runAdmin(ctx, 'simulate.increment', { authorization_id: authorization, amount }),
  show: showSimulated,
});

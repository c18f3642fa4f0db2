import { command } from '../../../cli/parsing/command.ts';
import { OURS, option } from '../../../cli/parsing/flag.ts';
import { flag } from '../../../contract/field.ts';
import { authorization } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** The merchant settles. */
export const simulateSettle = command({
  path: 'sandbox simulate settle',
  summary: 'Simulate the settlement of an authorization, in full or in part',
  operation: 'simulate.settle',
  args: { authorization },
  flags: {
    amount: 'body.amount',
    notFinal: option(flag({ doc: 'More settlements will follow; keep the rest of the hold.', basis: OURS })),
  },
  examples: [
    { does: 'All of it', run: 'sandbox simulate settle txn_1' },
    { does: 'A part, more to come', run: 'sandbox simulate settle txn_1 --amount 12 --not-final' },
  ],
  run: (ctx, { authorization, amount, notFinal }) =>
    runAdmin(ctx, 'simulate.settle', { authorization_id: authorization, amount, final: notFinal ? false : undefined }),
  show: showSimulated,
});

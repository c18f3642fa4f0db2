import { command } from '../../../cli/parsing/command.ts';
import { OURS, option } from '../../../cli/parsing/flag.ts';
import { integer } from '../../../contract/field.ts';
import { deposit } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** A pending deposit is confirmed. */
export const simulateConfirm = command({
  path: 'sandbox simulate confirm',
  summary: 'Confirm a pending deposit and credit it to the wallet',
  operation: 'simulate.confirm',
  args: { deposit },
  flags: {
    blocks: option(
      integer({ doc: 'Add only this many confirmations; all by default.', basis: OURS, min: 1, max: 1000 }),
    ),
  },
  examples: [
    { does: 'Credit it', run: 'sandbox simulate confirm dep_1' },
    { does: 'One block', run: 'sandbox simulate confirm dep_1 --blocks 1' },
  ],
  run: (ctx, { deposit, blocks }) =>
    blocks === undefined
      ? runAdmin(ctx, 'simulate.confirm', { deposit_id: deposit })
      : runAdmin(ctx, 'simulate.confirmations', { deposit_id: deposit, add: blocks }),
  show: showSimulated,
});

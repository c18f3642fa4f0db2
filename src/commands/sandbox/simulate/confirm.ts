import { command } from '../../../cli/command.ts';
import { deposit } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** A pending deposit is confirmed. */
export const simulateConfirm = command({
  path: 'sandbox simulate confirm',
  summary: 'A pending deposit is confirmed and credited to the wallet',
  operation: 'simulate.confirm',
  args: { deposit },
  examples: [{ does: 'Credit it', run: 'sandbox simulate confirm dep_1' }],
  run: (ctx, { deposit }) => runAdmin(ctx, 'simulate.confirm', { deposit_id: deposit }),
  show: showSimulated,
});

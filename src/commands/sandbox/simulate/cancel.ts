import { command } from '../../../cli/parsing/command.ts';
import { challenge } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** The card holder gives up. */
export const simulateCancel = command({
  path: 'sandbox simulate cancel',
  summary: 'Cancel a 3DS challenge as the card holder',
  operation: 'simulate.cancel',
  args: { challenge },
  examples: [
    { does: 'No code is typed', run: 'sandbox simulate cancel tds_1' },
    { does: 'As data', run: 'sandbox simulate cancel tds_1 --json' },
  ],
  run: (ctx, { challenge }) => runAdmin(ctx, 'simulate.cancel', { challenge_id: challenge }),
  show: showSimulated,
});

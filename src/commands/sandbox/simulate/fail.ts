import { command } from '../../../cli/parsing/command.ts';
import { deposit } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** A pending deposit never comes. */
export const simulateFail = command({
  path: 'sandbox simulate fail',
  summary: 'Let a pending deposit fail; it is never credited',
  operation: 'simulate.fail',
  args: { deposit },
  examples: [
    { does: 'It was dropped from the chain', run: 'sandbox simulate fail dep_1' },
    { does: 'As data', run: 'sandbox simulate fail dep_1 --json' },
  ],
  run: (ctx, { deposit }) => runAdmin(ctx, 'simulate.fail', { deposit_id: deposit }),
  show: showSimulated,
});

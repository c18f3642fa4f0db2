import { command } from '../../../cli/command.ts';
import { OURS, option } from '../../../cli/flag.ts';
import { usage } from '../../../cli/values.ts';
import { text } from '../../../contract/field.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { showAdvanced } from './shown.ts';

/** Lets time pass. */
export const advanceSandboxClock = command({
  path: 'sandbox clock advance',
  summary: 'Move the clock of the sandbox forward and show what happened on the way',
  about: ['Everything due on the way happens at its own time, in order: holds and codes that expire, confirmations.'],
  operation: 'clock.advance',
  flags: {
    by: 'body.by',
    to: option(text({ doc: 'Until when, ISO 8601 UTC.', basis: OURS }), '<time>'),
  },
  examples: [
    { does: 'A week', run: 'sandbox clock advance --by 7d' },
    { does: 'To a moment', run: 'sandbox clock advance --to 2027-01-01T00:00:00Z' },
  ],
  run(ctx, { by, to }) {
    if ((by === undefined) === (to === undefined)) throw usage('sandbox clock advance needs one of --by and --to');
    return runAdmin(ctx, 'clock.advance', { by, to });
  },
  show: showAdvanced,
});

import { command } from '../../cli/parsing/command.ts';
import { showClock } from './clock/shown.ts';
import { runAdmin } from './simulate/run-admin.ts';

/** The word alone shows the clock. */
export const sandboxClock = command({
  path: 'sandbox clock',
  summary: 'Show, set or advance the clock of the sandbox',
  operation: 'clock.show',
  examples: [
    { does: 'What it shows', run: 'sandbox clock' },
    { does: 'A week later', run: 'sandbox clock advance --by 7d' },
  ],
  run: ctx => runAdmin(ctx, 'clock.show', {}),
  show: showClock,
});

import { command } from '../../../cli/parsing/command.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { showClock } from './shown.ts';

/** What the clock shows. */
export const showSandboxClock = command({
  path: 'sandbox clock show',
  summary: 'Show the clock of the sandbox',
  operation: 'clock.show',
  examples: [
    { does: 'In words', run: 'sandbox clock show' },
    { does: 'As data', run: 'sandbox clock show --json' },
  ],
  run: ctx => runAdmin(ctx, 'clock.show', {}),
  show: showClock,
});

import { command } from '../../../cli/parsing/command.ts';
import { argument, OURS, option } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { choice, text } from '../../../contract/field.ts';
import { CLOCK_MODES } from '../../../contract/sandbox/clock.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { showClock } from './shown.ts';

/** Sets the clock, backwards too. */
export const setSandboxClock = command({
  path: 'sandbox clock set',
  summary: 'Set the clock of the sandbox, forwards or backwards',
  about: ['What becomes due happens before the next request. To see it in order, use sandbox clock advance.'],
  operation: 'clock.set',
  args: { mode: argument(choice(CLOCK_MODES, { doc: 'Mode of the clock.', basis: OURS })) },
  flags: {
    // Not a time word: `7d` would be a time in the past of another clock.
    at: option(text({ doc: 'Time to set, ISO 8601 UTC.', basis: OURS }), '<time>'),
    rate: 'body.rate',
  },
  examples: [
    { does: 'Stop it', run: 'sandbox clock set frozen' },
    { does: 'A minute a second', run: 'sandbox clock set scaled --rate 60' },
    { does: 'Real time again', run: 'sandbox clock set real' },
  ],
  run(ctx, { mode, at, rate }) {
    if ((mode === 'scaled') !== (rate !== undefined)) {
      const how =
        mode === 'scaled'
          ? 'a scaled clock needs --rate, its seconds in one real second'
          : '--rate is for a scaled clock';
      throw usage(how);
    }
    return runAdmin(ctx, 'clock.set', { mode, at, rate });
  },
  show: showClock,
});

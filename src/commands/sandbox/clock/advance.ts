import { command } from '../../../cli/parsing/command.ts';
import { OURS, option, optionalArgument } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { text } from '../../../contract/field.ts';
import { ADMIN_OPERATIONS } from '../../../contract/sandbox/admin.ts';
import { durationOf } from '../../../core/durations.ts';
import { CliError } from '../../../core/errors.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { HAPPENED, showAdvanced } from './shown.ts';

/** The move may have begun: the clock itself says how far it is. */
function hasLostAnswer(thrown: unknown): thrown is CliError {
  return thrown instanceof CliError && thrown.facts.outcome === 'unknown';
}

/** Lets time pass. */
export const advanceSandboxClock = command({
  path: 'sandbox clock advance',
  summary: 'Move the clock of the sandbox forward and show what became due',
  about: [
    'Everything that becomes due happens in order, each at its own time: expired holds and codes, confirmations, and webhook attempts of a sandbox that is started or serves this program. The command ends when all of it is done.',
  ],
  operation: 'clock.advance',
  answers: { one: { ...ADMIN_OPERATIONS['clock.advance'].returns.shape, happened: HAPPENED } },
  args: { span: optionalArgument(text({ doc: 'How far, such as 7d, 36h or 1d12h; same as --by.', basis: OURS })) },
  flags: {
    by: 'body.by',
    to: option(text({ doc: 'Time to move to, ISO 8601 UTC.', basis: OURS }), '<time>'),
  },
  examples: [
    { does: 'A week', run: 'sandbox clock advance 7d' },
    { does: 'To a moment', run: 'sandbox clock advance --to 2027-01-01T00:00:00Z' },
  ],
  run(ctx, { span, by: far, to }) {
    if ([span, far, to].filter(given => given !== undefined).length !== 1) {
      throw usage('sandbox clock advance needs how far, such as 7d, or --to <time>');
    }
    const by = span ?? far;
    if (by !== undefined && durationOf(by) === undefined) {
      throw usage(`${JSON.stringify(by)} is not a span of time such as 7d, 36h or 1d12h`);
    }
    // Moved around the one that sends, its webhooks would be tried once, however many tries are due by then.
    return runAdmin(ctx, 'clock.advance', { by, to }, () => ctx.servers.control()).catch(thrown => {
      throw hasLostAnswer(thrown) ? thrown.with({ hint: 'cardwright sandbox clock show' }) : thrown;
    });
  },
  show: showAdvanced,
});

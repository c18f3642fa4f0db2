/** A command that did what was asked, whose answer cannot be shown as asked: that is no wrong command line any more. */
import { CliError } from '../errors.ts';
import type { Command } from './command.ts';
import { effectOf } from './resolved-flags.ts';

/** The error of showing. For a command that changes something, one that says it was carried out (exit 15). */
export function carriedOut(thrown: unknown, command: Command): unknown {
  if (!(thrown instanceof CliError) || thrown.kind !== 'usage' || effectOf(command) === 'read') return thrown;
  return new CliError('check_failed', {
    message: `${command.path} was carried out, but its answer cannot be shown as asked: ${thrown.facts.message}`,
    notes: ['Do not run the command again: look at what it did.'],
    hint: 'cardwright audit list',
    outcome: 'done',
    cause: thrown,
  });
}

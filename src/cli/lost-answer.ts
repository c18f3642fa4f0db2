/** A command that did what was asked, whose answer cannot be shown as asked: that is no wrong command line any more. */
import { CliError, OutputError } from '../core/errors.ts';
import type { Row } from '../terminal/view.ts';
import type { Shown } from './context.ts';
import type { Command } from './parsing/declaration.ts';

/** What a command hands over to be shown, and the single operations of the journal that it carried out. */
interface Made {
  readonly shown: Shown;
  readonly ops: readonly string[];
  readonly dryRun: boolean;
}

/**
 * The error of a command whose answer could not be written as asked (`failure`), or whose reader has left (undefined): for a command
 * that changes something, one that says what was carried out. Undefined where nobody is owed an answer.
 */
export function lostAnswer(failure: unknown, command: Command, { shown, ops, dryRun }: Made): unknown {
  const isChange = command.effect !== 'read' && shown.changedNothing !== true && !dryRun;
  // What a run says below its table is no server.
  const isServer = shown.goesOn !== undefined && shown.listing === undefined;
  const isOwed = isChange && command.effect !== 'reveals-secret' && shown.exit === undefined && !isServer;
  if (failure === undefined && !isOwed) return undefined;
  const thrown = failure ?? new OutputError('check_failed', { message: 'its reader has closed standard output' });
  const isLost = thrown instanceof OutputError;
  if (!isLost && !(thrown instanceof CliError && thrown.kind === 'usage')) return thrown;
  // The answer of a read, or of what changed nothing, can be asked for again.
  const again = 'The answer is lost. Run the same command again with another output.';
  if (!isChange) return isLost ? thrown.with({ notes: [...(thrown.facts.notes ?? []), again] }) : thrown;
  const page = shown.listing?.page() ?? {};
  // A story has steps that are done, and no operation of the journal.
  if (shown.listing?.runsOn && page['op'] === undefined && !(Number(page['total']) > 0))
    return thrown.with({ message: `${thrown.message}. Nothing was sent`, outcome: 'not_sent' });
  const made = typeof page['op'] === 'string' ? [page['op']] : ops;
  const [op] = made.length === 1 ? made : [];
  // Single changes without a journal have their line in the audit log.
  const alone = op === undefined ? 'cardwright audit list' : `cardwright ops resume ${op}`;
  const hint = made.length > 1 ? 'cardwright ops list' : alone;
  const outcome = typeof shown.failure === 'function' ? shown.failure() : shown.failure;
  // The rows of a run are in its journal, whatever became of the output; what it came to stands.
  if (outcome !== undefined) {
    const notes = [...(outcome.facts.notes ?? []), `The results cannot be shown as requested: ${thrown.message}`];
    return outcome.with({ notes, hint: outcome.facts.hint ?? hint });
  }
  return new CliError('check_failed', {
    message: `${command.path} was carried out${whatOf(shown)}, but its answer cannot be shown as requested: ${thrown.message}`,
    notes: ['Do not run the command again: look at what it did.'],
    hint,
    outcome: 'done',
    ...(op !== undefined && { op }),
    cause: thrown,
  });
}

/** ` for card_1`, where the answer is one result with an id. */
function whatOf({ data, idField = 'id' }: Shown): string {
  const id = typeof data === 'object' && !Array.isArray(data) ? (data as Row)[idField] : undefined;
  return typeof id === 'string' ? ` for ${id}` : '';
}

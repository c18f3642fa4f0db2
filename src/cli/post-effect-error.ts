/** A command that did what was asked, whose answer cannot be shown as asked: that is no wrong command line any more. */
import { CliError, OutputError } from '../core/errors.ts';
import type { Row } from '../terminal/view.ts';
import type { Shown } from './context.ts';
import type { Command } from './parsing/declaration.ts';

/** What a command hands over to be shown, and the single operations of the journal that it carried out. */
interface Made {
  readonly shown: Shown;
  readonly ops: readonly string[];
}

/** The error of showing. For a command that changes something, one that says what was carried out. */
export function carriedOut(thrown: unknown, command: Command, { shown, ops }: Made): unknown {
  const unshown = thrown instanceof CliError && (thrown.kind === 'usage' || thrown instanceof OutputError);
  if (!unshown) return thrown;
  if (!hasChanged(command, shown)) return thrown instanceof OutputError ? onlyLost(thrown) : thrown;
  const page = shown.listing?.page() ?? {};
  // A story has steps that are done, and no operation of the journal.
  if (shown.listing?.runsOn && page['op'] === undefined && !(Number(page['total']) > 0))
    return thrown.with({ message: `${thrown.message}. Nothing was sent`, outcome: 'not_sent' });
  const made = typeof page['op'] === 'string' ? [page['op']] : ops;
  const [op] = made.length === 1 ? made : [];
  // Single changes without a journal have their line in the audit log.
  const alone = op === undefined ? 'cardwright audit list' : `cardwright ops resume ${op}`;
  const hint = made.length > 1 ? 'cardwright ops list' : alone;
  const failure = typeof shown.failure === 'function' ? shown.failure() : shown.failure;
  // The rows of a run are in its journal, whatever became of the output; what it came to stands.
  if (failure !== undefined) {
    const notes = [...(failure.facts.notes ?? []), `The results cannot be shown as requested: ${thrown.message}`];
    return failure.with({ notes, hint: failure.facts.hint ?? hint });
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

/**
 * The error where whoever reads standard output left before the answer of a change. Undefined for what can be asked for
 * again, for what a reveal shows, and where another program or a server has the output.
 */
export function unread(command: Command, made: Made): unknown {
  const { shown } = made;
  if (!hasChanged(command, shown) || command.effect === 'reveals-secret') return undefined;
  // What a run says below its table is no server.
  const isServer = shown.goesOn !== undefined && shown.listing === undefined;
  if (shown.exit !== undefined || isServer) return undefined;
  const message = 'its reader has closed standard output';
  return carriedOut(new OutputError('check_failed', { message }), command, made);
}

/** The answer of a read, or of what changed nothing, can be asked for again. */
export function onlyLost(thrown: CliError): CliError {
  const notes = ['The answer is lost. Run the same command again with another output.'];
  return thrown.with({ notes: [...(thrown.facts.notes ?? []), ...notes] });
}

function hasChanged(command: Command, { changedNothing }: Shown): boolean {
  return command.effect !== 'read' && changedNothing !== true;
}

/** ` for card_1`, where the answer is one result with an id. */
function whatOf({ data, idField = 'id' }: Shown): string {
  const id = typeof data === 'object' && !Array.isArray(data) ? (data as Row)[idField] : undefined;
  return typeof id === 'string' ? ` for ${id}` : '';
}

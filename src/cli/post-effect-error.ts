/** A command that did what was asked, whose answer cannot be shown as asked: that is no wrong command line any more. */
import { CliError, OutputError } from '../core/errors.ts';
import type { Row } from '../terminal/view.ts';
import type { Shown } from './context.ts';
import type { Command } from './parsing/command.ts';
import { effectOf } from './parsing/globals.ts';

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
  if (shown.listing?.runsOn && !hasBegunWithoutOp(shown)) return ofRun(thrown, shown);
  const failure = failureOf(shown);
  if (failure !== undefined) return failure.with({ notes: [...(failure.facts.notes ?? []), lost(thrown)] });
  const [op] = ops.length === 1 ? ops : [];
  return new CliError('check_failed', {
    message: `${command.path} was carried out${whatOf(shown)}, but its answer cannot be shown as requested: ${thrown.message}`,
    notes: ['Do not run the command again: look at what it did.'],
    hint: whereItStands(ops),
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
  if (!hasChanged(command, shown) || effectOf(command) === 'reveals-secret') return undefined;
  // What a run says below its table is no server.
  const isServer = shown.goesOn !== undefined && shown.listing === undefined;
  if (shown.exit !== undefined || isServer) return undefined;
  const message = 'its reader has closed standard output';
  return carriedOut(new OutputError('check_failed', { message }), command, made);
}

/** Single changes without a journal have their line in the audit log. */
function whereItStands([op, ...others]: readonly string[]): string {
  if (op === undefined) return 'cardwright audit list';
  return others.length === 0 ? `cardwright ops resume ${op}` : 'cardwright ops list';
}

/** The answer of a read, or of what changed nothing, can be asked for again. */
export function onlyLost(thrown: CliError): CliError {
  const notes = ['The answer is lost. Run the same command again with another output.'];
  return thrown.with({ notes: [...(thrown.facts.notes ?? []), ...notes] });
}

function hasChanged(command: Command, { changedNothing }: Shown): boolean {
  return effectOf(command) !== 'read' && changedNothing !== true;
}

/** ` for card_1`, where the answer is one result with an id. */
function whatOf({ data, idField = 'id' }: Shown): string {
  const id = typeof data === 'object' && !Array.isArray(data) ? (data as Row)[idField] : undefined;
  return typeof id === 'string' ? ` for ${id}` : '';
}

/** A story that has no operation of the journal: its steps are done, whatever became of the output. */
function hasBegunWithoutOp({ listing }: Shown): boolean {
  const { op, total } = listing?.page() ?? {};
  return op === undefined && typeof total === 'number' && total > 0;
}

/** The rows of a run are in its journal, whatever became of the output; what it came to stands. */
function ofRun(thrown: CliError, shown: Shown): CliError {
  const op = shown.listing?.page()['op'];
  if (typeof op !== 'string') {
    return thrown.with({ message: `${thrown.message}. Nothing was sent`, outcome: 'not_sent' });
  }
  const failure = failureOf(shown);
  if (failure === undefined) {
    return new CliError('check_failed', {
      message: `every row is done, but the results cannot be shown as requested: ${thrown.message}`,
      notes: ['Do not run the command again. This prints them once more and sends nothing:'],
      hint: `cardwright ops resume ${op}`,
      outcome: 'done',
      op,
      cause: thrown,
    });
  }
  const { outcome, notes = [], hint = `cardwright ops resume ${op}` } = failure.facts;
  const nothing = failure.kind === 'partly_failed' && outcome === 'not_sent';
  const kind = nothing ? 'guarded' : failure.kind;
  return new CliError(kind, { ...failure.facts, notes: [...notes, lost(thrown)], hint });
}

function failureOf({ failure }: Shown): CliError | undefined {
  return typeof failure === 'function' ? failure() : failure;
}

function lost({ message }: CliError): string {
  return `The results cannot be shown as requested: ${message}`;
}

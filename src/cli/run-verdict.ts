/** The one exit code of a run of rows (RELIABILITY, section 1; CLI.md, "Exit codes"). */
import { CliError, ERROR_KINDS, type ErrorKind } from '../errors.ts';
import type { Finished, RowOutcome } from '../journal/types.ts';

export interface RanRows {
  readonly op: string;
  readonly outcomes: readonly RowOutcome[];
  readonly finished: Finished;
  /** Rows of the run; those without an outcome were not begun. */
  readonly rows: number;
  /** Reason of the signal that stopped it. */
  readonly stopped?: unknown;
}

/** Kinds that stop a run before all its rows were tried. */
const STOPPING: readonly ErrorKind[] = [
  'not_authenticated',
  'rate_limited',
  'insufficient_funds',
  'unreachable',
  'guarded',
];

/**
 * The failure of a run, undefined when every row is done. First that applies: a bug, an unknown row, an objection of
 * the audit, a signal, what stopped the run when no row was done, some rows failed.
 */
export function runVerdict(ran: RanRows): CliError | undefined {
  const { op, outcomes, finished, rows } = ran;
  const errors = outcomes.map(({ error }) => error).filter(error => error !== undefined);
  const bug = errors.find(({ kind }) => kind === 'internal');
  if (bug !== undefined) return bug;
  const count = (outcome: RowOutcome['outcome']) => outcomes.filter(each => each.outcome === outcome).length;
  const [done, unknown] = [count('done'), count('unknown')];
  const left = rows - done;
  const { objections } = finished;
  const signal = ran.stopped instanceof CliError ? ran.stopped.kind : undefined;
  if (left === 0 && objections.length === 0 && signal === undefined && errors.length === 0) return undefined;
  const [only] = errors;
  if (rows === 1 && only !== undefined) return only;
  const kind = kindOf({ done, unknown, left, objections: objections.length, signal, errors });
  const parts = [`${done} of ${rows} done`, ...tally(outcomes, rows)];
  return new CliError(kind, {
    message: `${op}: ${parts.join(', ')}`,
    notes: [...objections, ...(unknown > 0 ? ['Do not run the command again: unknown rows may have happened.'] : [])],
    ...(finished.ended ? {} : { hint: `cardwright ops resume ${op}` }),
    outcome: unknown > 0 ? 'unknown' : done === rows ? 'done' : 'refused',
    op,
  });
}

interface Facts {
  readonly done: number;
  readonly unknown: number;
  readonly left: number;
  readonly objections: number;
  readonly signal: ErrorKind | undefined;
  readonly errors: readonly CliError[];
}

function kindOf({ done, unknown, left, objections, signal, errors }: Facts): ErrorKind {
  if (unknown > 0) return 'outcome_unknown';
  if (objections > 0) return 'check_failed';
  if (signal !== undefined && left > 0) return signal;
  const stopper = errors.find(({ kind }) => STOPPING.includes(kind));
  if (done === 0 && stopper !== undefined) return stopper.kind;
  const lost = errors.find(({ kind }) => ERROR_KINDS[kind].exit === ERROR_KINDS.contract_mismatch.exit);
  return left === 0 && lost !== undefined ? lost.kind : 'partly_failed';
}

function tally(outcomes: readonly RowOutcome[], rows: number): string[] {
  const words = [
    ['refused', 'refused'],
    ['unknown', 'unknown'],
    ['not_sent', 'not sent'],
  ] as const;
  const counted = words.map(([outcome, word]) => ({
    word,
    n: outcomes.filter(each => each.outcome === outcome).length,
  }));
  const begun = outcomes.length;
  return [
    ...counted.filter(({ n }) => n > 0).map(({ word, n }) => `${n} ${word}`),
    ...(begun < rows ? [`${rows - begun} not begun`] : []),
  ];
}

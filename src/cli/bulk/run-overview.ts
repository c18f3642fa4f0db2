/** What a resume would do with each row of an operation: `ops resume --dry-run`. It asks the service, and sends nothing. */
import { drive } from '../../bulk/scheduler.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, dollars } from '../../core/money.ts';
import { capital, rowCount, rowsNamed } from '../../core/row-words.ts';
import type { NextOfRow, OpView, RowOutcome, Run } from '../../journal/types.ts';
import type { Row } from '../../terminal/view.ts';
import type { Context, Shown } from '../context.ts';
import { type Answers, maybe, orNull, RESULT_ROW, RUN_PAGE, tells } from '../parsing/flag.ts';
import { rowsOf } from './drive-run.ts';
import { USUAL_WORKERS } from './flags.ts';
import { LOOKED_COLUMNS, resultRow } from './result-row.ts';
import { type AbsentRow, decisionNotes } from './run-counts.ts';

/** The words of the summary, in the order in which a person wants to know them. */
const STEPS: Readonly<Record<NextOfRow, string>> = {
  send: 'send',
  send_again: 'send again under its own key',
  look: 'look once more for',
  decide: 'leave to you',
};

const NEXT = tells.word(
  'With --dry-run: what a resume would do with the row; null where it is over.',
  Object.keys(STEPS),
);

/** What `ops resume` prints: the results of a run, with `next` where it was only looked at. */
export const LOOKED_ANSWER: Answers = { list: { ...RESULT_ROW, next: maybe(orNull(NEXT)) }, page: RUN_PAGE };

interface Step {
  readonly rows: number[];
  cents: number;
}

interface Looked {
  readonly absent: AbsentRow[];
  /** Never sent, and left to a person. */
  readonly kept: Set<number>;
  readonly steps: Map<NextOfRow, Step>;
  /** Unknown by the journal, and done by this look. */
  readonly found: Step;
  readonly counts: Record<RowOutcome['outcome'], number>;
  /** The error of an operation of one row. */
  error: CliError | undefined;
  /** What the verification objected to at the end of the run. */
  objections: readonly string[];
}

/**
 * The rows as they are found; ends with 11 while a row stays unknown, with 15 where the end of the run was objected to, and
 * with 0 when all of them can be told.
 */
export function runOverview(ctx: Context, { run }: Pick<OpView, 'run'>): Shown {
  const rows = rowsOf(run, []);
  const doubted = new Set(rows.flatMap(({ row, doubted: isDoubted }) => (isDoubted ? [row] : [])));
  const looked: Looked = {
    absent: [],
    kept: new Set(),
    steps: new Map(),
    found: { rows: [], cents: 0 },
    counts: { done: 0, refused: 0, unknown: 0, not_sent: 0 },
    error: undefined,
    objections: [],
  };
  async function* batches() {
    const settings = { run, rows, concurrency: USUAL_WORKERS, keepGoing: true, stop: ctx.signal };
    for await (const batch of drive({ ...settings, onOutcome: () => undefined }).outcomes) {
      for (const outcome of batch) note(looked, outcome, doubted);
      yield batch.map(outcome => ({ ...resultRow(outcome), next: outcome.next ?? null }));
    }
    ctx.signal.throwIfAborted();
    // It reads the journal alone.
    looked.objections = (await run.finish()).objections;
    ctx.ui.notice(`Dry run: nothing was sent. ${summaryOf(looked)}`);
  }
  return {
    listing: { batches: batches(), page: (): Row => ({ total: rows.length, op: run.op, ...looked.counts }) },
    noun: 'row',
    idField: 'card_id',
    columns: LOOKED_COLUMNS,
    changedNothing: true,
    failure: () => failureOf(run, looked),
  };
}

function note(
  looked: Looked,
  { row, outcome, next, amount, error, absent, keyHonoured }: RowOutcome,
  doubted: ReadonlySet<number>,
): void {
  looked.counts[outcome] += 1;
  looked.error = error;
  if (absent === true) looked.absent.push({ row, keyHonoured });
  if (outcome === 'done' && doubted.has(row)) addTo(looked.found, row, amount);
  if (next === undefined) return;
  if (outcome === 'not_sent' && next === 'decide') looked.kept.add(row);
  const step = looked.steps.get(next) ?? { rows: [], cents: 0 };
  addTo(step, row, amount);
  looked.steps.set(next, step);
}

function addTo(step: Step, row: number, amount: number | undefined): void {
  step.rows.push(row);
  step.cents += amount ?? 0;
}

function stepText(verb: string, { rows, cents: sum }: Step): string {
  return `${verb} ${rowCount(rows.length)}${sum > 0 ? ` (${dollars(cents(sum) as Cents)})` : ''}`;
}

function summaryOf({ steps, found, counts: { done, refused } }: Looked): string {
  const lines = (Object.keys(STEPS) as NextOfRow[]).flatMap(next => {
    const step = steps.get(next);
    return step === undefined ? [] : [stepText(STEPS[next], step)];
  });
  const known = done - found.rows.length;
  if (found.rows.length > 0) lines.unshift(`${stepText('record', found)} that this look has found done`);
  const over = [...(known > 0 ? [`${known} done`] : []), ...(refused > 0 ? [`${refused} refused`] : [])];
  const would = lines.length === 0 ? 'A resume would send nothing.' : `A resume would: ${lines.join('; ')}.`;
  return over.length === 0 ? would : `${would} Over: ${over.join(', ')}.`;
}

function failureOf({ op, plan }: Run, { steps, kept, error, absent, objections }: Looked): CliError | undefined {
  const decide = (steps.get('decide')?.rows ?? []).filter(row => !kept.has(row));
  const look = steps.get('look')?.rows ?? [];
  const unknown = [...decide, ...look].sort((one, other) => one - other);
  if (unknown.length === 0) return objections.length === 0 ? undefined : objected(op, objections);
  if (!plan.bulk && error !== undefined) return error;
  const are = unknown.length === 1 ? 'is' : 'are';
  const isStuck = look.length === 0 && !steps.has('send') && !steps.has('send_again');
  return new CliError('outcome_unknown', {
    message: `${rowsNamed(unknown)} of ${op} ${are} still unknown; this look sent nothing`,
    notes: [
      ...(look.length > 0 ? [`${capital(rowsNamed(look))}: a later look may tell.`] : []),
      ...decisionNotes(op, decide, absent),
    ],
    hint: isStuck ? `cardwright ops show ${op}` : `cardwright ops resume ${op}`,
    outcome: 'unknown',
    op,
  });
}

function objected(op: string, objections: readonly string[]): CliError {
  return new CliError('check_failed', {
    message: `the verification of ${op} objected at its end; this look sent nothing`,
    notes: objections,
    evidence: { objections },
    hint: `cardwright ops show ${op}`,
    outcome: 'done',
    op,
  });
}

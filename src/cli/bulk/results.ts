/**
 * What a run of rows prints: a row, notes of rows that came to the same, the counts and the one exit code of it, and what a resume
 * would do with each row (docs/design/cli.md, "Many rows" and "Exit codes").
 */

import { type DriveRow, drive } from '../../bulk/scheduler.ts';
import { CliError, type ErrorKind } from '../../core/errors.ts';
import { type Cents, cents, dollars, toUsd } from '../../core/money.ts';
import { resolveCommand, riskOfResend, rowsNamed } from '../../core/row-words.ts';
import { rowState } from '../../journal/records.ts';
import type { Run } from '../../journal/run.ts';
import type { CorrectedOutcome, NextOfRow, RowOutcome } from '../../journal/types.ts';
import type { RowTally } from '../../terminal/progress.ts';
import type { Column, Row } from '../../terminal/view.ts';
import type { Context, Shown } from '../context.ts';
import { columnsOf, SHORT_ID } from '../listing.ts';
import { type Answers, maybe, orNull, RESULT_ROW, RUN_PAGE, tells } from '../parsing/flag.ts';
import { USUAL_WORKERS } from './flags.ts';

const IF_ANY = { unlessEmpty: true } as const;
export const RESULT_COLUMNS = columnsOf(RESULT_ROW, 'row outcome card_id last4:2 amount:2 error:2 request_id:4', {
  card_id: { kind: 'id', shortTo: SHORT_ID },
  ...{ last4: { ...IF_ANY, kind: 'word' }, amount: IF_ANY, error: IF_ANY },
});

/** Rows that were only looked at, with what a resume would do with each. */
export const LOOKED_COLUMNS: readonly Column[] = [
  ...RESULT_COLUMNS,
  { field: 'next', title: 'NEXT', kind: 'word', priority: 1 },
];

/** Rows of an operation as its journal has them: why one is not done, and what the last look saw. */
export const ITEM_COLUMNS: readonly Column[] = [
  ...RESULT_COLUMNS.map(column =>
    column.field === 'error' ? ({ ...column, field: 'reason', title: 'WHY' } as const) : column,
  ),
  { field: 'found', title: 'LAST LOOK', kind: 'text', priority: 3 },
  { field: 'label', title: 'LABEL', kind: 'text', priority: 5 },
];

/** The cards of a run as ids: a program that goes on with them gets those alone that were done. */
export const DONE_IDS = { idField: 'card_id', idIf: ({ outcome }: Row) => outcome === 'done' } as const;

/** `begun` is false for rows that a run stopped before. */
export function resultRow(outcome: RowOutcome & { readonly begun?: boolean }): Row {
  const { row, outcome: word, cardId, last4, amount, error, requestId } = outcome;
  return {
    row,
    outcome: word,
    card_id: cardId ?? null,
    last4: last4 ?? null,
    amount: amount === undefined ? null : toUsd(amount),
    error: outcome.begun === false ? 'not_begun' : errorWord(error),
    request_id: requestId ?? error?.facts.service?.request_id ?? null,
  };
}

/** The identifier a script can branch on; of a wrong row of the input what is wrong with it. */
function errorWord(error: RowOutcome['error']): string | null {
  if (error === undefined) return null;
  return error.kind === 'usage' ? error.message : (error.facts.service?.error ?? error.kind);
}

interface RunEnd {
  /** Undefined where every row was done, or wrong, before there was a run, and for changes without one. */
  readonly op?: string;
  readonly objections?: readonly string[];
  /** The journal says END. */
  readonly ended?: boolean;
  /** Why rows were left out. */
  readonly stopped?: CliError | undefined;
  /** The reason of the signal. */
  readonly signal?: CliError | undefined;
}

interface TallySettings {
  readonly total: number;
  /** One operation, not a run of rows: its failure is that of its row. */
  readonly single: boolean;
  /** The run was taken up again: what is still unknown was looked for with patience. */
  readonly resumed?: boolean;
  /** It is only looked at: what is known of every row is no failure. */
  readonly isLook?: boolean;
}

/** What the rows of a run have come to so far, and its failure at the end. */
export class RunTally {
  readonly #settings: TallySettings;
  readonly #count = { done: 0, refused: 0, unknown: 0, not_sent: 0 };
  /** Rows that are not done, or not as it was asked for, in the order in which they came. */
  readonly #odd = new Map<number, RowOutcome>();
  /** Cents of the done rows. */
  #moved = 0;
  /** Done rows of earlier runs. */
  doneBefore = 0;

  constructor(settings: TallySettings) {
    this.#settings = settings;
  }

  /** An outcome as it comes. */
  add(outcome: RowOutcome): void {
    this.#count[outcome.outcome] += 1;
    if (outcome.outcome === 'done') this.#moved += outcome.amount ?? 0;
    if (outcome.outcome !== 'done' || outcome.error !== undefined) this.#odd.set(outcome.row, outcome);
  }

  /** A row of the input that is no row of the run: wrong, or done before. The run moves nothing for it. */
  addSkipped({ amount: _, ...outcome }: RowOutcome): void {
    if (outcome.outcome === 'done') this.doneBefore += 1;
    this.add(outcome);
  }

  /** Another outcome of a row by what the verification has read. */
  correct({ was, ...outcome }: CorrectedOutcome): void {
    this.#count[was] -= 1;
    if (was === 'done') this.#moved -= outcome.amount ?? 0;
    this.#odd.delete(outcome.row);
    this.add(outcome);
  }

  get totals(): RowTally {
    return { total: this.#settings.total, ...this.#count };
  }

  /** Amounts of the done rows of the run. */
  get moved(): Cents {
    return cents(this.#moved);
  }

  /** A row that did not come was not sent. */
  counts(): Readonly<Record<'done' | 'refused' | 'unknown' | 'not_sent', number>> {
    const { done, refused, unknown } = this.#count;
    return { done, refused, unknown, not_sent: this.#settings.total - done - refused - unknown };
  }

  /** Rows that the run stopped before, and those that nobody took any more. */
  #notStarted(): number {
    return this.#settings.total - Object.values(this.#count).reduce((sum, each) => sum + each, 0);
  }

  /** The failure of the run; undefined when every row is done and nothing objects. */
  verdict(end: RunEnd): CliError | undefined {
    const { op, stopped, objections = [], ended = true } = end;
    const { total, single, isLook = false } = this.#settings;
    const odd = [...this.#odd.values()];
    const bug = odd.find(({ error }) => error?.kind === 'internal')?.error;
    if (bug !== undefined) return op === undefined ? bug : bug.with({ op });
    const kind = this.#kind(end, odd);
    const ofRow = odd.find(({ outcome }) => outcome !== 'done')?.error;
    if (single && objections.length === 0 && (!isLook || kind !== undefined) && ofRow !== undefined) return ofRow;
    if (kind === undefined) return undefined;
    const { done, refused, unknown, not_sent } = this.#count;
    const parts = [
      [refused, 'failed'],
      [unknown, 'unknown'],
      [not_sent, 'not sent'],
      [this.#notStarted(), 'not started'],
    ] as const;
    const others = parts.filter(([many]) => many > 0).map(([many, word]) => `${many} ${word}`);
    const unverified = !ended && done === total ? ['and the run was not verified'] : [];
    const { service, httpStatus, retryAfterMs } = (kind === stopped?.kind && stopped.facts) || {};
    return new CliError(kind, {
      message: [`${done} of ${total} done`, ...others, ...unverified].join(', '),
      notes: this.#notes(end, odd),
      ...(objections.length > 0 && { evidence: { objections } }),
      ...(!ended && op !== undefined && { hint: `cardwright ops ${this.#isStuck(odd) ? 'show' : 'resume'} ${op}` }),
      ...(service !== undefined && { service }),
      ...(httpStatus !== undefined && { httpStatus }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      outcome: unknown > 0 ? 'unknown' : done === total ? 'done' : done + refused === 0 ? 'not_sent' : 'refused',
      ...(op !== undefined && { op }),
    });
  }

  #kind({ signal, stopped, objections = [], ended = true }: RunEnd, odd: readonly RowOutcome[]): ErrorKind | undefined {
    const { done, unknown, not_sent } = this.counts();
    const { total, isLook } = this.#settings;
    const isUnverified = !ended && done === total;
    if (unknown > 0) return 'outcome_unknown';
    if (objections.length > 0) return 'check_failed';
    if (isLook) return undefined;
    if (signal !== undefined && (not_sent > 0 || isUnverified)) return signal.kind;
    if (done === 0 && stopped !== undefined) return stopped.kind;
    const objected = odd.filter(({ outcome }) => outcome === 'done');
    // After it nothing more could be sent.
    const last = objected.find(({ stops }) => stops === true);
    if (last !== undefined) return last.error?.kind;
    if (done < total) return 'partly_failed';
    return isUnverified ? 'check_failed' : objected[0]?.error?.kind;
  }

  #notes({ op, objections = [], stopped, ended = true }: RunEnd, odd: readonly RowOutcome[]): string[] {
    const { total, resumed = false, isLook = false } = this.#settings;
    const { done, unknown } = this.#count;
    const alike = alikeRows(odd.filter(({ outcome, stops }) => outcome !== 'done' || stops !== true));
    const [noted, others] = [alike.slice(0, NOTED_ROWS), alike.slice(NOTED_ROWS)];
    const rest = others.reduce((sum, { length }) => sum + length, 0);
    const isNoted = stopped === undefined || noted.some(([first]) => first?.error?.message === stopped.message);
    const ofRun = this.doneBefore > 0 ? 'of this run ' : '';
    return [
      ...objections,
      ...(isNoted ? [] : [stopped.message]),
      ...noted.toSorted(([one], [other]) => (one?.row ?? 0) - (other?.row ?? 0)).map(noteOfAlike),
      ...(rest > 0 && op !== undefined ? [`${rest} more: cardwright ops show ${op}`] : []),
      ...(this.#moved > 0 ? [`The done rows ${ofRun}come to ${dollars(this.moved)}.`] : []),
      ...(!ended && done === total
        ? ['Nothing is left to send. This verifies the run, and shows its rows once more:']
        : []),
      ...(unknown > 0 && !resumed ? ['Do not run the command again: unknown rows may have happened.'] : []),
      ...(unknown > 0 && op !== undefined && !isLook ? [`This only looks: cardwright ops resume ${op} --dry-run`] : []),
      ...(unknown > 0 && op !== undefined && !resumed
        ? [`This looks, and may send rows where that is safe: cardwright ops resume ${op}`]
        : []),
      ...(resumed && op !== undefined ? decisionNotes(op, odd) : []),
    ];
  }

  /** A resume that leaves only rows for a person to decide would do the same again. */
  #isStuck(odd: readonly RowOutcome[]): boolean {
    const left = odd.filter(({ outcome, next }) => outcome === 'unknown' || (outcome !== 'done' && next !== undefined));
    const isDecided = left.length > 0 && left.every(({ next }) => next === 'decide') && this.#notStarted() === 0;
    return this.#settings.resumed === true && isDecided;
  }
}

/** Rows that are named one by one in words; all of them are in the result. */
const NOTED_ROWS = 5;

const wordsOf = ({ error, outcome }: RowOutcome) =>
  error?.message ?? (outcome === 'not_sent' ? 'it was not begun' : 'another process works on it');

/** Rows that came to the same, but for times; those of unknown outcome first, which matter most. */
function alikeRows(outcomes: readonly RowOutcome[]): readonly (readonly RowOutcome[])[] {
  const groups = new Map<string, RowOutcome[]>();
  for (const outcome of outcomes) {
    const words = wordsOf(outcome).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '');
    const key = `${outcome.outcome} ${words}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [outcome]);
    else group.push(outcome);
  }
  const isKnown = ([first]: readonly RowOutcome[]) => Number(first?.outcome !== 'unknown');
  return [...groups.values()].sort((one, other) => isKnown(one) - isKnown(other));
}

/** `row 3  unknown: …`, `rows 3 to 9  unknown: …`. */
function noteOfAlike(alike: readonly RowOutcome[]): string {
  const [first] = alike;
  const named = rowsNamed(alike.map(({ row }) => row).sort((one, other) => one - other));
  return first === undefined ? '' : `${named}  ${first.outcome.replace('_', ' ')}: ${wordsOf(first)}`;
}

/** How a person goes on with rows whose outcome no look finds. */
function decisionNotes(op: string, odd: readonly RowOutcome[]): readonly string[] {
  const rowsOf = (outcomes: readonly RowOutcome[]) => outcomes.map(({ row }) => row).sort((a, b) => a - b);
  const rows = rowsOf(odd.filter(({ outcome, next }) => outcome !== 'done' && next === 'decide'));
  const absent = odd.filter(each => each.absent === true);
  if (rows.length === 0) return [];
  const are = rows.length === 1 ? 'is' : 'are';
  return [
    `${rowsNamed(rows)} ${are} yours to decide, unless a later resume sees more. What was checked: cardwright ops show ${op}`,
    `It happened: ${resolveCommand(op, rows, 'done')}`,
    `It did not: ${resolveCommand(op, rows, 'not-done')}`,
    ...(absent.length > 0
      ? [
          `No trace of ${rowsNamed(rowsOf(absent))}. This sends again what left none, under its own keys; ${riskOfResend(
            absent.every(({ keyHonoured }) => keyHonoured === true),
            'these',
          )}: cardwright ops resume ${op} --resend-absent`,
        ]
      : []),
  ];
}

const NEXT = tells.word('With --dry-run: what a resume would do with the row; null where it is over.', [
  'send',
  'send_again',
  'look',
  'decide',
] satisfies NextOfRow[]);

/** What `ops resume` prints: the results of a run, with `next` where it was only looked at. */
export const LOOKED_ANSWER: Answers = { list: { ...RESULT_ROW, next: maybe(orNull(NEXT)) }, page: RUN_PAGE };

/** Money operations on one card wait for each other: evidence of two at once would be worth nothing. */
export function rowsOf(run: Run, skipped: readonly RowOutcome[]): readonly DriveRow[] {
  const planned: DriveRow[] = [];
  for (const change of run.changes) {
    const state = rowState(change);
    const earlier = state === 'open' || state === 'unknown' ? undefined : run.recorded(change);
    const { n: row, operation, facts } = change;
    const card = operation === 'cards.create' ? undefined : change.card;
    const spends = operation === 'cards.create' || operation === 'cards.fund';
    const phase = run.phased && { phase: facts.phase, needs: facts.needs, spends };
    // One form for all: there may be a hundred thousand.
    planned.push({ row, card, earlier, isUnknown: state === 'unknown', ...phase });
  }
  if (skipped.length === 0) return planned;
  return [...planned, ...skipped.map(earlier => ({ row: earlier.row, earlier }))].sort(
    (one, other) => one.row - other.row,
  );
}

/**
 * The rows as they are found; ends with 11 while a row stays unknown, with 15 where the end of the run was objected to, and
 * with 0 when all of them are known.
 */
export function runOverview(ctx: Context, run: Run): Shown {
  const rows = rowsOf(run, []);
  const tally = new RunTally({ total: rows.length, single: !run.bulk, resumed: true, isLook: true });
  let failure: CliError | undefined;
  async function* batches() {
    const driving = { run, rows, concurrency: USUAL_WORKERS, keepGoing: true, stop: ctx.signal };
    for await (const batch of drive({ ...driving, onOutcome: () => undefined }).outcomes) {
      for (const outcome of batch) tally.add(outcome);
      yield batch.map(outcome => ({ ...resultRow(outcome), next: outcome.next ?? null }));
    }
    ctx.signal.throwIfAborted();
    const { objections, ended } = await run.finish();
    failure = tally.verdict({ op: run.op, objections, ended });
    ctx.ui.notice('Dry run: nothing was sent. NEXT says what a resume would do with each row.');
  }
  return {
    listing: { batches: batches(), page: (): Row => ({ total: rows.length, op: run.op, ...tally.counts() }) },
    noun: 'row',
    ...DONE_IDS,
    columns: LOOKED_COLUMNS,
    changedNothing: true,
    failure: () => failure,
  };
}

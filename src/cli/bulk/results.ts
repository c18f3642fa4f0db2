/**
 * What a run of rows prints: a row, notes of rows that came to the same, the counts and the one exit code of it, and what a resume
 * would do with each row (docs/design/cli.md, "Many rows" and "Exit codes").
 */

import { type DriveRow, drive } from '../../bulk/scheduler.ts';
import { CliError, type ErrorKind } from '../../core/errors.ts';
import { type Cents, cents, dollars, toUsd } from '../../core/money.ts';
import { resolveCommand, riskOfResend, rowCount, rowsNamed } from '../../core/row-words.ts';
import { type Change, rowState } from '../../journal/records.ts';
import type { CorrectedOutcome, NextOfRow, OpView, RowOutcome, Run } from '../../journal/types.ts';
import type { RowTally } from '../../terminal/progress.ts';
import type { Column, Row } from '../../terminal/view.ts';
import type { Context, Shown } from '../context.ts';
import { SHORT_ID } from '../listing.ts';
import { type Answers, maybe, orNull, RESULT_ROW, RUN_PAGE, tells } from '../parsing/flag.ts';
import { USUAL_WORKERS } from './flags.ts';

export const RESULT_COLUMNS: readonly Column[] = [
  { field: 'row', title: 'ROW', kind: 'integer', priority: 1 },
  { field: 'outcome', title: 'OUTCOME', kind: 'word', priority: 1 },
  { field: 'card_id', title: 'CARD', kind: 'id', priority: 1, shortTo: SHORT_ID },
  { field: 'last4', title: 'LAST4', kind: 'word', priority: 2, unlessEmpty: true },
  { field: 'amount', title: 'AMOUNT', kind: 'money', priority: 2, unlessEmpty: true },
  { field: 'error', title: 'ERROR', kind: 'text', priority: 2, unlessEmpty: true },
  { field: 'request_id', title: 'REQUEST', kind: 'text', priority: 4 },
];

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

/** Rows that came to the same, in the words of the first. */
interface AlikeRows {
  readonly first: RowOutcome;
  readonly rows: number[];
}

const wordsOf = ({ error }: RowOutcome) => error?.message ?? 'no reason is known';

function isAlike(one: RowOutcome, other: RowOutcome): boolean {
  const [words, others] = [one, other].map(each => wordsOf(each).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, ''));
  return one.outcome === other.outcome && words === others;
}

/** `row 3  unknown: …`, `rows 3 to 9  unknown: …`. */
function noteOfAlike({ first, rows }: AlikeRows): string {
  const named = rowsNamed(rows.toSorted((one, other) => one - other));
  return `${named}  ${first.outcome.replace('_', ' ')}: ${wordsOf(first)}`;
}

export interface RunCounts {
  /** An outcome as it comes. */
  add(outcome: RowOutcome): void;
  /** A row of the input that is no row of the run: wrong, or done before. The run moves nothing for it. */
  addSkipped(outcome: RowOutcome): void;
  /** Another outcome of a row by what the verification has read. */
  correct(outcome: CorrectedOutcome): void;
  /** One more row that the run stopped before. */
  leaveOut(): void;
  readonly totals: RowTally;
  /** Done rows of earlier runs. */
  readonly doneBefore: number;
  /** Amounts of the done rows of the run. */
  readonly moved: Cents;
  counts(): Readonly<Record<'done' | 'refused' | 'unknown' | 'not_sent', number>>;
  /** The failure of the run; undefined when every row is done and nothing objects. */
  verdict(end: RunEnd): CliError | undefined;
}

interface RunEnd {
  readonly op: string;
  readonly objections: readonly string[];
  /** The journal says END. */
  readonly ended: boolean;
  /** Why rows were left out. */
  readonly stopped: CliError | undefined;
  /** The reason of the signal. */
  readonly signal: CliError | undefined;
}

/** Rows that are named one by one in words; all of them are in the result. */
const NOTED_ROWS = 5;

interface RunCountsSettings {
  readonly total: number;
  /** One operation, not a run of rows: its failure is that of its row. */
  readonly single: boolean;
  /** The run was taken up again: what is still unknown was looked for with patience. */
  readonly resumed?: boolean;
  /** It is only looked at: what is known of every row is no failure. */
  readonly isLook?: boolean;
}

export function createRunCounts({ total, single, resumed = false, isLook = false }: RunCountsSettings): RunCounts {
  const count = { done: 0, refused: 0, unknown: 0, not_sent: 0 };
  const sum = { done: 0, refused: 0, unknown: 0, not_sent: 0 };
  let leftOut = 0;
  let doneBefore = 0;
  let unread = false;
  const shown: AlikeRows[] = [];
  /** Done rows that are otherwise than was asked for. */
  const otherwise: RowOutcome[] = [];
  /** Rows that a person must decide, and those among them of which there is no trace. */
  const decided: number[] = [];
  /** A further resume has something to send, or to look for. */
  let goesOn = false;
  const absent: AbsentRow[] = [];
  let bug: CliError | undefined;
  let lost: CliError | undefined;
  /** Of a done row after which nothing more could be sent. */
  let last: CliError | undefined;

  function note(outcome: RowOutcome): void {
    // Unknown rows matter most; they take the place of others.
    const place = outcome.outcome === 'unknown' ? shown.findIndex(({ first }) => first.outcome !== 'unknown') : -1;
    const alike = shown.find(({ first }) => isAlike(first, outcome));
    const alone = { first: outcome, rows: [outcome.row] };
    if (alike !== undefined) alike.rows.push(outcome.row);
    else if (shown.length < NOTED_ROWS) shown.push(alone);
    else if (place >= 0) shown[place] = alone;
  }

  function message(end: RunEnd): string {
    const { signal, stopped } = end;
    const parts = [
      [count.refused, 'failed'],
      [count.unknown, 'unknown'],
      [count.not_sent, 'not sent'],
      [leftOut, 'not started'],
    ] as const;
    const others = parts.filter(([many]) => many > 0).map(([many, word]) => `${many} ${word}`);
    const early = leftOut > 0 && (unread || signal !== undefined || stopped !== undefined);
    if (early) return `stopped after ${total - leftOut} of ${total}: ${[`${count.done} done`, ...others].join(', ')}`;
    const unverified = isUnverified(end) ? ['and the run was not verified'] : [];
    return [`${count.done} of ${total} done`, ...others, ...unverified].join(', ');
  }

  function kindOf(end: RunEnd): ErrorKind | undefined {
    const { signal } = end;
    if (count.unknown > 0) return 'outcome_unknown';
    if (end.objections.length > 0) return 'check_failed';
    if (isLook) return undefined;
    if (signal !== undefined && (leftOut + count.not_sent > 0 || isUnverified(end))) return signal.kind;
    if (count.done === 0 && end.stopped !== undefined) return end.stopped.kind;
    if (last !== undefined) return last.kind;
    if (count.done < total) return 'partly_failed';
    return isUnverified(end) ? 'check_failed' : lost?.kind;
  }

  /** All that was wanted is done, and the end of the run, which a resume brings about, is missing. */
  function isUnverified({ ended }: RunEnd): boolean {
    return !ended && count.done === total;
  }

  function notes(end: RunEnd): string[] {
    const noted = shown.reduce((sum, { rows }) => sum + rows.length, 0);
    const rest = total - count.done - leftOut - noted;
    const { stopped } = end;
    const isNoted = stopped === undefined || shown.some(({ first }) => first.error?.message === stopped.message);
    return [
      ...end.objections,
      ...(isNoted ? [] : [stopped.message]),
      ...[...shown, ...otherwise.map(first => ({ first, rows: [first.row] }))]
        .sort((one, other) => one.first.row - other.first.row)
        .map(noteOfAlike),
      ...(rest > 0 ? [`${rest} more: cardwright ops show ${end.op}`] : []),
      ...(sum.done > 0
        ? [`The done rows ${doneBefore > 0 ? 'of this run ' : ''}come to ${dollars(cents(sum.done))}.`]
        : []),
      ...(isUnverified(end) ? ['Nothing is left to send. This verifies the run, and shows its rows once more:'] : []),
      ...(count.unknown > 0 && !resumed ? ['Do not run the command again: unknown rows may have happened.'] : []),
      ...(count.unknown > 0 ? [`This only looks: cardwright ops resume ${end.op} --dry-run`] : []),
      ...(count.unknown > 0 && !resumed
        ? [`This looks, and may send rows where that is safe: cardwright ops resume ${end.op}`]
        : []),
      ...(resumed
        ? decisionNotes(
            end.op,
            decided.toSorted((a, b) => a - b),
            absent,
          )
        : []),
    ];
  }

  /** A resume that leaves only rows for a person to decide would do the same again. */
  function hintOf(op: string): string {
    const isStuck = resumed && decided.length > 0 && !goesOn && leftOut === 0;
    return isStuck ? `cardwright ops show ${op}` : `cardwright ops resume ${op}`;
  }

  function knownOutcome(): 'unknown' | 'done' | 'not_sent' | 'refused' {
    if (count.unknown > 0) return 'unknown';
    if (count.done === total) return 'done';
    return count.done + count.refused === 0 ? 'not_sent' : 'refused';
  }

  return {
    add(outcome) {
      const { outcome: word, error, amount = 0 } = outcome;
      count[word] += 1;
      sum[word] += amount;
      if (error?.kind === 'internal') bug ??= error;
      if (word === 'done') {
        lost ??= error;
        if (outcome.stops === true) last ??= error;
        else if (error !== undefined && otherwise.length < NOTED_ROWS) otherwise.push(outcome);
      } else note(outcome);
      if (word !== 'done' && outcome.next === 'decide') decided.push(outcome.row);
      else if (word === 'unknown' || (word !== 'done' && outcome.next !== undefined)) goesOn = true;
      if (outcome.absent === true) absent.push(outcome);
    },
    addSkipped({ amount: _, ...outcome }) {
      if (outcome.outcome === 'done') doneBefore += 1;
      this.add(outcome);
    },
    correct(outcome) {
      count[outcome.was] -= 1;
      sum[outcome.was] -= outcome.amount ?? 0;
      const at = shown.findIndex(({ rows }) => rows.includes(outcome.row));
      const rows = shown[at]?.rows ?? [];
      if (rows.length > 1) rows.splice(rows.indexOf(outcome.row), 1);
      else if (at >= 0) shown.splice(at, 1);
      this.add(outcome);
    },
    leaveOut() {
      leftOut += 1;
    },
    get totals() {
      return { total, done: count.done, failed: count.refused, unknown: count.unknown, unsent: count.not_sent };
    },
    get doneBefore() {
      return doneBefore;
    },
    get moved() {
      return cents(sum.done);
    },
    counts: () => ({ ...count, not_sent: count.not_sent + leftOut }),
    verdict(end) {
      // Nobody took the outcomes any more: the rest was not begun.
      const left = total - leftOut - Object.values(count).reduce((all, each) => all + each, 0);
      unread ||= left > 0;
      leftOut += left;
      if (bug !== undefined) return bug.with({ op: end.op });
      const kind = kindOf(end);
      const isOfRow = single && end.objections.length === 0 && (!isLook || kind !== undefined);
      if (isOfRow && shown[0]?.first.error !== undefined) return shown[0].first.error;
      if (kind === undefined) return undefined;
      const { service, httpStatus, retryAfterMs } = (kind === end.stopped?.kind && end.stopped.facts) || {};
      return new CliError(kind, {
        message: message(end),
        notes: notes(end),
        ...(end.objections.length > 0 && { evidence: { objections: end.objections } }),
        ...(!end.ended && { hint: hintOf(end.op) }),
        ...(service !== undefined && { service }),
        ...(httpStatus !== undefined && { httpStatus }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        outcome: knownOutcome(),
        op: end.op,
      });
    },
  };
}

/** A row that left no trace. */
type AbsentRow = Pick<RowOutcome, 'row' | 'keyHonoured'>;

/** How a person goes on with rows whose outcome no look finds; `absent` are those without a trace. */
function decisionNotes(op: string, rows: readonly number[], absent: readonly AbsentRow[]): readonly string[] {
  if (rows.length === 0) return [];
  const are = rows.length === 1 ? 'is' : 'are';
  return [
    `${rowsNamed(rows)} ${are} yours to decide, unless a later resume sees more. What was checked: cardwright ops show ${op}`,
    `It happened: ${resolveCommand(op, rows, 'done')}`,
    `It did not: ${resolveCommand(op, rows, 'not-done')}`,
    ...(absent.length > 0
      ? [
          `No trace of ${rowsNamed(absent.map(({ row }) => row))}. This sends again what left none, under its own keys; ${riskOfResend(
            absent.every(({ keyHonoured }) => keyHonoured === true),
            'these',
          )}: cardwright ops resume ${op} --resend-absent`,
        ]
      : []),
  ];
}

/** What a resume does with a row, in words. */
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

function phaseOf({ facts: { phase, needs }, operation }: Change): Pick<DriveRow, 'phase' | 'needs' | 'spends'> {
  return { phase, needs, spends: operation === 'cards.create' || operation === 'cards.fund' };
}

/** Money operations on one card wait for each other: evidence of two at once would be worth nothing. */
export function rowsOf(run: Run, skipped: readonly RowOutcome[]): readonly DriveRow[] {
  const planned: DriveRow[] = [];
  for (const change of run.changes) {
    const state = rowState(change);
    const earlier = state === 'open' || state === 'unknown' ? undefined : run.recorded(change);
    const card = change.operation === 'cards.create' ? undefined : change.card;
    // One form for all: there may be a hundred thousand.
    planned.push({ row: change.n, card, earlier, isUnknown: state === 'unknown', ...(run.phased && phaseOf(change)) });
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
export function runOverview(ctx: Context, { run }: Pick<OpView, 'run'>): Shown {
  const rows = rowsOf(run, []);
  const open = new Set(rows.flatMap(({ row, earlier }) => (earlier === undefined ? [row] : [])));
  const settings = { total: rows.length, single: !run.bulk, resumed: true, isLook: true };
  const tally = createRunCounts(settings);
  /** What a resume would do, how often, and the cents of it. */
  const steps = new Map<string, { rows: number; cents: number }>();
  let failure: CliError | undefined;
  async function* batches() {
    const driving = { run, rows, concurrency: USUAL_WORKERS, keepGoing: true, stop: ctx.signal };
    for await (const batch of drive({ ...driving, onOutcome: () => undefined }).outcomes) {
      for (const outcome of batch) {
        tally.add(outcome);
        const isFound = outcome.outcome === 'done' && open.has(outcome.row);
        const step = isFound ? 'record as done' : outcome.next && STEPS[outcome.next];
        if (step === undefined) continue;
        const { rows: many, cents: sum } = steps.get(step) ?? { rows: 0, cents: 0 };
        steps.set(step, { rows: many + 1, cents: sum + (outcome.amount ?? 0) });
      }
      yield batch.map(outcome => ({ ...resultRow(outcome), next: outcome.next ?? null }));
    }
    ctx.signal.throwIfAborted();
    const { objections, ended } = await run.finish();
    failure = tally.verdict({ op: run.op, objections, ended, stopped: undefined, signal: undefined });
    const parts = [...steps].map(
      ([step, { rows: many, cents: sum }]) => `${step} ${rowCount(many)}${sum > 0 ? ` (${dollars(cents(sum))})` : ''}`,
    );
    const would = parts.length === 0 ? 'send nothing' : parts.join('; ');
    ctx.ui.notice(`Dry run: nothing was sent. A resume would ${would}.`);
  }
  return {
    listing: { batches: batches(), page: (): Row => ({ total: rows.length, op: run.op, ...tally.counts() }) },
    noun: 'row',
    idField: 'card_id',
    columns: LOOKED_COLUMNS,
    changedNothing: true,
    failure: () => failure,
  };
}

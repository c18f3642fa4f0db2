/**
 * What a run of rows came to, counted as its rows come, and the one exit code of it (docs/design/cli.md, "Exit codes").
 */
import { CliError, type ErrorKind } from '../../core/errors.ts';
import { type Cents, cents, dollars } from '../../core/money.ts';
import { resolveCommand, riskOfResend, rowsNamed } from '../../core/row-words.ts';
import type { RowOutcome } from '../../journal/types.ts';
import type { Standing } from '../../terminal/progress.ts';
import { type AlikeRows, alikeRows, joins, noteOfAlike } from './alike-rows.ts';

export interface RunCounts {
  /** An outcome as it comes. */
  add(outcome: RowOutcome): void;
  /** A row of the input that is no row of the run: wrong, or carried out before. The run moves nothing for it. */
  addSkipped(outcome: RowOutcome): void;
  /** A row that came as done and is unknown by what the verification has read. */
  doubt(outcome: RowOutcome): void;
  /** One more row that the run stopped before. */
  leaveOut(): void;
  readonly standing: Standing;
  /** Done rows that were carried out before the run. */
  readonly doneBefore: number;
  /** Amounts of the done rows of the run. */
  readonly moved: Cents;
  /** Amounts of the rows that may have happened. */
  readonly doubtful: Cents;
  counts(): Readonly<Record<'done' | 'refused' | 'unknown' | 'not_sent', number>>;
  /** The failure of the run; undefined when every row is done and nothing objects. */
  verdict(end: RunEnd): CliError | undefined;
}

export interface RunEnd {
  readonly op: string;
  readonly objections: readonly string[];
  /** The journal says END. */
  readonly ended: boolean;
  /** Why rows were left out. */
  readonly stopped: CliError | undefined;
  /** The reason of the signal. */
  readonly signal: CliError | undefined;
}

/** Rows that are told one by one in words; all of them stand in the result. */
const TOLD_ROWS = 5;

export interface RunCountsSettings {
  readonly total: number;
  /** One operation, not a run of rows: its failure is that of its row. */
  readonly single: boolean;
  /** The run was taken up again: what is still unknown was looked for with patience. */
  readonly resumed?: boolean;
}

export function createRunCounts({ total, single, resumed = false }: RunCountsSettings): RunCounts {
  const count = { done: 0, refused: 0, unknown: 0, not_sent: 0 };
  const sum = { done: 0, refused: 0, unknown: 0, not_sent: 0 };
  let leftOut = 0;
  let doneBefore = 0;
  let unread = false;
  const shown: AlikeRows[] = [];
  /** Done rows that came out otherwise than was asked for. */
  const otherwise: RowOutcome[] = [];
  /** Rows that a person must decide, and those among them of which there is no trace. */
  const decided: number[] = [];
  const absent: AbsentRow[] = [];
  let bug: CliError | undefined;
  let lost: CliError | undefined;
  /** Of a done row after which nothing more could be sent. */
  let last: CliError | undefined;

  function tell(outcome: RowOutcome): void {
    // Unknown rows matter most; they take the place of others.
    const place = outcome.outcome === 'unknown' ? shown.findIndex(({ first }) => first.outcome !== 'unknown') : -1;
    if (shown.some(each => joins(each, outcome))) return;
    if (shown.length < TOLD_ROWS) shown.push(alikeRows(outcome));
    else if (place >= 0) shown[place] = alikeRows(outcome);
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
    if (count.unknown > 0) return 'outcome_unknown';
    if (end.objections.length > 0) return 'check_failed';
    if (end.signal !== undefined && (leftOut + count.not_sent > 0 || isUnverified(end))) return end.signal.kind;
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
    const told = shown.reduce((sum, { rows }) => sum + rows.length, 0);
    const rest = total - count.done - leftOut - told;
    const { stopped } = end;
    const isTold = stopped === undefined || shown.some(({ first }) => first.error?.message === stopped.message);
    return [
      ...end.objections,
      ...(isTold ? [] : [stopped.message]),
      ...[...shown, ...otherwise.map(alikeRows)].sort((one, other) => one.first.row - other.first.row).map(noteOfAlike),
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
      ...(resumed ? decisionNotes(end.op, decided, absent) : []),
    ];
  }

  /** A resume that leaves only rows for a person to decide would do the same again. */
  function hintOf(op: string): string {
    const isStuck = resumed && decided.length > 0 && decided.length === count.unknown + count.not_sent && leftOut === 0;
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
        else if (error !== undefined && otherwise.length < TOLD_ROWS) otherwise.push(outcome);
      } else tell(outcome);
      if (word !== 'done' && outcome.next === 'decide') decided.push(outcome.row);
      if (outcome.absent === true) absent.push(outcome);
    },
    addSkipped({ amount: _, ...outcome }) {
      if (outcome.outcome === 'done') doneBefore += 1;
      this.add(outcome);
    },
    doubt(outcome) {
      count.done -= 1;
      sum.done -= outcome.amount ?? 0;
      count.unknown += 1;
      sum.unknown += outcome.amount ?? 0;
      tell(outcome);
    },
    leaveOut() {
      leftOut += 1;
    },
    get standing() {
      return { total, done: count.done, failed: count.refused, unknown: count.unknown, unsent: count.not_sent };
    },
    get doneBefore() {
      return doneBefore;
    },
    get moved() {
      return cents(sum.done);
    },
    get doubtful() {
      return cents(sum.unknown);
    },
    counts: () => ({ ...count, not_sent: count.not_sent + leftOut }),
    verdict(end) {
      // Nobody took the outcomes any more: the rest was not begun.
      const untold = total - leftOut - Object.values(count).reduce((all, each) => all + each, 0);
      unread ||= untold > 0;
      leftOut += untold;
      if (bug !== undefined) return bug.with({ op: end.op });
      if (single && end.objections.length === 0 && shown[0]?.first.error !== undefined) return shown[0].first.error;
      const kind = kindOf(end);
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
export type AbsentRow = Pick<RowOutcome, 'row' | 'keyHonoured'>;

/** How a person goes on with rows of which no look can tell what came of them; `absent` are those without a trace. */
export function decisionNotes(op: string, rows: readonly number[], absent: readonly AbsentRow[]): readonly string[] {
  if (rows.length === 0) return [];
  const are = rows.length === 1 ? 'is' : 'are';
  return [
    `Another resume finds out no more: ${rowsNamed(rows)} ${are} yours to decide. What was checked: cardwright ops show ${op}`,
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

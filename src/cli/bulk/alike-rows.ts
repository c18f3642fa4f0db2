/** Rows of a run that came to the same: told in one line, `rows 3 to 9  unknown: …`. */
import { rowsNamed } from '../../core/row-words.ts';
import type { RowOutcome } from '../../journal/types.ts';

export interface AlikeRows {
  readonly first: RowOutcome;
  readonly rows: number[];
  /** Of each time in the words, in their order, the earliest and the latest. */
  readonly times: [from: string, to: string][];
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

const wordsOf = ({ error }: RowOutcome) => error?.message ?? 'no reason is known';
const timesIn = (outcome: RowOutcome) => wordsOf(outcome).match(TIME) ?? [];

export function alikeRows(outcome: RowOutcome): AlikeRows {
  return { first: outcome, rows: [outcome.row], times: timesIn(outcome).map(time => [time, time]) };
}

/** Takes a row in whose words are the same but for their times; false for any other. */
export function joins({ first, rows, times }: AlikeRows, outcome: RowOutcome): boolean {
  const isSame = first.outcome === outcome.outcome && withoutTimes(first) === withoutTimes(outcome);
  if (!isSame) return false;
  rows.push(outcome.row);
  for (const [index, time] of timesIn(outcome).entries()) {
    const [from = time, to = time] = times[index] ?? [];
    times[index] = [time < from ? time : from, time > to ? time : to];
  }
  return true;
}

/** `row 3  unknown: …`, `rows 3 to 9  unknown: …`; times that differ as a stretch. */
export function noteOfAlike({ first, rows, times }: AlikeRows): string {
  const stretches = times.values();
  const words = wordsOf(first).replace(TIME, time => {
    const [from, to] = stretches.next().value ?? [time, time];
    return from === to ? from : `${from} to ${to}`;
  });
  const named = rowsNamed([...rows].sort((one, other) => one - other));
  return `${named}  ${first.outcome.replace('_', ' ')}: ${words}`;
}

const withoutTimes = (outcome: RowOutcome) => wordsOf(outcome).replace(TIME, '');

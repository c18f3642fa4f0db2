/** What came of one row, and of all rows of a run. */
import type { CliError } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';

type Values = Readonly<Record<string, unknown>>;

export type RowResult = 'done' | 'refused' | 'unknown' | 'not_sent';

/**
 * What a resume does with a row that is not over: it sends it, sends it again under its own key, or looks for it once
 * more; with `decide` it leads no further, and a person says what came of the row.
 */
export type NextOfRow = 'send' | 'send_again' | 'look' | 'decide';

/** What came of a row, as far as it is known. */
export interface RowOutcome {
  readonly row: number;
  readonly outcome: RowResult;
  /** Done rows: false when the card was in the wanted state already. */
  readonly changed?: boolean | undefined;
  /** Done rows: the resource, money as JSON numbers; absent when the journal alone knows of it. */
  readonly result?: Values | undefined;
  /** The answer did not show it and the resource was read. */
  readonly reread?: boolean | undefined;
  /** Of rows that were only looked at, and of unknown rows that a resume has looked at. */
  readonly next?: NextOfRow | undefined;
  /** An unknown row that was looked for when nothing could be on its way any more, and is not there. */
  readonly absent?: boolean | undefined;
  /** With `absent`: the service is known to honour its key, which may be forgotten by now. */
  readonly keyHonoured?: boolean | undefined;
  /** Every outcome but done; carries `op`, the outcome and what to do next. */
  readonly error?: CliError | undefined;
  readonly cardId?: string | undefined;
  readonly last4?: string | undefined;
  readonly amount?: Cents | undefined;
  readonly requestId?: string | undefined;
  /** Cards found with the marker of this row when there is more than one. Never terminated by itself. */
  readonly duplicate?: readonly string[] | undefined;
  /** The service asked to slow down while this row was under way; a bulk run halves its workers. */
  readonly throttled?: boolean | undefined;
  /** Nothing more may be sent by this run: key refused, guard, journal lost. */
  readonly stops?: boolean | undefined;
}

export interface Counts {
  readonly done: number;
  readonly refused: number;
  readonly unknown: number;
  readonly not_sent: number;
}

/** Operations as queries show them, and what a person decides about their rows. */
import type { WriteName } from '../contract/calls.ts';
import type { Cents } from '../core/money.ts';
import type { Counts, RowResult } from './row-outcome.ts';

export type OpState =
  | 'running'
  | 'pending'
  | 'open'
  | 'unknown'
  | 'finished'
  /** Every row is settled, and its command ended before it could say so: the same change is refused until it was told. */
  | 'untold'
  /** Its request was rejected, expired or no longer fitted: nothing of it was ever sent. */
  | 'rejected'
  | 'damaged'
  | 'newer';

export interface OpSummary {
  readonly op: string;
  readonly command: string;
  /** ISO 8601 UTC. */
  readonly started_at: string;
  /** Of the latest record. */
  readonly last_at: string;
  readonly profile: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  readonly state: OpState;
  readonly rows: number;
  readonly counts: Counts & { readonly open: number };
  /** Sum of the planned amounts. */
  readonly cents: Cents;
  /** In a journal of several people: who has it, or had it last. */
  readonly hands?: Hands | undefined;
}

/** Every row is done, and its process ended before it wrote that down: nobody was told. */
export function isDoneUntold(state: OpState, { open, unknown, refused, not_sent }: OpSummary['counts']): boolean {
  return state === 'open' && open + unknown + refused + not_sent === 0;
}

/** Role, and the machine it works on. */
export interface Hands {
  readonly holder: string;
  readonly host: string;
}

export interface OpRow {
  readonly row: number;
  readonly state: RowResult | 'open';
  readonly operation: WriteName;
  readonly cardId?: string | undefined;
  readonly last4?: string | undefined;
  readonly amount?: Cents | undefined;
  readonly label?: string | undefined;
  readonly intent?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly requestId?: string | undefined;
  /** ISO 8601 UTC of the last time bytes may have left. */
  readonly sentAt?: string | undefined;
  /** The same by the clock of the service, ms UTC, where it was known. */
  readonly serviceSentAt?: number | undefined;
  /** Why it is not done, in one clause. */
  readonly reason?: string | undefined;
  /** Times it was looked for, and when last. */
  readonly checks?: number | undefined;
  readonly checkedAt?: string | undefined;
  /** What the last look saw. */
  readonly found?: string | undefined;
  readonly resolved?: RecordedByHand | undefined;
  readonly duplicate?: readonly string[] | undefined;
}

export interface RecordedByHand {
  readonly as: 'done' | 'not-done';
  readonly note: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** `role@machine`, in a journal of several people. */
  readonly who?: string | undefined;
}

export interface OpDetail extends OpSummary {
  readonly origin: string;
  readonly rowsInDetail: readonly OpRow[];
  /** In a journal of several people, what who has recorded of its rows by hand: a sentence each. */
  readonly recorded: readonly string[];
}

/** Rows of one operation by their numbers, in order: those of unknown outcome, and those a resume would send. */
export interface Closing {
  readonly unknown: readonly number[];
  readonly unsent: readonly number[];
}

export interface Resolution {
  readonly op: string;
  /** When left out: as done every unknown row, as not-done every row that is not settled. */
  readonly rows?: readonly number[] | undefined;
  readonly as: 'done' | 'not-done';
  readonly note: string;
  /** With `done`, of one create: the card that it has made. */
  readonly card?: string | undefined;
  /** That card as the service shows it; left out where it could not be asked. */
  readonly shownCard?: Readonly<Record<string, unknown>> | undefined;
  /** Told what would be recorded, before it is; what it throws ends it, and nothing was written. */
  agree?(closing: Closing): Promise<void>;
}

export interface Resolved {
  readonly detail: OpDetail;
  /** What was recorded. */
  readonly closed: Closing;
  /** What is still to be settled or sent. */
  readonly left: Closing;
  /** Where a damaged journal was put: it names no rows. */
  readonly aside?: string | undefined;
}

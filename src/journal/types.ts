/**
 * The seam between whoever wants money moved (single commands, runs of many rows, leases, the library) and the journal that makes
 * it safe to stop at any moment (docs/design/reliability.md). Callers plan rows and execute them; what is sent, kept, sent again or
 * left alone is decided behind it. Everything here is data or a promise; nothing names a file, a database or HTTP.
 */
import type { WriteName } from '../contract/calls.ts';
import type { Attempt } from '../contract/service.ts';
import type { CliError } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';
import type { Capability } from './account.ts';
import type { Change, Facts, RowResult } from './records.ts';

type Values = Readonly<Record<string, unknown>>;

/** One change that is wanted. */
export interface PlannedRow extends Facts {
  /** From 1, in the order of the input. */
  readonly row: number;
  readonly operation: WriteName;
  /** Input that `Service.send` takes: path parameters, query and body side by side, money as cents. */
  readonly input: Values;
  /** What the row moves, for sums and `ops show`. */
  readonly amount?: Cents | undefined;
  readonly cardId?: string | undefined;
  /** Exact text of the body, where the caller wrote it; `input` is what was read from it. */
  readonly body?: string | undefined;
  /** The caller's own name for this one change: under it the change is made once. */
  readonly intent?: string | undefined;
  /** What a created card is marked with, in place of the op's own marker. */
  readonly marker?: string | undefined;
}

export interface RunPlan {
  /** Words of the command, `cards create`. */
  readonly command: string;
  readonly rows: readonly PlannedRow[];
  /** Of the wanted changes, whatever their form and order; see `inputDigest`. */
  readonly digest: string;
  /** Several rows from a file: rows that were not sent or that the wallet refused stay open for `ops resume`. */
  readonly bulk: boolean;
  /** `--idempotency-key` of a single row. Of a run of many, the name under which it is begun once. */
  readonly key?: string | undefined;
  /** Whether created cards carry the metadata key `cardwright`; without it a create is never sent again. */
  readonly marker: boolean;
  /** What the markers of its rows begin with, where they are not the op's own. */
  readonly markerPrefix?: string | undefined;
  /** `Journal.appliesOf` these markers, from before the rows were planned: another apply that was begun since refuses this one. */
  readonly applies?: number | undefined;
  /** Its rows have phases. */
  readonly phased?: boolean | undefined;
  /** `--again`: the same input of many rows a second time within 24 hours is meant. */
  readonly again?: boolean | undefined;
  /** `--resend-absent`: as `ResumeOptions` has it, in the very run that is begun. */
  readonly resendAbsent?: boolean | undefined;
}

/** What a resume does with a row that is not over: send it, look for it once more, or leave it to a person. */
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
  /** An unknown row that was looked for and is not there. */
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
  /** The service asked to slow down while this row was under way; a run of many halves its workers. */
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

/** What a name of the caller's was used for before, with the same values. */
export interface EarlierUse {
  readonly intent: string;
  readonly op: string;
  /** Its row of that op. */
  readonly row: number;
  /** The op is one of many rows. */
  readonly bulk: boolean;
  /** What came of it, where nothing is left to do; else a resume of the op takes it up. */
  readonly settled?: RowOutcome | undefined;
}

export interface Finished {
  /** What its verification found wrong; any of them is exit 15. */
  readonly objections: readonly string[];
  /** What it found odd and others may explain. */
  readonly remarks: readonly string[];
  /** Rows that came back otherwise: done, and no reading shows the card; refused, and the card is there or may be. */
  readonly corrected: readonly CorrectedOutcome[];
  /** False where the service could not be read: a resume ends the run. */
  readonly isWhole: boolean;
  /** True when the op is finished: a later resume sends nothing. */
  readonly ended: boolean;
}

/** An outcome that the end of a run has found, and what the row came back as. */
export interface CorrectedOutcome extends RowOutcome {
  readonly was: 'done' | 'refused';
}

export interface ResumeOptions {
  /** Send rows again of which no trace was found. */
  readonly resendAbsent?: boolean | undefined;
  /** Why an op of another operator is taken over. */
  readonly reason?: string | undefined;
}

/** What an operation's idempotency key was found to be worth. */
export interface Probed {
  readonly operation: WriteName;
  readonly capability: Capability;
  /** What was done and seen, in one clause. */
  readonly text: string;
}

/** Called with each write of a probe, to record it; sends it by `send` and hands its attempt back. */
export type AroundWrite = (
  write: { readonly operation: WriteName; readonly input: Values; readonly key: string },
  send: () => Promise<Attempt>,
) => Promise<Attempt>;

export type OpState =
  /** A living process works on it. */
  | 'running'
  /** Held for approval. */
  | 'pending'
  /** Rows are left to send. */
  | 'open'
  /** Rows were sent without a trustworthy answer. */
  | 'unknown'
  | 'finished'
  /** It is over, and no row of it was ever sent. */
  | 'not_sent'
  /** Every row is settled, and its command ended before it could say so: the same change is refused until a resume shows it. */
  | 'unacknowledged'
  /** Its request was rejected or expired: nothing of it was ever sent. */
  | 'rejected';

export interface OpSummary {
  readonly op: string;
  readonly command: string;
  /** ISO 8601 UTC. */
  readonly started_at: string;
  /** Of the latest event. */
  readonly last_at: string;
  readonly profile: string;
  readonly mode: 'sandbox' | 'test' | 'live';
  readonly origin: string;
  readonly state: OpState;
  readonly rows: number;
  readonly counts: Counts & { readonly open: number };
  /** Sum of the planned amounts. */
  readonly cents: Cents;
  readonly movesMoney: boolean;
  /** User and machine that work on it, or did last; ms that the lease runs for yet, 0 where nobody works on it. */
  readonly heldBy: { readonly holder: string; readonly host: string; readonly leftMs: number };
}

/** Something that happened to an op, for `ops show`. */
export interface OpEvent {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly row: number | undefined;
  readonly kind: string;
  readonly text: string;
}

export interface OpDetail extends OpSummary {
  readonly changes: readonly Change[];
  readonly events: readonly OpEvent[];
  readonly objections: readonly string[];
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
  readonly shownCard?: Values | undefined;
  /** Told of each row that a reading speaks for, before not-done is recorded of it; what it throws ends it. */
  insist(why: string): Promise<void>;
  /** Told what would be recorded, before it is; what it throws ends it, and nothing was written. */
  agree(closing: Closing): Promise<void>;
}

export interface Resolved {
  readonly detail: OpDetail;
  /** What was recorded. */
  readonly closed: Closing;
  /** What is still to be settled or sent. */
  readonly left: Closing;
}

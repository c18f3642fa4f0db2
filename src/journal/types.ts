/**
 * The seam between whoever wants money moved (single commands, runs of many rows, leases, the library) and the journal that makes
 * it safe to stop at any moment (docs/design/reliability.md). Callers plan rows and execute them; what is sent, kept, sent again or
 * left alone is decided behind it. Everything here is data or a promise; nothing names a file, a database or HTTP.
 */
import type { WriteName } from '../contract/calls.ts';
import type { Attempt, PlannedRequest } from '../contract/service.ts';
import type { CliError } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';
import type { Capability } from './account.ts';
import type { Change, RowResult } from './records.ts';

type Values = Readonly<Record<string, unknown>>;

/** One change that is wanted. */
export interface PlannedRow {
  /** From 1, in the order of the input. */
  readonly row: number;
  readonly operation: WriteName;
  /** Input that `Service.send` takes: path parameters, query and body side by side, money as cents. */
  readonly input: Values;
  /** What the row moves, for sums and `ops show`. */
  readonly amount?: Cents | undefined;
  /** Balance the amount brings the card to: a card that has changed meanwhile is not taken beyond it. */
  readonly aim?: Cents | undefined;
  readonly cardId?: string | undefined;
  readonly label?: string | undefined;
  /** Exact text of the body, where the caller wrote it; `input` is what was read from it. */
  readonly body?: string | undefined;
  /** The caller's own name for this one change: under it the change is made once. */
  readonly intent?: string | undefined;
  /** What the purchase is for, in the caller's words. The change is the same one with other words. */
  readonly purpose?: string | undefined;
  /** What was asked for where `input` holds our choice: a BIN for `auto`. Values of `input` that it names are not the caller's. */
  readonly asked?: Values | undefined;
  /** A key that follows from the intention, in place of one of the op's own: `<chain>.1`. Other machines send the same one. */
  readonly keyChain?: string | undefined;
  /** What a created card is marked with, in place of the op's own marker. */
  readonly marker?: string | undefined;
  /** From 1: it is begun when all rows of lower phases have ended. */
  readonly phase?: number | undefined;
  /** Rows that must be done before it; else it is not sent. */
  readonly needs?: readonly number[] | undefined;
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

/** A run that this process holds. Disposing lets it go; nothing is lost by it. */
export interface Run extends AsyncDisposable {
  readonly op: string;
  /** Words of its command. */
  readonly command: string;
  readonly bulk: boolean;
  readonly phased: boolean;
  readonly changes: readonly Change[];
  /** What came of a change so far; undefined for one that is still to be sent and was never tried. */
  recorded(change: Change): RowOutcome | undefined;
  /**
   * Takes one row to an outcome; safe to call for several rows at once. A row whose outcome is unknown is looked for first.
   * Resolves only after the outcome is durable, so it may be printed. Rejects with `guarded` when the journal cannot be written
   * or another process has taken over: then nothing more was sent.
   */
  execute(row: number): Promise<RowOutcome>;
  /** Who has approved it, where it was held. */
  readonly approvedBy?: readonly string[] | undefined;
  /** It was held, and no command before this one has sent anything of it. */
  readonly isReleased?: boolean | undefined;
  /** Verifies, and finishes the op when no row is open or unknown. Call it after the last row came back. */
  finish(): Promise<Finished>;
  /** Whoever asks for it is refused, and not shown what came of it: it stays unacknowledged. */
  leaveUnacknowledged(): void;
}

/** A plan whose requests are made. */
export interface PreparedRun {
  /** The op it will have; another one where it takes up what a key of the caller was used for. */
  readonly op: string;
  /** Requests that would be sent, for dry runs. */
  readonly requests: readonly PlannedRequest[];
  /**
   * Why it would be held for approval, in words; undefined where it would not. Throws what a claim would be refused for now; nothing
   * is written.
   */
  foresee(): Promise<string | undefined>;
  /**
   * Claims it: from here on the op is durable. Nothing is sent by it. Throws as `Journal.begin`. `wallet` is what the caller has read
   * just before, of a run of many that moves money between it and cards: the end of the run compares.
   */
  begin(wallet?: Cents): Promise<Run>;
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

/** One write of a probe, for whoever records and counts it. */
export interface ProbeWrite {
  readonly operation: WriteName;
  readonly input: Values;
  readonly key: string;
}

/** Called with each write of a probe; sends it by `send` and hands its attempt back. */
export type AroundWrite = (write: ProbeWrite, send: () => Promise<Attempt>) => Promise<Attempt>;

/** A probe that is ready: what it would send, and the sending. */
export interface Probe {
  /** What is sent at most, to a service that ignores keys. */
  readonly rows: readonly PlannedRow[];
  /** Throws `guarded` where a limit refuses that. */
  check(): Promise<void>;
  /** What a service that honours keys is sent. */
  readonly requests: readonly PlannedRequest[];
  /** Uses keys twice, remembers for this account what they are worth, and terminates the cards it made. */
  run(around: AroundWrite): Promise<readonly Probed[]>;
}

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

/** Who works on an op, or did last: user and machine. */
export interface Holder {
  readonly holder: string;
  readonly host: string;
  /** ms that a lease runs for yet; 0 where nobody works on it. */
  readonly leftMs: number;
}

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
  readonly heldBy: Holder;
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
  /** Told what would be recorded, before it is; what it throws ends it, and nothing was written. */
  agree?(closing: Closing): Promise<void>;
}

export interface Resolved {
  readonly detail: OpDetail;
  /** What was recorded. */
  readonly closed: Closing;
  /** What is still to be settled or sent. */
  readonly left: Closing;
}

/** The journal of an account. Every method throws `check_failed` for a damaged journal, `guarded` for one that cannot be used. */
export interface Journal {
  /** Makes the requests of a plan, once. Throws `usage` for rows that cannot be sent. Nothing is written or sent. */
  prepare(plan: RunPlan): Promise<PreparedRun>;
  /**
   * Claims the plan: durable, nothing sent. Throws `guarded` (14) for a change that is not settled or that another process works
   * on, for the same file within 24 hours, for caps; `pending_approval` (17) where a rule holds it; `usage` (2) for a key or an
   * intent that was used for another change. With a key used before for the same change it resumes that run.
   */
  begin(plan: RunPlan): Promise<Run>;
  /**
   * The rows whose intents were used before with the same values, by the numbers of this plan. Throws `usage` for one that was
   * used with other values, `guarded` where its row belongs to a run of many that is not finished. Changes nothing.
   */
  earlierUses(plan: RunPlan): Promise<ReadonlyMap<number, EarlierUse>>;
  /** The command has shown these rows: an op all of whose rows are among them is acknowledged once the answer was written. */
  shown(uses: Iterable<EarlierUse>): Promise<CliError | undefined>;
  /**
   * An op as its journal has it now: its run looks at rows and asks the service, and neither writes nor sends. Needs no disposing.
   * Throws `not_found` for an unknown op, `usage` for another account's.
   */
  look(op: string, options?: ResumeOptions): Promise<Run>;
  /** Takes the op. Throws as `look`, and `guarded` while another process works on it. */
  resume(op: string, options?: ResumeOptions): Promise<Run>;
  /** The run of many that was begun under a name. Throws `guarded` where it has ended: a plan is carried out once. */
  begunAs(name: string): Promise<string | undefined>;
  /** What an idempotency key of this account is known to be worth for an operation. */
  capability(operation: WriteName): Promise<Capability>;
  /** Keeps other processes from changing the same fleet at once; resolves to the letting go. Throws `guarded` while one holds it. */
  holdFleet(fleet: string): Promise<() => Promise<void>>;
  /** Done changes of this account in the last ten minutes, oldest first: they count beside a list, which may be behind. */
  recent(): Promise<readonly Change[]>;
  /** Newest first. */
  list(): Promise<readonly OpSummary[]>;
  show(op: string): Promise<OpDetail>;
  resolve(resolution: Resolution): Promise<Resolved>;
  /** Makes a probe of idempotency keys ready; nothing is sent by it. Throws `guarded` for a live key. */
  probe(binId: string): Promise<Probe>;
}

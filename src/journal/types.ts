/**
 * The seam between whoever wants money moved (single commands, bulk runs, leases) and the journal that makes it safe to
 * stop at any moment (docs/design/reliability.md, section 6). Callers plan rows and perform them; what is sent, kept,
 * sent again or left alone is decided behind it. Everything here is data or a promise; nothing names a file or HTTP.
 */
import type { WriteName } from '../contract/calls.ts';
import type { Balances } from '../contract/evidence.ts';
import type { Delivery, PlannedRequest } from '../contract/service.ts';
import type { CliError } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';

import type { Capability } from './idempotency-support.ts';
import type { Counts, RowOutcome, RowResult } from './row-outcome.ts';
import type { BroughtBack, CheckedJournal, OpLease } from './shared-ops.ts';
import type { OpDetail, OpSummary, Resolution, Resolved } from './shown-ops.ts';

type Values = Readonly<Record<string, unknown>>;

/** One change that is wanted. */
export interface PlannedRow {
  /** From 1, in the order of the input. */
  readonly row: number;
  readonly operation: WriteName;
  /** As `Service.send` takes it: path parameters, query and body side by side, money as cents. */
  readonly input: Values;
  /** What the row moves, for sums and `ops show`. */
  readonly amount?: Cents | undefined;
  /** Balance the amount brings the card to: a card that has changed meanwhile is not taken beyond it. */
  readonly aim?: Cents | undefined;
  readonly cardId?: string | undefined;
  readonly label?: string | undefined;
  /** Card and wallet just before, when the caller has read them; see `SeenBefore`. */
  readonly before?: Balances | undefined;
  /** Exact text of the body, where the caller wrote it; `input` is what was read from it. */
  readonly body?: string | undefined;
  /** The caller's own name for this one change: with it the same change is carried out once (docs/design/reliability.md, section 6). */
  readonly intent?: string | undefined;
  /** What was asked for where `input` holds our choice: a BIN for `auto`. Values of `input` that it names are not the caller's. */
  readonly asked?: Values | undefined;
  /**
   * A key that follows from the intention, in place of one of the op's own: `<chain>.1`, and after a refusal `<chain>.2`.
   * Other machines send the same one.
   */
  readonly keyChain?: string | undefined;
  /** What a created card is marked with, in place of the op's own marker. */
  readonly marker?: string | undefined;
  /** From 1: it is begun when all rows of lower phases have ended. */
  readonly phase?: number | undefined;
  /** Rows that must be done before it; else it is not sent. */
  readonly needs?: readonly number[] | undefined;
}

/** What a name of the caller's was used for before, with the same values. */
export interface EarlierUse {
  readonly intent: string;
  readonly op: string;
  /** Its row of that op. */
  readonly row: number;
  /** The op is one of many rows. */
  readonly bulk: boolean;
  /** What came of it, where nothing is left to do or to tell; else a resume of the op takes it up. */
  readonly settled?: RowOutcome | undefined;
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

/** Called with each write of a probe; sends it by `send` and hands its delivery back. */
export type AroundWrite = (write: ProbeWrite, send: () => Promise<Delivery>) => Promise<Delivery>;

/** A probe that is ready: what it would send, and the sending. */
export interface Probe {
  /** What is sent at most, to a service that ignores keys; for guards and limits. */
  readonly rows: Rows<PlannedRow>;
  /** What a service that honours keys is sent. */
  readonly requests: Rows<PlannedRequest>;
  /** Uses keys twice, remembers for this account what they are worth, and terminates the cards it made. */
  run(around: AroundWrite): Promise<readonly Probed[]>;
}

export type { Balances };

/** Many rows: an array, or what makes each of them when it is asked for. May be gone through again. */
export type Rows<T> = Iterable<T> & { readonly length: number };

export interface RunPlan {
  /** Words of the command, `cards create`. */
  readonly command: string;
  readonly rows: Rows<PlannedRow>;
  /** Of the wanted changes, whatever their form and order; see `inputDigest`. Twins are found by it. */
  readonly digest: string;
  /** The same as older releases made it, for runs of several rows; see `digestInOrder`. */
  readonly digestInOrder?: string | undefined;
  /** Several rows from a file: rows that were not sent or that the wallet refused stay open for `ops resume`. */
  readonly bulk: boolean;
  readonly maxTotal?: Cents | undefined;
  /** The wallet just before, of bulk runs that move money between it and cards: the audit compares. */
  readonly wallet?: Cents | undefined;
  /**
   * `--idempotency-key` of a single row. Of a run of many, the name under which it is begun once: a plan that was applied
   * is not applied again.
   */
  readonly key?: string | undefined;
  /** Whether created cards carry the metadata key `cardwright`; without it nothing is ever sent twice. */
  readonly marker: boolean;
  /** What the markers of its rows begin with, where they are not the op's own; such rows are known by markers and keys. */
  readonly markerPrefix?: string | undefined;
  /** Its rows have phases. */
  readonly phased?: boolean | undefined;
  /** `--again`: the same bulk input a second time within 24 hours is meant. */
  readonly again?: boolean | undefined;
  /** Nobody typed it: it waits for what is unknown to be settled, also where it could be repeated freely. */
  readonly unattended?: boolean | undefined;
  /** `--resend-absent`: as `ResumeOptions` has it, in the very run that is begun. */
  readonly resendAbsent?: boolean | undefined;
}

/** Where a row stands by the journal: `open` rows may be performed. */
export interface RowState {
  readonly row: number;
  readonly state: RowResult | 'open';
  /** The card it is about; undefined for a create. */
  readonly cardId: string | undefined;
  readonly planned: PlannedRow;
  /** The outcome of an earlier run, for rows that are not open. */
  readonly outcome: RowOutcome | undefined;
  /** When that outcome was written down and by which process; undefined where a person decided it, or nobody yet. */
  readonly decided: Decided | undefined;
}

export interface Decided {
  /** ms UTC. */
  readonly at: number;
  readonly pid: number | undefined;
}

export interface Finished {
  readonly counts: Counts;
  /** Amounts of the done rows. */
  readonly cents: Cents;
  /** What the audit found wrong; any of them is exit 15. */
  readonly objections: readonly string[];
  /** What it found odd and others may explain. */
  readonly remarks: readonly string[];
  /** Rows that came back as done, and whose card it could not read: they are unknown now. */
  readonly doubted: readonly RowOutcome[];
  /** True when the journal says END: a later resume sends nothing. */
  readonly ended: boolean;
}

/** What the scheduler of many rows decides about one that is about to leave. */
export interface SendPermit {
  /** The row is written down and would leave now. False when it must not: it then comes back as not sent. */
  acquire(): boolean | Promise<boolean>;
  /** The service has said yes; all that is left is to write it down. */
  acknowledge(): void;
}

/** A run this process works on, under its lock. Disposing lets the lock go; nothing is lost by it. */
export interface Run extends AsyncDisposable {
  readonly op: string;
  readonly plan: RunPlan;
  /** Sum of the planned amounts. */
  readonly total: Cents;
  readonly rows: Rows<RowState>;
  /**
   * Takes one row to an outcome; safe to call for several rows at once. A row whose outcome is unknown is settled
   * and looked for first. Resolves only after the outcome is durable, so it may be printed. Rejects with `guarded`
   * when the journal cannot be written or another process has taken over: then nothing more was sent.
   */
  perform(row: number, permit?: SendPermit): Promise<RowOutcome>;
  /** Who has approved it, where it was held. */
  readonly approvedBy?: readonly string[] | undefined;
  /** It was held, and no command before this one has sent anything of it. */
  readonly isReleased?: boolean | undefined;
  /** Audits, and closes the journal when no row is open or unknown. Call it after the last row came back. */
  finish(): Promise<Finished>;
  /** Whoever asks for it is refused, and not shown what came of it: it stays untold. */
  leaveUntold(): void;
}

/** What the caller has read just before a run begins. */
export interface ReadBefore {
  /** Card and wallet of a single fund or withdraw; rows of these read them otherwise. */
  readonly before?: Balances | undefined;
  /** The wallet, of a bulk run that moves money. */
  readonly wallet?: Cents | undefined;
}

/** A plan whose requests are made. */
export interface PreparedRun {
  /** The op it will have; another one where it takes up what a key of the caller was used for. */
  readonly op: string;
  /** As they would be sent, for dry runs. */
  readonly requests: Rows<PlannedRequest>;
  /** Why it would be held for approval, in words; undefined where it would not. Nothing is written. */
  held(): Promise<string | undefined>;
  /** As `Journal.begin`. */
  begin(seen?: ReadBefore): Promise<Run>;
}

export interface ResumeOptions {
  /** Send rows again of which no trace was found after settling. */
  readonly resendAbsent?: boolean | undefined;
  /** Why an op of another operator is taken over, in a journal that several people share. */
  readonly reason?: string | undefined;
}

/** An op as its journal has it now; nothing is held. */
export interface OpView {
  /** Looks at rows and asks the service, and neither writes nor sends. Needs no disposing. */
  readonly run: Run;
  /** What goes on with it. */
  takeUp(): Promise<TakeUp>;
  /**
   * For dry runs: throws as `takeOver` for an op that is gone on with in another journal, whose records do not fit each other,
   * or whose approvals are none. What a request for approval still needs is another matter.
   */
  refuse(): Promise<void>;
  /** As `Journal.resume`; what was seen is read again under the lock. */
  takeOver(options?: ResumeOptions): Promise<Run>;
}

/** The command that goes on with an operation. */
export interface TakeUp {
  readonly command: string;
  /** Behind the op in a message: the operator and his machine, and how long a lease still keeps it; empty for one's own. */
  readonly whose: string;
  /** The same behind a verb; undefined for one's own that nobody has, and for what has ended. */
  readonly hands?: string | undefined;
  /** It is taken over, and not resumed: another operator has it. */
  readonly isTakeover: boolean;
  /** What may be done when the lease is over; none where no lease runs. */
  readonly later: readonly string[];
}

/** All operations of this user. Every method throws `check_failed` for a damaged journal it must read. */
export interface Journal {
  /** Makes the requests of a plan, once. Throws `usage` for rows that cannot be sent. Nothing is written or sent. */
  prepare(plan: RunPlan): Promise<PreparedRun>;
  /**
   * Throws for a twin as `begin` does, before anything is asked or written; gives notice of rows that a run finished
   * less than 24 hours ago has done.
   */
  refuseTwin(plan: RunPlan): Promise<void>;
  /**
   * Writes the plan down and makes it durable; nothing was sent before or by it. Throws `guarded` (14) for a twin
   * whose outcome is unknown or was told to nobody, a bulk input that is not finished, also with `again`, or was
   * finished less than 24 hours ago, rows that another operation which is not finished has too, or a folder that
   * cannot be written; `usage` (2) for an idempotency key that was used with other bytes. With a key used before
   * for the same bytes it resumes that run. Short for `prepare` and its `begin`.
   */
  begin(plan: RunPlan): Promise<Run>;
  /**
   * The rows whose names were used before with the same values, by the numbers of this plan. Throws `usage` for a name that
   * was used with other values, `guarded` where its row belongs to a run of many that is not finished. Changes nothing.
   */
  earlierUses(plan: RunPlan): Promise<ReadonlyMap<number, EarlierUse>>;
  /**
   * The command has shown these rows: an op of this operator all of whose rows are among them is over for him once the answer
   * was written. Nothing is sent. Resolves to what its verification objects to, where its process had ended before that.
   */
  shown(uses: Iterable<EarlierUse>): Promise<CliError | undefined>;
  /** Throws `usage` for an unknown op or another account's. The options tell what a resume would do with its rows. */
  look(op: string, options?: ResumeOptions): Promise<OpView>;
  /** Short for `look` and its `takeOver`. Throws `guarded` when another process works on it. */
  resume(op: string, options?: ResumeOptions): Promise<Run>;
  /** The run of many that was begun under a name, and when it ended, ms UTC; undefined for none that was written whole. */
  begunAs(name: string): Promise<{ readonly op: string; readonly ended: number | undefined } | undefined>;
  /**
   * Keeps other processes that use this journal from changing the same fleet at once; resolves to the letting go. Throws
   * `guarded` while another one holds it.
   */
  holdFleet(fleet: string): Promise<() => Promise<void>>;
  list(): Promise<readonly OpSummary[]>;
  /** Throws `usage` for the journal of one machine, which has no other operators. */
  leases(): Promise<readonly OpLease[]>;
  /** Brings what was left to the shared journal. Throws as `leases`. */
  push(): Promise<BroughtBack>;
  /** Whether the shared journal is whole, and has every operation that made a card. Changes nothing. Throws as `leases`. */
  check(): Promise<CheckedJournal>;
  show(op: string): Promise<OpDetail>;
  resolve(resolution: Resolution): Promise<Resolved>;
  /** Makes a probe of idempotency keys ready; nothing is sent by it. Throws `guarded` for a live key. */
  probe(binId: string): Promise<Probe>;
  /** Removes journals finished more than 90 days ago, and names that are older than 400 days; resolves to the ops. */
  prune(options?: { readonly dryRun?: boolean }): Promise<readonly string[]>;
}

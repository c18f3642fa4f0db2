/** What goes into the functions of a shared journal's schema, and the verdicts that come back. */
import type { DoneUse } from '../journal/store/op-store.ts';

/** Where the chain of an account stands; what a caller knows of it goes with its next call. */
export interface JournalHead {
  readonly seq: number;
  readonly hash: string;
}

/** What every call that writes begins with. */
export interface Entering {
  readonly account: string;
  readonly known?: JournalHead | undefined;
  /** Identifier of the state folder, 16 hexadecimal digits; with calls after which the machine knows what may get lost. */
  readonly machine?: string | undefined;
}

/** Whose hands an op would be in. `by` is new for every process, eight hexadecimal digits; `ttl_ms` is its lease. */
export interface Holder {
  readonly by: string;
  readonly host: string;
  readonly ttl_ms: number;
}

/** Rows that are unknown and rows that a resume would send, after the records of the same call. */
export interface OpenRows {
  readonly unknown: number;
  readonly open: number;
}

/** What a list shows of the rows, after the records of the same call. */
export interface ShownRows {
  readonly state: 'pending' | 'unknown' | 'open' | 'finished';
  /** Of the latest record by the clock of its writer, ms UTC. */
  readonly at: number;
  readonly counts: {
    readonly done: number;
    readonly refused: number;
    readonly unknown: number;
    readonly not_sent: number;
    readonly open: number;
  };
}

export interface ClaimedIntent {
  readonly row: number;
  readonly name: string;
  /** Of the one row, `inputDigest`. */
  readonly digest: string;
  /** The op that it belongs to already, for a row that the caller knows to be an earlier one. */
  readonly op?: string | undefined;
}

/** A name that is in use. */
export interface UsedIntent extends Omit<ClaimedIntent, 'op'> {
  readonly op: string;
  /** Of an op whose records were removed: the row was done, with this card. */
  readonly done?: DoneUse | null | undefined;
}

/** An op that was written elsewhere, or a part of it. Cents throughout. */
export interface ImportedOp extends Entering {
  readonly op: string;
  /** Bytes of it that are there. */
  readonly from: number;
  /** Nothing more of it follows. */
  readonly whole: boolean;
  /** The database has had it, and has lost it. */
  readonly recovered: boolean;
  /** Names and keys of other ops stay theirs, and it is brought without them: a person says that both have happened. */
  readonly keep_both?: boolean | undefined;
  /** Writer of its last line, eight hexadecimal digits. */
  readonly by: string;
  readonly host: string;
  /** Print of the API key as the account knows it; null where it was another one. */
  readonly key_print: string | null;
  readonly command: string;
  readonly digest: string;
  readonly bulk: boolean;
  readonly moves: boolean;
  readonly freely: boolean;
  readonly rows: number;
  readonly cents: number;
  readonly reserved: number;
  /** UTC. */
  readonly day: string;
  /** ms UTC. */
  readonly begun_ms: number;
  readonly ended_ms: number | null;
  readonly counts: OpenRows;
  readonly shown?: ShownRows | undefined;
  readonly ending: Ending;
  readonly intents: readonly ClaimedIntent[];
  readonly key?: { readonly value: string; readonly digest: string } | undefined;
  /** The caller has begun it. */
  readonly own: boolean;
  /** Of a lease, where a process has taken it up that the database does not know. */
  readonly ttl_ms: number;
}

/** Whether who began an op has seen its end. */
export interface Telling extends Entering {
  readonly op: string;
  readonly is_told: boolean;
  /** The caller has begun it, and the database does not know by whom it was. */
  readonly began?: boolean | undefined;
}

/** A name or key that belongs to another op already. */
export interface Clash {
  readonly intent?: string;
  readonly key?: string;
  readonly op: string;
}

/** An op with a name that belongs to another one, and who has said that both are right. */
export interface ClashPair {
  readonly op: string;
  readonly belongs_to: string;
  /** Role. */
  readonly by: string;
  readonly why: string;
  /** ISO 8601 UTC. */
  readonly at: string;
}

export type ImportResult =
  | { readonly verdict: 'imported'; readonly clashes: readonly Clash[] }
  | { readonly verdict: 'clash'; readonly clashes: readonly Clash[] };

/** An op as it is to be claimed. Cents throughout. */
export interface WantedOp extends Entering, Holder {
  readonly op: string;
  /** The same for each repetition of this call, whose first answer is given again. */
  readonly nonce: string;
  readonly key_print: string;
  /** How far the chain was when other ops were looked at; what was claimed behind it is to be looked at first. */
  readonly looked?: number | undefined;
  /** SENT goes with it, and tells what was read before. */
  readonly sent?: boolean | undefined;
  readonly command: string;
  readonly digest: string;
  readonly digest_in_order?: string | undefined;
  readonly bulk: boolean;
  /** It moves money between wallet and card. */
  readonly moves: boolean;
  /** It may be repeated at will. */
  readonly freely: boolean;
  readonly again?: boolean | undefined;
  readonly rows: number;
  readonly cents: number;
  readonly spending: {
    readonly largest: number;
    readonly total: number;
    readonly cards: number;
    readonly bins: readonly string[];
    readonly untold?: boolean | undefined;
  };
  /** Something in it cannot be undone; and its rows, those that freeze a card aside. Rules of approval judge by them. */
  readonly irreversible?: boolean | undefined;
  readonly judged_rows?: number | undefined;
  readonly counts: OpenRows;
  readonly shown?: ShownRows | undefined;
  readonly intents?: readonly ClaimedIntent[] | undefined;
  /** `--idempotency-key`. */
  readonly key?: { readonly value: string; readonly digest: string } | undefined;
}

/** Where another op stands. */
export interface Standing {
  readonly op: string;
  readonly state: 'pending' | 'running' | 'finished';
  readonly bulk: boolean;
  readonly unknown: number;
  readonly open: number;
  readonly holder: string;
  readonly host: string;
  readonly epoch: number;
  /** ms; 0 when it is over. */
  readonly lease_ms: number;
}

export interface InHands {
  readonly holder: string;
  readonly host: string;
}

export type ClaimResult =
  | {
      readonly verdict: 'claimed';
      readonly op: string;
      readonly epoch: number;
      readonly n: number;
      readonly day: string;
      readonly lease_ms: number;
    }
  /** Somebody has claimed since the caller looked. */
  | { readonly verdict: 'changed' }
  /** A rule of the account holds it: other persons are to be asked. */
  | { readonly verdict: 'pending'; readonly rule: string }
  /** The API key is none of this account's. */
  | { readonly verdict: 'key' }
  /** A name or key of the caller's was used with other values. */
  | {
      readonly verdict: 'conflict';
      readonly op: string;
      readonly intent?: string;
      readonly row?: number;
      readonly key?: string;
    }
  | {
      readonly verdict: 'earlier';
      readonly intents?: readonly {
        readonly intent: string;
        readonly row: number;
        readonly earlier_row: number | null;
        /** Null for a name that is free by now. */
        readonly standing: Standing | null;
      }[];
      readonly key?: string;
      readonly standing?: Standing;
    }
  | { readonly verdict: 'twin'; readonly standing: Standing }
  | ({ readonly verdict: 'repeated'; readonly op: string } & InHands)
  | OverCap;

export interface OverCap {
  readonly verdict: 'cap';
  readonly cap: 'max_per_call' | 'max_per_run' | 'max_per_day' | 'max_cards' | 'bins';
  readonly limit: number | readonly string[];
  readonly used?: number;
  readonly asked?: number | readonly string[];
  readonly untold?: true;
}

/** What comes with the last records of a process. Not finished: the lease is let go, and nothing else. */
export interface Ending {
  readonly finished: boolean;
  /** What left the wallet, cents. */
  readonly spent?: number | undefined;
  /** Names whose rows came to nothing for certain. */
  readonly free?: readonly string[] | undefined;
  readonly free_key?: boolean | undefined;
}

export interface Appending extends Entering {
  readonly op: string;
  readonly epoch: number;
  /** Number of the segment; one more than the last. */
  readonly n: number;
  readonly by: string;
  readonly counts: OpenRows;
  readonly shown?: ShownRows | undefined;
  readonly ending?: Ending | undefined;
}

/** What a former holder saw of rows that it had sent. */
export interface Witnessing extends Entering {
  readonly op: string;
  readonly by: string;
  readonly host?: string | undefined;
  /** The caller has seen no end of it. */
  readonly running?: boolean | undefined;
  /** It has ended, and these of its rows came to nothing there. Cents that were spent by them. */
  readonly late?: LateDone | undefined;
}

export interface LateDone {
  readonly cents: number;
  readonly intents: readonly ClaimedIntent[];
  readonly key?: { readonly value: string; readonly digest: string } | undefined;
}

/** An op in the hands of the caller. */
export interface Holding extends Entering {
  readonly op: string;
  readonly epoch: number;
}

export interface Taking extends Entering, Holder {
  readonly op: string;
  /** One's own op only. */
  readonly resume: boolean;
}

export type NotTaken =
  | { readonly verdict: 'absent' }
  | ({ readonly verdict: 'finished' | 'pending' | 'other' } & InHands)
  | ({ readonly verdict: 'held'; readonly left_ms: number } & InHands);

export interface Taken {
  readonly verdict: 'taken';
  readonly epoch: number;
  readonly n: number;
  readonly size: number;
  readonly lease_ms: number;
  /** How long ago the lease before it ended, ms of the server's clock: rows are settled from then on. */
  readonly since_lease_ms: number;
  /** A machine that is gone for good may have sent rows of which the records say nothing. */
  readonly may_be_sent: boolean;
}

export type TakeResult = NotTaken | Taken;

export type LeaveResult =
  | { readonly verdict: 'left' }
  | { readonly verdict: 'not_frozen' }
  | { readonly verdict: 'others'; readonly roles: string }
  /** Another machine, role@host, goes on with the account alone. */
  | { readonly verdict: 'moved'; readonly to: string }
  | ({ readonly verdict: 'pending'; readonly op: string } & InHands)
  | ({ readonly verdict: 'held'; readonly op: string; readonly left_ms: number } & InHands);

export interface Segment {
  /** Below zero: brought later by a process that had lost the op. */
  readonly n: number;
  readonly epoch: number;
  readonly by: string;
  readonly bytes: Uint8Array;
}

export interface HeadFilter {
  readonly op?: string | undefined;
  readonly intent?: string | undefined;
  /** Leases that are not over. */
  readonly live?: boolean | undefined;
  readonly unfinished?: boolean | undefined;
  /** With `unfinished`: those too of which the caller has not been told. */
  readonly untold?: boolean | undefined;
  /** With `unfinished`: those too of which anybody who may operate has not been told, each with `waits_for`. */
  readonly everybody?: boolean | undefined;
  /** Those too whose records were removed. */
  readonly pruned?: boolean | undefined;
  /** Not finished, or ended less long ago, ms. */
  readonly since_ms?: number | undefined;
  /** Those that were begun without knowing of this op, or it of them, for one of the two was brought from elsewhere; each with `first`. */
  readonly unaware_of?: string | undefined;
  /** Written at this time or later by the clock of the server, ms UTC. */
  readonly written_since?: number | undefined;
  /** With the first line of each. */
  readonly plan?: boolean | undefined;
  readonly most?: number | undefined;
  readonly skip?: number | undefined;
}

export interface OpHead extends Standing {
  readonly command: string;
  readonly rows: number;
  readonly cents: number;
  readonly reserved: number;
  /** As it was claimed; null where it was brought. */
  readonly spending: WantedOp['spending'] | null;
  readonly spent: number;
  /** UTC. */
  readonly day: string;
  /** Segments and their bytes. */
  readonly n: number;
  readonly size: number;
  /** ISO 8601. */
  readonly started_at: string;
  readonly ended_at: string | null;
  /** Of the API key of an op that was brought from elsewhere. */
  readonly key_print: string | null;
  /** Its records were removed. */
  readonly pruned: boolean;
  /** Its first line, where that was asked for. */
  readonly plan: string | null;
  /** Null where its records say more than whoever wrote last has counted. */
  readonly shown: ShownRows | null;
  /** It has ended, and the caller, who began it, has not been told: another operator has ended it, or the command was killed. */
  readonly untold: boolean;
  /** With `everybody`: the operator who has it, or has not been told its end; null where he may not operate any more. */
  readonly waits_for: string | null;
  /** Operator; null of what was brought by somebody who did not know. */
  readonly begun_by: string | null;
  /** With `unaware_of`: it was here before that op. */
  readonly first: boolean | null;
  /** What was asked for it came to nothing. */
  readonly denied: boolean;
}

/** Rules of approval by their names: cents, rows, persons, hours, and 1 for `approve_irreversible`. */
export type AccountRules = Readonly<
  Partial<
    Record<
      | 'approve_above'
      | 'approve_day'
      | 'approve_irreversible'
      | 'approve_rows'
      | 'approvals_needed'
      | 'approve_within_hours',
      number
    >
  >
>;

export interface JournalStatus {
  readonly journal_id: string;
  readonly schema: number;
  readonly server: string;
  readonly standby: boolean;
  readonly role: string;
  readonly can: readonly string[];
  readonly account: string;
  readonly origin: string;
  readonly mode: 'test' | 'live';
  readonly head: JournalHead;
  readonly frozen: string | null;
  /** Role that has frozen it, and when, ISO 8601 UTC. */
  readonly frozen_by: string | null;
  readonly frozen_at: string | null;
  /** The machine, role@host, that goes on with the account alone and has not come back. */
  readonly left_to: string | null;
  /** The server is not the one that the account knows. */
  readonly moved: boolean;
  /** Who knows of lines that it has lost, while no admin has accepted it. */
  readonly lost: string | null;
  /** How often an admin has accepted a database. */
  readonly accepted: number;
  /** Of the server, ms UTC. */
  readonly clock_ms: number;
  /** Cents, or cards. */
  readonly caps: Readonly<Record<string, number>>;
  readonly bins: readonly string[];
  readonly rules: AccountRules;
  readonly day: string;
  /** Cents of this day, spent and held. */
  readonly used: number;
}

/** What a connection begins with: where the account stands, its ops that are not finished, names that were asked for. */
export interface JournalOpening {
  readonly status: JournalStatus;
  /** With their first lines, a thousand at most. */
  readonly unfinished: readonly OpHead[];
  readonly intents: readonly UsedIntent[];
  /** Of the chain, at the number that the caller knows of this journal; undefined where it knows none, or it is not there. */
  readonly line: string | undefined;
}

/** A day by its row and by the ops of the account, cents. */
export interface DaySums {
  /** UTC. */
  readonly day: string;
  readonly held: number;
  readonly spent: number;
  readonly ops_held: number;
  readonly ops_spent: number;
}

/** Members of the JSON of an audit line, without those that the database writes. */
export type Facts = Readonly<Record<string, unknown>>;

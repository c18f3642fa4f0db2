/**
 * The seam between the rules of the journal and where operations are kept: files of this machine, or one day a database
 * that several machines share. A store keeps bytes and hands an op to one process at a time. What the bytes say, who is a
 * twin and what a refusal tells is decided by its callers, once for every store (docs/decisions/0023-op-store.md).
 */
import type { Cents } from '../../core/money.ts';
import type { Spending } from '../../core/spending.ts';
import type { Approver } from '../approvals/approvers.ts';
import type { ApprovalRule, JudgedRows } from '../approvals/rule.ts';
import type { OpLease, RecoveredOps, StoreCheck } from '../shared-ops.ts';
import type { Hands, OpState, OpSummary } from '../shown-ops.ts';
import type { ApprovalRecord, DeniedRecord, EndRecord, PlanRecord } from '../wal/records.ts';
import type { History } from '../wal/replay.ts';
import type { JournalFile } from '../wal/storage.ts';

/** Where ops are kept and claimed. Every method throws `guarded` (14) where the store cannot be used; nothing was sent. */
export interface OpStore {
  /** The clocks of those who write ops may be so far apart, ms; one clock when left out. */
  readonly clockSlackMs?: number | undefined;
  /** Asked before each plan. Throws `guarded` where nothing can be kept, or where what is kept cannot be relied on. */
  ready(): Promise<void>;
  /** Print of the API key this process acts with, as the plans of this store carry it. */
  keyPrint(mode: PlanRecord['mode']): Promise<string>;
  /** Whether a plan was made with that key. Throws `guarded` where that cannot be told. */
  isOwnPlan(plan: PlanRecord): Promise<boolean>;
  /** Throws `guarded` where the API key of this process may not be used now, though it was once. Left out where none is taken away. */
  refuseKeyTaken?(): Promise<void>;
  /** Throws `guarded` while another command uses the key; see `keyInUse`. */
  holdKey(given: GivenKey): Promise<KeyHold>;
  /**
   * Holds a name for this process among all that use the store; resolves to the letting go. Throws `guarded` while another
   * has it. Left out where `holdKey` does that.
   */
  holdName?(name: string): Promise<() => Promise<void>>;
  /** What names were used for; of what is noted meanwhile it may see nothing. */
  notedIntents(wanted: NamedIntents): Promise<ReadonlyMap<string, NotedIntent>>;
  /**
   * As `notedIntents`; until it is released no other command learns what these names were used for with this call, nor
   * notes them. Waits for another command that does. Short: from the look to the plan.
   */
  holdIntents(wanted: NamedIntents): Promise<IntentsHold>;
  /** Of names and a key of this op those that belong to another one by now. Left out where each op has its own. */
  usedByOthers?(
    op: string,
    wanted: { readonly names: readonly string[]; readonly key?: string | undefined },
  ): Promise<NamesUsed>;
  /**
   * Ops that were begun without knowing of this one, or it of them, for one of the two was brought from elsewhere. Left out where
   * nothing is brought.
   */
  unawareOps?(op: string): Promise<readonly UnawareOp[]>;
  /** Removes names that were kept for ops which are gone, and noted before this time, ms UTC. */
  forgetIntents(before: number): Promise<void>;
  /**
   * Makes a new op durable and hands it out. Throws what the claim's own rules throw; then nothing of the op is left, or
   * nothing that a resume would send.
   */
  claim(claim: Claim): Promise<Tape>;
  /** Hands an op out that is there. Throws `guarded` while another process has it; see `opInUse`. */
  take(op: string, how?: TakeOver): Promise<Tape>;
  /**
   * Throws the `guarded` of `take` for an op of a service that this store does not go on with, and the way where that is done.
   * Left out where it goes on with all.
   */
  refuseMoved?(plan: PlanRecord): Promise<void>;
  /** All bytes of its journal; undefined when there is none. */
  read(op: string): Promise<Uint8Array | undefined>;
  /** Absent where no op can be held. */
  readonly requests?: PendingRequests;
  /** Bytes that the journal of an op had at least when it was written last; undefined where that is not known. */
  leastLength?(op: string): Promise<number | undefined>;
  /** Ops in any order, those that are not finished first. Of what is begun meanwhile it may see nothing. */
  heads(filter?: HeadFilter): AsyncIterable<OpHead>;
  /** Whether a process that is not provably gone has it. */
  isHeld(op: string): Promise<boolean>;
  /** Whether the process that has it is known to run. Left out with `leases`: a lease says nothing of that. */
  isHeldByRunning?(op: string): Promise<boolean>;
  /** In whose hands it is or was last; undefined where it is not there. Left out with `leases`. */
  handsOf?(op: string): Promise<OpHands | undefined>;
  /**
   * Waits until nobody has the op any longer, and says whether that is so; what was read of it before is read anew. Left out
   * with `leases`.
   */
  outlast?(op: string, waiting: Waiting): Promise<boolean>;
  /** Who has which op now; left out where one machine alone has them. */
  leases?(): Promise<readonly OpLease[]>;
  /** Brings there what earlier commands could not write, and what was lost since; left out with `leases`. */
  push?(): Promise<RecoveredOps>;
  /** Whether everything in it is as it was written; left out with `leases`. */
  check?(opFlaws: OpFlaws): Promise<StoreCheck>;
  /** Of a store without `handsOf`: the same as `OpHands.isUntold`, of an op that has come from a shared journal. */
  isUntold?(op: string): Promise<boolean>;
  /**
   * Removes an op for good, with the note of its given key. Names of rows that are done stay, those of others are free. False
   * where the store keeps it: by its own clock it is not old enough.
   */
  forget(op: string): Promise<boolean>;
  /** The command that shows the lines of its audit log. */
  readonly auditLog: string;
  /** How a person takes a damaged op out of the way who knows what it has done: the end of a sentence. */
  setAside(op: string): string;
  /**
   * Takes the journal of a damaged op out of the way with what a person knows of it, and tells where it lies now. Left out
   * where no user may. Throws `guarded` while another process has the op.
   */
  keepDamaged?(op: string, note: ByHand): Promise<string>;
  /** What was recorded of an op by `keepDamaged`; undefined for every other. Left out with it. */
  recordedByHand?(op: string): Promise<ByHand | undefined>;
}

/** A lease says until when a process has an op, and not that it lives. */
export interface OpHands extends Hands {
  /** Whether it is another operator than this process acts as. */
  readonly isOther: boolean;
  /** Of the lease, ms; 0 when it is over. */
  readonly leftMs: number;
  readonly isFinished: boolean;
  /** It has ended, and this operator, who began it, has not been told: another one has ended it, or the command was killed. */
  readonly isUntold: boolean;
}

export interface Waiting {
  readonly mostMs: number;
  /** Told once, when it takes a while: in whose hands the op is. */
  told(hands: OpHands): void;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** What the caps of a journal count for an op. */
export interface CountedSpending {
  /** Held for the day, cents. */
  readonly cents: number;
  /** What they were told when it was begun there; undefined for one that was brought. */
  readonly told?: { readonly largest: number; readonly cards: number; readonly bins: readonly string[] } | undefined;
}

/** What is wrong with the records of an op, in words. `counted`: left out where no caps count it. */
export type OpFlaws = (history: History, counted: CountedSpending | undefined) => Promise<readonly string[]>;

/** What a person has recorded of an op whose journal can say nothing. */
export interface ByHand {
  readonly as: 'done' | 'not-done';
  readonly note: string;
  /** ms UTC. */
  readonly at: number;
}

/** An op of another person, which a store of several people has, is taken over with a reason. */
export interface TakeOver {
  readonly reason?: string | undefined;
  /** Nothing is sent: rows are settled by hand. */
  readonly settles?: boolean | undefined;
  /** Of an op that is held: the approvals that count. */
  readonly approved?: { readonly persons: readonly string[]; readonly envelopes: readonly string[] } | undefined;
}

/** What other persons say to an op that is held. */
export interface PendingRequests {
  /** Name of this journal in what they sign: random, made once. */
  journal(): Promise<string>;
  /** Approvals that were brought for the op, as their texts. */
  approvals(op: string): Promise<readonly string[]>;
  /** Keeps one more. Throws `guarded` where the op is not held any longer. */
  keep(op: string, approval: ApprovalRecord): Promise<void>;
  /** Ends the op: no row of it is ever sent. Throws as `keep`. */
  deny(op: string, denied: DeniedRecord): Promise<void>;
  /** What a journal of several people says itself; left out where the profile alone says who approves what. */
  readonly account?: ApprovingAccount | undefined;
}

/** The account of a shared journal, as far as it holds and approves. */
export interface ApprovingAccount {
  name(): Promise<string>;
  /** Who asks in it, `role@machine`. */
  requester(): Promise<string>;
  /** False where no rule was seen: nothing is asked for then, and the claim says when that was wrong. */
  mayHold(): Promise<boolean>;
  standing(): Promise<ApprovalStanding>;
  /** When the request of an op was used, ms UTC by the clock of the journal; undefined where it was not. */
  usedAt(op: string): Promise<number | undefined>;
}

export interface ApprovalStanding {
  readonly rule: ApprovalRule;
  /** With keys that were removed. */
  readonly approvers: readonly (Approver & {
    /** ms UTC. */
    readonly removedAt?: number | undefined;
  })[];
  /** What the caller has moved today (UTC) without approval, with what may still be. */
  readonly leftToday: Cents;
  /** By the clock of the journal, ms UTC. */
  readonly now: number;
}

export interface HeadFilter {
  /** Those alone that are not finished. */
  readonly unfinished?: boolean | undefined;
  /** Those alone that were written at this time or later by the clock of the store, ms UTC. */
  readonly writtenSince?: number | undefined;
}

/** An op as a list has it; more of it is read when somebody asks. */
export interface OpHead {
  readonly op: string;
  /** Its journal does not say END, or nobody was told of it yet. */
  readonly unfinished: boolean;
  /** Undefined where there is none that can be read, whatever became of the rest. */
  plan(): Promise<PlanRecord | undefined>;
  /** END, without the rows before it, which may be many. */
  end(): Promise<EndRecord | undefined>;
  /** What the store has counted of its rows; left out where they must be read. */
  readonly counted?: CountedOp | undefined;
  /** Who has it, or had it last; left out where one machine alone has them. */
  readonly hands?: Hands | undefined;
}

/** An op beside another one that does not know of it. */
export interface UnawareOp extends Pick<OpHead, 'op' | 'plan'> {
  /** Who has begun it, `ben on desk`. */
  readonly begunBy: string;
  /** It was here before the other one. */
  readonly isFirst: boolean;
}

/** What a list shows of an op besides its plan. */
export interface CountedOp {
  readonly state: Exclude<OpState, 'damaged' | 'newer'>;
  /** Of the latest record, ms UTC. */
  readonly at: number;
  readonly counts: OpSummary['counts'];
}

/** A key of the caller's own, for one account. */
export interface GivenKey extends Pick<PlanRecord, 'origin' | 'mode'> {
  readonly key: string;
}

/** A given key in the hands of this process: no other command begins with it. */
export interface KeyHold {
  /** The op it was used for last. */
  usedFor(): Promise<string | undefined>;
  release(): Promise<void>;
}

/** Names of the caller's own for one account; each stands for one change. */
export interface NamedIntents extends Pick<PlanRecord, 'origin' | 'mode'> {
  readonly names: ReadonlySet<string>;
}

/** A name, the change it stands for, and the row of the op that was begun with it. */
export interface ClaimedIntent {
  readonly name: string;
  /** `intentDigest` of the row. */
  readonly digest: string;
  readonly row: number;
}

/** What came of a name whose op was removed. */
export interface DoneUse {
  readonly card?: string | undefined;
  /** Its records could not be read, and an admin of the shared journal has said that it was done. */
  readonly set_aside?: true | undefined;
}

export interface NotedIntent extends ClaimedIntent {
  /** It may be gone, or may never have got a plan: then nothing was sent for the name. */
  readonly op: string;
  /** Of an op that is no longer kept: the row was done, with this card. */
  readonly done?: DoneUse | undefined;
}

/** Names and a key of one op that belong to others, each with the op that has it. */
export interface NamesUsed {
  readonly names: ReadonlyMap<string, string>;
  readonly key?: string | undefined;
}

/** Names in the hands of this process: no other command begins with them. */
export interface IntentsHold {
  readonly noted: ReadonlyMap<string, NotedIntent>;
  release(): Promise<void>;
}

/** An op that is wanted. The store asks for each member when it is due, and for `lines` once. */
export interface Claim {
  /** A given key in it belongs to the op from now on. */
  readonly record: PlanRecord;
  /** What it would take from the wallet; asked for by a store that keeps caps. */
  spending(): Spending;
  /** What rules of approval judge by; asked for by a store that keeps rules. */
  judged(): JudgedRows;
  /** `--again`: the same many rows within 24 hours are meant. */
  readonly again?: boolean | undefined;
  /**
   * Its only row is sent next: the store may make the plan durable with the first records behind it. What `claim` throws for
   * an op that is in the way is then thrown by that sync, as well as `OutdatedFacts`.
   */
  readonly sentNext?: boolean | undefined;
  /** Names of its rows; they are held, and belong to this op from before its plan is there. */
  readonly intents?: readonly ClaimedIntent[] | undefined;
  /**
   * Throws for another op that is in the way. No other claim of the same changes (origin and digest) may come between
   * its answer and the plan.
   */
  refuse(): Promise<void>;
  /** The plan as its lines, to be kept as they are; called when the op is in the hands of this process. */
  lines(): Iterable<Uint8Array>;
  /**
   * Throws for another op that came meanwhile with other changes, some of them the same. Asked when everybody can see the
   * plan: of two such claims at least the later one sees the other.
   */
  refuseAgain(): Promise<void>;
}

/** One op in the hands of this process. */
export interface Tape {
  readonly op: string;
  /** Its bytes; appended ones are durable after `sync`. Closed by whoever writes. */
  readonly file: JournalFile;
  /** Whether a byte may leave now, for it is still in our hands; always when left out. Asked when SENT is durable. */
  mayLeave?(): Promise<boolean>;
  /**
   * Until when the process before this one had it and may have sent, ms UTC by the clock of this machine; left out where
   * another process cannot have sent after its last record.
   */
  readonly formerLeaseEnd?: number | undefined;
  /** A machine that is gone for good may have sent rows of which the records say nothing. Never where it is left out. */
  readonly mayBeSent?: boolean | undefined;
  /** Left out where no caps count it, and where nothing more is sent. */
  readonly spending?: CountedSpending | undefined;
  /** Fired when it is in other hands: nothing more may be sent. Never when left out. */
  readonly lost?: AbortSignal;
  /** Takes a claim back of which nothing has left, and lets it go; closes the file. */
  abandon(): Promise<void>;
  /** Lets it go; with `finished` it is finished from now on: it says END, and that was told. The file is closed by then. */
  release(finished: boolean): Promise<void>;
}

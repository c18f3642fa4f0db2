/** What is known of a journal that several people share, beyond one operation: leases, lines brought later, checks. */

/** An op in the hands of a process, in a journal that several people share. */
export interface OpLease {
  readonly op: string;
  readonly command: string;
  /** Role, and the machine it works on. */
  readonly holder: string;
  readonly host: string;
  readonly epoch: number;
  readonly leftMs: number;
  readonly unknown: number;
  readonly open: number;
  /** ISO 8601 UTC. */
  readonly startedAt: string;
}

/** What earlier commands of this machine had seen and could not write down in a shared journal. */
export interface PushedOps {
  /** Ops that learnt of outcomes, and of how many rows. */
  readonly brought: readonly { readonly op: string; readonly rows: number }[];
  /** Ops in other hands, with the number of records of this machine that are no outcomes and were not brought. */
  readonly leftOut: readonly {
    readonly op: string;
    readonly records: number;
    readonly holder: string;
    readonly host: string;
  }[];
  /** Ops that are not there: the database has lost them, or is another one. */
  readonly missing: readonly string[];
}

/** The same after a database has lost what was written last. */
export interface RecoveredOps extends PushedOps {
  /** Ops that were brought back, and how many rows each has. */
  readonly recovered: readonly { readonly op: string; readonly rows: number }[];
  /** Lines of the audit log that this machine had seen and the database does not hold. */
  readonly lostLines: number;
  /** Lines of what this machine did without asking the database, which the audit log has now. */
  readonly notes: number;
  /** Names of theirs that belong to another op since then. */
  readonly clashes: readonly { readonly op: string; readonly with: string; readonly name: string }[];
}

/** Rows of an op that was brought back which another one has too, begun meanwhile: both may have been carried out. */
export interface TwinOfBrought {
  readonly op: string;
  readonly with: string;
  readonly rows: number;
  /** For a person: which rows, who has begun the other one, and how what is left is settled. */
  readonly notes: readonly string[];
}

/** The same with what the rules of the journal say to it. */
export interface BroughtBack extends RecoveredOps {
  readonly twins: readonly TwinOfBrought[];
}

/** Something in a journal of several people that cannot be so. */
export interface JournalFlaw {
  /** `chain`: lines of its audit log; `op`: records; `intent`, `day`: what is kept beside them; `card`: not what it says of it. */
  readonly what: 'chain' | 'op' | 'intent' | 'day' | 'card';
  readonly op?: string;
  readonly card?: string;
  /** Of the chain. */
  readonly line?: number;
  readonly text: string;
  /**
   * What an admin of the journal runs in the database: where two ops have one name, when both are right; where records of an op
   * are not what they were, when it is known what it has done; of a card, when it was looked at.
   */
  readonly sql?: string;
}

/** An op whose name belongs to another one, where somebody has looked at both and said that they are right. */
export interface AcceptedClash {
  readonly op: string;
  readonly intent: string;
  readonly belongsTo: string;
  /** Role. */
  readonly by: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly why: string;
}

/** A card that is a flaw, where somebody has looked at it. */
export interface AcceptedCard {
  readonly card: string;
  /** Role. */
  readonly by: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly why: string;
}

/** The same beside what is wrong with the card. */
export interface NotedCard extends AcceptedCard {
  readonly text: string;
}

/** What the text of a card says of which the journal has no operation at all. */
export const MADE_PAST = 'made past this journal';

/** What the rows of a journal say of cards. */
export interface ClaimedCards {
  /** What is wrong with a card that carries the mark of a row, in words; undefined where nothing is. */
  objection(marker: string, card: string): string | undefined;
  /** Cards that several rows say to have made. */
  several(): Iterable<{ readonly card: string; readonly op: string; readonly text: string }>;
}

/** What a store says of itself. */
export interface StoreCheck {
  /** Lines of the chain. */
  readonly lines: number;
  readonly ops: ReadonlySet<string>;
  readonly records: number;
  /** When the account was made in it, ms UTC: what is older was done elsewhere. */
  readonly since: number;
  readonly flaws: readonly JournalFlaw[];
  readonly clashes: readonly AcceptedClash[];
  readonly acceptedCards: readonly AcceptedCard[];
  readonly claimed: ClaimedCards;
  /** How often an admin has accepted a database: what a machine alone knew that was left out then is lost. */
  readonly accepted: number;
  /** What an admin runs in the database when a card was looked at. */
  readonly sqlForCard: (card: string) => string;
}

/** The same beside the cards of the service. */
export interface CheckedJournal extends Pick<StoreCheck, 'lines' | 'records' | 'flaws' | 'clashes' | 'accepted'> {
  readonly ops: number;
  /** Cards that carry the marker of an operation. */
  readonly cards: number;
  readonly acceptedCards: readonly NotedCard[];
}

export interface MoveWish {
  readonly to: 'shared' | 'local';
  /** To one machine, with what is not finished: for the only operator. */
  readonly mine?: boolean | undefined;
  /** Ops of this machine that go without names which belong to others there: both have happened. */
  readonly keepBoth?: readonly string[] | undefined;
  /** Another shared journal, `account@journal`, that this machine leaves: nobody uses it any more. */
  readonly leave?: string | undefined;
}

/** What was moved from one journal to another. */
export interface MovedJournal {
  readonly to: 'shared' | 'local';
  /** Ops, and the rows in them. */
  readonly moved: number;
  readonly rows: number;
  /** Ops that were there already. */
  readonly there: number;
  /** Names of callers whose ops were removed before. */
  readonly names: number;
}

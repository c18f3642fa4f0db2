/**
 * The records of a journal. `SENT` stands before the first byte leaves, an outcome before anybody is told; what lies
 * between is unknown and is settled before it is touched again (docs/design/reliability.md, section 6).
 */
import type { WriteName } from '../../contract/calls.ts';
import type { ErrorKind, ServiceRefusal } from '../../core/errors.ts';
import type { Capability } from '../idempotency-support.ts';

type Values = Readonly<Record<string, unknown>>;
type Mode = 'sandbox' | 'test' | 'live';

/** Newer journals are refused, not guessed at. */
export const JOURNAL_VERSION = 2;
/** What is held for approval: a release that knows no approvals must not send it. Other plans are of version 1. */
export const VERSION_WITH_APPROVAL = 2;

export interface PlanRecord {
  readonly t: 'PLAN';
  readonly version: number;
  readonly op: string;
  readonly command: string;
  readonly origin: string;
  readonly profile: string;
  readonly mode: Mode;
  /** HMAC of the API key under a local random value, eight hexadecimal digits. */
  readonly key_print: string;
  readonly digest: string;
  readonly rows: number;
  readonly total_cents: number;
  readonly max_total?: number | undefined;
  readonly wallet?: number | undefined;
  readonly bulk: boolean;
  readonly marker: boolean;
  /** What the idempotency key was worth then, per operation of the plan. */
  readonly capability: Readonly<Record<string, Capability>>;
  /** `--idempotency-key`, or the plan that a run of many carries out. */
  readonly given_key?: string | undefined;
  /** What the markers of its rows begin with, where they are not the op's own. */
  readonly marker_prefix?: string | undefined;
  /** Its rows have phases. */
  readonly phased?: true | undefined;
  /** What approvers sign, as its one text: nothing is sent before APPROVED. */
  readonly approval?: string | undefined;
  readonly at: number;
}

/** One attempt of a row: the exact bytes. A later one follows only a definite refusal. */
export interface ItemRecord {
  readonly t: 'ITEM';
  readonly row: number;
  readonly attempt: number;
  readonly operation: WriteName;
  readonly key: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly input: Values;
  readonly amount?: number | undefined;
  /** Balance the amount brings the card to, cents. */
  readonly aim?: number | undefined;
  readonly card?: string | undefined;
  readonly label?: string | undefined;
  /** The caller's own name for this change. */
  readonly intent?: string | undefined;
  /** What was asked for where `input` holds our choice. */
  readonly asked?: Values | undefined;
  /** Its keys follow from the intention: `<chain>.<attempt>`. */
  readonly chain?: string | undefined;
  /** What a created card is marked with, in place of the op's own marker. */
  readonly marker?: string | undefined;
  readonly phase?: number | undefined;
  /** Rows that must be done before it. */
  readonly needs?: readonly number[] | undefined;
}

export interface RunRecord {
  readonly t: 'RUN';
  readonly pid: number;
  readonly start: string;
  readonly boot: string;
  readonly at: number;
}

/** Card and wallet in cents; a run of many rows reads the card alone. */
interface Seen {
  readonly card: number;
  readonly wallet?: number | undefined;
  /** Last four digits of the card: the answer to a row that moves money does not tell them. */
  readonly last4?: string | undefined;
}

export interface SentRecord {
  readonly t: 'SENT';
  readonly row: number;
  readonly attempt: number;
  readonly at: number;
  /** The clock of the service then, ms UTC, where one of its answers had told it. */
  readonly service_at?: number | undefined;
  readonly before?: Seen | undefined;
  /** When the command began that read `before` or `wallet`: they are no older. ms UTC. */
  readonly read_since?: number | undefined;
  /** The state of the card before a change of it. */
  readonly was?: string | undefined;
  /** The wallet before a single create, cents; not in the built-in sandbox, whose list is exact. */
  readonly wallet?: number | undefined;
  /** It was answered 429 before, did not show, and is sent anew under a key that is not known to be honoured. */
  readonly after_429?: true | undefined;
  /** It was sent before, no reading showed it, and nothing else makes it safe to send it again. */
  readonly resent_on_check?: true | undefined;
}

export interface DoneRecord {
  readonly t: 'DONE';
  readonly row: number;
  readonly id?: string | undefined;
  readonly last4?: string | undefined;
  readonly request_id?: string | undefined;
  /** What showed it. */
  readonly via: 'answer' | 'reread' | 'resent' | 'marker' | 'state';
  readonly changed: boolean;
  /** Whether a created card carries the marker; absent when that was not looked at. */
  readonly echo?: boolean | undefined;
  /** It happened, and is not what was asked for, or cannot be shown: in words. */
  readonly otherwise?: string | undefined;
  /** What a card holds that another apply has made, where another amount was asked for; cents. */
  readonly amount?: number | undefined;
  /** Balance of a created card in its answer, cents. */
  readonly balance?: number | undefined;
  /** When the service says that a created card was made, ms UTC by its clock. */
  readonly made_at?: number | undefined;
  /** It was sent again because a look showed nothing of it: the verification looks whether it was done twice. */
  readonly resent_on_check?: true | undefined;
  readonly at: number;
}

export interface FailedRecord {
  readonly t: 'FAILED';
  readonly row: number;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly status?: number | undefined;
  readonly service?: ServiceRefusal | undefined;
  /** The next key of its chain may be tried. */
  readonly next?: true | undefined;
  /** Refused in a word that nobody knows, and believed because no reading showed it. */
  readonly plausible?: true | undefined;
  readonly at: number;
}

interface LookFacts {
  readonly row: number;
  /** What was looked at and seen, in one clause. */
  readonly found: string;
  /** The same for the verdict; absent in journals of older versions. */
  readonly seen?: ShownByCheck | undefined;
  readonly at: number;
}

/** What one look has shown, so that a later process can tell it as well. */
export interface ShownByCheck {
  readonly found: 'it' | 'several' | 'nothing' | 'unclear';
  /** Changes since before the first sending, cents; undefined where the change is not known. */
  readonly card?: number | undefined;
  readonly wallet?: number | undefined;
  /** What of these changes other operations of the journal have made. */
  readonly others?: { readonly card: number; readonly wallet: number } | undefined;
  /** Others have moved money meanwhile, and it is not certain what of it is in these changes. */
  readonly unsure?: true | undefined;
}

export type RowRecord =
  | SentRecord
  | DoneRecord
  | FailedRecord
  /** The service said yes and did not show what it did. */
  | {
      readonly t: 'ACK';
      readonly row: number;
      readonly reason: string;
      /** The answer shows the effect in full, and no reading does. */
      readonly shown?: true | undefined;
      /** The card of that answer. */
      readonly id?: string | undefined;
      readonly request_id?: string | undefined;
      /** Looks for its effect before it, that have no record of their own. */
      readonly looks?: number | undefined;
      /** As in DONE. */
      readonly resent_on_check?: true | undefined;
      readonly at: number;
    }
  | {
      readonly t: 'AMBIG';
      readonly row: number;
      readonly reason: string;
      readonly request_id?: string | undefined;
      /** As in ACK. */
      readonly looks?: number | undefined;
      /** Everything that was sent was answered 429, and looking did not rule out that it was done all the same. */
      readonly limited?: true | undefined;
      /** As in DONE. */
      readonly resent_on_check?: true | undefined;
      readonly at: number;
    }
  /** Nothing happened: never sent, or answered 429 and its effect does not show. */
  | {
      readonly t: 'NOTSENT';
      readonly row: number;
      readonly kind: ErrorKind;
      readonly message: string;
      readonly at: number;
    }
  /** Looked for before it had settled: nothing, or nothing that decides. */
  | ({ readonly t: 'LOOKED' } & LookFacts)
  /** Looked for after it had settled, and not there. */
  | ({ readonly t: 'ABSENT' } & LookFacts)
  | { readonly t: 'DUPLICATE'; readonly row: number; readonly ids: readonly string[]; readonly at: number }
  | {
      readonly t: 'RESOLVED';
      readonly row: number;
      readonly as: 'done' | 'not-done';
      readonly note: string;
      /** The card that a create has made, as that person has found it. */
      readonly card?: string;
      /** `role@machine` in a journal of several people; `operator` on one machine. */
      readonly who: string;
      readonly at: number;
    };

/** An approval of the request in PLAN, kept until it is used. */
export interface ApprovalRecord {
  readonly t: 'APPROVAL';
  /** Text of the approval file. */
  readonly envelope: string;
  readonly at: number;
}

/** The request was approved, and from here on its rows may be sent. Stands once. */
export interface ApprovedRecord {
  readonly t: 'APPROVED';
  readonly persons: readonly string[];
  readonly envelopes: readonly string[];
  readonly at: number;
}

/** The request came to nothing: no row of it is ever sent. */
export interface DeniedRecord {
  readonly t: 'DENIED';
  readonly why: 'rejected' | 'expired' | 'stale';
  /** In words, for whoever asked. */
  readonly note: string;
  readonly who: string;
  readonly at: number;
}

export type RequestRecord = ApprovalRecord | ApprovedRecord | DeniedRecord;

export interface EndRecord {
  readonly t: 'END';
  readonly done: number;
  readonly refused: number;
  readonly not_sent: number;
  readonly cents: number;
  /** What the verification objected to; absent where it did not. */
  readonly objections?: readonly string[] | undefined;
  readonly at: number;
}

export type JournalRecord =
  | PlanRecord
  | ItemRecord
  | { readonly t: 'PLANNED' }
  | RunRecord
  | RowRecord
  | RequestRecord
  | EndRecord;

/** A record with who wrote it: eight hexadecimal digits, new for every process that works on the op. */
export interface StoredRecord<Kept = JournalRecord> {
  readonly by: string;
  readonly record: Kept;
}

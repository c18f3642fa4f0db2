/** What the audit log is told about a write, a run or a reveal: that it was about to happen, and what became of it. */
import type { AuditFacts, AuditLog } from '../audit/log.ts';
import { CliError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { toUsd } from '../core/money.ts';
import type { RowOutcome } from '../journal/types.ts';

/** What only the caller knows. */
export type Recorded = Omit<AuditFacts, 'profile' | 'mode' | 'origin' | 'of' | 'outcome'>;

/** Facts that are known after the act: the id of a new card, its last four, why it was refused. */
export type Learned = Pick<AuditFacts, 'card_id' | 'last4' | 'op' | 'kind' | 'reason' | 'approved_by'>;

/** What became of one row of a run. */
export interface RecordedRow extends Learned {
  readonly row: number;
  readonly outcome: string;
  /** USD. */
  readonly amount?: number;
}

/** The lines of a run: one before it, one for each row with its outcome, one for the end. */
export interface RunRecord {
  /** Takes the outcome of a row; it is written soon, together with others. */
  row(row: RecordedRow): void;
  end(outcome: string, learned?: Learned): Promise<void>;
}

export interface Recorder {
  /** The two lines of a write that was refused before anything was asked, held or sent. A lost line is a warning. */
  refused(facts: Recorded, thrown: unknown): Promise<void>;
  /**
   * Records, does the work, records its outcome. Throws `guarded` or `check_failed` before the work when the log cannot be
   * written, for a reveal and with a live key; else that is a warning. Throws `rate_limited` for a reveal too many.
   */
  around<T>(facts: Recorded, work: () => Promise<T>, learn?: (result: T) => Learned): Promise<T>;
  /**
   * In two steps, for work that is a stream. The returned function takes the outcome. With `soon` the journal's own commit, which comes
   * before anything is sent, takes the line to the disk.
   */
  begin(facts: Recorded, durability?: 'soon'): Promise<(outcome: string, learned?: Learned) => Promise<void>>;
  /** Begins the record of a run of rows, named `op` in the journal. */
  beginRun(facts: Recorded & { readonly op: string }): Promise<RunRecord>;
}

/** Lines of one write. */
const MOST_TOGETHER = 256;
/** An identifier of the service: no number of a card fits. */
const REASON = /^(?!.*\d{8})[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

export interface RecorderSettings {
  readonly audit: () => Promise<AuditLog>;
  readonly identity: () => Promise<Identity>;
  readonly warn: (text: string) => void;
}

export function createRecorder({ audit, identity, warn }: RecorderSettings): Recorder {
  const append = async (facts: AuditFacts, durability?: 'soon') => (await audit()).append(facts, durability);
  const unrecorded = (what: string, thrown: unknown): undefined => {
    warn(`${what} not in the audit log: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return undefined;
  };

  const begin: Recorder['begin'] = async (facts, durability) => {
    const who = actingAs(await identity());
    const of = await append({ ...facts, ...who }, durability).catch(thrown => {
      if (!(thrown instanceof CliError)) throw thrown;
      // Whoever keeps the log does not know when it is written: only here is it before the send.
      if (who.mode === 'live' || facts.event === 'reveal')
        throw thrown.with({ message: `${thrown.message}. Nothing was sent`, outcome: 'not_sent' });
      return unrecorded(`${facts.operation} is`, thrown);
    });
    return async (outcome, learned = {}) => {
      if (of === undefined) return;
      // It has happened: a log that cannot be written now must not hide what became of it.
      await append({ ...outcomeLine(facts, who), ...learned, outcome, of }, 'soon').catch(thrown => {
        unrecorded(`${facts.operation}: ${outcome}; that is`, thrown);
      });
    };
  };

  return {
    begin,
    async beginRun(facts) {
      const ended = await begin(facts, 'soon');
      const { operation, op } = facts;
      const of = { event: 'outcome', ...actingAs(await identity()), operation, op } as const;
      const lost = (thrown: unknown) => void unrecorded(`rows of ${facts.op} are`, thrown);
      return createRunRecord({ of, ended, audit, unrecorded: lost });
    },
    async refused(facts, thrown) {
      const known = await identity().catch(() => undefined);
      // Nobody knows whose write it would have been.
      if (known === undefined || !(thrown instanceof CliError)) return;
      const who = actingAs(known);
      try {
        const of = await append({ ...facts, ...who }, 'soon');
        await append({ ...outcomeLine(facts, who), ...whyOf(thrown), outcome: 'not_sent', of }, 'soon');
      } catch (lost) {
        if (!(lost instanceof CliError)) throw lost;
        unrecorded(`${facts.operation}: not_sent; that is`, lost);
      }
    },
    async around(facts, work, learn) {
      const ended = await begin(facts);
      let outcome = 'done';
      let learned: Learned = {};
      try {
        const result = await work();
        learned = learn?.(result) ?? {};
        return result;
      } catch (thrown) {
        outcome = outcomeOf(thrown);
        learned = whyOf(thrown);
        throw thrown;
      } finally {
        await ended(outcome, learned);
      }
    },
  };
}

type Who = Pick<AuditFacts, 'profile' | 'mode' | 'origin'>;

function actingAs({ profile, mode, baseUrl }: Identity): Who {
  return { profile, mode, origin: originOf(baseUrl) };
}

function outcomeLine({ operation, card_id, op }: Recorded, who: Who) {
  const about = { ...(card_id !== undefined && { card_id }), ...(op !== undefined && { op }) };
  return { event: 'outcome', ...who, operation, ...about } as const;
}

interface Recording {
  /** What every line of the run says. */
  readonly of: AuditFacts & { readonly op: string };
  readonly ended: (outcome: string, learned?: Learned) => Promise<void>;
  readonly audit: () => Promise<AuditLog>;
  readonly unrecorded: (thrown: unknown) => void;
}

/** Rows that come while others are written go into the next write together. */
function createRunRecord({ of, ended, audit, unrecorded }: Recording): RunRecord {
  let waiting: RecordedRow[] = [];
  let writing: Promise<void> | undefined;
  let isLost = false;
  async function write(): Promise<void> {
    const log = await audit();
    while (waiting.length > 0 && !isLost) {
      const rows = waiting.splice(0, MOST_TOGETHER);
      const lines = rows.map(row => ({ ...of, ...row }));
      await log.appendAll(lines).catch(thrown => {
        isLost = true;
        unrecorded(thrown);
      });
    }
    writing = undefined;
  }
  const row = (each: RecordedRow) => {
    if (isLost) return;
    waiting.push(each);
    writing ??= write();
  };
  return {
    row,
    async end(outcome, learned) {
      await writing;
      waiting = [];
      await ended(outcome, { ...learned, op: of.op });
    },
  };
}

/** `not_sent`, `refused`, `unknown`, `done`; for an error that says none of them, its kind. */
export function outcomeOf(thrown: unknown): string {
  return thrown instanceof CliError ? (thrown.facts.outcome ?? thrown.kind) : 'internal';
}

/** Kind and reason of an error, as far as they are words: a text of the service could hold anything. */
export function whyOf(thrown: unknown): Learned {
  if (!(thrown instanceof CliError)) return {};
  const { op, service, httpStatus, reason: own } = thrown.facts;
  const word = service?.error ?? own;
  const reason = word !== undefined && REASON.test(word) ? word : httpStatus?.toString();
  return { kind: thrown.kind, ...(op !== undefined && { op }), ...(reason !== undefined && { reason }) };
}

/** The facts of one write that the audit log keeps: never a label, metadata or a secret. */
export function recordOf(
  operation: string,
  { card_id, amount }: { readonly card_id?: string; readonly amount?: number },
  key?: string,
): Recorded {
  return {
    event: 'write',
    operation,
    ...(card_id !== undefined && { card_id }),
    ...(amount !== undefined && { amount: amount / 100 }),
    ...(key !== undefined && { idempotency_key: key }),
  };
}

/** Which card an answer is about, when it is a card. */
export function learnedFrom(result: unknown): Learned {
  const { id, last4 } = (typeof result === 'object' && result !== null ? result : {}) as Record<string, unknown>;
  if (typeof id !== 'string' || typeof last4 !== 'string') return {};
  return { card_id: id, last4 };
}

function originOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : baseUrl;
}

/** The line of a row. */
export function recordedRow({ row, outcome, cardId, last4, amount, error }: RowOutcome): RecordedRow {
  return {
    row,
    ...(cardId !== undefined && { card_id: cardId }),
    ...(last4 !== undefined && { last4 }),
    ...(amount !== undefined && { amount: toUsd(amount) }),
    outcome,
    ...(outcome !== 'done' && whyOf(error)),
  };
}

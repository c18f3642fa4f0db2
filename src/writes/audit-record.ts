/** What the audit log is told about a write, a run or a reveal: that it was about to happen, and what became of it. */
import { type AuditFacts, type AuditLog, originOf } from '../audit/log.ts';
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

/** What was begun: its first line is written, and the lines of its rows and of its end follow. */
export interface BegunRecord {
  /** Takes the outcome of a row of a run; it is written soon. */
  row(row: RecordedRow): void;
  end(outcome: string, learned?: Learned): Promise<void>;
}

export type Recorder = ReturnType<typeof createRecorder>;

/** An identifier of the service: no number of a card fits. */
const REASON = /^(?!.*\d{8})[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

export interface RecorderSettings {
  readonly audit: () => Promise<AuditLog>;
  readonly identity: () => Promise<Identity>;
  readonly warn: (text: string) => void;
}

export function createRecorder({ audit, identity, warn }: RecorderSettings) {
  const append = async (lines: readonly AuditFacts[], durability?: 'soon') => (await audit()).append(lines, durability);
  const unrecorded = (what: string, thrown: unknown): undefined => {
    warn(`${what} not in the audit log: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return undefined;
  };

  /**
   * Writes the first line. Throws `guarded` or `check_failed` when the log cannot be written, for a reveal and with a live key; else
   * that is a warning. Throws `rate_limited` for a reveal too many. With `soon` the journal's own commit, which comes before anything is sent,
   * takes the line to the disk.
   */
  const begin = async (facts: Recorded, durability?: 'soon'): Promise<BegunRecord> => {
    const { profile, mode, baseUrl } = await identity();
    const who = { profile, mode, origin: originOf(baseUrl) };
    const of = await append([{ ...facts, ...who }], durability).catch(thrown => {
      if (!(thrown instanceof CliError)) throw thrown;
      // Whoever keeps the log does not know when it is written: only here is it before the send.
      if (who.mode === 'live' || facts.event === 'reveal')
        throw thrown.with({ message: `${thrown.message}. Nothing was sent`, outcome: 'not_sent' });
      return unrecorded(`${facts.operation} is`, thrown);
    });
    const { operation, card_id, op } = facts;
    const about = { ...(card_id !== undefined && { card_id }), ...(op !== undefined && { op }) };
    const line = { event: 'outcome', ...who, operation, ...about } as const;
    let isLost = false;
    /** Lines of rows that wait for those before them to be written. */
    let waiting: AuditFacts[] = [];
    let written: Promise<unknown> = Promise.resolve();
    const writeWaiting = async () => {
      const lines = waiting;
      waiting = [];
      await append(lines, 'soon').catch(thrown => {
        unrecorded(`rows of ${facts.op} are`, thrown);
        isLost = true;
      });
    };
    return {
      row(row) {
        if (isLost) return;
        waiting.push({ ...line, ...row });
        if (waiting.length === 1) written = written.then(writeWaiting);
      },
      async end(outcome, learned = {}) {
        await written;
        if (of === undefined) return;
        // It has happened: a log that cannot be written now must not hide what became of it.
        await append([{ ...line, ...learned, outcome, of }], 'soon').catch(thrown => {
          unrecorded(`${facts.operation}: ${outcome}; that is`, thrown);
        });
      },
    };
  };

  return {
    begin,
    /** The two lines of a write that was refused before anything was asked, held or sent. A lost line is a warning. */
    async refused(facts: Recorded, thrown: unknown): Promise<void> {
      // Nobody knows whose write it would have been.
      if (!(thrown instanceof CliError) || (await identity().catch(() => undefined)) === undefined) return;
      try {
        const { end } = await begin(facts, 'soon');
        await end('not_sent', whyOf(thrown));
      } catch (lost) {
        if (!(lost instanceof CliError)) throw lost;
        unrecorded(`${facts.operation}: not_sent; that is`, lost);
      }
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

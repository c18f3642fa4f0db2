/** What the audit log is told about a write, a run or a reveal: that it was about to happen, and what became of it. */
import type { AuditEntry, AuditFacts } from '../audit/entry.ts';
import type { AuditLog } from '../audit/log.ts';
import { CliError } from '../core/errors.ts';
import type { Decided } from '../journal/types.ts';
import type { Identity } from './identity.ts';

/** What only the caller knows. */
export type Recorded = Omit<AuditFacts, 'profile' | 'mode' | 'origin' | 'of' | 'outcome'>;

/** Facts that are known after the act: the id of a new card, its last four, why it was refused. */
export type Learned = Pick<AuditFacts, 'card_id' | 'last4' | 'op' | 'kind' | 'reason'>;

/** What became of one row of a run. */
export interface RecordedRow extends Learned {
  readonly row: number;
  readonly outcome: string;
  /** USD. */
  readonly amount?: number;
}

/** A row that was decided before this command. */
export interface EarlierRow extends RecordedRow {
  readonly decided: Decided;
}

/** The lines of a run: one before it, one for each row with its outcome, one for the end. */
export interface RunRecord {
  /** Takes the outcome of a row; it is written soon, together with others. */
  row(row: RecordedRow): void;
  end(outcome: string): Promise<void>;
}

export interface Recorder {
  /**
   * Records, does the work, records its outcome. Throws `guarded` or `check_failed` before the work when the log
   * cannot be written and the key is live; with another key that is a warning.
   */
  around<T>(facts: Recorded, work: () => Promise<T>, learn?: (result: T) => Learned): Promise<T>;
  /** The same in two steps, for work that is a stream. The returned function takes the outcome. */
  begin(facts: Recorded): Promise<(outcome: string, learned?: Learned) => Promise<void>>;
  /** The same for a run of rows, named `op` in the journal. */
  beginRun(facts: Recorded & { readonly op: string }): Promise<RunRecord>;
  /**
   * Rows of an op that earlier commands decided. Those without a line of their outcome get it, with the time and the
   * process of the deed: a process that was killed could not write it any more.
   */
  recordEarlier(of: { readonly operation: string; readonly op: string }, rows: readonly EarlierRow[]): Promise<void>;
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
  async function begin(facts: Recorded) {
    const { profile, mode, baseUrl } = await identity();
    const who = { profile, mode, origin: originOf(baseUrl) };
    const of = await appended({ ...facts, ...who }).catch(thrown => {
      if (!(thrown instanceof CliError)) throw thrown;
      // Whoever keeps the log does not know when it is written: only here is it before the send.
      if (mode === 'live') throw thrown.with({ message: `${thrown.message}. Nothing was sent`, outcome: 'not_sent' });
      return unrecorded(`${facts.operation} is`, thrown);
    });
    return async (outcome: string, learned: Learned = {}) => {
      if (of === undefined) return;
      const { operation, card_id } = facts;
      const ended = { event: 'outcome', ...who, operation, ...(card_id !== undefined && { card_id }) } as const;
      // It has happened: a log that cannot be written now must not hide what became of it.
      await appended({ ...ended, ...learned, outcome, of }).catch(thrown => {
        unrecorded(`${operation}: ${outcome}; that is`, thrown);
      });
    };
  }

  async function beginRun(facts: Recorded & { readonly op: string }): Promise<RunRecord> {
    const ended = await begin(facts);
    const { op } = facts;
    const of = await outcomesOf(facts);
    const lost = (thrown: unknown) => void unrecorded(`rows of ${op} are`, thrown);
    return createRunRecord({ of, ended, audit, unrecorded: lost });
  }

  async function outcomesOf({ operation, op }: { readonly operation: string; readonly op: string }) {
    const { profile, mode, baseUrl } = await identity();
    return { event: 'outcome', profile, mode, origin: originOf(baseUrl), operation, op } as const;
  }

  async function appended(facts: AuditFacts): Promise<number> {
    return (await audit()).append(facts);
  }

  function unrecorded(what: string, thrown: unknown): undefined {
    warn(`${what} not in the audit log: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return undefined;
  }

  return {
    begin,
    beginRun,
    async recordEarlier(named, rows) {
      if (rows.length === 0) return;
      const log = await audit();
      const isRecorded = recordedRows((await log.read()).entries, named.op);
      const of = await outcomesOf(named);
      const missing = rows.filter(row => !isRecorded(row));
      for (let at = 0; at < missing.length; at += MOST_TOGETHER) {
        const lines = missing.slice(at, at + MOST_TOGETHER).map(({ decided: { at, pid }, ...row }) => {
          return { ...of, ...row, happened: { at: new Date(at).toISOString(), pid } };
        });
        // It has happened: a log that cannot be written now must not hide what became of it.
        await log.appendAll(lines).catch(thrown => void unrecorded(`rows of ${named.op} are`, thrown));
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
      await log.appendAll(rows.map(row => ({ ...of, ...row }))).catch(thrown => {
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
    async end(outcome) {
      await writing;
      waiting = [];
      await ended(outcome, { op: of.op });
    },
  };
}

/** Whether the log has a line of a row's outcome. The outcome of a single write is that of its only row. */
function recordedRows(entries: readonly AuditEntry[], op: string): (row: RecordedRow) => boolean {
  const ofOp = entries.filter(entry => entry.op === op && entry.event === 'outcome');
  const recorded = new Set<string>();
  for (const { row, of, outcome = '' } of ofOp) {
    const single = row === undefined && of !== undefined && entries[of - 1]?.event === 'write';
    if (row !== undefined || single) recorded.add(`${row ?? 1} ${withoutEffect(outcome)}`);
  }
  return ({ row, outcome }) => recorded.has(`${row} ${withoutEffect(outcome)}`);
}

/** A row that was throttled to its end is refused to its own command, and not sent to every later one. */
function withoutEffect(outcome: string): string {
  return outcome === 'refused' ? 'not_sent' : outcome;
}

/** `not_sent`, `refused`, `unknown`, `done`; for an error that says none of them, its kind. */
export function outcomeOf(thrown: unknown): string {
  return thrown instanceof CliError ? (thrown.facts.outcome ?? thrown.kind) : 'internal';
}

/** Kind and reason of an error, as far as they are words: a text of the service could hold anything. */
export function whyOf(thrown: unknown): Learned {
  if (!(thrown instanceof CliError)) return {};
  const { op, service, httpStatus } = thrown.facts;
  const word = service?.error;
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

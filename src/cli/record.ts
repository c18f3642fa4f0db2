/** What the audit log is told about a write, a run or a reveal: that it was about to happen, and what became of it. */
import type { AuditFacts } from '../audit/entry.ts';
import type { AuditLog } from '../audit/log.ts';
import { CliError } from '../errors.ts';
import type { Identity } from './identity.ts';

/** What only the caller knows. */
export type Recorded = Omit<AuditFacts, 'profile' | 'mode' | 'origin' | 'of' | 'outcome'>;

/** Facts that are known after the act: the id of a new card, its last four. */
export type Learned = Pick<AuditFacts, 'card_id' | 'last4' | 'op'>;

export interface Recorder {
  /**
   * Records, does the work, records its outcome. Throws `guarded` or `check_failed` before the work when the log
   * cannot be written and the key is live; with another key that is a warning.
   */
  around<T>(facts: Recorded, work: () => Promise<T>, learn?: (result: T) => Learned): Promise<T>;
  /** The same in two steps, for work that is a stream. The returned function takes the outcome. */
  begin(facts: Recorded): Promise<(outcome: string, learned?: Learned) => Promise<void>>;
}

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
      if (mode === 'live' || !(thrown instanceof CliError)) throw thrown;
      return unrecorded(thrown);
    });
    return async (outcome: string, learned: Learned = {}) => {
      if (of === undefined) return;
      const { operation, card_id } = facts;
      const ended = { event: 'outcome', ...who, operation, ...(card_id !== undefined && { card_id }) } as const;
      // It has happened: a log that cannot be written now must not hide what became of it.
      await appended({ ...ended, ...learned, outcome, of }).catch(unrecorded);
    };
  }

  async function appended(facts: AuditFacts): Promise<number> {
    return (await audit()).append(facts);
  }

  function unrecorded(thrown: unknown): undefined {
    warn(`not in the audit log: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return undefined;
  }

  return {
    begin,
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
        throw thrown;
      } finally {
        await ended(outcome, learned);
      }
    },
  };
}

/** `not_sent`, `refused`, `unknown`, `done`; for an error that says none of them, its kind. */
export function outcomeOf(thrown: unknown): string {
  return thrown instanceof CliError ? (thrown.facts.outcome ?? thrown.kind) : 'internal';
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

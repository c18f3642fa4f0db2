/** An operation that this process holds: its rows to their outcomes, its end, and the release. */
import { CliError } from '../core/errors.ts';
import { acknowledge, finishOp, keepLease } from './changes.ts';
import { LEASE_MS, RENEW_MS } from './holder.ts';
import { executeChange } from './outcome.ts';
import type { Change } from './records.ts';
import type { Finished, RowOutcome } from './types.ts';
import { type Verified, verify } from './verify.ts';
import { recordedOutcome } from './words.ts';
import type { Work } from './work.ts';

/** What is left to do for an op once its answer was written, or was lost on the way to whoever reads it. */
export type AfterAnswer = (answer: 'written' | 'lost') => Promise<void>;

export interface RunSettings {
  readonly work: Work;
  readonly changes: readonly Change[];
  /** What the wallet held just before. */
  readonly wallet?: number | undefined;
  /** Who has approved it, where it was held. */
  readonly approvedBy?: readonly string[];
  /** It was held, and no command before this one has sent anything of it. */
  readonly isReleased?: boolean;
  /** Keeps work until the answer was written; done at once when left out. */
  readonly afterAnswer?: ((work: AfterAnswer) => void) | undefined;
  /** Lets the process end. */
  readonly release: () => void;
}

/** A run that this process holds. Disposing lets it go; nothing is lost by it. */
export type Run = ReturnType<typeof createRun>;

export function createRun(settings: RunSettings) {
  const { work, changes, afterAnswer, approvedBy = [], isReleased = false } = settings;
  const { op, database, lookOnly } = work;
  const byRow = new Map(changes.map(change => [change.n, change]));
  let isLeft = false;
  let isEnded = op.finished !== undefined;
  const renewal = lookOnly
    ? undefined
    : setInterval(() => void keepLease(work, LEASE_MS).catch(() => undefined), RENEW_MS).unref();

  const acknowledgeLater = () => {
    // What could not be written down may stand in the journal as done, and was told as unknown.
    if (isLeft || changes.some(({ state }) => state === 'sent')) return;
    afterAnswer?.(async answer => {
      if (answer === 'written') await acknowledge(database, op);
      // It was not acknowledged: the same change is refused until a resume has shown it.
      else await keepLease(work, 0);
    });
  };

  /** Verifies, and finishes the op when no row is open or unknown. Call it after the last row came back. */
  async function finish(): Promise<Finished> {
    let found: Verified = { objections: op.objections, remarks: [], corrected: [], isWhole: true };
    if (lookOnly) return { ...found, ended: isEnded };
    try {
      if (!isEnded) found = await verify(work, changes, settings.wallet);
      const isOver = found.isWhole && changes.every(({ state }) => ['done', 'refused', 'not_sent'].includes(state));
      if (!isEnded && isOver) await finishOp(work, found.objections, afterAnswer === undefined && !isLeft);
      isEnded ||= isOver;
      acknowledgeLater();
    } catch (thrown) {
      // The journal cannot be written: what is done is done, and a resume ends it.
      if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
      found = { ...found, remarks: [...found.remarks, `it could not be verified: ${thrown.message}`] };
    }
    return { ...found, ended: isEnded };
  }

  return {
    op: op.id,
    /** Words of its command. */
    command: op.command,
    bulk: op.bulk,
    phased: op.plan.phased === true,
    approvedBy,
    isReleased,
    changes,
    /** What came of a change so far; undefined for one that is still to be sent and was never tried. */
    recorded: (change: Change) => recordedOutcome(change, op),
    /**
     * Takes one row to an outcome; safe to call for several rows at once. A row whose outcome is unknown is looked for first.
     * Resolves only after the outcome is durable, so it may be printed. Rejects with `guarded` when the journal cannot be written
     * or another process has taken over: then nothing more was sent.
     */
    async execute(row: number): Promise<RowOutcome> {
      const change = byRow.get(row);
      if (change === undefined) throw new CliError('internal', { message: `${op.id} has no row ${row}` });
      return executeChange(work, change);
    },
    finish,
    /** Whoever asks for it is refused, and not shown what came of it: it stays unacknowledged. */
    leaveUnacknowledged() {
      isLeft = true;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      clearInterval(renewal);
      settings.release();
      if (lookOnly || (isEnded && !isLeft)) return;
      // Whoever resumes it waits for the lease otherwise.
      await keepLease(work, 0).catch(() => undefined);
    },
  };
}

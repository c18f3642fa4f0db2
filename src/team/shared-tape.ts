/**
 * One op of a shared journal in the hands of this process. Its file is one of this machine, which nobody but us relies on:
 * what a sync makes durable is a segment in the database. Of an op that could not be written to the end the file stays, and
 * is pushed later (docs/design/team.md, section 5).
 */
import { CliError } from '../core/errors.ts';
import type { CountedSpending, Tape } from '../journal/store/op-store.ts';
import type { Ending, Facts, Holding, JournalHead } from './calls.ts';
import { type ClockReading, leaseAge, leaseLeft } from './lease.ts';
import type { CopyEnd, LocalCopy } from './local-copies.ts';
import { inOtherHands } from './other-hands.ts';
import { type SharedOps, segmentRefused, takesNothing } from './shared-ops.ts';
import type { Standing } from './standing.ts';
import { couldNoteUntold } from './untold.ts';

/** What of an op goes with its calls. */
export interface Hands {
  readonly op: string;
  readonly epoch: number;
  /** Number of its last segment. */
  readonly n: number;
  readonly leaseMs: number;
  /** Cents that are held for it. */
  readonly reserved: number;
  /** See `CountedSpending`. */
  readonly told?: CountedSpending['told'];
  /** Monotonic ms when the call began that was answered with the lease. */
  readonly since: number;
  readonly facts: Facts;
  /** See `Tape.formerLeaseEnd`. */
  readonly formerLeaseEnd?: number | undefined;
  /** See `Tape.mayBeSent`. */
  readonly mayBeSent?: boolean | undefined;
  /** Nobody repeats it who was not told: it is finished with its END, in one call. */
  readonly endsUntold?: boolean | undefined;
  readonly standing: Standing;
  /** It holds every byte of the journal already. */
  readonly copy: LocalCopy;
}

/** A lease is renewed this often while nothing is written, ms. */
const RENEW_MS = 30_000;

export function sharedTape(shared: SharedOps, hands: Hands): Tape {
  const { op, standing, copy } = hands;
  const { statements, head } = shared;
  const lease = leaseOf(shared, hands);
  let n = hands.n;
  let pending: Uint8Array[] = [];
  let [isPushed, isFinished] = [true, false];

  async function sync(): Promise<void> {
    if (pending.length === 0) return;
    const bytes = Buffer.concat(pending);
    pending = [];
    standing.read(bytes);
    const isLast = hands.endsUntold === true && standing.end() !== undefined && !isFinished;
    const told = { n: n + 1, by: standing.writer() ?? '', counts: standing.counts(), shown: standing.shown() };
    const [ending, outcome] = isLast ? [{ ending: endingOf(hands) }, outcomeFacts(hands)] : [];
    try {
      await lease.accepted(holding => statements().append({ ...holding, ...told, ...ending }, bytes, outcome));
      n += 1;
      isFinished ||= isLast;
      if (standing.counts().unknown > 0) await copy.confirm(standing.linesOf(told.by));
    } catch (thrown) {
      isPushed = false;
      // What came of an answer is known to this file alone.
      await copy.file.sync();
      throw await lease.doubted(thrown);
    }
  }

  const abandoned = { ...hands.facts, event: 'abandoned' };
  const abandonClaim = () => lease.accepted(holding => statements().abandon(holding, abandoned));

  return {
    op,
    lost: lease.lost,
    mayLeave: lease.mayLeave,
    ...knownOf(hands),
    file: {
      ...copy.file,
      async append(bytes) {
        await copy.file.append(bytes);
        pending.push(bytes);
      },
      sync,
    },
    async abandon() {
      lease.end();
      await copy.file.close();
      try {
        await abandonClaim();
      } finally {
        await copy.end('gone');
      }
    },
    async release(finished) {
      lease.end();
      if (!isPushed || (isFinished && !finished && !(await couldNoteUntold(shared, op)))) return copy.end('left');
      const failure = await failureOf(letGo(finished));
      await copy.end(standing.planned() ? endOfCopy(finished, failure) : 'gone');
      if (failure !== undefined) throw failure;
      await head.keep();
    },
  };

  async function letGo(finished: boolean): Promise<void> {
    if (isFinished) return;
    // A plan that was never whole is in nobody's way.
    if (!standing.planned()) return void (await abandonClaim());
    const ending = finished ? endingOf(hands) : { finished: false };
    await lease.accepted(holding => statements().letGo({ ...holding, ending }, outcomeFacts(hands)));
  }
}

function knownOf({ formerLeaseEnd, mayBeSent, reserved, told }: Hands): Partial<Tape> {
  return { formerLeaseEnd, mayBeSent, spending: { cents: reserved, told } };
}

/** Undefined where nothing was thrown. */
function failureOf(work: Promise<void>): Promise<unknown> {
  return work.catch((thrown: unknown) => thrown);
}

/** Every line of it is in the database. While its lease runs on there, the next command of this machine ends that. */
function endOfCopy(finished: boolean, failure: unknown): CopyEnd {
  const runsOn = failure !== undefined && !segmentRefused(failure);
  // Its answer was written. A frozen account lets its lease go, and finishes nothing.
  if (runsOn) return finished && !takesNothing(failure) ? 'shown' : 'left';
  return finished ? 'finished' : 'open';
}

interface Lease {
  readonly lost: AbortSignal;
  /** A call that the database answers with the lease made anew. */
  accepted<T extends { readonly head: JournalHead }>(call: (holding: Holding) => Promise<T>): Promise<T>;
  /** Enough of it is left for one write, or it could be renewed. */
  mayLeave(): Promise<boolean>;
  /** What was thrown by a call may say that the op is in other hands; the error that says in whose. */
  doubted(thrown: unknown): Promise<unknown>;
  end(): void;
}

function leaseOf(shared: SharedOps, hands: Hands): Lease {
  const { clock, statements, account, head, writeTotalMs } = shared;
  const { op, epoch } = hands;
  const [lost, over] = [new AbortController(), new AbortController()];
  const now = (): ClockReading => ({ monotonic: clock.monotonic(), wall: clock.now() });
  let since: ClockReading = { monotonic: hands.since, wall: clock.now() - (clock.monotonic() - hands.since) };
  const left = () => leaseLeft({ leaseMs: hands.leaseMs, writeTotalMs, since }, now());

  const accepted: Lease['accepted'] = async call => {
    const began = now();
    const answer = await call({ account, known: head.known(), op, epoch });
    since = began;
    head.learn(answer.head);
    return answer;
  };

  async function doubted(thrown: unknown): Promise<unknown> {
    if (!segmentRefused(thrown) && left() > 0) return thrown;
    const told = await inOtherHands(shared, hands, thrown);
    lost.abort(told);
    return told;
  }

  async function renewed(): Promise<boolean> {
    try {
      await accepted(holding => statements().renew(holding));
      return true;
    } catch (thrown) {
      await doubted(thrown);
      return false;
    }
  }

  async function renewing(): Promise<void> {
    for (;;) {
      await clock.sleep(RENEW_MS, over.signal).catch(() => undefined);
      if (over.signal.aborted || lost.signal.aborted) return;
      if (leaseAge({ since }, now()) >= RENEW_MS / 2) await renewed();
    }
  }
  void renewing();

  return {
    lost: lost.signal,
    accepted,
    async mayLeave() {
      if (!lost.signal.aborted && (left() > 0 || (await renewed()))) return true;
      const { reason } = lost.signal;
      if (reason instanceof CliError && segmentRefused(reason)) throw reason;
      return false;
    },
    doubted,
    end: () => over.abort(),
  };
}

export function endingOf({ standing, reserved }: Pick<Hands, 'standing' | 'reserved'>): Ending {
  const moved = standing.end()?.cents ?? 0;
  return {
    finished: true,
    // What comes back to the wallet was never held.
    spent: Math.min(moved, reserved),
    free: standing.unusedIntents(),
    free_key: standing.isUnused(),
  };
}

export function outcomeFacts({ standing, facts }: Pick<Hands, 'standing' | 'facts'>): Facts {
  const { done, refused, not_sent, cents } = standing.end() ?? {};
  const reason = standing.recordedByHand();
  return {
    ...facts,
    event: 'outcome',
    ...(done !== undefined && { done, refused, not_sent, cents }),
    ...(reason !== undefined && { reason }),
  };
}

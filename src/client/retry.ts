/**
 * The one place that sends again (docs/design/reliability.md, section 2): what was never sent, reads, waits that the
 * service asks for, and ambiguous writes where the caller knows that it is safe. A verdict covers all attempts.
 */

import type { Clock, Randomness } from '../platform/host.ts';
import { between } from '../platform/jitter.ts';
import type { RetryBudget } from './budget.ts';
import type { Interpretation } from './interpret-response.ts';

const ATTEMPTS = 3;
const CEILING_MS = 20_000;
/** A service that asks to wait longer is not waited for. */
const LONGEST_WAIT_MS = 60_000;

/** What a repetition costs and how long the first pause is at most. */
const NETWORK = { baseMs: 100, tokens: 14 };
const THROTTLE = { baseMs: 1_000, tokens: 5 };

export interface Repeating {
  readonly clock: Clock;
  readonly random: Randomness;
  readonly budget: RetryBudget;
  /** An attempt that may have had its effect, or that the service says it works on, may be sent again as it is. */
  readonly ambiguousAgain: boolean;
  /** False: the key may be forgotten by now, so that nothing is sent behind an attempt that may have had its effect. */
  readonly keyUsable?: (() => boolean | Promise<boolean>) | undefined;
  /** Attempts that the service may answer 429, whatever else it lets through; without it 3 while it lets nothing through. */
  readonly throttledAttempts?: number | undefined;
  /** Looked at after an ambiguous attempt, before it is sent again; the effect that shows ends it. */
  readonly shown?: (() => Promise<Interpretation | undefined>) | undefined;
  /** No attempt begins and no pause goes on when it is aborted. */
  readonly stop: AbortSignal;
  /** Told about every pause. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

export interface Wait {
  readonly ms: number;
  readonly because: 'network' | 'throttled' | 'in_progress';
}

export interface Repeated {
  /** Of the last attempt, or of an earlier one that the last cannot settle. */
  readonly verdict: Interpretation;
  readonly attempts: number;
  readonly sent: boolean;
  readonly throttled: boolean;
  readonly doubted: boolean;
}

/** Attempts until one ends in a class that must not or need not be repeated. Never rejects by itself. */
export async function repeatWhileSafe(once: () => Promise<Interpretation>, repeating: Repeating): Promise<Repeated> {
  const { budget, stop } = repeating;
  let [sent, throttled] = [false, false];
  let doubt: Interpretation | undefined;
  let open: Repeated | undefined;
  const patience = createPatience(repeating);
  for (let attempts = 1; ; attempts += 1) {
    if (budget.paused()) await budget.untilAllowed(stop);
    // After the pauses: whatever they were meant to take, a stopped process or a laptop that slept takes longer.
    if (open !== undefined && (await repeating.keyUsable?.()) === false) return tooOld(open);
    const last = await counted(once, budget);
    sent ||= last.class !== 'not_sent';
    throttled ||= last.class === 'throttled';
    if (last.class === 'done') budget.refund();
    if (last.class === 'done') return { verdict: last, attempts, sent, throttled, doubted: doubt !== undefined };
    const end = (verdict: Interpretation): Repeated => ({
      verdict,
      attempts,
      sent,
      throttled,
      doubted: doubt !== undefined,
    });
    const unsettled = last.class === 'ambiguous' || (doubt !== undefined && last.class !== 'unverified');
    if (unsettled) {
      const shown = await repeating.shown?.();
      if (shown !== undefined) return end(shown);
    }
    const verdict = doubt === undefined ? last : stillUnknown(doubt, last);
    const failures = stop.aborted ? undefined : patience.after(last);
    const pause = failures === undefined ? undefined : pauseAfter(last, failures, repeating);
    if (pause === undefined || !budget.spend(pause.tokens)) return end(verdict);
    if (last.class === 'ambiguous' || last.class === 'in_progress') doubt ??= last;
    if (last.class === 'throttled') budget.pauseAll(pause.ms);
    repeating.onWait?.(pause);
    if (!(await rest(pause.ms, repeating.clock, stop))) return end(verdict);
    if (doubt !== undefined) open = end(verdict);
  }
}

async function counted(once: () => Promise<Interpretation>, budget: RetryBudget): Promise<Interpretation> {
  budget.leave();
  let letThrough = false;
  try {
    const verdict = await once();
    letThrough = verdict.class !== 'throttled' && verdict.class !== 'not_sent';
    return verdict;
  } finally {
    budget.end(letThrough);
  }
}

/** Nothing more is sent: what was in doubt before the pause stays in doubt. */
function tooOld(open: Repeated): Repeated {
  const { verdict } = open;
  if (verdict.class === 'done' || verdict.class === 'unverified') return open;
  const message = `${verdict.error.message}; not asked again, because the service may have forgotten the key`;
  return { ...open, verdict: { ...verdict, error: verdict.error.with({ message }) } };
}

interface Failures {
  /** Attempts in a row that failed this way, 1 or more. */
  readonly count: number;
}

/**
 * Counts failed attempts. Told to slow down many requests share few places, and the same one may be turned away many
 * times in a row. That is no failure of its own while others are let through: it comes later, and none is lost.
 */
function createPatience({ budget, throttledAttempts }: Repeating) {
  let [failed, throttled, seen] = [0, 0, budget.passed()];
  return {
    /** Undefined when there must be no further attempt. */
    after({ class: outcome }: Interpretation): Failures | undefined {
      if (outcome !== 'throttled') {
        failed += 1;
        return failed < ATTEMPTS ? { count: failed } : undefined;
      }
      const moving = throttledAttempts === undefined && (budget.passed() > seen || budget.mayPass());
      seen = budget.passed();
      throttled = moving ? 1 : throttled + 1;
      return throttled < (throttledAttempts ?? ATTEMPTS) ? { count: throttled } : undefined;
    },
  };
}

interface Pause extends Wait {
  readonly tokens: number;
}

/** How long to wait before the next attempt; undefined when there must be none. */
function pauseAfter(
  verdict: Interpretation,
  { count }: Failures,
  { random, ambiguousAgain }: Repeating,
): Pause | undefined {
  if (verdict.class === 'done' || verdict.class === 'unverified') return undefined;
  const { class: outcome } = verdict;
  const asked = verdict.error.facts.retryAfterMs ?? 0;
  // "In progress" tells of this key alone: where nobody knows that keys are honoured, sending again may do it again.
  if (outcome === 'in_progress' && !ambiguousAgain) return undefined;
  if (outcome === 'throttled' || outcome === 'in_progress') {
    if (asked > LONGEST_WAIT_MS) return undefined;
    const ms = Math.max(asked, backoff(THROTTLE.baseMs, count - 1, random));
    // The first time is told apart from the second: that the service lets others through is seen only while one waits.
    const free = outcome === 'throttled' && count === 1;
    return { ms, because: outcome, tokens: free ? 0 : THROTTLE.tokens };
  }
  const safe = outcome === 'ambiguous' ? ambiguousAgain : verdict.again;
  if (!safe) return undefined;
  const hinted = outcome === 'read_failed' && asked <= LONGEST_WAIT_MS ? asked : 0;
  const ms = Math.max(hinted, backoff(NETWORK.baseMs, count - 1, random));
  return { ms, because: 'network', tokens: NETWORK.tokens };
}

/** Full jitter: clients that failed together do not come back together. */
export function backoff(baseMs: number, failures: number, random: Randomness): number {
  return between(random, 0, Math.min(CEILING_MS, baseMs * 2 ** failures));
}

/** False when it was cut short. */
export async function rest(ms: number, clock: Clock, stop: AbortSignal | undefined): Promise<boolean> {
  try {
    await clock.sleep(ms, stop);
    return true;
  } catch (reason) {
    if (stop?.aborted) return false;
    throw reason;
  }
}

/**
 * No refusal of a repeated request settles the first one: the service may mean the repetition (`duplicate_request`), may
 * check before it looks at the key, or may have forgotten it. Whoever asked looks at marker, state or balances.
 */
function stillUnknown(doubt: Interpretation, last: Interpretation): Interpretation {
  if (doubt.class === 'done' || doubt.class === 'unverified') return doubt;
  if (last.class === 'done' || last.class === 'unverified') return last;
  if (last.class === 'ambiguous' || last.class === 'in_progress') return last;
  const message = `${doubt.error.message}; asked again: ${last.error.message}`;
  return { ...doubt, class: 'ambiguous', error: doubt.error.with({ message }), again: false };
}

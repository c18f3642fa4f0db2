/**
 * The one place that sends again (docs/design/reliability.md, section 2): what was never sent, reads, waits that the
 * service asks for, and ambiguous writes where the caller knows that it is safe. A verdict covers all attempts.
 */

import type { Clock, Randomness } from '../platform/host.ts';
import { between } from '../platform/jitter.ts';
import type { RetryBudget } from './budget.ts';
import type { Interpretation } from './request.ts';

const ATTEMPTS = 3;
const CEILING_MS = 20_000;
/** A service that asks to wait longer is not waited for. */
const LONGEST_WAIT_MS = 60_000;
/** Most times that a write whose key nobody knows is sent behind a 429 while others are let through: a look alone makes it safe. */
const THROTTLED_ATTEMPTS = 50;

/** What a repetition costs and how long the first pause is at most. */
const NETWORK = { baseMs: 100, tokens: 14 };
const THROTTLE = { baseMs: 1_000, tokens: 5 };

export interface Repeating {
  readonly clock: Clock;
  readonly random: Randomness;
  readonly budget: RetryBudget;
  /** Whether it may be sent again as it is behind an attempt that may have had its effect. */
  readonly again: Again;
  /** False: the key may be forgotten by now, so that nothing is sent behind an attempt that may have had its effect. */
  readonly keyUsable?: (() => boolean | Promise<boolean>) | undefined;
  /** Whether a key that is usable is surely remembered, and not only trusted in. Without it, it is. */
  readonly keySure?: (() => boolean) | undefined;
  /**
   * Whether reading shows that no attempt so far had its effect. Asked before a write is sent again behind a 429, or behind
   * anything else that may have had its effect, where its key is not surely remembered. Without it a 429 is believed.
   */
  readonly isUndone?: (() => Promise<boolean>) | undefined;
  /** False: other writes of the same run wait for their turn under the same limit. */
  readonly alone?: boolean | undefined;
  /** What is done all the same may be done, or show, so long after its 429, ms: nobody looks before. 0 when left out. */
  readonly settleMs?: number | undefined;
  /** Attempts that the service may answer 429, whatever else it lets through; without it 3 while it lets nothing through. */
  readonly throttledAttempts?: number | undefined;
  /**
   * A reading that looks what came of another request: that it is let through says nothing about that one, and whoever looks
   * has waited. `once`: there is no time to wait any more.
   */
  readonly aside?: 'patient' | 'once' | undefined;
  /** Looked at after an ambiguous attempt, and where nothing is sent behind a 429; the effect that shows ends it. */
  readonly shown?: ((last: Interpretation) => Promise<Interpretation | undefined>) | undefined;
  /** No attempt begins and no pause goes on when it is aborted. */
  readonly stop: AbortSignal;
  /** Told about every pause. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

/** `freely`: doing it twice is doing it once. `with-key`: under a key that is known to be honoured. */
export type Again = 'freely' | 'with-key' | 'never';

export interface Wait {
  readonly ms: number;
  readonly because: 'network' | 'throttled' | 'in_progress';
  /** Number of the attempt that follows; the first is 1. */
  readonly attempt: number;
}

export interface Repeated {
  /** Of the last attempt, or of an earlier one that the last cannot settle. */
  readonly verdict: Interpretation;
  readonly attempts: number;
  readonly sent: boolean;
  readonly throttled: boolean;
  readonly doubted: boolean;
  /** Some attempt was answered 429, and nothing has shown since that it had no effect all the same. */
  readonly unlooked: boolean;
  /** It was sent again because a look showed nothing, and not because its key makes that safe. */
  readonly resentOnCheck: boolean;
  /** A later attempt was refused, which does not say what became of the first. */
  readonly refusedAgain?: Interpretation | undefined;
}

/** Attempts until one ends in a class that must not or need not be repeated. Never rejects by itself. */
export async function repeatWhileSafe(once: () => Promise<Interpretation>, repeating: Repeating): Promise<Repeated> {
  const { budget, stop } = repeating;
  let [sent, throttled, unlooked, resentOnCheck] = [false, false, false, false];
  let doubt: Interpretation | undefined;
  let open: Open | undefined;
  const patience = createPatience(repeating);
  for (let attempts = 1; ; attempts += 1) {
    if (budget.paused() && !repeating.aside) await budget.untilAllowed(stop);
    // After the pauses: whatever they were meant to take, a stopped process or a laptop that slept takes longer.
    const next = open === undefined ? 'go' : await afterOpen(open, repeating);
    if (typeof next === 'object') return next;
    if (next === 'undone') resentOnCheck = true;
    if (next === 'undone' && doubt === undefined) [unlooked, open] = [false, undefined];
    const last = repeating.aside ? await once() : await counted(once, budget);
    sent ||= last.class !== 'not_sent';
    throttled ||= last.class === 'throttled';
    unlooked ||= last.class === 'throttled';
    const end = (verdict: Interpretation): Repeated => {
      return { verdict, attempts, sent, throttled, doubted: doubt !== undefined, unlooked, resentOnCheck };
    };
    if (last.class === 'done') budget.refund();
    if (last.class === 'done') return end(last);
    const running = last.class === 'in_progress' && repeating.again === 'never';
    const unsettled = running || last.class === 'ambiguous' || (doubt !== undefined && last.class !== 'unverified');
    if (unsettled) {
      const shown = await repeating.shown?.(last);
      if (shown !== undefined) return end(shown);
    }
    const verdict = doubt === undefined ? last : stillUnknown(doubt, last);
    const refusedAgain = doubt !== undefined && last.class === 'refused' ? last : undefined;
    const failures = stop.aborted || repeating.aside === 'once' ? undefined : patience.after(last);
    const pause = failures === undefined ? undefined : pauseAfter(last, { ...failures, attempts }, repeating);
    if (pause === undefined || !budget.spend(pause.tokens))
      return lastLook({ ...end(verdict), refusedAgain }, repeating);
    if (last.class === 'ambiguous' || last.class === 'in_progress') doubt ??= last;
    if (last.class === 'throttled' && !repeating.aside) budget.pauseAll(pause.ms);
    repeating.onWait?.(pause);
    if (!(await rest(pause.ms, repeating.clock, stop))) return lastLook(end(verdict), repeating);
    if (doubt !== undefined || unlooked) open = { so: end(verdict), pause, doubted: doubt !== undefined };
  }
}

/** What is not settled when another attempt is about to be made. */
interface Open {
  /** What is told where nothing more is sent. */
  readonly so: Repeated;
  readonly pause: Pause;
  /** An attempt was ambiguous, and not only answered 429. */
  readonly doubted: boolean;
}

/** Looking takes of the limit as well, so that so much more is waited for: at first, and the second time. */
const FOR_LOOK_MS = { first: 5_000, more: 30_000 };

/** Whether the next attempt may go: at once, or after a look that showed nothing; else what is told in its place. */
async function afterOpen({ so, pause, doubted }: Open, repeating: Repeating): Promise<'go' | 'undone' | Repeated> {
  const { again, keyUsable, keySure, isUndone, stop, alone = true } = repeating;
  if (again === 'freely') return 'go';
  const isUsable = async () => again === 'with-key' && (await keyUsable?.()) !== false;
  const usable = await isUsable();
  if (doubted && !usable) return tooOld(so);
  if (isUndone === undefined || (usable && keySure?.() !== false)) return 'go';
  const isLimited = pause.because === 'throttled';
  // Readings may be behind what was lost as well.
  await settled(pause, repeating);
  // What happens between the look and the attempt is seen by nobody.
  if (isLimited && alone) await waitMore(pause, repeating);
  // It has settled by now.
  if (stop.aborted || !(await isUndone())) return lastLook(so, { ...repeating, settleMs: 0 });
  // Of many rows the looks alone would take what the limit lets through, and no write would ever go.
  if (isLimited && !alone) await waitMore(pause, repeating);
  if (stop.aborted) return so;
  return doubted && !(await isUsable()) ? tooOld(so) : 'undone';
}

/** Others may go on meanwhile: what settles is a matter of this write alone. */
async function settled({ ms }: Pause, { clock, stop, settleMs = 0 }: Repeating): Promise<void> {
  if (settleMs > ms) await rest(settleMs - ms, clock, stop);
}

async function waitMore({ ms, tokens }: Pause, { budget, stop, alone = true }: Repeating): Promise<void> {
  const { first, more } = FOR_LOOK_MS;
  budget.pauseAll(tokens === 0 ? Math.min(ms, first) : Math.max(ms, alone ? Math.min(3 * ms, more) : 0));
  await budget.untilAllowed(stop);
}

/** A write that was told to come later and is not sent again: it is done where its state shows it. */
async function lastLook(so: Repeated, { clock, stop, shown, isUndone, settleMs = 0 }: Repeating): Promise<Repeated> {
  const { verdict } = so;
  if (verdict.class !== 'throttled' || (isUndone === undefined && shown === undefined)) return so;
  const asked = verdict.error.facts.retryAfterMs ?? THROTTLE.baseMs;
  // Whoever looks now reads, and under the same limit.
  if (!stop.aborted) await rest(Math.max(settleMs, asked > LONGEST_WAIT_MS ? 0 : asked), clock, stop);
  const seen = await shown?.(verdict);
  return seen === undefined ? so : { ...so, verdict: seen };
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
  const message = `${verdict.error.message}; not asked again, because nothing shows that the service still knows the key`;
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
function createPatience({ budget, throttledAttempts, again, isUndone }: Repeating) {
  let [failed, throttled, all, seen] = [0, 0, 0, budget.passed()];
  const isRisky = again === 'never' && isUndone !== undefined;
  return {
    /** Undefined when there must be no further attempt. */
    after({ class: outcome }: Interpretation): Failures | undefined {
      if (outcome !== 'throttled') {
        failed += 1;
        return failed < ATTEMPTS ? { count: failed } : undefined;
      }
      all += 1;
      if (isRisky && all >= THROTTLED_ATTEMPTS) return undefined;
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
  { count, attempts }: Failures & { readonly attempts: number },
  { random, again }: Repeating,
): Pause | undefined {
  if (verdict.class === 'done' || verdict.class === 'unverified') return undefined;
  const { class: outcome } = verdict;
  const asked = verdict.error.facts.retryAfterMs ?? 0;
  const attempt = attempts + 1;
  // "In progress" tells of this key alone: where nobody knows that keys are honoured, sending again may do it again.
  if (outcome === 'in_progress' && again === 'never') return undefined;
  if (outcome === 'throttled' || outcome === 'in_progress') {
    if (asked > LONGEST_WAIT_MS) return undefined;
    const ms = Math.max(asked, backoff(THROTTLE.baseMs, count - 1, random));
    // The first time is told apart from the second: that the service lets others through is seen only while one waits.
    const free = outcome === 'throttled' && count === 1;
    return { ms, because: outcome, attempt, tokens: free ? 0 : THROTTLE.tokens };
  }
  const safe = outcome === 'ambiguous' ? again !== 'never' : verdict.again;
  if (!safe) return undefined;
  const hinted = outcome === 'read_failed' && asked <= LONGEST_WAIT_MS ? asked : 0;
  const ms = Math.max(hinted, backoff(NETWORK.baseMs, count - 1, random));
  return { ms, because: 'network', attempt, tokens: NETWORK.tokens };
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
  if (last.class === 'ambiguous' || last.class === 'in_progress') {
    if (last.said === doubt.said) return last;
    // What came last may say that nothing happened: of the first attempt it says nothing.
    const both = last.error.message.replace(last.said, () => `${doubt.said}; asked again: ${last.said}`);
    return { ...last, error: last.error.with({ message: both }) };
  }
  const message = `${doubt.error.message}; asked again: ${last.error.message}`;
  return { ...doubt, class: 'ambiguous', error: doubt.error.with({ message }), again: false };
}

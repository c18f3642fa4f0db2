/**
 * What to do with a row whose outcome is unknown: the table of RELIABILITY, sections 3 and 6, as one pure function.
 * The model search runs this very function against every interleaving of loss, delay, replay and crash.
 */
import { DAY, MINUTE } from '../durations.ts';
import type { Capability } from './capability.ts';

/** What of an operation can be looked for afterwards. */
export type Trace = 'marker' | 'state' | 'balances' | 'none';

export interface UnknownFacts {
  readonly trace: Trace;
  /** The key is known to be honoured, and is young. */
  readonly keyHonoured: boolean;
  /** Doing it twice is doing it once: freeze, terminate. */
  readonly freely: boolean;
  /** What is on the wire has had the time to arrive. */
  readonly settled: boolean;
  /** What was found by looking; undefined before the first look. */
  readonly found: 'it' | 'several' | 'nothing' | 'unclear' | undefined;
  /** The operator asked for it: `--resend-absent`. */
  readonly resendAbsent: boolean;
  /** This process has time to wait for the settling; a command that just failed has not. */
  readonly mayWait: boolean;
}

export type Step = 'look' | 'wait' | 'resend' | 'done' | 'duplicate' | 'leave';

/** One step; asked again with what it brought. Never a new key: that is for definite refusals alone. */
export function nextStep(facts: UnknownFacts): Step {
  const { trace, found } = facts;
  // Balances are evidence, not proof; an answer under an honoured key is both.
  if (trace === 'balances' && facts.keyHonoured) return 'resend';
  if (trace !== 'none' && found === undefined) return 'look';
  if (found === 'it') return trace === 'balances' ? 'leave' : 'done';
  if (found === 'several') return 'duplicate';
  if (facts.keyHonoured) return 'resend';
  if (facts.freely && found === 'nothing') return 'resend';
  if (trace === 'none' || found === 'unclear') return 'leave';
  if (!facts.settled) return facts.mayWait ? 'wait' : 'leave';
  return facts.resendAbsent ? 'resend' : 'leave';
}

const MAX_DRIFT_MS = MINUTE;

export interface Moment {
  /** ms UTC. */
  readonly now: number;
  /** How far the wall clock moved against the monotonic one since this process began, ms. */
  readonly drift: number;
}

/** Whether times in the journal may be reckoned with: a clock that jumped, or runs behind it, proves nothing. */
export function clockIsSane({ now, drift }: Moment, latestRecord: number): boolean {
  return Math.abs(drift) <= MAX_DRIFT_MS && now >= latestRecord;
}

export interface KeyAge extends Moment {
  /** When bytes with the key may have left first, ms UTC. */
  readonly sentAt: number;
  /** The latest time in the journal, ms UTC. */
  readonly latest: number;
}

/** Half of what the service keeps, or half a day: the key is surely remembered. */
export function keyIsYoung(capability: Capability, { sentAt, latest, ...moment }: KeyAge): boolean {
  if (capability.key !== 'honoured' || !clockIsSane(moment, Math.max(latest, sentAt))) return false;
  return moment.now - sentAt < Math.min(capability.ttl_ms ?? DAY, DAY) / 2;
}

/** Time after which nothing of a request can be on its way any more; a bound we chose, not one the service gives. */
export function settleMs(mode: 'sandbox' | 'test' | 'live', writeTotalMs: number): number {
  return mode === 'sandbox' ? 0 : Math.max(2 * writeTotalMs, 150_000);
}

/**
 * What to do with a row whose outcome is unknown: the table of docs/design/reliability.md, sections 3 and 6, as one
 * pure function. The model search runs this very function against every interleaving of loss, delay, replay and crash.
 */
import { KEY_TRUST } from '../../contract/spans.ts';
import { DAY, MINUTE } from '../../core/durations.ts';
import type { Capability } from '../idempotency-support.ts';

/** What of an operation can be looked for afterwards. */
export type Trace = 'marker' | 'state' | 'balances' | 'none';

export interface UnknownFacts {
  readonly trace: Trace;
  /** The key is known to be honoured, and is young. */
  readonly keyHonoured: boolean;
  /** How long keys are remembered is told by the service, and not only trusted in. */
  readonly lifeKnown: boolean;
  /** The latest look shows nothing, in the wallet of a single create neither, and readings have caught up since. */
  readonly isDenied: boolean;
  /** Doing it twice is doing it once: freeze, terminate. */
  readonly freely: boolean;
  /** What is on the wire has had the time to arrive. */
  readonly quiet: boolean;
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
  // Balances are evidence, not proof; an answer under a key that is surely remembered is both. Where that is only
  // trusted in, they are looked at first, and an effect that shows is never risked again.
  if (trace === 'balances' && facts.keyHonoured && facts.lifeKnown) return 'resend';
  if (trace !== 'none' && found === undefined) return 'look';
  if (found === 'it') return trace === 'balances' ? 'leave' : 'done';
  if (found === 'several') return 'duplicate';
  // A key that is only trusted in may be forgotten by now: then what is sent again is a second one.
  if (facts.keyHonoured && (facts.lifeKnown || facts.isDenied)) return 'resend';
  if (facts.freely && found === 'nothing') return 'resend';
  if (trace === 'none' || found === 'unclear') return 'leave';
  if (!facts.quiet) return facts.mayWait ? 'wait' : 'leave';
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
  /**
   * The clock of the service at that time and now, ms UTC; absent where it was not told then. `unknown`: it may have been
   * moved since, and that cannot be told.
   */
  readonly service?: { readonly sentAt: number; readonly now: number } | 'unknown' | undefined;
}

/**
 * How old a key may be, ms: the greater of what the wall clock, the monotonic clock and the clock of the service say.
 * Without end where one of them cannot be believed.
 */
function ageOf({ sentAt, latest, service, ...moment }: KeyAge): number {
  if (service === 'unknown' || !clockIsSane(moment, Math.max(latest, sentAt))) return Number.POSITIVE_INFINITY;
  // Where the monotonic clock went further than the wall clock, it counts.
  const here = moment.now - sentAt + Math.max(0, -moment.drift);
  if (service === undefined) return here;
  const there = service.now - service.sentAt;
  return there < -MAX_DRIFT_MS ? Number.POSITIVE_INFINITY : Math.max(here, there);
}

/** Half of what the service keeps, half a day at most; where that is not known, only minutes. */
function windowOf(capability: Capability): number {
  if (capability.key !== 'honoured' || capability.ttl_ms === null) return KEY_TRUST;
  return Math.min(capability.ttl_ms, DAY) / 2;
}

/** Whether a key is surely remembered, if the service remembers keys at all. */
export function keyIsFresh(capability: Capability, age: KeyAge): boolean {
  return ageOf(age) < windowOf(capability);
}

/** Whether the service is known to honour the key, and it is surely remembered. */
export function keyIsYoung(capability: Capability, age: KeyAge): boolean {
  return capability.key === 'honoured' && keyIsFresh(capability, age);
}

/** Whether such a key was remembered for longer by a probe, or its life is told: what is sent again under it is one. */
export function keyIsSure(capability: Capability, age: KeyAge): boolean {
  if (capability.key !== 'honoured') return false;
  return capability.ttl_ms !== null || ageOf(age) < (capability.proved_ms ?? 0);
}

/** Whether the service has told how long it remembers keys; else that is only trusted in. */
export function isLifeKnown(capability: Capability): boolean {
  return capability.key === 'honoured' && capability.ttl_ms !== null;
}

/** Time after which nothing of a request can be on its way any more; a bound we chose, not one the service gives. */
export function quietPeriodMs(mode: 'sandbox' | 'test' | 'live', writeTotalMs: number): number {
  return mode === 'sandbox' ? 0 : Math.max(2 * writeTotalMs, 150_000);
}

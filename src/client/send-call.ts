/** One request from its planned bytes to a settled outcome: attempts, waits, and reading back what was not shown. */
import { setMaxListeners } from 'node:events';
import type { Operation } from '../contract/operation.ts';
import type { Delivery, DeliveryPolicy, PlannedRequest, ReadOptions } from '../contract/service.ts';
import { KEY_TRUST, READ_LAG } from '../contract/spans.ts';
import { CliError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import type { RetryBudget } from './budget.ts';
import { checkRefusal, type RefusalCheck, type Refused } from './check-refusal.ts';
import type { RequestFacts } from './decode.ts';
import { isWrite } from './encode.ts';
import type { OutcomeClass } from './errors.ts';
import { isUndone } from './not-happened.ts';
import { confirmAnswer, confirmWrite, findEffect, isReadAfter } from './read-back.ts';
import type { ReadBackParts } from './readings.ts';
import { attempt, type Interpretation, type PageReading, type Wire } from './request.ts';
import { type Repeated, repeatWhileSafe, type Wait } from './retry.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Delivering {
  readonly budget: RetryBudget;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly timeoutMs: number | undefined;
  readonly onWait: ((wait: Wait) => void) | undefined;
  /** Sends a reading operation, for looking at what came of a write; `stop` cuts it off. */
  readonly read: (operation: string, input: Values, options: ReadOptions) => Promise<Values>;
  /** A reading may be behind the books of the service. */
  readonly mayLag: boolean;
  /** The same, cut off by these signals alone: a reading that belongs to a write in the air. */
  readonly readWithin: (
    operation: string,
    input: Values,
    signals: readonly (AbortSignal | undefined)[],
  ) => Promise<Values>;
}

export interface OutgoingCall {
  readonly asked: RequestFacts;
  readonly paging?: PageReading | undefined;
  readonly plan: PlannedRequest;
  readonly key: Secret;
  /** Cut off what is in the air. */
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly policy: DeliveryPolicy;
}

/** As `Delivery`, for reads too. */
export interface Delivered extends Omit<Delivery, 'class'> {
  readonly class: OutcomeClass;
  /** Lists: whether the service says that more follow. */
  readonly next?: boolean | undefined;
}

/** How often a refused reveal is asked for again: its limit is for a minute (§8). */
const DETAILS_ATTEMPTS = 2;

export async function sendCall(parcel: OutgoingCall, wire: Wire, delivering: Delivering): Promise<Delivered> {
  const { asked, paging, plan, key, signals, policy } = parcel;
  const { row } = asked.target;
  const { clock, random, budget, onWait, mayLag } = delivering;
  const stops = signals.length === 0 ? [policy.stop] : [...signals, policy.stop];
  const stop = anyOf(stops);
  const settling = (aside?: 'patient'): ReadBackParts => ({
    ...delivering,
    read: (operation, values) => delivering.read(operation, values, { signal: policy.stop, aside }),
    signal: stop,
  });
  const write = isWrite(row);
  const withKey = policy.keyHonoured && row.repeat === 'with-key' && plan.idempotencyKey !== undefined;
  const isUndone = write ? undoneBy(parcel, settling) : undefined;
  const attempted = { ...asked, paging, plan, key, signals };
  const repeated = await repeatWhileSafe(() => attempt(wire, attempted), {
    clock,
    random,
    budget,
    onWait,
    settleMs: write && mayLag ? READ_LAG : 0,
    alone: asked.evidence?.alone,
    stop,
    aside: policy.aside,
    again: row.repeat === 'freely' ? 'freely' : withKey ? 'with-key' : 'never',
    keySure: policy.keySure,
    isUndone,
    keyUsable: write && row.repeat !== 'freely' ? (policy.keyUsable ?? trustedFrom(clock)) : undefined,
    throttledAttempts: row.effect === 'reveals-secret' ? DETAILS_ATTEMPTS : undefined,
    shown: write && isReadable(row) ? last => shownByReading(asked, settling(), last) : undefined,
  });
  const { verdict } = repeated;
  if (verdict.class !== 'done') {
    const { find, resent = false } = policy;
    return concluded(repeated, { asked, isUndone, find, mayLag, resent, settling });
  }
  if (verdict.reread === true || !isReadAfter(asked)) return doneOf(repeated, verdict, isChange(asked));
  // Part of the write: what stops a run waits for it, as for the answer.
  const read: ReadBackParts['read'] = (operation, values) => delivering.readWithin(operation, values, signals);
  return confirmed(repeated, verdict, { asked, plan, settling: { ...settling(), read, signal: anyOf(signals) } });
}

/** Whether its effect can be read without knowing what was there before. */
function isReadable({ readBack, removesFrom }: Operation): boolean {
  return readBack !== undefined || removesFrom !== undefined;
}

/** A state is read here, whoever asks; everything else as the holder of the journal does, who has more to look for. */
function undoneBy({ asked, policy }: OutgoingCall, settling: (aside: 'patient') => ReadBackParts) {
  const { leadsTo, makes, transfer } = asked.target.row;
  const { before, wallet } = asked.evidence ?? {};
  if (leadsTo === undefined && policy.isUndone !== undefined) return policy.isUndone;
  const seen = transfer === undefined ? makes === 'card' && wallet : before;
  const looks = leadsTo !== undefined || makes === 'webhook' || (seen !== undefined && seen !== false);
  return looks ? () => isUndone(asked, settling('patient')) : undefined;
}

/** True for as long as a key is trusted in, by wall clock and monotonic clock; a wall clock that is set back ends it. */
function trustedFrom(clock: Clock): () => boolean {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  return () => {
    const passed = clock.now() - wall;
    return passed >= 0 && Math.max(passed, clock.monotonic() - monotonic) < KEY_TRUST;
  };
}

/** Written out, for a run of many rows comes here with every one of them. */
function doneOf(repeated: Repeated, verdict: Extract<Interpretation, { class: 'done' }>, changed = true) {
  const { attempts, sent, throttled, doubted, unlooked, resentOnCheck } = repeated;
  const { status, requestId, decoded, reread = false } = verdict;
  const { result, next } = decoded;
  const done: Delivered = {
    class: 'done',
    result,
    next,
    reread,
    changed,
    attempts,
    sent,
    throttled,
    doubted,
    unlooked,
    resentOnCheck,
    status,
    requestId,
  };
  return done;
}

/** The answer shows the effect; it is told when a reading shows it too. */
async function confirmed(
  repeated: Repeated,
  verdict: Extract<Interpretation, { class: 'done' }>,
  { asked, plan, settling }: Pick<OutgoingCall, 'asked' | 'plan'> & { readonly settling: ReadBackParts },
): Promise<Delivered> {
  const done = doneOf(repeated, verdict, isChange(asked));
  try {
    return { ...done, ...(await confirmAnswer(asked, verdict, settling)) };
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    const { idempotencyKey } = plan;
    return { ...done, class: 'unverified', error: thrown.with(idempotencyKey === undefined ? {} : { idempotencyKey }) };
  }
}

/** False for a change of state whose card was in the wanted state before: whatever was answered, nothing came of it. */
function isChange({ target, evidence }: RequestFacts): boolean {
  const { leadsTo } = target.row;
  return leadsTo === undefined || evidence?.was !== leadsTo.value;
}

/**
 * A state that is there after all: the lost answer said yes, as far as anybody can tell. One that was there before says
 * nothing against words of failure.
 */
async function shownByReading(
  asked: RequestFacts,
  settling: ReadBackParts,
  last: Interpretation,
): Promise<Interpretation | undefined> {
  const mayHaveBeen = !isChange(asked) || asked.target.row.removesFrom !== undefined;
  if (mayHaveBeen && saysItFailed(last)) return undefined;
  const resource = await findEffect(asked, settling);
  if (resource === undefined) return undefined;
  const decoded = { result: resource, problems: [], contradicts: false, warnings: [] };
  return { class: 'done', status: 200, requestId: undefined, decoded, reread: true };
}

/** Words of failure in a 2xx answer. */
function saysItFailed({ class: outcome, status = 0 }: Interpretation): boolean {
  return outcome === 'ambiguous' && status >= 200 && status < 300;
}

interface Concluding extends Pick<RefusalCheck, 'asked' | 'isUndone' | 'find' | 'mayLag'> {
  readonly resent: boolean;
  readonly settling: (aside?: 'patient') => ReadBackParts;
}

async function concluded(repeated: Repeated, { settling, resent, ...looking }: Concluding): Promise<Delivered> {
  const { asked } = looking;
  const { verdict, ...counted } = repeated;
  const { status, requestId } = verdict;
  const changed = isChange(asked);
  const known = { ...counted, status, requestId, changed, reread: false };
  switch (verdict.class) {
    case 'done':
      return doneOf(repeated, verdict, changed);
    case 'unverified':
      try {
        return { ...known, class: 'done', result: await confirmWrite(asked, verdict, settling()), reread: true };
      } catch (thrown) {
        if (!(thrown instanceof CliError)) throw thrown;
        return { ...known, class: 'unverified', result: verdict.partial, error: thrown };
      }
    case 'refused':
      return refused(verdict, known, { ...looking, resent, readBack: settling('patient') });
    case 'ambiguous': {
      const ambiguous: Delivered = { ...known, class: 'ambiguous', error: verdict.error, refusal: verdict.refusal };
      return (await shownLate(repeated, { ...looking, readBack: settling('patient') }, known)) ?? ambiguous;
    }
    default:
      return { ...known, class: verdict.class, error: verdict.error, refusal: verdict.refusal };
  }
}

/** The state that shows some time after our own resend was refused: the first attempt has brought it about. */
async function shownLate(
  { refusedAgain }: Repeated,
  check: Omit<RefusalCheck, 'refused' | 'isRepeated'>,
  known: Omit<Delivered, 'class'>,
): Promise<Delivered | undefined> {
  if (refusedAgain?.class !== 'refused' || check.asked.target.row.leadsTo === undefined) return undefined;
  const checked = await checkRefusal({ ...check, refused: refusedAgain, isRepeated: true });
  return 'shown' in checked ? { ...known, class: 'done', result: checked.shown, reread: true } : undefined;
}

/** What a refusal amounts to; `unlooked` is about the attempts before it. */
async function refused(
  interpretation: Refused,
  { unlooked, ...known }: Omit<Delivered, 'class'>,
  { resent, ...check }: Omit<RefusalCheck, 'refused' | 'isRepeated'> & Pick<Concluding, 'resent'>,
): Promise<Delivered> {
  const { error, refusal, rule } = interpretation;
  const delivered = { ...known, unlooked, class: 'refused', error, refusal, weight: rule?.weight } as const;
  const { evidence, target } = check.asked;
  // Without evidence the caller looks at the effect himself. He has the journal too, by which he decides about bytes that
  // were sent before; a state is read here.
  if (evidence === undefined || (resent && target.row.leadsTo === undefined)) return delivered;
  const checked = await checkRefusal({ ...check, refused: interpretation, isRepeated: unlooked || resent });
  if ('shown' in checked) {
    // The service says that this request has changed nothing.
    const changed = known.changed && known.doubted;
    return { ...known, unlooked, class: 'done', result: checked.shown, changed, reread: true };
  }
  if ('ambiguous' in checked && !resent) return { ...delivered, class: 'ambiguous', error: checked.ambiguous };
  return { ...delivered, unlooked: false };
}

/** The delivery of a write; a class that only reads can have is a bug in the table. */
export function asDelivery(delivered: Delivered): Delivery {
  const { class: outcome } = delivered;
  if (outcome !== 'read_failed' && outcome !== 'unreadable') return delivered as Delivery;
  throw new CliError('internal', { message: 'a read was delivered as a write', ...delivered.error?.facts });
}

/** There is no key, or no way to the service that could be tried. */
export function undeliverable(error: CliError): Delivery {
  const none = {
    sent: false,
    attempts: 0,
    throttled: false,
    doubted: false,
    unlooked: false,
    resentOnCheck: false,
    changed: false,
    reread: false,
  };
  return { ...none, class: 'not_sent', error: error.with({ outcome: 'not_sent' }) };
}

const combinations = new WeakMap<AbortSignal, WeakMap<AbortSignal, AbortSignal>>();

/** Every worker of a run may wait under one signal at the same time; Node takes more than ten for a leak. */
function manyListeners(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}

/** One signal for several; mostly they are the same one, and the same two come with every request. */
function anyOf(signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  const [first, second] = signals;
  if (signals.length === 2 && first !== undefined && second !== undefined && first !== second)
    return bothOf(first, second);
  const distinct = [...new Set(signals)].filter(signal => signal !== undefined);
  const [one, other] = distinct;
  if (one !== undefined && other === undefined) return one;
  if (one === undefined || other === undefined || distinct.length > 2) return AbortSignal.any(distinct);
  return bothOf(one, other);
}

function bothOf(one: AbortSignal, other: AbortSignal): AbortSignal {
  const known = combinations.get(one) ?? new WeakMap<AbortSignal, AbortSignal>();
  combinations.set(one, known);
  const combined = known.get(other) ?? manyListeners(AbortSignal.any([one, other]));
  known.set(other, combined);
  return combined;
}

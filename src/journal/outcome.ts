/**
 * From evidence to an outcome: the only place that decides to look, to wait or to send again.
 *
 * | the answer to a change | first sending | after an ambiguous one |
 * |---|---|---|
 * | 2xx that shows the effect | read once; agrees: done. Else look | the same |
 * | no byte left | again, 4 sendings in all; then not sent (12) | unknown |
 * | 429 | wait as told (75 s in all), look; not there: again under the same key; at last 7 | look; else unknown |
 * | 4xx in the form of the service | look, creates of a file at the end of their run; not there: refused; else unknown. Read once where what was read before explains it | look; else unknown |
 * | anything else, silence included | look; a key that is honoured and young: again under it, twice at most; else unknown (11) | the same |
 *
 * A look says `there`, `not there` or `cannot tell`, and `cannot tell` is unknown. What a reading has spoken for once is never
 * `not there` again. Nothing is sent again before a look. Changes that may be repeated freely (a state) are sent again without a key
 * that is honoured. `sent` is durable before a byte leaves, the outcome before anybody reads it (docs/design/reliability.md). What no
 * journal keeps goes through it too (`direct.ts`).
 */
import { type Evidence, isExplained, isExplainedByBin, notMadeNow, otherThanAnswered } from '../contract/evidence.ts';
import { REFUSALS } from '../contract/refusals.ts';
import type { Attempt } from '../contract/service.ts';
import { READ_LAG, RESEND_PAUSE } from '../contract/spans.ts';
import { SECOND } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, centsOf, dollars } from '../core/money.ts';
import { between, rest } from '../platform/time.ts';
import { holdCard, markSent, releaseCard, type Settling, settle } from './changes.ts';
import {
  addedLately,
  failedReading,
  isOwnMarker,
  isThere,
  look,
  lookOnce,
  otherwise,
  readBefore,
  showsAll,
  speaksFor,
  UNLISTED,
} from './look.ts';
import { attemptKey, MARKER_KEY } from './names.ts';
import { type Change, isRefused, isUncompared, keptError, type Look } from './records.ts';
import type { RowOutcome } from './types.ts';
import { doneOtherwise, factsOf, named, recordedOutcome, unknownError } from './words.ts';
import { isKeyUsable, rowOf, timeOf, type Work } from './work.ts';

type Values = Readonly<Record<string, unknown>>;

const MOST_UNSENT = 4;
const MOST_RESENT = 2;
const MOST_REPEATED = 3;
const MOST_CHAINED = 5;
const THROTTLE_MS = 75 * SECOND;

/** Takes one change to an outcome. A change must not be executed twice at once. */
export async function executeChange(work: Work, change: Change): Promise<RowOutcome> {
  if (['done', 'refused', 'not_sent'].includes(change.state)) return recorded(work, change);
  if (work.lookOnly) return onlyLook(work, change);
  // The end of this run compares it.
  if (isUncompared(change)) return recorded(work, { ...change, state: 'refused' });
  try {
    return await execute(work, change);
  } catch (thrown) {
    // Whether the journal took what came of it is not known: it counts as sent until a resume has looked.
    if (!(thrown instanceof CliError) || change.state === 'planned') throw thrown;
    change.state = 'sent';
    change.evidence = { ...change.evidence, reason: `it could not be written down: ${thrown.message}` };
    const error = unknownError(work.op, change, undefined).with({ reason: thrown.facts.reason ?? 'journal' });
    return { ...factsOf(change), outcome: 'unknown', error, stops: true };
  }
}

/** What one command has seen of a change so far. */
interface Sending {
  /** An answer may have been lost: from then on no refusal is believed alone. */
  isAmbiguous: boolean;
  /** Attempts of which no byte left, answers 429 and the pauses behind them, and sendings behind a look that found nothing. */
  unsent: number;
  throttled: number;
  throttledMs: number;
  repeated: number;
  attempt?: Attempt | undefined;
  seen?: Look | undefined;
}

async function execute(work: Work, change: Change): Promise<RowOutcome> {
  // A change that was sent before, and whose answer was lost, is looked for first.
  const isAmbiguous = change.state !== 'planned';
  const settled = isAmbiguous ? undefined : await begin(work, change);
  if (settled !== undefined) return settled;
  const sending: Sending = { isAmbiguous, unsent: 0, throttled: 0, throttledMs: 0, repeated: 0 };
  for (let next: Next = isAmbiguous ? 'look' : 'send'; ; ) {
    if (next === 'send') {
      const attempt = await send(work, change);
      if ('outcome' in attempt) return attempt;
      sending.attempt = attempt;
      next = await judge(work, change, attempt, sending);
    } else next = await lookAndDecide(work, change, sending);
    if (typeof next === 'object') return sending.throttled > 0 ? { ...next, throttled: true } : next;
  }
}

type Next = 'send' | 'look' | RowOutcome;

/** The table above, a case a row. */
async function judge(work: Work, change: Change, attempt: Attempt, sending: Sending): Promise<Next> {
  const { isAmbiguous } = sending;
  switch (attempt.class) {
    case 'done': {
      const why = await denied(work, change, attempt);
      if (why === undefined)
        return done(work, change, { attempt, isHidden: hasSharedMarker(change) && work.markers.isHidden });
      sending.isAmbiguous = true;
      note(change, attempt, `the answer shows the effect, but ${why}`);
      return 'look';
    }
    case 'not_sent': {
      if (isAmbiguous) return unknown(work, change, sending.seen);
      sending.unsent += 1;
      const isWorthIt = attempt.error?.kind === 'unreachable' && sending.unsent < MOST_UNSENT;
      const pause = () => between(work.random, 250 * 2 ** sending.unsent, 500 * 2 ** sending.unsent);
      if (isWorthIt && (await rest(pause(), work.clock, work.stop))) return 'send';
      return notSent(work, change, attempt.error);
    }
    case 'throttled': {
      note(change, attempt, attempt.error?.message ?? 'it was answered 429');
      // Longer each time, for a service that names one second may mean many; and until readings have caught up.
      const lag = work.exact ? 0 : READ_LAG;
      const pause = Math.max(attempt.retryAfterMs ?? 0, SECOND * 2 ** sending.throttled, lag);
      sending.throttledMs += pause;
      sending.throttled += 1;
      const isOver = isAmbiguous || sending.throttledMs > THROTTLE_MS || !(await rest(pause, work.clock, work.stop));
      const seen = isOver ? await look(work, change) : await lookOnce(work, change);
      sending.seen = seen;
      if (isThere(seen)) return done(work, change, { seen });
      if (isAmbiguous || seen.found !== 'not there') return unknown(work, change, seen);
      if (isOver || !isTraceable(change)) return notSent(work, change, attempt.error);
      countResent(change);
      return 'send';
    }
    case 'refused':
      return judgeRefusal(work, change, attempt, sending);
    case 'ambiguous':
      // The answer is lost, or proves nothing.
      sending.isAmbiguous = true;
      note(change, attempt, attempt.why ?? 'the answer proves nothing');
      return 'look';
  }
}

/** The fourth row of the table: a refusal is believed where nothing speaks for the change. */
async function judgeRefusal(work: Work, change: Change, attempt: Attempt, sending: Sending): Promise<Next> {
  const { isAmbiguous } = sending;
  // What was answered 429 before may be what it is refused for now.
  const isFirstAnswer = !isAmbiguous && attempt.plausible !== true && sending.throttled === 0;
  // Creates of a file are compared with the list of cards at the end of their run.
  // A state that was there before: this request changed nothing.
  if (isFirstAnswer && (isOfList(work, change) || wasAsWanted(change))) return refused(work, change, attempt);
  const isAtOnce = isFirstAnswer && (await wasExplained(work, change, attempt));
  const seen = isAtOnce ? await lookOnce(work, change) : await look(work, change);
  sending.seen = seen;
  const isFor = speaksFor(seen, change);
  // A key of the caller's may have been used by another command for the same change.
  const isAbsent = isFirstAnswer
    ? seen.letsRefusalStand === true && !isFor
    : !isAmbiguous && !isKeyOfOthers(work, change) && seen.found === 'not there';
  const mayTryNextKey = (!isAmbiguous || work.resendAbsent) && isNextInChain(work, change, attempt, seen);
  if (isAbsent || mayTryNextKey) return refused(work, change, attempt);
  const why = isFor ? 'a reading shows that something moved' : 'no whole reading speaks against it';
  if (!isAmbiguous) note(change, attempt, `${attempt.error?.message ?? 'it was refused'}, but ${why}`);
  // The marker proves a card, a state is as it was wanted, and what is not found is gone; all else may be the work of others.
  const { makes, leadsTo, removesFrom } = rowOf(change.operation);
  const isGone = removesFrom !== undefined && attempt.refusal === 'not_found';
  const isOurs = makes !== undefined || leadsTo !== undefined || isGone;
  const isProved = isThere(seen) && (!isFirstAnswer || isOurs);
  return isProved ? done(work, change, { seen }) : unknown(work, change, seen);
}

/** A lost answer, and one that is not believed: there is done, not there may be sent again, and all else is unknown. */
async function lookAndDecide(work: Work, change: Change, sending: Sending): Promise<Next> {
  const { attempt } = sending;
  // With --resend-absent it waits until nothing that was sent before can still arrive.
  const left = work.resendAbsent ? quietLeft(work, [change]) : 0;
  if (left > 0) await rest(left, work.clock, work.stop);
  // In all commands together: each of them may have been done.
  const isByKey = await mayResendByKey(work, change);
  const seen = await look(work, change, isByKey ? [RESEND_PAUSE] : []);
  sending.seen = seen;
  if (isThere(seen)) return done(work, change, { seen, attempt });
  const isAbsent = seen.found === 'not there' && attempt?.class !== 'done' && !work.stop.aborted;
  const isFree = rowOf(change.operation).repeat === 'freely' && sending.repeated < MOST_REPEATED;
  const isWanted = work.resendAbsent && sending.repeated === 0 && showsAll(seen, change);
  if (!isAbsent || !isTraceable(change) || !(isFree || isByKey || isWanted)) return unknown(work, change, seen);
  sending.repeated += 1;
  countResent(change);
  return 'send';
}

/** Under a key that is known to be honoured and young, and twice at most, whoever has sent it. */
async function mayResendByKey(work: Work, change: Change): Promise<boolean> {
  return (await isKeyUsable(work, change)) && (change.evidence.resent ?? 0) < MOST_RESENT;
}

/** What was seen before it says nothing of what is sent now. */
function countResent(change: Change): void {
  const { resent = 0 } = change.evidence;
  change.evidence = { ...change.evidence, resent: resent + 1, seen: undefined, absent: undefined, lookedAt: undefined };
}

/** Whether the readings before a change explain its refusal: then one reading more is enough. */
async function wasExplained(work: Work, change: Change, { refusal }: Attempt): Promise<boolean> {
  const { operation, input, amount, before, card } = change;
  const row = rowOf(operation);
  try {
    if (operation === 'cards.create' && (refusal === 'bin_not_found' || refusal === 'invalid_request')) {
      const { data } = await work.reader.read('bins.list', {});
      const bin = data.find(({ id }) => id === input['bin_id']);
      return isExplainedByBin(refusal, input['spending_limit'] as number | undefined, bin);
    }
    // Of a card that is not there nothing could be read.
    const isOfCard = row.transfer === 'to-wallet' || refusal === 'not_found';
    const isMissing = refusal === 'not_found' && before === undefined && (row.transfer ?? row.readBack) !== undefined;
    // A card stays terminated; a balance may be behind what this journal has added, and a card that it has made.
    const added = refusal === 'card_terminated' ? 0 : await addedLately(work, isOfCard ? (card ?? '') : undefined);
    return isMissing ? added === 0 : isExplained(refusal, row, amount - added, before);
  } catch (thrown) {
    failedReading(thrown);
    return false;
  }
}

/** A refusal of an earlier command under another key: what was done in spite of it is not done again. */
async function lookForRefused(work: Work, change: Change): Promise<RowOutcome | undefined> {
  // Readings are behind for so long at most.
  const isOld = (await timeOf(work)) - (change.decidedAt ?? 0) > READ_LAG;
  const seen = isOld ? await lookOnce(work, change) : await look(work, change);
  if (isThere(seen)) return done(work, change, { seen });
  if (seen.found === 'cannot tell') return unknown(work, change, seen);
  change.before = undefined;
  return undefined;
}

function wasAsWanted({ operation, before }: Change): boolean {
  return before?.status !== undefined && before.status === (rowOf(operation).leadsTo?.value ?? UNLISTED);
}

/** An earlier command has sent it and was refused, and something tells whether it was done. */
function wasRefused(change: Change): boolean {
  return isRefused(change) && (change.marker !== undefined || change.before !== undefined);
}

/** What comes before the first sending: the card is held, and what is evidence is read. An outcome where it must not be sent. */
async function begin(work: Work, change: Change): Promise<RowOutcome | undefined> {
  if (work.stop.aborted) return stopped(work, change);
  const settled = wasRefused(change) ? await lookForRefused(work, change) : undefined;
  if (settled !== undefined) return settled;
  if (work.markers.isHidden && hasSharedMarker(change)) {
    const message = 'a card of this run does not show its marker; no further card is made';
    return notSent(work, change, new CliError('contract_mismatch', { message }));
  }
  const isTransfer = rowOf(change.operation).transfer !== undefined;
  try {
    const at = isTransfer ? await holdCard(work, change, ms => work.clock.sleep(ms, work.stop)) : work.op.created;
    const before = await readBefore(work, change, at);
    const missed = before?.card === undefined ? undefined : missesAim(change, cents(before.card));
    if (missed !== undefined) {
      await settle(work, change, { state: 'refused', evidence: {}, error: keptError(missed) });
      return { ...factsOf(change), outcome: 'refused', error: named(change, missed) };
    }
    change.before = before;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    if (isTransfer) await releaseCard(work, change.n).catch(() => undefined);
    if (work.stop.aborted) return stopped(work, change);
    if (thrown.facts.reason === 'taken_over') throw thrown;
    return notSent(work, change, thrown);
  }
  // A marker that follows from an intention may be on a card that another machine has made.
  if (hasSharedMarker(change) && work.resumed) {
    const seen = await lookOnce(work, change);
    if (isThere(seen)) return done(work, change, { seen });
  }
  return undefined;
}

/** Durable first, then once over the wire. An outcome where it must not leave. */
async function send(work: Work, change: Change): Promise<Attempt | RowOutcome> {
  if (work.stop.aborted) return change.state === 'planned' ? stopped(work, change) : unknown(work, change, undefined);
  await markSent(work, change);
  const { operation, request, key, input } = change;
  const planned = { operation, ...request, idempotencyKey: key };
  const evidence = evidenceOf(work, change);
  // The time at which the books take it where its answer is lost; a card tells its own.
  if (operation !== 'cards.create') change.evidence = { ...change.evidence, serviceAt: work.serviceNow() };
  return work.service.attempt(planned, input, { evidence, keyOfCaller: isKeyOfOthers(work, change), signal: work.cut });
}

/**
 * A key of a chain was used with other bytes and the list does not show the card: the next key is tried. The list must never be
 * behind, or a person has said that what it does not show is not there.
 */
function isNextInChain(
  { exact, resendAbsent }: Work,
  { facts, operation }: Change,
  { refusal }: Attempt,
  { found }: Look,
): boolean {
  const isKeyReused = refusal === 'idempotency_key_reused' && facts.keyChain !== undefined;
  return isKeyReused && (exact || resendAbsent) && operation === 'cards.create' && found === 'not there';
}

/** Somebody else may have sent its key before: it is the caller's, or follows from an intention. */
function isKeyOfOthers({ op }: Work, { key, facts }: Change): boolean {
  return facts.keyChain !== undefined || (op.givenKey !== undefined && !op.bulk && key === op.givenKey);
}

function evidenceOf({ op, alone, clock }: Work, { operation, before, marker, n, lastSentAt }: Change): Evidence {
  const mark = marker === undefined ? undefined : { key: MARKER_KEY, value: marker };
  return {
    ...(before?.card !== undefined && {
      before: {
        card: cents(before.card),
        ...(before.wallet !== undefined && { wallet: cents(before.wallet) }),
        ...(before.last4 !== undefined && { last4: before.last4 }),
      },
    }),
    ...(before?.status !== undefined && { was: before.status }),
    alone,
    // By the clock of this machine, against which the answer tells the time of the service.
    plannedAt: clock.now() - ((lastSentAt ?? op.created) - op.created),
    ...(operation === 'cards.create' && mark !== undefined && { mark }),
    ownKey: op.givenKey === undefined || n > 1,
  };
}

/** Reads once what a success has changed; why it is not believed, undefined where the reading agrees. */
async function denied(work: Work, change: Change, { result, evidence }: Attempt): Promise<string | undefined> {
  const { operation } = change;
  const answer = (result ?? {}) as Values;
  if (operation === 'cards.create') {
    // Cards of a run of many are all compared with the list at its end.
    if (isOfList(work, change) && !hasSharedMarker(change)) return undefined;
    const id = answer['id'];
    try {
      const card = await work.reader.read('cards.get', { card_id: String(id) });
      const judged = evidence ?? evidenceOf(work, change);
      const why = notMadeNow(card, judged) ?? otherThanAnswered(card, answer);
      if (why !== undefined) return `a read of its id shows another card: ${why}`;
      // An answer may repeat what was asked, and a reading show nothing of it.
      work.markers.isHidden ||= hasSharedMarker(change) && card.metadata?.[MARKER_KEY] !== change.marker;
      return undefined;
    } catch (thrown) {
      return `reading it back: ${failedReading(thrown).message}`;
    }
  }
  const row = rowOf(operation);
  if ((row.transfer ?? row.readBack ?? row.removesFrom) === undefined) return undefined;
  const seen = await lookOnce(work, change);
  if (seen.found !== 'there') return `a reading does not: ${seen.text}`;
  const { card_balance: card, wallet_balance: wallet } = (seen.result ?? {}) as Values;
  if (row.transfer !== undefined)
    Object.assign(answer, { card_balance: card, ...(wallet !== undefined && { wallet_balance: wallet }) });
  return undefined;
}

/** The end of its run compares it with the list of cards. */
const isOfList = ({ alone }: Work, { operation }: Change) => operation === 'cards.create' && !alone;

/** Its marker follows from an intention: other machines make cards with it too. */
const hasSharedMarker = (change: Change) => change.marker !== undefined && !isOwnMarker(change);

/** A created card that could not be told from another must not be made twice, whatever the key is worth. */
const isTraceable = ({ operation, marker }: Change) => operation !== 'cards.create' || marker !== undefined;

/** Why no answer could be trusted; kept with the outcome. Silence takes no answer away. */
function note(change: Change, { requestId, status, made }: Attempt, reason: string): void {
  if (status === undefined && change.evidence.status !== undefined) return;
  change.evidence = {
    ...change.evidence,
    reason,
    ...(requestId !== undefined && { requestId }),
    ...(status !== undefined && { status }),
    ...(made !== undefined && { made }),
  };
}

interface Shown {
  readonly isHidden?: boolean;
  readonly attempt?: Attempt | undefined;
  readonly seen?: Look | undefined;
}

async function done(work: Work, change: Change, { attempt, seen, isHidden = false }: Shown): Promise<RowOutcome> {
  const { transfer, leadsTo } = rowOf(change.operation);
  const isAnswered = attempt?.class === 'done' && seen === undefined;
  const result = (isAnswered ? attempt.result : (seen?.result ?? seen?.cards?.[0])) as Values | undefined;
  const cards = seen?.found === 'several' ? (seen.cards ?? []) : [];
  const duplicate = cards.length > 1 ? oldestFirst(cards) : undefined;
  const id = result?.['id'];
  const isMade = change.operation === 'cards.create' && typeof id === 'string';
  // What was spent of a card, or changed, since an earlier command says nothing.
  const isMadeByOthers = hasSharedMarker(change);
  const isNew = isMadeByOthers || (!work.resumed && change.evidence.made !== undefined);
  const unlike = isMade && seen !== undefined ? otherwise(result ?? {}, change, isNew) : [];
  const balance = transfer === undefined ? result?.['balance'] : result?.['card_balance'];
  const changed = leadsTo === undefined || change.before?.status !== leadsTo.value;
  const last4 = typeof result?.['last4'] === 'string' ? (result['last4'] as string) : change.before?.last4;
  const requestId = attempt?.requestId ?? change.evidence.requestId;
  const settling: Settling = {
    state: 'done',
    card: duplicate?.[0] ?? (isMade ? id : undefined),
    last4,
    madeAt: Date.parse(String(result?.['created_at'] ?? '')),
    evidence: {
      // Without a marker the answer alone says which card it is, and another change may have made that one.
      via: isAnswered || (isMade && change.marker === undefined) ? 'answer' : 'look',
      changed,
      ...(isHidden && { unmarked: true }),
      serviceAt: isAnswered ? work.serviceNow() : change.evidence.serviceAt,
      ...(change.evidence.resent !== undefined && { resent: change.evidence.resent }),
      ...(requestId !== undefined && { requestId }),
      ...(seen !== undefined && lookedAt(work, change, seen)),
      ...(duplicate !== undefined && { duplicate }),
      ...(unlike.length > 0 && {
        otherwise: `${String(id)} was made by ${isMadeByOthers ? 'another apply' : 'this operation (it carries its marker)'}, but ${unlike.join('; ')}`,
        ...(isMadeByOthers && typeof balance === 'number' && { amount: centsOf(balance) }),
      }),
      ...(typeof balance === 'number' && { balance: centsOf(balance) }),
    },
  };
  const other = await settle(work, change, settling);
  if (other !== undefined) {
    const whose =
      other.op === change.op
        ? `row ${other.n} was answered with`
        : `row ${other.n} of ${other.op} has made: it is no new one`;
    const why = `the answer names the card ${String(id)}, which ${whose}`;
    note(change, attempt ?? { class: 'ambiguous' }, why);
    return unknown(work, change, { found: 'cannot tell', text: why });
  }
  const outcome = { ...recorded(work, change), changed, reread: !isAnswered, ...(result !== undefined && { result }) };
  if (!isHidden) return outcome;
  const message = `${change.card} was made and does not show its marker; no further card is made`;
  return { ...outcome, error: doneOtherwise(change, message), stops: true };
}

function lookedAt({ clock }: Work, { evidence: { looks = 0 } }: Change, { text }: Look) {
  return { seen: text, lookedAt: clock.now(), looks: looks + 1 };
}

function oldestFirst(cards: readonly Values[]): readonly string[] {
  const age = (card: Values) => String(card['created_at'] ?? '');
  return [...cards].sort((one, other) => (age(one) < age(other) ? -1 : 1)).map(card => String(card['id']));
}

async function refused(work: Work, change: Change, attempt: Attempt): Promise<RowOutcome> {
  const error = attempt.error ?? new CliError('refused', { message: `${change.operation} was refused` });
  const refusal = attempt.refusal === undefined ? undefined : REFUSALS[attempt.refusal];
  const isKept = refusal !== undefined && 'storedForKey' in refusal;
  const evidence = { ...change.evidence, requestId: attempt.requestId, status: attempt.status };
  // The wallet may hold enough when the run is resumed; some services keep a refusal under its key, so that goes under another.
  const isOpen = work.op.bulk && error.kind === 'insufficient_funds';
  const { keyChain: chain } = change.facts;
  const nextKey = attemptKey(work.op.id, { row: change.n, chain }, change.attempts + 1);
  const isKeyReused = attempt.refusal === 'idempotency_key_reused';
  const mayGoOn =
    (isKept || isKeyReused) && chain !== undefined && change.attempts < MOST_CHAINED && !work.stop.aborted;
  const isCompared = isOfList(work, change);
  const reason = `${error.message}; it was not compared with the cards that are there`;
  await settle(work, change, {
    state: isOpen || mayGoOn ? 'planned' : isCompared ? 'unknown' : 'refused',
    evidence: isCompared ? { ...evidence, reason } : evidence,
    error: keptError(error),
    ...((isOpen || mayGoOn) && change.key !== undefined && { nextKey }),
  });
  // A key that follows from an intention may hold the refusal of an earlier apply.
  if (mayGoOn && (await coversAmount(work, change))) return execute(work, change);
  return {
    ...factsOf(change),
    outcome: 'refused',
    error: named(change, error.with({ outcome: 'refused' })),
    ...(error.kind === 'not_authenticated' && { stops: true }),
  };
}

/** Whether the wallet that was too low covers a change by now; true for another refusal. */
async function coversAmount({ reader }: Work, { error, amount }: Change): Promise<boolean> {
  if (error?.kind !== 'insufficient_funds') return true;
  try {
    return (centsOf((await reader.read('wallet.get', {})).balance) ?? 0) >= amount;
  } catch (thrown) {
    failedReading(thrown);
    return false;
  }
}

const neverLeft = ({ operation }: Change) => new CliError('unreachable', { message: `${operation} was not sent` });

const STOPPING: readonly string[] = ['not_authenticated', 'usage', 'contract_mismatch', 'rate_limited'];

/** Nothing of it was done. In a run of many it stays open for a resume. */
async function notSent(work: Work, change: Change, thrown: CliError | undefined): Promise<RowOutcome> {
  const given = thrown ?? neverLeft(change);
  const isLimited = given.kind === 'rate_limited';
  const error = isLimited ? given : given.with({ outcome: 'not_sent' });
  const state = work.op.bulk ? 'planned' : 'not_sent';
  await settle(work, change, { state, evidence: {}, error: keptError(error) });
  return {
    ...factsOf(change),
    outcome: 'not_sent',
    error: named(change, error),
    ...(STOPPING.includes(error.kind) && { stops: true }),
  };
}

/** Nothing of it was sent. A run of many keeps it for a resume; a single one is over, and may be typed again. */
async function stopped(work: Work, change: Change): Promise<RowOutcome> {
  const reason: unknown = work.stop.reason;
  const known = reason instanceof CliError ? reason : neverLeft(change);
  const error = known.with({ outcome: 'not_sent' });
  if (!work.op.bulk) await settle(work, change, { state: 'not_sent', evidence: {}, error: keptError(error) });
  else if (rowOf(change.operation).transfer !== undefined) await releaseCard(work, change.n);
  return { ...factsOf(change), outcome: 'not_sent', error: named(change, error), stops: true };
}

async function unknown(work: Work, change: Change, seen: Look | undefined): Promise<RowOutcome> {
  const isKept = seen === undefined || (seen.isUnread === true && change.evidence.seen !== undefined);
  await settle(work, change, {
    state: 'unknown',
    evidence: {
      ...change.evidence,
      ...(!isKept && { ...lookedAt(work, change, seen), absent: seen.found === 'not there' }),
    },
  });
  return leftUnknown(work, change, seen);
}

async function leftUnknown(work: Work, change: Change, seen: Look | undefined): Promise<RowOutcome> {
  const isLooked = (work.resumed || work.lookOnly) && seen !== undefined;
  const isAbsent = isLooked && showsAll(seen, change) && !work.resendAbsent && isTraceable(change);
  const isKeyHonoured = await isKeyUsable(work, change);
  const error = unknownError(work.op, change, seen, { isLooked, isAbsent, isKeyHonoured });
  return {
    ...factsOf(change),
    outcome: 'unknown',
    error,
    ...(isLooked && { next: 'decide' as const }),
    ...(isAbsent && { absent: true, keyHonoured: isKeyHonoured }),
  };
}

/** For dry runs: what a resume would do with it. */
async function onlyLook(work: Work, change: Change): Promise<RowOutcome> {
  const isUnsent = change.state === 'planned';
  const unsent = { ...factsOf(change), outcome: 'not_sent', next: 'send' } as const;
  if (isUnsent && !wasRefused(change)) return unsent;
  const seen = await look(work, change);
  if (isThere(seen)) {
    const result = seen.result ?? seen.cards?.[0];
    const id = result?.['id'];
    return {
      ...factsOf(change),
      outcome: 'done',
      reread: true,
      ...(result !== undefined && { result }),
      ...(typeof id === 'string' && { cardId: id }),
    };
  }
  if (isUnsent && seen.found === 'not there') return unsent;
  if (isUncompared(change))
    return { ...factsOf(change), outcome: 'unknown', error: unknownError(work.op, change, seen), next: 'look' };
  const left = await leftUnknown(work, change, seen);
  const mayResend =
    seen.found === 'not there' &&
    ((await mayResendByKey(work, change)) ||
      rowOf(change.operation).repeat === 'freely' ||
      (work.resendAbsent && showsAll(seen, change)));
  return mayResend && isTraceable(change) ? { ...left, next: 'send_again', absent: undefined } : left;
}

function recorded(work: Work, change: Change): RowOutcome {
  const outcome = recordedOutcome(change, work.op);
  if (outcome === undefined) throw new CliError('internal', { message: `row ${change.n} has no outcome` });
  return outcome;
}

/** How long this command still waits until nothing that was sent can be on its way, ms. From its own beginning: clocks are set. */
export function quietLeft({ quietMs, begunAt, clock }: Work, changes: readonly Change[]): number {
  const isOpen = changes.some(({ state }) => state === 'sent' || state === 'unknown');
  return isOpen ? Math.max(0, begunAt + quietMs - clock.monotonic()) : 0;
}

/** Why a change that brings a card to a balance must not be sent any more. */
function missesAim({ facts: { aim }, operation, amount, card }: Change, balance: Cents): CliError | undefined {
  if (aim === undefined) return undefined;
  const isFund = operation === 'cards.fund';
  if (isFund ? balance + amount <= aim : balance - amount >= aim) return undefined;
  const [moved, side] = isFund ? ['more', 'above'] : ['less', 'below'];
  return new CliError('guarded', {
    message: `${card} has changed since it was chosen: it has ${dollars(balance)}, and ${dollars(cents(amount))} ${moved} would be ${side} ${dollars(aim)}`,
    notes: ['Run the command again for what is still needed.'],
    outcome: 'not_sent',
  });
}

/** One row to its outcome, step by step (docs/design/reliability.md, section 6, "Steps of a row"). */
import type { Evidence } from '../../contract/evidence.ts';
import type { Delivery, PlannedRequest } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { cents } from '../../core/money.ts';
import type { RowOutcome } from '../row-outcome.ts';
import type { Balances } from '../types.ts';
import { attemptKey } from '../wal/op-id.ts';
import type { ItemRecord, SentRecord } from '../wal/records.ts';
import { mayBePerformed, type RowHistory } from '../wal/replay.ts';
import { OutdatedFacts } from '../wal/writer.ts';
import { missesAim } from './aim.ts';
import { recordAmbiguousAgain, recordAnswer, recordRefusedAndDone } from './answer.ts';
import { textOf } from './done-record.ts';
import { balancesOf, cardNow, traceOf } from './evidence.ts';
import { isMadeAlready, mayTryNextKey, recordMadeAlready, unmarked } from './fleet-row.ts';
import { MARKER_KEY, rowMarker } from './marker.ts';
import { factsOf, recordedOutcome } from './outcome.ts';
import { isLifeKnown } from './policy.ts';
import { isQuiet } from './quiet.ts';
import { reconcile } from './reconcile.ts';
import { checkAfter, checkAfterLimit, isKeyOfCaller } from './refusal.ts';
import type { RunContext } from './run-context.ts';
import { ended, type Performing, type Sending, type Step } from './step.ts';
import { unknownError } from './unknown-error.ts';
import { keptBack, named, stopped, unsent } from './unsent.ts';
import { walletBefore } from './wallet-before.ts';
import { refuseWithoutLease } from './without-lease.ts';

type Values = Readonly<Record<string, unknown>>;

/** As `Run.perform`; a row must not be performed twice at once. A row of a fleet goes through its chain of keys. */
export async function executeRow(
  context: RunContext,
  number: number,
  performing: Performing = {},
): Promise<RowOutcome> {
  for (;;) {
    const outcome = await executeOnce(context, number, performing);
    if (!(await mayTryNextKey(context, number, outcome))) return outcome;
  }
}

async function executeOnce(context: RunContext, number: number, performing: Performing): Promise<RowOutcome> {
  let step: Step = { name: 'begin' };
  let delivery: Delivery | undefined;
  while (step.name !== 'end') {
    if (step.name === 'answer') delivery = step.answered.delivery;
    try {
      step = await taken(context, number, { step, performing });
    } catch (thrown) {
      // The journal could not take what came of an answer: what it says stands, and that is "sent".
      if (!(thrown instanceof CliError) || delivery === undefined || delivery.class === 'not_sent') throw thrown;
      step = ended(await unrecorded(context, number, { delivery, failure: thrown }));
    }
  }
  return step.outcome;
}

interface Taking {
  readonly step: Exclude<Step, { readonly name: 'end' }>;
  readonly performing: Performing;
}

function taken(context: RunContext, number: number, { step, performing }: Taking): Promise<Step> {
  switch (step.name) {
    case 'begin':
      return begin(context, number, performing);
    case 'prepare':
      return prepare(context, number, step.anew ? { permit: performing.permit } : performing);
    case 'send':
      return send(context, number, step.sending);
    case 'answer':
      return recordAnswer(context, number, step.answered);
    case 'reconcile':
      return reconcile(context, number, step.reconciling);
  }
}

/** Where the row stands by the journal decides what is done with it. */
async function begin(context: RunContext, number: number, { permit }: Performing): Promise<Step> {
  const row = context.row(number);
  if (row.state === 'unknown') {
    const owner = await context.rowOwner(number);
    return { name: 'reconcile', reconciling: { mayWait: true, mayResend: owner === undefined, owner, permit } };
  }
  if (!mayBePerformed(row, context.plan.bulk))
    return ended(recordedOutcome(row, context.plan) ?? unsent(context, row, undefined));
  const owner = await context.rowOwner(number);
  if (owner !== undefined) return ended(keptBack(context, row, owner));
  return context.lookOnly ? ended({ ...factsOf(row), outcome: 'not_sent', next: 'send' }) : { name: 'prepare' };
}

/** A row that misses its aim is over; a refused one gets a new attempt under a new key. */
async function prepare(context: RunContext, number: number, performing: Performing): Promise<Step> {
  const row = context.row(number);
  if (unmarked(context, row)) return ended(unsent(context, row, unmarked(context, row)));
  const made = await isMadeAlready(context, row);
  if (made !== undefined) return recordMadeAlready(context, number, made);
  const aimed = await missedAim(context, row);
  if ('outcome' in aimed) return ended(aimed);
  if (row.state === 'refused') {
    // It goes under a new key, so that nothing but its effect tells that it was done in spite of the refusal.
    const look = await checkAfter(context, number);
    if (look.found === 'it' || look.found === 'several') return recordRefusedAndDone(context, number, look);
    await context.writeItem(nextAttempt(row.item, context.plan.op));
  }
  if (isAfterLimit(context, row) && traceOf(row, context.markerUsable()) === 'marker') {
    const look = await checkAfter(context, number);
    if (look.found !== 'nothing') return recordRefusedAndDone(context, number, look);
  }
  const { before = aimed.before, permit } = performing;
  return { name: 'send', sending: { resent: false, keyHonoured: freshKeyHonoured(context, row), before, permit } };
}

/** It was answered 429 and did not show; under a key that nobody surely remembers a second sending may be a second one. */
function isAfterLimit(context: RunContext, { notSent, item }: RowHistory): boolean {
  return notSent?.kind === 'rate_limited' && !isLifeKnown(context.capability(item.operation));
}

/**
 * The row is over and nothing of it was sent, when what it was to bring about is no longer what its amount would do. Else
 * what was read for that.
 */
async function missedAim(context: RunContext, row: RowHistory): Promise<RowOutcome | Pick<Performing, 'before'>> {
  if (context.stop.aborted) return {};
  try {
    const { now, error } = await missesAim(context, row.item);
    if (error === undefined) return now === undefined ? {} : { before: now };
    const { kind, message } = error;
    await context.write({ t: 'FAILED', row: row.item.row, kind, message, at: context.clock.now() });
    return { ...factsOf(row), outcome: 'refused', error: named(context, row.item.row, error) };
  } catch (thrown) {
    // The journal that takes nothing more ends the run; a card that cannot be read leaves its row to a resume.
    if (!(thrown instanceof CliError) || thrown.kind === 'guarded') throw thrown;
    return unsent(context, row, thrown);
  }
}

/** A refusal is stored under its key by some services: the correction needs another (A5). */
function nextAttempt(item: ItemRecord, op: string): ItemRecord {
  const attempt = item.attempt + 1;
  return { ...item, attempt, ...(item.key !== undefined && { key: attemptKey(op, item, attempt) }) };
}

/** Without a marker a duplicate could not be seen, so nothing is sent twice then. */
function freshKeyHonoured(context: RunContext, { item }: RowHistory): boolean {
  const looksPossible = item.operation !== 'cards.create' || context.markerUsable();
  return looksPossible && context.capability(item.operation).key === 'honoured';
}

/** SENT is durable before a byte leaves. */
async function send(context: RunContext, number: number, sending: Sending): Promise<Step> {
  const { item } = context.row(number);
  if (context.stop.aborted) return ended(stopped(context, number, sending));
  const balances = await balancesBefore(context, number, sending);
  if (balances instanceof CliError) return ended(unsent(context, context.row(number), balances));
  const wallet = sending.resent ? undefined : await walletBefore(context, number);
  if (wallet instanceof CliError) return ended(unsent(context, context.row(number), wallet));
  const { attempt, row } = item;
  const before = balances && { card: balances.card, wallet: balances.wallet, last4: balances.last4 };
  // What was sent before has had the time to arrive, should the service refuse this one.
  const quiet = sending.resent && isQuiet(context, number);
  const was = await stateBefore(context, number, sending);
  if (was instanceof CliError) return ended(unsent(context, context.row(number), was));
  const serviceAt = context.serviceNow();
  const after = isAfterLimit(context, context.row(number)) || undefined;
  const at = context.clock.now();
  const { keyHonoured, permit, onCheck } = sending;
  const since = before === undefined && wallet === undefined ? undefined : context.begunAt;
  const facts = {
    at,
    service_at: serviceAt,
    before,
    read_since: since,
    was,
    wallet,
    after_429: after,
    resent_on_check: onCheck,
  };
  try {
    await context.write({ t: 'SENT', row, attempt, ...facts });
  } catch (thrown) {
    if (thrown instanceof OutdatedFacts) return { name: 'prepare', anew: true };
    throw thrown;
  }
  const may = permit?.acquire() ?? true;
  if (may !== true && !(await may)) return ended(await withheld(context, number, sending));
  await refuseWithoutLease(context, number, sending);
  const keyUsable = () => context.keyUsable(number);
  // The way to here may have been long: a queue, a pause of all workers, a process that was stopped.
  if (sending.resent && keyHonoured && !(await keyUsable())) return tooOld(context, number);
  const { stop, cut } = context;
  // The answer of a key that may be forgotten by now may be that of a second one.
  const replay = sending.resent && keyHonoured && isLifeKnown(context.capability(item.operation));
  const evidence = { ...evidenceOf(context, number), replay };
  const keySure = () => context.keySure(number);
  const leavesTrace = traceOf(context.row(number), context.markerUsable()) !== 'none';
  const find = async () => (await checkAfterLimit(context, number)).found;
  const isUndone = async () => (await find()) === 'nothing';
  const keyOfCaller = isKeyOfCaller(context, number);
  const { resent } = sending;
  const policy = {
    keyHonoured,
    keyUsable,
    keySure,
    isUndone,
    ...(leavesTrace && { find }),
    evidence,
    resent,
    keyOfCaller,
    stop,
    cut,
  };
  const delivery = await context.service.deliver(requestOf(item), item.input, policy);
  if (delivery.class === 'done') permit?.acknowledge();
  return { name: 'answer', answered: { delivery, sending, quiet } };
}

async function balancesBefore(
  context: RunContext,
  number: number,
  sending: Sending,
): Promise<Balances | undefined | CliError> {
  const row = context.row(number);
  if (sending.resent || traceOf(row, context.markerUsable()) !== 'balances') return undefined;
  if (sending.before !== undefined) return sending.before;
  try {
    const card = String(row.item.input['card_id']);
    // The other rows of a run move the wallet too: read for each of them it would show nothing and cost a request.
    return context.plan.bulk ? await cardNow(context.reader, card) : await balancesOf(context.reader, card);
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    // For a card that is not there the service's answer to the write itself counts.
    return thrown.kind === 'not_found' ? undefined : thrown;
  }
}

/**
 * The state of the card before it is changed; undefined where it cannot be read: the change is asked for all the same. An
 * error where the key is not accepted: then nothing is sent.
 */
async function stateBefore(
  context: RunContext,
  number: number,
  { resent }: Sending,
): Promise<string | undefined | CliError> {
  const row = context.row(number);
  if (resent || traceOf(row, context.markerUsable()) !== 'state') return undefined;
  try {
    return (await context.reader.read('cards.get', { card_id: String(row.item.input['card_id']) })).status;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return thrown.facts.httpStatus === 401 ? thrown : undefined;
  }
}

/** The key may be forgotten by now: whatever was sent before stays as unknown as it was. */
function tooOld(context: RunContext, number: number): Promise<Step> {
  const message = 'its key is too old to be surely remembered';
  return recordAmbiguousAgain(context, number, new CliError('outcome_unknown', { message }));
}

/** What the answer is judged by: of a row that is sent again the balances before it was sent first. */
function evidenceOf(context: RunContext, number: number): Evidence {
  const { plan } = context;
  const { item, firstSent } = context.row(number);
  const before = firstSent?.before;
  const marked = plan.marker && item.operation === 'cards.create';
  return {
    alone: !plan.bulk,
    plannedAt: plan.at,
    serviceAt: firstSent?.service_at,
    ownKey: !isKeyOfCaller(context, number),
    ...(before !== undefined && { before: balancesFrom(before) }),
    ...(firstSent?.was !== undefined && { was: firstSent.was }),
    ...(marked && { mark: { key: MARKER_KEY, value: rowMarker(plan.op, item) } }),
  };
}

function balancesFrom({ card, wallet }: NonNullable<SentRecord['before']>): Balances {
  return { card: cents(card), ...(wallet !== undefined && { wallet: cents(wallet) }) };
}

function requestOf({ operation, method, path, body, key }: ItemRecord): PlannedRequest {
  return { operation, method, path, body, idempotencyKey: key };
}

/** Written down, and held back before a byte of it left: its SENT is taken back. */
async function withheld(context: RunContext, number: number, sending: Sending): Promise<RowOutcome> {
  if (sending.resent) return stopped(context, number, sending);
  const at = context.clock.now();
  const message = 'the run was stopped before it was sent';
  await context.write({ t: 'NOTSENT', row: number, kind: 'unreachable', message, at });
  return stopped(context, number, sending);
}

/** Sent, answered, and the disk is full: the next resume settles it; until then it must count as unknown. */
async function unrecorded(
  context: RunContext,
  number: number,
  { delivery, failure }: { delivery: Delivery; failure: CliError },
): Promise<RowOutcome> {
  const row = context.row(number);
  const yes = delivery.class === 'done';
  const answer = yes ? 'the service said yes' : `the service answered (${delivery.class})`;
  const reason = `${answer}, but the journal could not be written: ${failure.message}`;
  const cardId = yes ? textOf((delivery.result as Values | undefined)?.['id']) : undefined;
  const answered = yes ? { card: cardId } : undefined;
  const { meanwhile, takeUp } = await context.elsewhere(number);
  const known = { plan: context.plan, row, reason, requestId: delivery.requestId };
  const error = unknownError({ ...known, answered, meanwhile, takeUp });
  const sentAt = isoSeconds(row.lastSent?.at ?? context.plan.at);
  const message = `${row.item.operation} was sent at ${sentAt} and ${reason}`;
  const facts = { ...factsOf(row), ...(cardId !== undefined && { cardId }) };
  return { ...facts, outcome: 'unknown', error: yes ? error.with({ message }) : error, stops: true };
}

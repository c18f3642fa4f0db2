/** One row to its outcome: write down, send, write down (docs/design/reliability.md, section 6, "Algorithm"). */

import type { Evidence } from '../../contract/evidence.ts';
import type { Delivery, PlannedRequest } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { cents, centsOf } from '../../core/money.ts';
import type { Balances, Flight, RowOutcome } from '../types.ts';
import { keyOf } from '../wal/op-id.ts';
import type { DoneRecord, ItemRecord, SentRecord } from '../wal/records.ts';
import { mayBePerformed, type RowHistory } from '../wal/replay.ts';
import { missesAim } from './aim.ts';
import { balancesOf, cardBalance, traceOf } from './evidence.ts';
import { MARKER_KEY, markerOf } from './marker.ts';
import { factsOf, toldOutcome } from './outcome.ts';
import { hasSettled, settleUnknown } from './reconcile.ts';
import { doubtOf, settlesFirst } from './refusal.ts';
import type { Desk } from './run-context.ts';
import { unknownError } from './unknown-error.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Performing {
  /** Card and wallet just before, as the caller has read them. */
  readonly before?: Balances | undefined;
  readonly flight?: Flight | undefined;
}

/** As `Run.perform`; a row must not be performed twice at once. */
export async function performRow(desk: Desk, number: number, performing: Performing = {}): Promise<RowOutcome> {
  const row = desk.row(number);
  if (row.state === 'unknown') {
    return settleUnknown(desk, number, { mayWait: true, mayResend: true, flight: performing.flight });
  }
  if (!mayBePerformed(row, desk.plan.bulk) || desk.lookOnly)
    return toldOutcome(row, desk.plan) ?? unsent(desk, row, undefined);
  const aimed = await missedAim(desk, row);
  if ('outcome' in aimed) return aimed;
  if (row.state === 'refused') await desk.writeItem(nextAttempt(row.item, desk.plan.op));
  const { before = aimed.before, flight } = performing;
  return sendRow(desk, number, { resent: false, keyHonoured: freshKeyHonoured(desk, row), before, flight });
}

/**
 * The row is over and nothing of it was sent, when what it was to bring about is no longer what its amount would do. Else
 * what was read for that.
 */
async function missedAim(desk: Desk, row: RowHistory): Promise<RowOutcome | Pick<Performing, 'before'>> {
  if (desk.stop.aborted) return {};
  try {
    const { balance, error } = await missesAim(desk, row.item);
    if (error === undefined) return balance === undefined ? {} : { before: { card: balance } };
    const { kind, message } = error;
    await desk.write({ t: 'FAILED', row: row.item.row, kind, message, at: desk.clock.now() });
    return { ...factsOf(row), outcome: 'refused', error: named(desk, row.item.row, error) };
  } catch (thrown) {
    // The journal that takes nothing more ends the run; a card that cannot be read leaves its row to a resume.
    if (!(thrown instanceof CliError) || thrown.kind === 'guarded') throw thrown;
    return unsent(desk, row, thrown);
  }
}

/** A refusal is stored under its key by some services: the correction needs another (A5). */
function nextAttempt(item: ItemRecord, op: string): ItemRecord {
  const attempt = item.attempt + 1;
  return { ...item, attempt, ...(item.key !== undefined && { key: keyOf(op, item.row, attempt) }) };
}

/** Without a marker a duplicate could not be seen, so nothing is sent twice then. */
export function freshKeyHonoured(desk: Desk, { item }: RowHistory): boolean {
  const looksPossible = item.operation !== 'cards.create' || desk.markerUsable();
  return looksPossible && desk.capability(item.operation).key === 'honoured';
}

export interface Sending extends Performing {
  /** Bytes of this attempt may have left before: only an answer from behind the key settles it. */
  readonly resent: boolean;
  readonly keyHonoured: boolean;
}

export async function sendRow(desk: Desk, number: number, sending: Sending): Promise<RowOutcome> {
  const { item } = desk.row(number);
  if (desk.stop.aborted) return stopped(desk, number, sending);
  const balances = await balancesBefore(desk, number, sending);
  if (balances instanceof CliError) return unsent(desk, desk.row(number), balances);
  const { attempt, row } = item;
  const before = balances && { card: balances.card, ...(balances.wallet !== undefined && { wallet: balances.wallet }) };
  // What was sent before has had the time to arrive, should the service refuse this one.
  const settled = sending.resent && hasSettled(desk, number);
  await desk.write({ t: 'SENT', row, attempt, at: desk.clock.now(), service_at: desk.serviceNow(), before });
  const { keyHonoured, flight } = sending;
  const may = flight?.takeOff() ?? true;
  if (may !== true && !(await may)) return grounded(desk, number, sending);
  const keyUsable = () => desk.keyUsable(number);
  // The way to here may have been long: a queue, a pause of all workers, a process that was stopped.
  if (sending.resent && keyHonoured && !(await keyUsable())) return grownOld(desk, number);
  const { stop, cut } = desk;
  const evidence = { ...evidenceOf(desk, number), replay: sending.resent && keyHonoured };
  const policy = { keyHonoured, keyUsable, evidence, stop, cut };
  const delivery = await desk.service.deliver(requestOf(item), item.input, policy);
  if (delivery.class === 'done') flight?.landed();
  try {
    return await conclude(desk, number, { delivery, sending, settled });
  } catch (thrown) {
    // The journal could not take the outcome: what it says stands, and that is "sent".
    if (!(thrown instanceof CliError) || delivery.class === 'not_sent') throw thrown;
    return unrecorded(desk, number, { delivery, failure: thrown });
  }
}

async function balancesBefore(desk: Desk, number: number, sending: Sending): Promise<Balances | undefined | CliError> {
  const row = desk.row(number);
  if (sending.resent || traceOf(row, desk.markerUsable()) !== 'balances') return undefined;
  if (sending.before !== undefined) return sending.before;
  try {
    const card = String(row.item.input['card_id']);
    // The other rows of a run move the wallet too: read for each of them it would show nothing and cost a request.
    return desk.plan.bulk ? { card: await cardBalance(desk.reader, card) } : await balancesOf(desk.reader, card);
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    // For a card that is not there the service's answer to the write itself counts.
    return thrown.kind === 'not_found' ? undefined : thrown;
  }
}

/** The key may be forgotten by now: whatever was sent before stays as unknown as it was. */
function grownOld(desk: Desk, number: number): Promise<RowOutcome> {
  const message = 'its key is too old to be surely remembered';
  return stillUnknown(desk, number, new CliError('outcome_unknown', { message }));
}

/** What the answer is judged by: of a row that is sent again the balances before it was sent first. */
function evidenceOf({ plan, row }: Desk, number: number): Evidence {
  const { item, firstSent } = row(number);
  const before = firstSent?.before;
  const marked = plan.marker && item.operation === 'cards.create';
  return {
    alone: !plan.bulk,
    plannedAt: plan.at,
    serviceAt: firstSent?.service_at,
    ...(before !== undefined && { before: balancesFrom(before) }),
    ...(marked && { mark: { key: MARKER_KEY, value: markerOf(plan.op, number) } }),
  };
}

function balancesFrom({ card, wallet }: NonNullable<SentRecord['before']>): Balances {
  return { card: cents(card), ...(wallet !== undefined && { wallet: cents(wallet) }) };
}

function requestOf({ operation, method, path, body, key }: ItemRecord): PlannedRequest {
  return { operation, method, path, body, idempotencyKey: key };
}

interface Delivered {
  readonly delivery: Delivery;
  readonly sending: Sending;
  /** Every sending before this one has had the time to arrive. */
  readonly settled: boolean;
}

async function concludeDone(desk: Desk, number: number, { delivery, sending }: Delivered): Promise<RowOutcome> {
  const via = sending.resent || delivery.doubted ? 'resent' : delivery.reread ? 'reread' : 'answer';
  const { changed, reread, requestId } = delivery;
  const result = delivery.result as Values;
  await desk.write(doneRecord(desk, number, { result, via, changed, requestId }));
  const { row, cardId, amount, last4 } = factsOf(desk.row(number));
  const throttled = delivery.throttled || undefined;
  return { row, outcome: 'done', cardId, amount, last4, requestId, changed, reread, result, throttled };
}

async function conclude(desk: Desk, number: number, delivered: Delivered): Promise<RowOutcome> {
  const { delivery, sending } = delivered;
  if (delivery.class === 'done') return concludeDone(desk, number, delivered);
  const error = delivery.error ?? new CliError('internal', { message: 'a delivery without an error' });
  const at = desk.clock.now();
  const throttled = delivery.throttled ? { throttled: true } : {};
  switch (delivery.class) {
    case 'unverified':
      if (error.facts.outcome === 'done') return madeOtherwise(desk, number, { delivery, error });
      await desk.write({ t: 'ACK', row: number, reason: error.message, request_id: delivery.requestId, at });
      return lookAfter(desk, number);
    case 'refused':
      return concludeRefused(desk, number, { ...delivered, error });
    case 'not_sent':
    case 'throttled':
      if (sending.resent) return stillUnknown(desk, number, error);
      await desk.write({ t: 'NOTSENT', row: number, kind: error.kind, message: error.message, at });
      return { ...unsent(desk, desk.row(number), error), ...throttled };
    default:
      await desk.write({ t: 'AMBIG', row: number, reason: error.message, request_id: delivery.requestId, at });
      return { ...(await lookAfter(desk, number)), ...throttled };
  }
}

async function concludeRefused(
  desk: Desk,
  number: number,
  { delivery, sending, settled, error }: Delivered & { readonly error: CliError },
): Promise<RowOutcome> {
  const { keyHonoured, resent } = sending;
  const doubt = resent ? undefined : await doubtOf(desk, number, delivery);
  if (doubt !== undefined) return doubtRefusal(desk, number, error, doubt);
  if (resent && !(await settlesFirst(desk, number, { delivery, keyHonoured, settled }))) {
    return stillUnknown(desk, number, error);
  }
  const { httpStatus, service } = error.facts;
  await desk.write({
    t: 'FAILED',
    row: number,
    kind: error.kind,
    message: error.message,
    ...(httpStatus !== undefined && { status: httpStatus }),
    ...(service !== undefined && { service }),
    at: desk.clock.now(),
  });
  return {
    ...factsOf(desk.row(number)),
    ...(delivery.throttled && { throttled: true }),
    outcome: 'refused',
    error: named(desk, number, error),
    ...(delivery.requestId !== undefined && { requestId: delivery.requestId }),
    ...(error.kind === 'not_authenticated' && { stops: true }),
  };
}

async function doubtRefusal(desk: Desk, number: number, error: CliError, why: string): Promise<RowOutcome> {
  const { request_id } = error.facts.service ?? {};
  const reason = `${error.message}; ${why}`;
  await desk.write({ t: 'AMBIG', row: number, reason, request_id, at: desk.clock.now() });
  return lookAfter(desk, number);
}

async function stillUnknown(desk: Desk, number: number, error: CliError): Promise<RowOutcome> {
  const reason = `${desk.row(number).doubt?.reason ?? 'no answer was written down'}; asked again: ${error.message}`;
  await desk.write({
    t: 'AMBIG',
    row: number,
    reason,
    request_id: error.facts.service?.request_id,
    at: desk.clock.now(),
  });
  return lookAfter(desk, number);
}

/** Right after the failure there is no time to wait for settling, but the effect may show already. */
function lookAfter(desk: Desk, number: number): Promise<RowOutcome> {
  return settleUnknown(desk, number, { mayWait: false, mayResend: false });
}

/** It was certainly made, and is not what was asked for, or cannot be shown: it is told, and never made again. */
async function madeOtherwise(
  desk: Desk,
  number: number,
  { delivery, error }: { delivery: Delivery; error: CliError },
): Promise<RowOutcome> {
  const { requestId } = delivery;
  const result = delivery.result as Values;
  await desk.write(doneRecord(desk, number, { result, via: 'answer', changed: true, requestId }));
  const told = new CliError(error.kind, { ...error.facts, op: desk.plan.op });
  return { ...factsOf(desk.row(number)), outcome: 'done', changed: true, error: told };
}

export interface DoneFacts {
  readonly result: Values | undefined;
  readonly via: DoneRecord['via'];
  readonly changed: boolean;
  readonly requestId?: string | undefined;
}

export function doneRecord(desk: Desk, number: number, facts: DoneFacts): DoneRecord {
  const { result = {}, via, changed, requestId } = facts;
  const { item } = desk.row(number);
  const created = item.operation === 'cards.create';
  const metadata = result['metadata'] as Values | undefined;
  const balance = created && typeof result['balance'] === 'number' ? centsOf(result['balance']) : undefined;
  const marked = created && desk.plan.marker && 'balance' in result;
  // One form for all: a run keeps one of them a row. What is undefined is not written.
  return {
    t: 'DONE',
    row: number,
    via,
    changed,
    id: textOf(result['id']),
    last4: textOf(result['last4']),
    request_id: requestId,
    echo: marked ? metadata?.[MARKER_KEY] === markerOf(desk.plan.op, number) : undefined,
    balance,
    at: desk.clock.now(),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function named(desk: Desk, number: number, error: CliError): CliError {
  const { key } = desk.row(number).item;
  return error.with({ op: desk.plan.op, ...(key !== undefined && { idempotencyKey: key }) });
}

function unsent(desk: Desk, row: RowHistory, error: CliError | undefined): RowOutcome {
  const { item } = row;
  const reason =
    error ?? new CliError('unreachable', { message: `${item.operation} was not sent`, outcome: 'not_sent' });
  const limited = reason.kind === 'rate_limited';
  const told = limited ? reason : reason.with({ outcome: 'not_sent' });
  return {
    ...factsOf(row),
    outcome: 'not_sent',
    error: named(desk, item.row, told),
    ...(['not_authenticated', 'guarded', 'usage'].includes(reason.kind) && { stops: true }),
  };
}

function stopped(desk: Desk, number: number, { resent }: Sending): RowOutcome {
  const { reason } = desk.stop as { reason: unknown };
  const row = desk.row(number);
  if (resent) return toldOutcome(row, desk.plan) ?? unsent(desk, row, undefined);
  return { ...unsent(desk, row, reason instanceof CliError ? reason : undefined), stops: true };
}

/** Written down, and held back before a byte of it left: its SENT is taken back. */
async function grounded(desk: Desk, number: number, sending: Sending): Promise<RowOutcome> {
  if (sending.resent) return stopped(desk, number, sending);
  const at = desk.clock.now();
  const message = 'the run was stopped before it was sent';
  await desk.write({ t: 'NOTSENT', row: number, kind: 'unreachable', message, at });
  return stopped(desk, number, sending);
}

/** Sent, answered, and the disk is full: the next resume settles it; until then it must count as unknown. */
function unrecorded(
  desk: Desk,
  number: number,
  { delivery, failure }: { delivery: Delivery; failure: CliError },
): RowOutcome {
  const row = desk.row(number);
  const yes = delivery.class === 'done';
  const answer = yes ? 'the service said yes' : `the service answered (${delivery.class})`;
  const reason = `${answer}, but the journal could not be written: ${failure.message}`;
  const error = unknownError({ plan: desk.plan, row, reason, requestId: delivery.requestId });
  const sentAt = isoSeconds(row.lastSent?.at ?? desk.plan.at);
  const message = `${row.item.operation} was sent at ${sentAt} and ${reason}`;
  const cardId = yes ? textOf((delivery.result as Values | undefined)?.['id']) : undefined;
  const told = { ...factsOf(row), ...(cardId !== undefined && { cardId }) };
  return { ...told, outcome: 'unknown', error: yes ? error.with({ message }) : error, stops: true };
}

/** One row to its outcome: write down, send, write down (RELIABILITY, section 6, "Algorithm"). */
import type { Delivery, PlannedRequest } from '../contract/service.ts';
import { CliError } from '../errors.ts';
import { centsOf } from '../money.ts';
import { missesAim } from './aim.ts';
import type { Desk } from './desk.ts';
import { mayBePerformed, type RowHistory } from './history.ts';
import { balancesOf, traceOf } from './looking.ts';
import { MARKER_KEY, markerOf } from './marker.ts';
import { keyOf } from './op-id.ts';
import { keyIsFresh } from './policy.ts';
import type { DoneRecord, ItemRecord } from './record.ts';
import { settleUnknown } from './settle-unknown.ts';
import { factsOf, toldOutcome } from './told.ts';
import type { Balances, Flight, RowOutcome } from './types.ts';
import { iso, unknownError } from './unknown.ts';

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
  const missed = await missedAim(desk, row);
  if (missed !== undefined) return missed;
  if (row.state === 'refused') await desk.writeItem(nextAttempt(row.item, desk.plan.op));
  const { before, flight } = performing;
  return sendRow(desk, number, { resent: false, keyHonoured: freshKeyHonoured(desk, row), before, flight });
}

/** The row is over and nothing of it was sent: what it was to bring about is no longer what its amount would do. */
async function missedAim(desk: Desk, row: RowHistory): Promise<RowOutcome | undefined> {
  if (desk.stop.aborted) return undefined;
  try {
    const error = await missesAim(desk, row.item);
    if (error === undefined) return undefined;
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
  const before = balances && { card: balances.card, wallet: balances.wallet };
  await desk.write({ t: 'SENT', row, attempt, at: desk.clock.now(), service_at: desk.serviceNow(), before });
  const { keyHonoured, flight } = sending;
  const may = flight?.takeOff() ?? true;
  if (may !== true && !(await may)) return grounded(desk, number, sending);
  const keyUsable = () => keyIsFresh(desk.capability(item.operation), desk.keyAge(number));
  // The way to here may have been long: a queue, a pause of all workers, a process that was stopped.
  if (sending.resent && keyHonoured && !keyUsable()) return grownOld(desk, number);
  const { stop, cut } = desk;
  const delivery = await desk.service.deliver(requestOf(item), item.input, { keyHonoured, keyUsable, stop, cut });
  if (delivery.class === 'done') flight?.landed();
  try {
    return await conclude(desk, number, { delivery, sending });
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
    return await balancesOf(desk.reader, String(row.item.input['card_id']));
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

function requestOf({ operation, method, path, body, key }: ItemRecord): PlannedRequest {
  return { operation, method, path, body, idempotencyKey: key };
}

interface Delivered {
  readonly delivery: Delivery;
  readonly sending: Sending;
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
  if (showsAnotherCard(desk, number, delivery.result)) return misdirected(desk, number, delivery);
  if (delivery.class === 'done') return concludeDone(desk, number, delivered);
  const error = delivery.error ?? new CliError('internal', { message: 'a delivery without an error' });
  const at = desk.clock.now();
  const throttled = delivery.throttled ? { throttled: true } : {};
  switch (delivery.class) {
    case 'unverified': {
      const id = (delivery.result as Values | undefined)?.['id'];
      await desk.write({
        t: 'ACK',
        row: number,
        reason: error.message,
        ...(typeof id === 'string' && { id }),
        request_id: delivery.requestId,
        at,
      });
      return typeof id === 'string' ? createdAs(desk, number, { id, error }) : lookAfter(desk, number);
    }
    case 'refused':
      if (sending.resent && !settles(delivery, sending)) return stillUnknown(desk, number, error);
      await desk.write({
        t: 'FAILED',
        row: number,
        kind: error.kind,
        message: error.message,
        ...(error.facts.httpStatus !== undefined && { status: error.facts.httpStatus }),
        ...(error.facts.service !== undefined && { service: error.facts.service }),
        at,
      });
      return {
        ...factsOf(desk.row(number)),
        ...throttled,
        outcome: 'refused',
        error: named(desk, number, error),
        ...(delivery.requestId !== undefined && { requestId: delivery.requestId }),
        ...(error.kind === 'not_authenticated' && { stops: true }),
      };
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

/** An answer that was meant for another row: its card is not ours to tell (RELIABILITY, G5, G6). */
function showsAnotherCard({ plan, row }: Desk, number: number, result: unknown): boolean {
  if (!plan.marker || row(number).item.operation !== 'cards.create') return false;
  const marker = ((result as Values | undefined)?.['metadata'] as Values | undefined)?.[MARKER_KEY];
  return typeof marker === 'string' && marker !== markerOf(plan.op, number);
}

async function misdirected(desk: Desk, number: number, { requestId }: Delivery): Promise<RowOutcome> {
  const reason = 'the answer shows the card of another operation';
  await desk.write({ t: 'AMBIG', row: number, reason, request_id: requestId, at: desk.clock.now() });
  return lookAfter(desk, number);
}

/** Given before the key is looked at, or by a service that does not look: it says nothing about the first sending. */
function settles({ status }: Delivery, { keyHonoured }: Sending): boolean {
  return keyHonoured && ![401, 403, 404, 405, 407, 413, 415, 429, 431].includes(status ?? 401);
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

/** The answer held the id of the new card and lacked something else: the card itself is read. */
async function createdAs(
  desk: Desk,
  number: number,
  { id, error }: { id: string; error: CliError },
): Promise<RowOutcome> {
  try {
    const card = await desk.reader.read('cards.get', { card_id: id });
    await desk.write(doneRecord(desk, number, { result: card, via: 'reread', changed: true }));
    return { ...factsOf(desk.row(number)), outcome: 'done', changed: true, reread: true, result: card };
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'guarded') throw thrown;
    await desk.write(doneRecord(desk, number, { result: { id }, via: 'answer', changed: true }));
    const lost = new CliError('contract_mismatch', { ...error.facts, op: desk.plan.op, outcome: 'done' });
    return { ...factsOf(desk.row(number)), outcome: 'done', changed: true, error: lost };
  }
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
    outcome: limited ? 'refused' : 'not_sent',
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
  const sentAt = iso(row.lastSent?.at ?? desk.plan.at);
  const message = `${row.item.operation} was sent at ${sentAt} and ${reason}`;
  const cardId = yes ? textOf((delivery.result as Values | undefined)?.['id']) : undefined;
  const told = { ...factsOf(row), ...(cardId !== undefined && { cardId }) };
  return { ...told, outcome: 'unknown', error: yes ? error.with({ message }) : error, stops: true };
}

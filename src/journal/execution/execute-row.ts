/** One row to its outcome, step by step (docs/design/reliability.md, section 6, "Steps of a row"). */
import type { Evidence } from '../../contract/evidence.ts';
import type { Delivery, PlannedRequest } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { cents } from '../../core/money.ts';
import type { Balances, RowOutcome } from '../types.ts';
import { keyOf } from '../wal/op-id.ts';
import type { ItemRecord, SentRecord } from '../wal/records.ts';
import { mayBePerformed, type RowHistory } from '../wal/replay.ts';
import { missesAim } from './aim.ts';
import { recordAnswer, recordDoubtAgain } from './answer.ts';
import { textOf } from './done-record.ts';
import { balancesOf, cardBalance, traceOf } from './evidence.ts';
import { MARKER_KEY, markerOf } from './marker.ts';
import { factsOf, toldOutcome } from './outcome.ts';
import { hasSettled, reconcile } from './reconcile.ts';
import type { Desk } from './run-context.ts';
import { ended, type Performing, type Sending, type Step } from './step.ts';
import { unknownError } from './unknown-error.ts';
import { named, stopped, unsent } from './unsent.ts';

type Values = Readonly<Record<string, unknown>>;

/** As `Run.perform`; a row must not be performed twice at once. */
export async function executeRow(desk: Desk, number: number, performing: Performing = {}): Promise<RowOutcome> {
  let step: Step = { name: 'begin' };
  let delivery: Delivery | undefined;
  while (step.name !== 'end') {
    if (step.name === 'answer') delivery = step.answered.delivery;
    try {
      step = await taken(desk, number, { step, performing });
    } catch (thrown) {
      // The journal could not take what came of an answer: what it says stands, and that is "sent".
      if (!(thrown instanceof CliError) || delivery === undefined || delivery.class === 'not_sent') throw thrown;
      step = ended(unrecorded(desk, number, { delivery, failure: thrown }));
    }
  }
  return step.outcome;
}

interface Taking {
  readonly step: Exclude<Step, { readonly name: 'end' }>;
  readonly performing: Performing;
}

function taken(desk: Desk, number: number, { step, performing }: Taking): Promise<Step> {
  switch (step.name) {
    case 'begin':
      return begin(desk, number, performing);
    case 'prepare':
      return prepare(desk, number, performing);
    case 'send':
      return send(desk, number, step.sending);
    case 'answer':
      return recordAnswer(desk, number, step.answered);
    case 'reconcile':
      return reconcile(desk, number, step.reconciling);
  }
}

/** Where the row stands by the journal decides what is done with it. */
async function begin(desk: Desk, number: number, { permit }: Performing): Promise<Step> {
  const row = desk.row(number);
  if (row.state === 'unknown') return { name: 'reconcile', reconciling: { mayWait: true, mayResend: true, permit } };
  if (mayBePerformed(row, desk.plan.bulk) && !desk.lookOnly) return { name: 'prepare' };
  return ended(toldOutcome(row, desk.plan) ?? unsent(desk, row, undefined));
}

/** A row that misses its aim is over; a refused one gets a new attempt under a new key. */
async function prepare(desk: Desk, number: number, performing: Performing): Promise<Step> {
  const row = desk.row(number);
  const aimed = await missedAim(desk, row);
  if ('outcome' in aimed) return ended(aimed);
  if (row.state === 'refused') await desk.writeItem(nextAttempt(row.item, desk.plan.op));
  const { before = aimed.before, permit } = performing;
  return { name: 'send', sending: { resent: false, keyHonoured: freshKeyHonoured(desk, row), before, permit } };
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
function freshKeyHonoured(desk: Desk, { item }: RowHistory): boolean {
  const looksPossible = item.operation !== 'cards.create' || desk.markerUsable();
  return looksPossible && desk.capability(item.operation).key === 'honoured';
}

/** SENT is durable before a byte leaves. */
async function send(desk: Desk, number: number, sending: Sending): Promise<Step> {
  const { item } = desk.row(number);
  if (desk.stop.aborted) return ended(stopped(desk, number, sending));
  const balances = await balancesBefore(desk, number, sending);
  if (balances instanceof CliError) return ended(unsent(desk, desk.row(number), balances));
  const { attempt, row } = item;
  const before = balances && { card: balances.card, ...(balances.wallet !== undefined && { wallet: balances.wallet }) };
  // What was sent before has had the time to arrive, should the service refuse this one.
  const quiet = sending.resent && hasSettled(desk, number);
  await desk.write({ t: 'SENT', row, attempt, at: desk.clock.now(), service_at: desk.serviceNow(), before });
  const { keyHonoured, permit } = sending;
  const may = permit?.acquire() ?? true;
  if (may !== true && !(await may)) return ended(await withheld(desk, number, sending));
  const keyUsable = () => desk.keyUsable(number);
  // The way to here may have been long: a queue, a pause of all workers, a process that was stopped.
  if (sending.resent && keyHonoured && !(await keyUsable())) return tooOld(desk, number);
  const { stop, cut } = desk;
  const evidence = { ...evidenceOf(desk, number), replay: sending.resent && keyHonoured };
  const policy = { keyHonoured, keyUsable, evidence, stop, cut };
  const delivery = await desk.service.deliver(requestOf(item), item.input, policy);
  if (delivery.class === 'done') permit?.acknowledge();
  return { name: 'answer', answered: { delivery, sending, quiet } };
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
function tooOld(desk: Desk, number: number): Promise<Step> {
  const message = 'its key is too old to be surely remembered';
  return recordDoubtAgain(desk, number, new CliError('outcome_unknown', { message }));
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

/** Written down, and held back before a byte of it left: its SENT is taken back. */
async function withheld(desk: Desk, number: number, sending: Sending): Promise<RowOutcome> {
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

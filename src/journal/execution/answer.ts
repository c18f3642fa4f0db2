/** The answer to a row: written down as what it is, or as a doubt that is looked into. */
import type { Delivery } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import type { RowOutcome } from '../row-outcome.ts';
import { isResentOnCheck } from '../wal/replay.ts';
import { doneRecord, textOf } from './done-record.ts';
import type { EvidenceCheck } from './evidence.ts';
import { hiddenMarker, showsMarker } from './fleet-row.ts';
import { isKeyTaken, recordKeyTaken } from './key-taken.ts';
import { cardOfOtherRow, olderCard } from './older-card.ts';
import { factsOf } from './outcome.ts';
import { wasThere } from './reconcile.ts';
import { ambiguityOf, checksUntilNow, decidesFirst, doneAllTheSame, NOT_SHOWN, SHOWS } from './refusal.ts';
import type { RunContext } from './run-context.ts';
import { type Answered, ended, reconcileOnce, type Step } from './step.ts';
import { clause } from './unknown-error.ts';
import { named, unsent } from './unsent.ts';

type Values = Readonly<Record<string, unknown>>;

/** The step `answer`. Rejects when the journal cannot take it. */
export async function recordAnswer(context: RunContext, number: number, answered: Answered): Promise<Step> {
  const { delivery, sending } = answered;
  if (delivery.class === 'done') {
    const { result, carriesMark } = delivery;
    const answer = { result: (result ?? {}) as Values, carriesMark };
    const older = cardOfOtherRow(context, number, answer.result) ?? (await olderCard(context, number, answer));
    return older === undefined
      ? ended(await recordDone(context, number, answered))
      : recordOlder(context, number, { delivery, reason: older });
  }
  const error = delivery.error ?? new CliError('internal', { message: 'a delivery without an error' });
  const at = context.clock.now();
  const resent = delivery.resentOnCheck || isResentOnCheck(context.row(number)) || undefined;
  const doubted = () => {
    const looks = checksUntilNow(context, number);
    const reason = sending.resent ? reasonAgain(context, number, error) : error.message;
    return { row: number, reason, request_id: delivery.requestId, looks, resent_on_check: resent };
  };
  switch (delivery.class) {
    case 'unverified':
      if (error.facts.outcome === 'done') return ended(await recordOther(context, number, { delivery, error }));
      await context.write({ t: 'ACK', ...doubted(), ...shownBy(error), at });
      return reconcileOnce();
    case 'refused':
      return recordRefusal(context, number, { ...answered, error });
    case 'not_sent':
    case 'throttled':
      if (sending.resent) return recordAmbiguousAgain(context, number, error);
      if (delivery.unlooked) {
        const doubt = await doneAllTheSame(context, number);
        if (doubt !== undefined) return recordDoubt(context, number, error, { why: doubt, limited: true });
      }
      await context.write({ t: 'NOTSENT', row: number, kind: error.kind, message: error.message, at });
      return ended({ ...unsent(context, context.row(number), error), ...(delivery.throttled && { throttled: true }) });
    default:
      await context.write({ t: 'AMBIG', ...doubted(), at });
      return reconcileOnce(delivery.throttled, saysItFailed(delivery) && wasThere(context.row(number)));
  }
}

/** The service said yes and told a card that is not the new one. */
async function recordOlder(
  context: RunContext,
  number: number,
  { delivery, reason }: { readonly delivery: Delivery; readonly reason: string },
): Promise<Step> {
  const { requestId, resentOnCheck } = delivery;
  const again = resentOnCheck || isResentOnCheck(context.row(number)) || undefined;
  const at = context.clock.now();
  await context.write({ t: 'ACK', row: number, reason, request_id: requestId, resent_on_check: again, at });
  return reconcileOnce(delivery.throttled);
}

/** What an answer shows in full that no reading shows. */
function shownBy({ facts: { evidence } }: CliError) {
  return { shown: evidence?.['answer_shows_it'] === true || undefined, id: textOf(evidence?.['answered_card']) };
}

/** Words of failure in a 2xx answer. */
function saysItFailed({ class: outcome, status = 0 }: Delivery): boolean {
  return outcome === 'ambiguous' && status >= 200 && status < 300;
}

async function recordDone(context: RunContext, number: number, { delivery, sending }: Answered): Promise<RowOutcome> {
  const via = sending.resent || delivery.doubted ? 'resent' : delivery.reread ? 'reread' : 'answer';
  const { changed, reread, requestId, resentOnCheck } = delivery;
  const result = delivery.result as Values;
  const shows = await showsMarker(context, context.row(number), result);
  const facts = { result, via, changed, requestId, resentOnCheck, showsMarker: shows } as const;
  await context.write(doneRecord(context, number, facts));
  const { row, cardId, amount, last4 } = factsOf(context.row(number));
  const throttled = delivery.throttled || undefined;
  const hidden = shows === false ? { error: hiddenMarker(cardId), stops: true } : undefined;
  return { row, outcome: 'done', cardId, amount, last4, requestId, changed, reread, result, throttled, ...hidden };
}

async function recordRefusal(
  context: RunContext,
  number: number,
  { delivery, sending, quiet, error }: Answered & { readonly error: CliError },
): Promise<Step> {
  const { keyHonoured, resent } = sending;
  if (isKeyTaken(context, number, delivery)) return recordKeyTaken(context, number, error);
  const doubt = resent ? undefined : ambiguityOf(context, number, delivery);
  if (doubt !== undefined) return recordDoubt(context, number, error, { why: doubt });
  if (resent && !(await decidesFirst(context, number, { delivery, keyHonoured, quiet }))) {
    return recordAmbiguousAgain(context, number, error);
  }
  const { httpStatus, service } = error.facts;
  await context.write({
    t: 'FAILED',
    row: number,
    kind: error.kind,
    message: error.message,
    ...(httpStatus !== undefined && { status: httpStatus }),
    ...(service !== undefined && { service }),
    ...(delivery.weight === 'plausible' && { plausible: true }),
    at: context.clock.now(),
  });
  return ended({
    ...factsOf(context.row(number)),
    ...(delivery.throttled && { throttled: true }),
    outcome: 'refused',
    error: named(context, number, error),
    ...(delivery.requestId !== undefined && { requestId: delivery.requestId }),
    ...(error.kind === 'not_authenticated' && { stops: true }),
  });
}

interface Doubted {
  readonly why: string;
  /** Nothing but 429 was answered. */
  readonly limited?: true;
}

async function recordDoubt(
  context: RunContext,
  number: number,
  error: CliError,
  { why, limited }: Doubted,
): Promise<Step> {
  const { request_id } = error.facts.service ?? {};
  const reason = `${error.message}; ${why}`;
  const looks = checksUntilNow(context, number);
  await context.write({ t: 'AMBIG', row: number, reason, request_id, looks, limited, at: context.clock.now() });
  return reconcileOnce(limited);
}

/**
 * A row that was refused, or told to come later, is about to be sent anew, and its effect shows: the marker of a card settles
 * it. After a 429 it is doubted as well where looking tells nothing; the next look that shows nothing ends that.
 */
export async function recordRefusedAndDone(
  context: RunContext,
  number: number,
  { text, found }: EvidenceCheck,
): Promise<Step> {
  const { failed, notSent } = context.row(number);
  const shows = found === 'unclear' ? NOT_SHOWN : SHOWS;
  const reason = `${failed?.message ?? notSent?.message ?? 'it was refused'}; ${shows}: ${text}`;
  const limited = found === 'unclear' ? true : undefined;
  const looks = checksUntilNow(context, number);
  await context.write({ t: 'AMBIG', row: number, reason, looks, limited, at: context.clock.now() });
  return reconcileOnce();
}

const AGAIN = '; asked again: ';

/** Why it was unknown at first, and what came last: that alone may say that nothing happened. */
function reasonAgain(context: RunContext, number: number, { message }: CliError): string {
  const [first] = clause(context.row(number).doubt?.reason ?? 'no answer was written down').split(AGAIN);
  const last = clause(message).split(AGAIN).at(-1);
  return first === last ? clause(message) : `${first}${AGAIN}${last}`;
}

/** Whatever was sent before stays as unknown as it was. */
export async function recordAmbiguousAgain(context: RunContext, number: number, error: CliError): Promise<Step> {
  const reason = reasonAgain(context, number, error);
  await context.write({
    t: 'AMBIG',
    row: number,
    reason,
    request_id: error.facts.service?.request_id,
    looks: checksUntilNow(context, number),
    resent_on_check: isResentOnCheck(context.row(number)) || undefined,
    at: context.clock.now(),
  });
  return reconcileOnce();
}

/** It was certainly made, and is not what was asked for, or cannot be shown: it is told, and never made again. */
async function recordOther(
  context: RunContext,
  number: number,
  { delivery, error }: { delivery: Delivery; error: CliError },
): Promise<RowOutcome> {
  const { requestId, resentOnCheck } = delivery;
  const result = delivery.result as Values;
  const done = doneRecord(context, number, { result, via: 'answer', changed: true, requestId, resentOnCheck });
  await context.write({ ...done, otherwise: error.message });
  const withOp = new CliError(error.kind, { ...error.facts, op: context.plan.op });
  return { ...factsOf(context.row(number)), outcome: 'done', changed: true, error: withOp };
}

/** The answer to a row: written down as what it is, or as a doubt that is looked into. */
import type { Delivery } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import type { RowOutcome } from '../types.ts';
import { doneRecord } from './done-record.ts';
import { factsOf } from './outcome.ts';
import { decidesFirst, doubtOf } from './refusal.ts';
import type { Desk } from './run-context.ts';
import { type Answered, ended, lookOnce, type Step } from './step.ts';
import { named, unsent } from './unsent.ts';

type Values = Readonly<Record<string, unknown>>;

/** The step `answer`. Rejects when the journal cannot take it. */
export async function recordAnswer(desk: Desk, number: number, answered: Answered): Promise<Step> {
  const { delivery, sending } = answered;
  if (delivery.class === 'done') return ended(await recordDone(desk, number, answered));
  const error = delivery.error ?? new CliError('internal', { message: 'a delivery without an error' });
  const at = desk.clock.now();
  switch (delivery.class) {
    case 'unverified':
      if (error.facts.outcome === 'done') return ended(await recordOther(desk, number, { delivery, error }));
      await desk.write({ t: 'ACK', row: number, reason: error.message, request_id: delivery.requestId, at });
      return lookOnce();
    case 'refused':
      return recordRefusal(desk, number, { ...answered, error });
    case 'not_sent':
    case 'throttled':
      if (sending.resent) return recordDoubtAgain(desk, number, error);
      await desk.write({ t: 'NOTSENT', row: number, kind: error.kind, message: error.message, at });
      return ended({ ...unsent(desk, desk.row(number), error), ...(delivery.throttled && { throttled: true }) });
    default:
      await desk.write({ t: 'AMBIG', row: number, reason: error.message, request_id: delivery.requestId, at });
      return lookOnce(delivery.throttled);
  }
}

async function recordDone(desk: Desk, number: number, { delivery, sending }: Answered): Promise<RowOutcome> {
  const via = sending.resent || delivery.doubted ? 'resent' : delivery.reread ? 'reread' : 'answer';
  const { changed, reread, requestId } = delivery;
  const result = delivery.result as Values;
  await desk.write(doneRecord(desk, number, { result, via, changed, requestId }));
  const { row, cardId, amount, last4 } = factsOf(desk.row(number));
  const throttled = delivery.throttled || undefined;
  return { row, outcome: 'done', cardId, amount, last4, requestId, changed, reread, result, throttled };
}

async function recordRefusal(
  desk: Desk,
  number: number,
  { delivery, sending, quiet, error }: Answered & { readonly error: CliError },
): Promise<Step> {
  const { keyHonoured, resent } = sending;
  const doubt = resent ? undefined : await doubtOf(desk, number, delivery);
  if (doubt !== undefined) return recordDoubt(desk, number, error, doubt);
  if (resent && !(await decidesFirst(desk, number, { delivery, keyHonoured, quiet }))) {
    return recordDoubtAgain(desk, number, error);
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
  return ended({
    ...factsOf(desk.row(number)),
    ...(delivery.throttled && { throttled: true }),
    outcome: 'refused',
    error: named(desk, number, error),
    ...(delivery.requestId !== undefined && { requestId: delivery.requestId }),
    ...(error.kind === 'not_authenticated' && { stops: true }),
  });
}

async function recordDoubt(desk: Desk, number: number, error: CliError, why: string): Promise<Step> {
  const { request_id } = error.facts.service ?? {};
  const reason = `${error.message}; ${why}`;
  await desk.write({ t: 'AMBIG', row: number, reason, request_id, at: desk.clock.now() });
  return lookOnce();
}

/** Whatever was sent before stays as unknown as it was. */
export async function recordDoubtAgain(desk: Desk, number: number, error: CliError): Promise<Step> {
  const reason = `${desk.row(number).doubt?.reason ?? 'no answer was written down'}; asked again: ${error.message}`;
  await desk.write({
    t: 'AMBIG',
    row: number,
    reason,
    request_id: error.facts.service?.request_id,
    at: desk.clock.now(),
  });
  return lookOnce();
}

/** It was certainly made, and is not what was asked for, or cannot be shown: it is told, and never made again. */
async function recordOther(
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

/** A row whose outcome is unknown: look, wait, send again or leave it, as the policy says. */

import { CALLS } from '../../contract/raw.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import type { RowOutcome } from '../types.ts';
import { doneRecord } from './done-record.ts';
import { absenceProves, type Look, lookFor, traceOf } from './evidence.ts';
import { factsOf } from './outcome.ts';
import { clockIsSane, isLifeKnown, keyIsYoung, nextStep } from './policy.ts';
import type { Desk } from './run-context.ts';
import { ended, type Reconciling, type Step } from './step.ts';
import { unknownError } from './unknown-error.ts';

/** The step `reconcile`: the row is done, is sent again, or stays unknown with everything that is known about it. */
export async function reconcile(desk: Desk, number: number, reconciling: Reconciling): Promise<Step> {
  const { item } = desk.row(number);
  const { permit, throttled } = reconciling;
  const end = (outcome: RowOutcome) => ended(throttled ? { ...outcome, throttled } : outcome);
  const mayResend = reconciling.mayResend && !desk.lookOnly;
  const mayWait = reconciling.mayWait && !desk.lookOnly;
  if (mayResend) await desk.askTime(number);
  let waited = false;
  let look: Look | undefined;
  let lookedAt: number | undefined;
  for (;;) {
    const row = desk.row(number);
    const trace = traceOf(row, desk.markerUsable());
    const settled = waited || hasSettled(desk, number);
    const capability = desk.capability(item.operation);
    const young = keyIsYoung(capability, desk.keyAge(number));
    // A created card that could not be told from another must not be made twice, whatever the key is worth.
    const blind = item.operation === 'cards.create' && trace !== 'marker';
    const { repeat } = CALLS[item.operation];
    const keyHonoured = mayResend && young && !blind && repeat !== 'never';
    const step = nextStep({
      trace,
      keyHonoured,
      lifeKnown: isLifeKnown(capability),
      freely: mayResend && repeat === 'freely',
      settled,
      found: look?.found,
      resendAbsent: mayResend && (desk.resendAbsent || absenceProves(desk, trace)),
      mayWait: mayWait && !desk.stop.aborted,
    });
    switch (step) {
      case 'look':
        look = await lookFor(row, trace, desk);
        lookedAt = desk.clock.now();
        if (look.found === 'nothing' || look.found === 'unclear' || trace === 'balances') {
          const t = settled && look.found === 'nothing' ? 'ABSENT' : 'LOOKED';
          await desk.write({ t, row: number, found: look.text, at: lookedAt });
        }
        break;
      case 'wait':
        waited = await waitForSettling(desk, number);
        look = undefined;
        break;
      case 'resend':
        return { name: 'send', sending: { resent: true, keyHonoured, permit } };
      case 'done':
        return end(await foundDone(desk, number, look));
      case 'duplicate':
        return end(await foundSeveral(desk, number, look));
      case 'leave':
        return end(leave(desk, number, { look, lookedAt }));
    }
  }
}

export function hasSettled(desk: Desk, number: number): boolean {
  return leftToSettle(desk, number) === 0;
}

/** ms until the last sending has settled; all of it when the clock cannot be trusted. */
function leftToSettle(desk: Desk, number: number): number {
  const sentAt = desk.row(number).lastSent?.at ?? desk.plan.at;
  const moment = desk.moment();
  if (!clockIsSane(moment, Math.max(desk.latest, sentAt))) return desk.settleMs;
  return Math.max(0, desk.settleMs - (moment.now - sentAt));
}

async function waitForSettling(desk: Desk, number: number): Promise<boolean> {
  const left = leftToSettle(desk, number);
  const until = desk.clock.monotonic() + left;
  for (let rest = left; rest > 0; rest = until - desk.clock.monotonic()) {
    desk.notice(
      `row ${number}: no trace yet; looking again in ${Math.ceil(rest / 1000)} s, when nothing can be on its way any more`,
    );
    try {
      await desk.clock.sleep(Math.min(rest, 30_000), desk.stop);
    } catch (reason) {
      if (desk.stop.aborted) return false;
      throw reason;
    }
  }
  return true;
}

async function foundDone(desk: Desk, number: number, look: Look | undefined): Promise<RowOutcome> {
  const result = look?.cards[0];
  const via = traceOf(desk.row(number), true) === 'marker' ? 'marker' : 'state';
  const requestId = desk.row(number).doubt?.request_id;
  await desk.write(doneRecord(desk, number, { result, via, changed: true, requestId }));
  return {
    ...factsOf(desk.row(number)),
    outcome: 'done',
    changed: true,
    reread: true,
    ...(result !== undefined && { result }),
    ...(typeof result?.['id'] === 'string' && { cardId: result['id'] }),
  };
}

async function foundSeveral(desk: Desk, number: number, look: Look | undefined): Promise<RowOutcome> {
  const ids = (look?.cards ?? []).map(card => String(card['id'])).sort();
  await desk.write({ t: 'DUPLICATE', row: number, ids, at: desk.clock.now() });
  const [cardId] = ids;
  return { ...factsOf(desk.row(number)), outcome: 'done', changed: true, cardId, duplicate: ids };
}

function leave(
  desk: Desk,
  number: number,
  { look, lookedAt }: { look: Look | undefined; lookedAt: number | undefined },
): RowOutcome {
  const row = desk.row(number);
  const { doubt } = row;
  const error = unknownError({
    plan: desk.plan,
    row,
    look,
    lookedAt,
    reason:
      doubt?.reason ??
      `the process ended at ${isoSeconds(row.lastSent?.at ?? desk.plan.at)} before an answer was written down`,
    requestId: doubt?.request_id,
  });
  const absent = look?.found === 'nothing' && row.looks.some(({ t }) => t === 'ABSENT') && !desk.resendAbsent;
  const hint = absent ? `cardwright ops resume ${desk.plan.op} --resend-absent` : undefined;
  const told = hint === undefined ? error : error.with({ hint });
  return {
    ...factsOf(row),
    outcome: 'unknown',
    error: told,
    ...(doubt?.request_id !== undefined && { requestId: doubt.request_id }),
  };
}

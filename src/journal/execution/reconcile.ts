/** A row whose outcome is unknown: look, wait, send again or leave it, as the policy says. */

import type { Operation } from '../../contract/operation.ts';
import { CALLS } from '../../contract/raw.ts';
import { CliError } from '../../core/errors.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import type { RowOutcome } from '../row-outcome.ts';
import { afterRecord, mayBePerformed, type RowHistory } from '../wal/replay.ts';
import { cardAge, oldestFirst } from './card-age.ts';
import { doneRecord } from './done-record.ts';
import { absenceProves, checkForEffect, type EvidenceCheck, shownByCheck, traceOf } from './evidence.ts';
import { explainedByOthers } from './explained-by-others.ts';
import { foundOtherwise } from './found-card.ts';
import { othersShown, othersText } from './other-moves.ts';
import { factsOf, recordedOutcome } from './outcome.ts';
import { isLifeKnown, keyIsYoung, nextStep, type Trace } from './policy.ts';
import { createPatience, isQuiet, readLagLeft } from './quiet.ts';
import type { RowOwner, RunContext } from './run-context.ts';
import { commandToSee } from './see-row.ts';
import { ended, type Reconciling, type Step } from './step.ts';
import { unknownError } from './unknown-error.ts';
import { unsent } from './unsent.ts';
import { walletAgrees, withWallet } from './wallet-before.ts';

/** The step `reconcile`: the row is done, is sent again, or stays unknown with everything that is known about it. */
export async function reconcile(context: RunContext, number: number, reconciling: Reconciling): Promise<Step> {
  const { item } = context.row(number);
  const { permit, throttled, failedInWords } = reconciling;
  const end = (outcome: RowOutcome) => ended(throttled ? { ...outcome, throttled } : outcome);
  const { mayResend } = reconciling;
  const mayWait = reconciling.mayWait && !context.lookOnly;
  if (mayResend) await context.askTime(number);
  const patience = createPatience(context, number);
  let look: EvidenceCheck | undefined;
  let lookedAt: number | undefined;
  /** ms until readings catch up, as it was when the latest look began. */
  let lag = 0;
  for (;;) {
    const row = context.row(number);
    const trace = traceOf(row, context.markerUsable());
    const quiet = patience.isOver() || isQuiet(context, number);
    const capability = context.capability(item.operation);
    const young = keyIsYoung(capability, context.keyAge(number));
    // A created card that could not be told from another must not be made twice, whatever the key is worth.
    const blind = item.operation === 'cards.create' && trace !== 'marker';
    const { repeat } = CALLS[item.operation];
    const keyHonoured = mayResend && young && !blind && repeat !== 'never';
    const lifeKnown = isLifeKnown(capability);
    const isDenied = look?.found === 'nothing' && (look.wallet ?? 'same') === 'same';
    const step = nextStep({
      trace,
      keyHonoured,
      lifeKnown,
      isDenied: isDenied && lag === 0,
      freely: mayResend && repeat === 'freely',
      quiet,
      found: foundBy(look, quiet),
      resendAbsent: mayResend && (context.resendAbsent || absenceProves(context, trace)),
      mayWait: mayWait && !context.stop.aborted,
    });
    switch (step) {
      case 'look':
        lag = context.lookOnly ? 0 : readLagLeft(context, number);
        look = await checkOnce(context, number, { row, trace });
        lookedAt = context.clock.now();
        if (look.found === 'nothing' || look.found === 'unclear' || trace === 'balances') {
          const t = quiet && look.found === 'nothing' && look.wallet !== 'moved' ? 'ABSENT' : 'LOOKED';
          await context.write({ t, row: number, found: look.text, seen: shownByCheck(look), at: lookedAt });
        }
        if (look.found === 'nothing' && isLimited(row))
          return notDone(context, number, { look, lookedAt, reconciling });
        break;
      case 'wait':
        await patience.rest({ seen: seenText(look), ...(keyHonoured && isDenied && { resendIn: lag }) });
        look = undefined;
        break;
      case 'resend': {
        if (context.lookOnly) return end({ ...leave(context, number, { look, lookedAt }), next: 'send_again' });
        const isSure = repeat === 'freely' || (keyHonoured && lifeKnown) || absenceProves(context, trace);
        const onCheck = isSure ? undefined : true;
        return { name: 'send', sending: { resent: true, keyHonoured, onCheck, permit } };
      }
      case 'done':
        if (failedInWords) return end(leave(context, number, { look, lookedAt }));
        return end(await foundDone(context, number, look));
      case 'duplicate':
        return end(await foundSeveral(context, number, look));
      case 'leave':
        return end(leave(context, number, { look, lookedAt, owner: reconciling.owner, taken: reconciling.mayWait }));
    }
  }
}

/** One look for the effect of a row. A marker that is nowhere says too little alone; where nothing but 429 was answered the wallet must have told as well. */
export async function checkOnce(
  context: RunContext,
  number: number,
  { row, trace }: { readonly row: RowHistory; readonly trace: Trace },
): Promise<EvidenceCheck> {
  const lookedAt = context.clock.now();
  const look = await checkForEffect(row, trace, context);
  if (trace === 'balances') return withoutOthers(context, number, { look, lookedAt });
  if (look.found !== 'nothing') return look;
  return isLimited(row) ? walletAgrees(context, number, look) : withWallet(context, number, look);
}

/** The other rows of a run move the wallet too, so that there the card alone tells, as it is. */
async function withoutOthers(
  context: RunContext,
  number: number,
  { look, lookedAt }: { readonly look: EvidenceCheck; readonly lookedAt: number },
): Promise<EvidenceCheck> {
  const { card, wallet } = look.moved ?? {};
  const { operation, amount = 0 } = context.row(number).item;
  if (context.plan.bulk || card === undefined || wallet === undefined) return look;
  const toCard = operation === 'cards.fund' ? amount : -amount;
  const readings = { change: { card, wallet }, wanted: { card: toCard, wallet: -toCard }, lookedAt };
  const judged = await explainedByOthers(context, number, readings);
  if (judged.ops.length === 0) return look;
  const moved = { ...look.moved, ...othersShown(judged) };
  return { ...look, found: judged.found, text: `${look.text}${othersText(judged)}`, moved };
}

/**
 * What a look amounts to now. The card of a wallet that has moved may be listed yet, as long as something may be on its way;
 * after that nobody can tell who has moved it.
 */
function foundBy(look: EvidenceCheck | undefined, quiet: boolean): EvidenceCheck['found'] | undefined {
  if (look?.wallet === undefined || look.wallet === 'same') return look?.found;
  if (!quiet) return 'nothing';
  return look.wallet === 'moved' ? 'unclear' : look.found;
}

function seenText(look: EvidenceCheck | undefined): string {
  return look?.wallet === 'moved' ? 'the wallet has moved, and its card does not show yet' : 'no trace yet';
}

/** The card of a change of state was in the wanted state before. */
export function wasThere({ item, firstSent }: RowHistory): boolean {
  const { leadsTo } = CALLS[item.operation] as Operation;
  return leadsTo !== undefined && firstSent?.was === leadsTo.value;
}

/** Nothing but 429 was answered: what does not show was not done. */
function isLimited({ doubt }: RowHistory): boolean {
  return doubt?.t === 'AMBIG' && doubt.limited === true;
}

async function notDone(
  context: RunContext,
  number: number,
  { reconciling: { mayResend }, ...looked }: Leaving & { readonly reconciling: Reconciling },
): Promise<Step> {
  const { doubt, item } = context.row(number);
  if (context.lookOnly) {
    const left = leave(context, number, looked);
    return ended(context.plan.bulk ? { ...left, next: 'send_again' } : left);
  }
  const message = doubt?.reason ?? '';
  await context.write({ t: 'NOTSENT', row: number, kind: 'rate_limited', message, at: context.clock.now() });
  const row = context.row(number);
  if (mayResend && mayBePerformed(row, context.plan.bulk)) return { name: 'prepare' };
  const error = new CliError('rate_limited', { operation: item.operation, message, outcome: 'refused' });
  return ended(unsent(context, row, error));
}

async function foundDone(context: RunContext, number: number, look: EvidenceCheck | undefined): Promise<RowOutcome> {
  const result = look?.cards[0];
  const via = traceOf(context.row(number), true) === 'marker' ? 'marker' : 'state';
  const requestId = context.row(number).doubt?.request_id;
  const changed = !wasThere(context.row(number));
  const other = via === 'marker' && result !== undefined ? await foundOtherwise(context, number, result) : {};
  const record = { ...doneRecord(context, number, { result, via, changed, requestId }), ...other };
  await context.write(record);
  // Whoever only looks has written nothing.
  const error = recordedOutcome(afterRecord(context.row(number), record), context.plan)?.error;
  return {
    ...factsOf(context.row(number)),
    outcome: 'done',
    changed,
    reread: true,
    ...(error !== undefined && { error }),
    ...(result !== undefined && { result }),
    ...(typeof result?.['id'] === 'string' && { cardId: result['id'] }),
  };
}

async function foundSeveral(context: RunContext, number: number, look: EvidenceCheck | undefined): Promise<RowOutcome> {
  const ids = oldestFirst((look?.cards ?? []).map(cardAge));
  await context.write({ t: 'DUPLICATE', row: number, ids, at: context.clock.now() });
  const [cardId] = ids;
  return { ...factsOf(context.row(number)), outcome: 'done', changed: true, cardId, duplicate: ids };
}

interface Leaving {
  readonly look: EvidenceCheck | undefined;
  /** ms UTC. */
  readonly lookedAt: number | undefined;
  /** See `RowOwners`. */
  readonly owner?: RowOwner | undefined;
  /** A resume has looked, or somebody who only looks: to look once more is not always the next step then. */
  readonly taken?: boolean;
}

function leave(context: RunContext, number: number, { look, lookedAt, owner, taken = false }: Leaving): RowOutcome {
  const row = context.row(number);
  const { doubt } = row;
  const isQuietNow = isQuiet(context, number) || row.looks.at(-1)?.t === 'ABSENT';
  const isNowhere = look?.found === 'nothing' && look.wallet !== 'moved';
  const mayShowYet = (look?.found === 'nothing' || look?.wallet !== undefined) && !isQuietNow;
  const next = look?.failed || mayShowYet ? 'look' : 'decide';
  const absent = taken && isNowhere && isQuietNow && !context.resendAbsent && owner === undefined;
  const isStuck = taken && next === 'decide';
  const keyHonoured = context.capability(row.item.operation).key === 'honoured';
  const error = unknownError({
    plan: context.plan,
    row,
    look,
    lookedAt,
    owner,
    takeUp: context.takeUp,
    keyHonoured,
    leadsOn: absent ? 'resend' : isStuck ? 'person' : 'resume',
    reason:
      doubt?.reason ??
      `the process ended at ${isoSeconds(row.lastSent?.at ?? context.plan.at)} before an answer was written down`,
    requestId: doubt?.request_id,
  });
  const whereToLook = isStuck ? commandToSee(row) : undefined;
  const notes = [...(error.facts.notes ?? []), ...(whereToLook === undefined ? [] : [whereToLook])];
  return {
    ...factsOf(row),
    outcome: 'unknown',
    error: error.with({ notes }),
    ...(taken && { next }),
    ...(absent && { absent, keyHonoured }),
    ...(doubt?.request_id !== undefined && { requestId: doubt.request_id }),
  };
}

/** What the evidence of an unknown row amounts to, and what of it says so (docs/design/reliability.md, section 5). */
import { isoSeconds } from '../../core/iso-time.ts';
import { cents, dollars } from '../../core/money.ts';
import type { RowRecord, ShownByCheck } from '../wal/records.ts';
import type { RowHistory } from '../wal/replay.ts';
import { type EvidenceCheck, shownByCheck } from './evidence.ts';

export type UnknownAssessment = 'probably done' | 'no trace yet' | 'cannot be determined';

type Answer = Extract<RowRecord, { t: 'ACK' }>;

export interface Assessment {
  readonly verdict: UnknownAssessment;
  /** What was seen, in a clause; undefined where nothing was. */
  readonly because: string | undefined;
}

/** Looks for the effect of a row that the journal knows of. */
export function checksOf({ looks, doubt }: RowHistory): number {
  return looks.length + (doubt?.looks ?? 0);
}

/**
 * `look` is the one of this process; without it the last one on record counts. Only an answer or a marker proves it. What an
 * earlier look has shown stays true when others have moved card and wallet since.
 */
export function assessmentOf(row: RowHistory, look: EvidenceCheck | undefined): Assessment {
  const seen = withoutOthers(look === undefined ? row.looks.at(-1)?.seen : shownByCheck(look));
  const now = assessed(row, seen);
  if (now.verdict === 'probably done') return now;
  const sentAt = row.lastSent?.at ?? 0;
  const earlier = row.looks.findLast(({ at, seen: shown }) => at >= sentAt && showsIt(row, withoutOthers(shown)));
  if (earlier === undefined) return now;
  const { because } = assessed(row, withoutOthers(earlier.seen));
  const isNow = now.because === undefined ? '' : `; now ${now.because}`;
  return {
    // That it shows no more at all contradicts it.
    verdict: wordFor(row, seen, false) === 'no trace yet' ? 'cannot be determined' : 'probably done',
    because: `at ${isoSeconds(earlier.at)} ${because}${isNow}`,
  };
}

function assessed(row: RowHistory, seen: ShownByCheck | undefined): Assessment {
  const changes = seen === undefined ? [] : changesIn(row, seen);
  const answer = row.doubt?.t === 'ACK' ? row.doubt : undefined;
  const because = [...(answer === undefined ? [] : [answerText(answer)]), ...changes].join('; ') || undefined;
  const verdict = wordFor(row, seen, answer?.shown === true);
  // The service has said yes: that is a trace.
  return { verdict: verdict === 'no trace yet' && answer !== undefined ? 'cannot be determined' : verdict, because };
}

/** The changes that other operations of the journal have not made. */
function withoutOthers(seen: ShownByCheck | undefined): ShownByCheck | undefined {
  const { card, wallet, others } = seen ?? {};
  if (seen === undefined || others === undefined) return seen;
  return {
    ...seen,
    ...(card !== undefined && { card: card - others.card }),
    ...(wallet !== undefined && { wallet: wallet - others.wallet }),
  };
}

/** A change of just its amount. */
function showsIt(row: RowHistory, seen: ShownByCheck | undefined): boolean {
  return (seen?.unsure !== true || seen.found === 'it') && wordFor(row, seen, false) === 'probably done';
}

function wordFor(row: RowHistory, seen: ShownByCheck | undefined, isAnswered: boolean): UnknownAssessment {
  const isMoved = seen?.wallet !== undefined && seen.wallet !== 0;
  if (seen?.found === 'it') return 'probably done';
  if (seen?.unsure === true && !isAnswered) return 'cannot be determined';
  if (row.item.operation === 'cards.create' && isMoved) {
    return isAnswered || seen.wallet === -(row.item.amount ?? 0) ? 'probably done' : 'cannot be determined';
  }
  // An answer that shows the effect, and a reading that denies it, contradict each other.
  if (isAnswered) return isDenied(row, seen) ? 'cannot be determined' : 'probably done';
  return seen?.found === 'nothing' && !isMoved ? 'no trace yet' : 'cannot be determined';
}

/** A wallet or a card that has not moved, or a card in its former state. A list may show a new card late. */
function isDenied({ item }: RowHistory, seen: ShownByCheck | undefined): boolean {
  if (seen?.wallet === 0 || seen?.card === 0) return true;
  return seen?.found === 'nothing' && item.operation !== 'cards.create';
}

function answerText({ shown, id }: Answer): string {
  if (shown !== true) return 'the answer was a success that does not show it';
  return `the answer shows ${id === undefined ? 'it' : `card ${id}`}, and no reading does yet`;
}

function changesIn(row: RowHistory, { card, wallet, others, unsure }: ShownByCheck): readonly string[] {
  const reasons = [
    ...(card === undefined ? [] : [changeText(row, 'card', card)]),
    ...(wallet === undefined ? [] : [changeText(row, 'wallet', wallet)]),
  ];
  const isStill = card === 0 && wallet === 0;
  const told = isStill ? ['neither the card nor the wallet has moved'] : reasons;
  if (unsure) return [...told, 'other operations of this journal may have moved them meanwhile'];
  const isTakenOff = others !== undefined && (others.card !== 0 || others.wallet !== 0);
  return isTakenOff ? [...told, 'what other operations of this journal have moved is taken off'] : told;
}

function changeText({ item }: RowHistory, what: 'card' | 'wallet', change: number): string {
  if (change === 0) return `the ${what} has not moved`;
  const { amount = 0, operation } = item;
  const leaves = what === 'wallet' ? operation !== 'cards.withdraw' : operation === 'cards.withdraw';
  const times = amount === 0 ? 0 : (leaves ? -change : change) / amount;
  const size = times === 1 ? ', its amount' : times === 2 ? ', twice its amount' : '';
  return `the ${what} holds ${dollars(cents(Math.abs(change)))} ${change < 0 ? 'less' : 'more'}${size}`;
}

/** What a policy would change, card by card, and whether that is more than it may. */
import { type Cents, cents } from '../../core/money.ts';
import type { CardRow } from '../rows.ts';
import type { Finding } from './evaluate.ts';

/** One change; `rule` is the first in the order of the findings that asked for it. */
export interface PlannedChange {
  readonly rule: string;
  readonly card: CardRow;
  readonly operation: 'cards.freeze' | 'cards.withdraw';
  /** What is withdrawn. */
  readonly amount?: Cents;
}

/** Freezes first, each card at most once frozen and once withdrawn from. */
export function planChanges(findings: readonly Finding[]): readonly PlannedChange[] {
  const freezes = new Map<string, PlannedChange>();
  const withdrawals = new Map<string, PlannedChange>();
  for (const { rule, card, change } of findings) {
    if (change?.do === 'freeze' && !freezes.has(card.card_id))
      freezes.set(card.card_id, { rule, card, operation: 'cards.freeze' });
    if (change?.do === 'withdraw' && !withdrawals.has(card.card_id))
      withdrawals.set(card.card_id, { rule, card, operation: 'cards.withdraw', amount: change.amount });
  }
  return [...freezes.values(), ...withdrawals.values()];
}

export interface JudgedAgain {
  readonly changes: readonly PlannedChange[];
  /** Changes that were asked for before and are not asked for any more. */
  readonly over: readonly PlannedChange[];
}

/** What is asked for by the cards as they are now, against what was asked for before. */
export function judgedAgain(before: readonly PlannedChange[], now: readonly Finding[]): JudgedAgain {
  const nameOf = ({ operation, card }: PlannedChange) => `${operation} ${card.card_id}`;
  // What no rule asked for before was held against no cap.
  const asked = new Set(before.map(nameOf));
  const changes = planChanges(now).filter(change => asked.has(nameOf(change)));
  const still = new Set(changes.map(nameOf));
  return { changes, over: before.filter(change => !still.has(nameOf(change))) };
}

/** Bounds of what one run may touch: cards, and hundredths of a percent of the cards that are not terminated. */
export interface Caps {
  readonly maxCards: number;
  readonly maxShare: number;
}

export interface CapsBroken {
  readonly touched: number;
  /** Cards that are not terminated. */
  readonly of: number;
  readonly broken: readonly ('maxCards' | 'maxShare')[];
}

/** Undefined while the plan keeps within both caps. */
export function brokenCaps(
  changes: readonly PlannedChange[],
  notTerminated: number,
  { maxCards, maxShare }: Caps,
): CapsBroken | undefined {
  const touched = new Set(changes.map(({ card }) => card.card_id)).size;
  const broken: ('maxCards' | 'maxShare')[] = [];
  if (touched > maxCards) broken.push('maxCards');
  if (touched * 10_000 > maxShare * notTerminated) broken.push('maxShare');
  return broken.length === 0 ? undefined : { touched, of: notTerminated, broken };
}

/** Sum of what is withdrawn. */
export function withdrawnBy(changes: readonly PlannedChange[]): Cents {
  return cents(changes.reduce((sum, { amount = 0 }) => sum + amount, 0));
}

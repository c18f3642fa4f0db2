/** The numbers of an overview: cards by state, money by place, and what needs attention. */
import { CARD_STATUSES } from '../../contract/card.ts';
import { DAY } from '../../core/durations.ts';
import { type Cents, cents } from '../../core/money.ts';
import type { FactSources } from '../policy/facts.ts';
import type { CardRow, WalletRow } from '../rows.ts';
import { type Attention, daysToExpiry, idleDays, isAlive, nearLimitUse } from './attention.ts';

export interface CardCounts {
  readonly active: number;
  readonly frozen: number;
  readonly terminated: number;
  /** In a state that the interface does not name. */
  readonly other: number;
  readonly idle: number;
  readonly near_limit: number;
  readonly expiring: number;
}

export function countCards(cards: readonly CardRow[], known: FactSources): CardCounts {
  const count = (test: (card: CardRow) => boolean) => cards.filter(test).length;
  return {
    active: count(card => isAlive(card) && card.status === 'active'),
    frozen: count(card => isAlive(card) && card.status === 'frozen'),
    terminated: count(card => card.gone_at === null && card.status === 'terminated'),
    other: count(card => isAlive(card) && !CARD_STATUSES.some(status => status === card.status)),
    idle: count(card => idleDays(card, known) !== undefined),
    near_limit: count(card => nearLimitUse(card, known) !== undefined),
    expiring: count(card => daysToExpiry(card, known) !== undefined),
  };
}

/** What open authorizations hold, by I10; null where the wallet does not tell every number. */
export function openHolds(wallet: WalletRow): Cents | null {
  const { balance_cents, total_deposited_cents, total_spent_cents, cards_total_balance_cents } = wallet;
  if (total_deposited_cents === null || total_spent_cents === null || cards_total_balance_cents === null) return null;
  return cents(total_deposited_cents - total_spent_cents - balance_cents - cards_total_balance_cents);
}

/** The oldest own move that the attention list asks for, ms UTC. */
export function oldestMove(now: number): number {
  return now - 30 * DAY;
}

/** Whether anything makes `--check` fail. */
export function isAlarming(attention: readonly Attention[]): boolean {
  return attention.some(({ severity }) => severity === 'error');
}

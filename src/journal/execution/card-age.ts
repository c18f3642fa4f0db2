/** Which of several cards with one marker stays: the oldest. The same rule as of a plan of a fleet. */
import { timeOf } from './done-record.ts';

type Values = Readonly<Record<string, unknown>>;

export interface CardAge {
  readonly id: string;
  /** ms UTC by the clock of the service; undefined where it is not told. */
  readonly madeAt: number | undefined;
}

/** Of a card as the service shows it. */
export function cardAge(card: Values): CardAge {
  return { id: String(card['id']), madeAt: timeOf(card['created_at']) };
}

/** Their ids; cards of one time by id. */
export function oldestFirst(cards: readonly CardAge[]): readonly string[] {
  const at = ({ madeAt }: CardAge) => madeAt ?? 0;
  return [...cards].sort((a, b) => at(a) - at(b) || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
}

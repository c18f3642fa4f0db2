/** Where a card differs from what is wanted. The service changes none of these fields; an edit of the file does. */
import { plainAmount } from '../core/money.ts';
import type { ObservedBin, ObservedCard } from './account.ts';
import type { BinWish, Wish } from './fleet-file.ts';

/**
 * `fixed`: the service cannot change it, so it is blocked or replaced. `drift`: it changed at the service. `note`: metadata
 * of the file that the card was made without; never a reason for a change.
 */
export interface Difference {
  readonly name: string;
  /** Null where there is no card. */
  readonly card: string | null;
  readonly field: string;
  readonly class: 'fixed' | 'drift' | 'note';
  /** Text, USD, a list, or null. */
  readonly is: unknown;
  readonly wanted: unknown;
}

/** Fields that a card has for good, and notes; its state is another matter. */
export function differencesOf(wish: Wish, card: ObservedCard, bins: readonly ObservedBin[]): readonly Difference[] {
  const { name } = wish;
  const found: Difference[] = [];
  const fixed = (field: string, is: unknown, wanted: unknown) =>
    found.push({ name, card: card.id, field, class: 'fixed', is, wanted });
  if (wish.label !== undefined && !isSameText(wish.label, card.label)) {
    fixed('label', card.label, wish.label);
  }
  if (wish.limit !== undefined && wish.limit !== card.limit) fixed('limit', usdOf(card.limit), usdOf(wish.limit));
  const { categories } = wish;
  if (categories !== undefined && !isSameSet(categories, card.categories ?? [])) {
    fixed('categories', card.categories ?? [], categories);
  }
  if (wish.autoFreezeAt !== undefined && wish.autoFreezeAt !== (card.autoFreezeAt ?? null)) {
    fixed('auto_freeze_at', usdOf(card.autoFreezeAt), usdOf(wish.autoFreezeAt));
  }
  if (!isWantedBin(wish.bin, card.bin, bins)) fixed('bin', card.bin ?? null, binText(wish.bin));
  for (const [key, wanted] of Object.entries(wish.metadata)) {
    const is = card.metadata?.[key];
    if (is !== wanted && card.metadata !== undefined) {
      found.push({ name, card: card.id, field: `metadata.${key}`, class: 'note', is: is ?? null, wanted });
    }
  }
  return found;
}

function usdOf(amount: number | null | undefined): number | null {
  return amount === null || amount === undefined ? null : amount / 100;
}

function isSameText(one: string, other: string): boolean {
  return one === other || one.normalize('NFC') === other.normalize('NFC');
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  if (one.length === other.length && one.every((each, index) => each === other[index])) return true;
  const [a, b] = [new Set(one), new Set(other)];
  return a.size === b.size && [...a].every(each => b.has(each));
}

function isWantedBin(wanted: BinWish, bin: string | undefined, bins: readonly ObservedBin[]): boolean {
  if (wanted.by === 'auto') return true;
  if (wanted.by === 'id') return wanted.id === bin;
  const known = bins.find(({ id }) => id === bin);
  return known !== undefined && matchesNeeds(wanted, known);
}

/** Whether a BIN has the features and takes the transaction; what it is best for only ranks it. */
export function matchesNeeds(
  { needs, minTransaction }: Extract<BinWish, { by: 'criteria' }>,
  { features, maxTransaction }: ObservedBin,
): boolean {
  const takes = minTransaction === undefined || (maxTransaction ?? 0) >= minTransaction;
  return takes && needs.every(need => features.has(need));
}

function binText(bin: BinWish): string {
  if (bin.by === 'id') return bin.id;
  if (bin.by === 'auto') return 'auto';
  const least = bin.minTransaction === undefined ? [] : [`min_transaction ${plainAmount(bin.minTransaction)}`];
  return [...bin.needs, ...least].join(', ');
}
